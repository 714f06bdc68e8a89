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
    ];

    pub fn unit(self) -> &'static str {
        match self {
            Metric::Instructions | Metric::HookInstructions => "instructions",
            Metric::Time => "ns",
            Metric::Throughput => "ops/s",
            Metric::Memory => "bytes",
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

    /// Counts that are the same in every repetition.
    pub fn is_counted(self) -> bool {
        self.is_of_instructions() || matches!(self, Metric::Calls | Metric::Memory)
    }

    /// Counted per executed instruction, by QEMU's plugin.
    pub fn is_of_instructions(self) -> bool {
        matches!(self, Metric::Instructions | Metric::HookInstructions)
    }

    /// Depends on the measuring machine and its load.
    pub fn is_timed(self) -> bool {
        use Metric::{CallRate, CallTime, Throughput, Time};
        matches!(self, Time | Throughput | CallRate | CallTime)
    }
}
