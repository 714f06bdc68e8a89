// SPDX-License-Identifier: GPL-2.0-or-later
//! A metric's name, unit, and better direction.

use stats::Direction;

use crate::words::words;

words! {
    /// What is measured. Experiments measure instructions, time, throughput or memory; the others
    /// come from other commands.
    Metric, "metric":
    /// Guest kernel instructions per operation, counted by a QEMU TCG plugin: exact.
    Instructions = "instructions",
    HookInstructions = "hook_instructions",
    Time = "time",
    /// Operations per second over a fixed time: statistical.
    Throughput = "throughput",
    /// Memory that the kernel uses, in bytes: after a boot, or per object of a kind. Exact.
    Memory = "memory",
    /// Transfers of memory per operation between processors whose tasks use the same files, counted
    /// by the plugin: exact.
    Transfers = "transfers",
    /// The same between tasks whose files have other names in one directory.
    TransfersSiblings = "transfers_siblings",
    /// The same between tasks that share no file.
    TransfersApart = "transfers_apart",
    Calls = "calls",
    CallRate = "call_rate",
    CallTime = "call_time",
    /// Permission checks per operation: the slope of a sweep.
    Slope = "checks",
}

impl Metric {
    pub const MEASURABLE: &'static [Metric] = &[
        Metric::Instructions,
        Metric::Time,
        Metric::Throughput,
        Metric::Memory,
        Metric::Transfers,
        Metric::TransfersSiblings,
        Metric::TransfersApart,
    ];

    pub fn unit(self) -> &'static str {
        match self {
            Metric::Instructions | Metric::HookInstructions => "instructions",
            Metric::Time => "ns",
            Metric::Throughput => "ops/s",
            Metric::Memory => "bytes",
            Metric::Transfers | Metric::TransfersSiblings | Metric::TransfersApart => "transfers",
            Metric::Calls => "calls",
            Metric::CallRate => "calls/s",
            Metric::CallTime => "ns/call",
            Metric::Slope => "decisions",
        }
    }

    pub fn direction(self) -> Direction {
        match self {
            Metric::Throughput => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }

    /// Whether values are counts, which are the same in every repetition.
    pub fn is_counted(self) -> bool {
        self.is_recorded() || matches!(self, Metric::Calls | Metric::Memory)
    }

    /// Whether QEMU's plugin counts the values, in measured regions.
    pub fn is_recorded(self) -> bool {
        self.is_of_instructions() || self.is_of_transfers()
    }

    pub fn is_of_transfers(self) -> bool {
        use Metric::{Transfers, TransfersApart, TransfersSiblings};
        matches!(self, Transfers | TransfersSiblings | TransfersApart)
    }

    /// Whether a mean over operations makes sense. A whole boot's memory and an inode's have none;
    /// most operations have no transfers.
    pub fn has_mean(self) -> bool {
        self != Metric::Memory && !self.is_of_transfers()
    }

    /// Whether the values are executed instructions.
    pub fn is_of_instructions(self) -> bool {
        matches!(self, Metric::Instructions | Metric::HookInstructions)
    }

    /// Whether values depend on the measuring machine and its load.
    pub fn is_timed(self) -> bool {
        use Metric::{CallRate, CallTime, Throughput, Time};
        matches!(self, Time | Throughput | CallRate | CallTime)
    }
}
