// SPDX-License-Identifier: GPL-2.0-or-later
//! Properties of instructions beyond their number.

use std::ops::{AddAssign, Mul};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Events in the instructions of a path that take time, although each instruction counts as one:
/// exact numbers per operation. Work of the processor itself (page walks, storing an exception
/// frame) is not included.
///
/// A cache line has 64 bytes; lines are distinguished by virtual address and counted at the first
/// access. A task's stack and per-CPU data are private, all other memory counts as *shared*.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Events {
    /// Taken jumps, calls and returns.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken_branches: u64,
    /// Jumps and calls through a register or memory.
    #[serde(skip_serializing_if = "is_zero")]
    pub indirect_branches: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub returns: u64,
    /// Loads, without those of REP instructions.
    #[serde(skip_serializing_if = "is_zero")]
    pub loads: u64,
    /// Stores, without those of REP instructions.
    #[serde(skip_serializing_if = "is_zero")]
    pub stores: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub atomics: u64,
    /// Atomics on shared memory.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_atomics: u64,
    /// REP instructions (`rep stos`, `rep movs` …).
    #[serde(skip_serializing_if = "is_zero")]
    pub rep_instructions: u64,
    /// REP instructions whose iterations stored or compared at least 128 bytes; they have a long
    /// start-up time.
    #[serde(skip_serializing_if = "is_zero")]
    pub long_rep_instructions: u64,
    /// Bytes stored or compared by their iterations.
    #[serde(skip_serializing_if = "is_zero")]
    pub rep_bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub instruction_lines: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_read: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub lines_written: u64,
    /// Different shared cache lines changed by atomics: processors contend for them when they run
    /// the operation in parallel.
    #[serde(skip_serializing_if = "is_zero")]
    pub shared_lines: u64,
    /// Instructions that wait for all earlier ones: `iret`, `wrmsr`, `cpuid`, fences …
    #[serde(skip_serializing_if = "is_zero")]
    pub serialising: u64,
    /// Flushes of the TLB or a part of it.
    #[serde(skip_serializing_if = "is_zero")]
    pub tlb_flushes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub clock_reads: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &u64) -> bool {
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

macro_rules! kinds {
    ($($name:ident: $title:literal,)*) => {
        &[$(EventKind {
            name: stringify!($name),
            title: $title,
            count: |events| events.$name,
            number: |events| &mut events.$name,
        },)*]
    };
}

impl Events {
    /// Length in bytes from which a REP instruction is long.
    pub const LONG_REP_BYTES: u64 = 128;

    pub const KINDS: &'static [EventKind] = kinds! {
        taken_branches: "taken",
        indirect_branches: "indirect",
        returns: "returns",
        loads: "loads",
        stores: "stores",
        atomics: "atomics",
        shared_atomics: "shared",
        rep_instructions: "REP",
        long_rep_instructions: "long REP",
        rep_bytes: "REP bytes",
        instruction_lines: "code lines",
        lines_read: "lines read",
        lines_written: "lines written",
        shared_lines: "shared lines",
        serialising: "serialising",
        tlb_flushes: "TLB flushes",
        clock_reads: "clock reads",
    };

    #[must_use]
    pub fn kind(name: &str) -> Option<&'static EventKind> {
        Events::KINDS.iter().find(|kind| kind.name == name)
    }

    #[must_use]
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
