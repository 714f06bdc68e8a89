// SPDX-License-Identifier: GPL-2.0-or-later
//! Properties of instructions beyond their number.

use std::ops::{AddAssign, Mul};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! events {
    ($(#[$about:meta])* Events: $($(#[$doc:meta])* $name:ident: $title:literal,)*) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct Events {
            $($(#[$doc])* #[serde(skip_serializing_if = "is_zero")] pub $name: u64,)*
        }

        impl Events {
            pub const KINDS: &'static [EventKind] = &[$(EventKind {
                name: stringify!($name),
                title: $title,
                count: |events| events.$name,
                number: |events| &mut events.$name,
            },)*];
        }
    };
}

events! {
    /// Events in the instructions of a path that take time, although each instruction counts as one:
    /// exact numbers per operation. Work of the processor itself (page walks, storing an exception
    /// frame) is not included.
    ///
    /// A cache line has 64 bytes; lines are distinguished by virtual address and counted at the first
    /// access. A task's stack and per-CPU data are private, all other memory counts as *shared*.
    Events: // Each with its title in tables.
    /// Taken jumps, calls and returns.
    taken_branches: "taken",
    /// Jumps and calls through a register or memory.
    indirect_branches: "indirect",
    returns: "returns",
    /// Loads, without those of REP instructions.
    loads: "loads",
    /// Stores, without those of REP instructions.
    stores: "stores",
    atomics: "atomics",
    /// Atomics on shared memory.
    shared_atomics: "shared",
    /// REP instructions (`rep stos`, `rep movs` …).
    rep_instructions: "REP",
    /// REP instructions whose iterations stored or compared at least 128 bytes; they have a long
    /// start-up time.
    long_rep_instructions: "long REP",
    /// Bytes stored or compared by their iterations.
    rep_bytes: "REP bytes",
    instruction_lines: "code lines",
    lines_read: "lines read",
    lines_written: "lines written",
    /// Different shared cache lines changed by atomics: processors contend for them when they run
    /// the operation in parallel.
    shared_lines: "shared lines",
    /// Instructions that wait for all earlier ones: `iret`, `wrmsr`, `cpuid`, fences …
    serialising: "serialising",
    /// Flushes of the TLB or a part of it.
    tlb_flushes: "TLB flushes",
    clock_reads: "clock reads",
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Debug, Clone, Copy)]
pub struct EventKind {
    /// In result files: `taken_branches`.
    pub name: &'static str,
    /// In table columns: `taken`.
    pub title: &'static str,
    pub count: fn(&Events) -> u64,
    number: fn(&mut Events) -> &mut u64,
}

impl Events {
    /// Length in bytes from which a REP instruction is long.
    pub const LONG_REP_BYTES: u64 = 128;

    pub fn kind(name: &str) -> Option<&'static EventKind> {
        Events::KINDS.iter().find(|kind| kind.name == name)
    }

    pub fn is_empty(&self) -> bool {
        *self == Events::default()
    }
}

impl AddAssign for Events {
    fn add_assign(&mut self, other: Events) {
        for kind in Events::KINDS {
            let number = (kind.number)(self);
            *number = number.saturating_add((kind.count)(&other));
        }
    }
}

impl Mul<u64> for Events {
    type Output = Events;

    fn mul(mut self, times: u64) -> Events {
        for kind in Events::KINDS {
            let number = (kind.number)(&mut self);
            *number = number.saturating_mul(times);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_kind() {
        let mut one = Events::default();
        for kind in Events::KINDS {
            *(kind.number)(&mut one) = 1;
        }
        let json = serde_json::to_value(one).unwrap();
        let names: Vec<&str> = Events::KINDS.iter().map(|kind| kind.name).collect();
        let mut written: Vec<&str> = json.as_object().unwrap().keys().map(|k| &**k).collect();
        written.sort_by_key(|name| names.iter().position(|known| known == name));
        assert_eq!(written, names);
        let mut sum = one * 2;
        sum += one;
        assert!(Events::KINDS.iter().all(|kind| (kind.count)(&sum) == 3));
        assert_eq!(serde_json::to_string(&Events::default()).unwrap(), "{}");
    }
}
