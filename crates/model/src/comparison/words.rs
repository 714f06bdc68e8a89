// SPDX-License-Identifier: GPL-2.0-or-later
//! The words of comparisons.

use crate::words::words;

words! {
    /// What differs between the cells that are compared within one run.
    Axis, "axis":
    Kernel = "kernel",
    Stack = "stack",
    Policy = "policy",
    Integrity = "integrity",
    Fs = "fs",
}

words! {
    Method, "method":
    /// Both figures are counts that hold without an interval: they are subtracted.
    Exact = "exact",
    /// By the sets of paths that the two sides took: counts that vary have no p.
    Paths = "paths",
    /// By the ranks of all samples.
    Samples = "samples",
    /// By the ranks of all samples, and by what rounds differ by.
    Rounds = "rounds",
    /// As before, and by what runs without a change differ by (`lsmeter run --aa`).
    Runs = "runs",
    /// By the two figures' intervals: the samples were not kept.
    Intervals = "intervals",
    None = "none",
}

words! {
    Verdict, "verdict":
    /// It costs more, and that is real.
    Worse = "worse",
    /// It costs less, and that is real.
    Better = "better",
    /// Two counts, or two sets of paths, are the same.
    Same = "same",
    /// Nothing can be said.
    Unclear = "unclear",
    /// One side or both have no figure.
    Missing = "missing",
}

impl Verdict {
    /// More than chance. Equal sets of paths may have different medians.
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
    /// No cell is worse by more than its limit.
    Pass = "pass",
    Fail = "fail",
    /// Nothing can be said.
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
