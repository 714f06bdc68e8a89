// SPDX-License-Identifier: GPL-2.0-or-later
//! Words of comparisons.

use crate::words::words;

words! {
    /// Key that differs between the compared measurements of one run.
    Axis, "axis":
    Kernel = "kernel",
    Stack = "stack",
    Policy = "policy",
    Integrity = "integrity",
    Fs = "fs",
}

words! {
    Method, "method":
    /// Exact counts: subtracted.
    Exact = "exact",
    /// Counts that vary: by the sets of code paths of both sides, without a p value.
    Paths = "paths",
    /// By the ranks of all samples.
    Samples = "samples",
    /// By the ranks of all samples, and the differences between rounds.
    Rounds = "rounds",
    /// By these, and the differences between runs without a change (`lsmeter run --aa`).
    Runs = "runs",
    /// By the two intervals: the samples were not kept.
    Intervals = "intervals",
    None = "none",
}

words! {
    Verdict, "verdict":
    /// Costs more, and the difference is real.
    Worse = "worse",
    /// Costs less, and the difference is real.
    Better = "better",
    /// Equal counts, or equal sets of code paths.
    Same = "same",
    /// Undecided.
    Unclear = "unclear",
    /// One side or both have no value.
    Missing = "missing",
}

impl Verdict {
    /// The difference is not chance. Equal sets of code paths may have different medians.
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
