// SPDX-License-Identifier: GPL-2.0-or-later
//! Which function of a kernel serves which hook.

use std::collections::BTreeMap;

use kernels::hooks::{HookList, functions_of};
use kernels::symbols::SymbolTable;

use super::base_name;

/// The functions of one kernel's LSM framework (`security/security.c`), and the hooks
/// that they serve.
///
/// Functions that only look like it (`security_compute_av` of SELinux's policy server)
/// are not part of it: a function is the framework's only through a hook. The one
/// exception are functions that free what a hook allocated, and were hooks themselves in
/// older kernels (`security_key_free`): they count as hooks on all, else the memory of
/// modules would seem to be other code's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framework {
    /// Hook by function, without compiler suffixes.
    hooks: BTreeMap<String, String>,
}

impl Framework {
    /// Looks for the functions of each hook among a kernel's symbols.
    #[must_use]
    pub fn new(list: &HookList, symbols: &SymbolTable) -> Self {
        let mut hooks: BTreeMap<String, String> = BTreeMap::new();
        for hook in list.iter() {
            for function in functions_of(hook, symbols) {
                // The hook of exactly that name is more likely to be the one served.
                let named_so = function.strip_prefix("security_") == Some(hook);
                if named_so || !hooks.contains_key(&function) {
                    hooks.insert(function, hook.to_owned());
                }
            }
        }
        // Where modules no longer free what they allocated, the framework's function does
        // it alone: as a hook without implementations, as which it is known.
        for hook in list.iter() {
            let freed = hook.replacen("_alloc", "_free", 1);
            for function in functions_of(&freed, symbols) {
                hooks.entry(function).or_insert_with(|| freed.clone());
            }
        }
        Self { hooks }
    }

    /// The hook that a function serves, whatever suffix the compiler gave it. For a part
    /// that was split off (`security_x.part.0`) that is its function's, too: [`Self::hook_at`]
    /// says whether a hook *begins* somewhere in a tree.
    #[must_use]
    pub fn hook_of(&self, function: &str) -> Option<&str> {
        self.hooks.get(base_name(function)).map(String::as_str)
    }
}

/// The module of a function that the kernel may call where it could call the framework:
/// IMA's and EVM's before 6.8, when those became LSMs.
pub(super) fn direct_module(function: &str) -> Option<&'static str> {
    ["ima", "evm"].into_iter().find(|module| {
        function
            .strip_prefix(module)
            .is_some_and(|rest| rest.starts_with('_'))
    })
}
