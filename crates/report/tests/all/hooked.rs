// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks on a path, with the values that a test needs.

use std::collections::BTreeMap;

use model::{HookCost, HookedPath, Implementation};

pub fn implementation(module: &str, function: &str, calls: u64, inclusive: u64) -> Implementation {
    Implementation {
        events: None,
        module: module.to_owned(),
        function: function.to_owned(),
        calls,
        inclusive,
    }
}

pub fn path(hooks: Vec<HookCost>) -> HookedPath {
    HookedPath {
        system_calls: BTreeMap::new(),
        events: None,
        total: 0,
        rep_iterations: None,
        regions: 64,
        hooked: hooks.iter().map(|hook| hook.outermost).sum(),
        hooks,
        irqs_off: None,
    }
}
