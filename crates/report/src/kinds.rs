// SPDX-License-Identifier: GPL-2.0-or-later
//! Contents of a page, by kind of result file.

use model::Kind;

use crate::gather::Content;

pub(crate) struct View {
    pub(crate) name: &'static str,
    pub(crate) method: &'static str,
    /// Figures that may lead a page, in order of preference.
    pub(crate) leading: &'static [&'static str],
    /// Columns shown next to the figure, from the first table that has two of them.
    pub(crate) beside: &'static [&'static str],
}

const RUN: View = View {
    name: "run",
    method: "Each operation runs in its own measured region. Instructions are counted in the guest's kernel, on \
             the dominant path; time and throughput are medians of samples with a 95 % \
             bootstrap interval. Instructions are not time. An overhead is (tested - baseline) / \
             baseline, or (baseline - tested) / baseline of a throughput, so that more is worse.",
    leading: &[],
    beside: &[],
};
const PROFILE: View = View {
    name: "profile",
    method: "Every call on the operation's most frequent path through the guest's kernel is counted by \
             instruction. A hook's instructions are those from its calls to its returns; calls from \
             inside other hooks are not counted again.",
    leading: &["hook-shares"],
    beside: &["hook", "calls", "sum", "average"],
};
const SWEEP: View = View {
    name: "sweep",
    method: "Decisions at hooks are delayed, step by step, and a line is fitted to the cost of an \
             operation. Its slope is the number of permission checks per operation. The hook calls \
             without delays are counted as a reference.",
    leading: &["decisions-by-depth", "latency-over-delay"],
    beside: &["operation", "slope", "counted", "difference"],
};
const RECORDING: View = View {
    name: "recording",
    method: "eBPF programs count every call of a hook on the live machine, and measure its duration if \
             requested.",
    leading: &["time", "calls"],
    beside: &["hook", "calls", "mean"],
};
const PLACEMENT: View = View {
    name: "placement",
    method: "The kernel's sources are read, not compiled or run. Counts are given for the success \
             path of a system call and as upper bounds; D is the number of components of a path, S \
             that of symbolic links.",
    leading: &["reach", "modules"],
    beside: &["system call", "success path", "at most"],
};

pub(crate) fn view(content: &Content) -> &'static View {
    match content.kind() {
        Kind::Profile => &PROFILE,
        Kind::Sensitivity => &SWEEP,
        Kind::Recording => &RECORDING,
        Kind::Placement => &PLACEMENT,
        _ => &RUN,
    }
}
