// SPDX-License-Identifier: GPL-2.0-or-later
//! The closed sets of words that comparisons use.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Direction;

use crate::words::{Metric, UnknownWord, words};

words! {
    /// What differs between the cells that are compared within one run.
    Axis, "axis":
    /// The kernel.
    Kernel = "kernel",
    /// The stack.
    Stack = "stack",
    /// The state of the policies.
    Policy = "policy",
    /// The integrity subsystems.
    Integrity = "integrity",
    /// The file system.
    Fs = "fs",
}

words! {
    /// What is compared.
    Quantity, "quantity":
    /// Guest kernel instructions per operation.
    Instructions = "instructions",
    /// Of these, the ones inside LSM hooks.
    HookInstructions = "hook_instructions",
    /// Nanoseconds per operation.
    Time = "time",
    /// Operations per second.
    Throughput = "throughput",
    /// Calls of a function in a whole recording of one command.
    Calls = "calls",
    /// Calls of a function per second.
    CallRate = "call_rate",
    /// Nanoseconds per call of a function.
    CallTime = "call_time",
    /// Decisions that an operation asks for: the slope of a sweep.
    Slope = "slope",
}

words! {
    /// How a difference was judged.
    Method, "method":
    /// Both figures are counts that hold without an interval: they are subtracted.
    Exact = "exact",
    /// By the ranks of all samples.
    Samples = "samples",
    /// By the ranks of all samples, and by what rounds differ by.
    Rounds = "rounds",
    /// As before, and by what runs without a change differ by (`lsmeter run --aa`).
    Runs = "runs",
    /// By the two figures' intervals: the samples were not kept.
    Intervals = "intervals",
    /// Not at all.
    None = "none",
}

words! {
    /// Which correction p values get for the number of cells that are tested.
    #[derive(Default)]
    Correction, "correction":
    /// Holm's: no false alarm at all, with the stated confidence.
    #[default]
    Holm = "holm",
    /// Benjamini's and Hochberg's: of the alarms, the stated share may be false.
    Bh = "bh",
    /// None: each cell by itself may be a false alarm.
    None = "none",
}

words! {
    /// What is to be said of a cell.
    Verdict, "verdict":
    /// It costs more, and that is real.
    Worse = "worse",
    /// It costs less, and that is real.
    Better = "better",
    /// Two counts are the same.
    Same = "same",
    /// Nothing can be said.
    Unclear = "unclear",
    /// One side or both have no figure.
    Missing = "missing",
}

words! {
    /// What a gate says.
    GateVerdict, "verdict":
    /// No cell is worse by more than its limit.
    Pass = "pass",
    /// A cell is.
    Fail = "fail",
    /// It cannot be told.
    Inconclusive = "inconclusive",
}

words! {
    /// Which of the two.
    Side, "side":
    /// The older, or the one that others are compared with.
    Base = "base",
    /// The one under test.
    New = "new",
}

impl Quantity {
    /// What a metric of a run is.
    pub fn of_metric(metric: Metric) -> Quantity {
        match metric {
            Metric::Instructions => Quantity::Instructions,
            Metric::Time => Quantity::Time,
            Metric::Throughput => Quantity::Throughput,
        }
    }

    /// The unit of its figures, as documents and tables write it.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Instructions | Quantity::HookInstructions => "instructions",
            Quantity::Time => "ns",
            Quantity::Throughput => "ops/s",
            Quantity::Calls => "calls",
            Quantity::CallRate => "calls/s",
            Quantity::CallTime => "ns/call",
            Quantity::Slope => "decisions",
        }
    }

    /// Which way it improves.
    pub fn direction(self) -> Direction {
        match self {
            Quantity::Throughput => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }

    /// Does it depend on the machine that measured, and on what else that machine did?
    pub fn is_timed(self) -> bool {
        matches!(
            self,
            Quantity::Time | Quantity::Throughput | Quantity::CallRate | Quantity::CallTime
        )
    }
}
