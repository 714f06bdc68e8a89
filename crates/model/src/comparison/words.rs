// SPDX-License-Identifier: GPL-2.0-or-later
//! Words of comparisons.

use crate::words::words;

words! {
    /// The key that differs between the compared measurements of one run.
    Axis, "axis":
    Kernel = "kernel",
    Stack = "stack",
    Policy = "policy",
    Integrity = "integrity",
    Fs = "fs",
}

words! {
    #[derive(Default)]
    Method, "method":
    /// Exact counts, which are subtracted.
    Exact = "exact",
    /// Counts that vary, compared by the sets of code paths of both sides, without a p value.
    Paths = "paths",
    /// Compared by the ranks of all samples.
    Samples = "samples",
    /// Compared by the ranks of all samples, and the differences between rounds.
    Rounds = "rounds",
    /// Compared like `rounds`, and by the differences between runs without a change (`lsmeter run
    /// --aa`).
    Runs = "runs",
    /// Compared by the two intervals, because the samples were not kept.
    Intervals = "intervals",
    #[default]
    None = "none",
}

words! {
    #[derive(Default)]
    Verdict, "verdict":
    /// Costs more, and the difference is real.
    Worse = "worse",
    /// Costs less, and the difference is real.
    Better = "better",
    /// Equal counts, or equal sets of code paths.
    Same = "same",
    /// Undecided.
    #[default]
    Unclear = "unclear",
    /// One side or both have no value.
    Missing = "missing",
}

impl Verdict {
    /// Whether the difference is not due to chance. Equal sets of code paths may have different
    /// medians.
    pub fn is_clear(self, difference: Option<f64>) -> bool {
        match self {
            Verdict::Worse | Verdict::Better => true,
            Verdict::Same => difference == Some(0.0),
            Verdict::Unclear | Verdict::Missing => false,
        }
    }
}

words! {
    GateVerdict, "verdict":
    /// No measurement is worse than its limit.
    Pass = "pass",
    Fail = "fail",
    /// Undecided.
    Inconclusive = "inconclusive",
}

words! {
    /// One side of a comparison.
    Side, "side":
    /// The older, or the reference.
    Base = "base",
    /// The one under test.
    New = "new",
}
