// SPDX-License-Identifier: GPL-2.0-or-later
//! Causes of unbounded maxima.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SyscallPlacement;

/// Why the number of repetitions is unknown.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BoundlessCause {
    /// A loop, or a label with a backward jump.
    Loop,
    /// A function passed to another one, which may call it any number of times.
    Callback,
    /// Functions that call each other in a cycle.
    Circle,
    /// The sum exceeds the largest count, 16,777,216.
    Large,
    /// Loops that are nested more deeply than the analysis follows.
    Nested,
}

/// A piece of code that makes maxima unbounded.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Unbounded {
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// The function with this code; for a cycle, the first of its functions by name.
    pub function: String,
    pub cause: BoundlessCause,
    /// The loop's head, the label, the passed function, or the functions of the cycle; empty if the
    /// cause is the function as a whole.
    pub code: String,
    /// Why there is no bound.
    pub why: String,
}

pub(super) fn drop_unused(unbounded: &mut Vec<Unbounded>, syscalls: &mut [SyscallPlacement]) {
    let all = |call: &mut SyscallPlacement, each: &mut dyn FnMut(&mut u32)| {
        let hooks = call.hooks.iter_mut();
        let causes = hooks.flat_map(|hook| hook.unbounded_by.values_mut().flatten());
        causes.for_each(each);
    };
    let mut used: BTreeSet<u32> = BTreeSet::new();
    for call in &mut *syscalls {
        all(call, &mut |cause| {
            used.insert(*cause);
        });
    }
    let places: Vec<u32> = used.into_iter().collect();
    for call in syscalls {
        all(call, &mut |cause| {
            let place = places.partition_point(|used| used < cause);
            *cause = u32::try_from(place).unwrap_or(u32::MAX);
        });
    }
    let mut at = 0;
    unbounded.retain(|_| {
        at += 1;
        places.binary_search(&(at - 1)).is_ok()
    });
}
