// SPDX-License-Identifier: GPL-2.0-or-later
//! Reasons to doubt a document.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to doubt a run, in part or as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    pub kind: WarningKind,
    /// What was seen, in one or two sentences.
    pub message: String,
    pub advice: String,
    /// Positions in `cells` of those it concerns, from 0; empty: the whole run.
    #[serde(
        rename = "measurements",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub cells: Vec<u32>,
}

impl Warning {
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Warning {
        Warning {
            kind,
            message: message.into(),
            advice: kind.advice().to_owned(),
            cells: Vec::new(),
        }
    }
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// Time was taken in an emulated processor, not in a real one.
    EmulatedTime,
    /// So many measured regions were dirty that the dominant path rests on few.
    DirtyRegions,
    /// No path through the kernel is clearly the most frequent.
    UnstablePath,
    /// The clock's share of a sample is above what was asked for.
    ClockShare,
    /// Others used the core of the measuring processor all the while.
    Disturbed,
    /// The measuring thread could not be pinned to a processor.
    NotPinned,
    /// The processor's frequency may have changed while measuring.
    Throttling,
    /// The rounds of a timed cell disagree: something drifted.
    Drift,
    /// The kernel runs modules that the stack does not name and cannot leave out.
    ExtraModules,
    /// The kernel does not name its functions: fewer measured regions can be counted.
    NoSymbols,
    /// A slope is not what was counted.
    ChecksDiffer,
    /// Hooks that were to be delayed cannot be: their decisions are in no slope.
    UndelayedHooks,
    /// Hooks were called and are in no figure.
    LostCalls,
    /// Costs were counted on another kernel than calls were recorded on.
    OtherKernel,
    /// Modules ran where calls were recorded that no predicted stack has.
    OtherModules,
    /// Calls were denied, which costs otherwise than what the lab counted.
    DeniedCalls,
    /// Calls were recorded of which the lab has no cost.
    UncoveredCalls,
    MissingMeasurements,
    /// The run was stopped before all cells were measured.
    Interrupted,
    /// Part of the kernel index could not be refreshed.
    StaleIndex,
    /// A kind that this version does not know; the message still holds.
    #[serde(other)]
    Other,
}

impl WarningKind {
    pub fn advice(self) -> &'static str {
        match self {
            WarningKind::EmulatedTime => {
                "use the metric instructions, or measure time on the host or with KVM"
            }
            WarningKind::DirtyRegions => "raise samples",
            WarningKind::UnstablePath => {
                "raise warmup and samples, and look at the other paths (details)"
            }
            WarningKind::ClockShare => {
                "the operation cannot be batched further: read the figure as an upper bound"
            }
            WarningKind::Disturbed => {
                "leave the machine idle, or measure when whoever shares its processors does: times \
                 may be up to twice as long"
            }
            WarningKind::NotPinned => "allow sched_setaffinity, or expect a wider interval",
            WarningKind::Throttling => {
                "fix the processor's frequency (cpupower frequency-set) and leave the machine idle"
            }
            WarningKind::Drift => "leave the machine idle and raise rounds",
            WarningKind::ExtraModules => {
                "compare stacks of the same kernel only: every one has these modules"
            }
            WarningKind::NoSymbols => {
                "build the kernel with CONFIG_KALLSYMS=y, or give the unstripped vmlinux beside it"
            }
            WarningKind::ChecksDiffer => {
                "look at the slopes hook by hook, and at the reason given there"
            }
            WarningKind::UndelayedHooks => {
                "read slopes over all hooks as those of the others; the Tunable Security Module \
                 delays every hook, in a kernel built with it"
            }
            WarningKind::LostCalls => {
                "read the counts as lower bounds; watch fewer hooks, or processes"
            }
            WarningKind::OtherKernel => "count the costs on the kernel of the recording (--kernel)",
            WarningKind::OtherModules => {
                "read the figures as those of the stacks that are named; what else ran there is not \
                 in them"
            }
            WarningKind::DeniedCalls => "read the figures as if these calls had been allowed",
            WarningKind::UncoveredCalls => {
                "add costs of programs that make such calls: `lsmeter run` with --programs, and \
                 --costs"
            }
            WarningKind::MissingMeasurements => "see each cell's reason",
            WarningKind::Interrupted => "the same command measures the rest",
            WarningKind::StaleIndex => {
                "check the network and fetch the kernel again if its version matters"
            }
            WarningKind::Other => "see the documentation of the version that wrote it",
        }
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WarningKind::EmulatedTime => "emulated time",
            WarningKind::DirtyRegions => "dirty measured regions",
            WarningKind::UnstablePath => "unstable path",
            WarningKind::ClockShare => "clock share",
            WarningKind::Disturbed => "disturbed",
            WarningKind::NotPinned => "not pinned",
            WarningKind::Throttling => "throttling",
            WarningKind::Drift => "drift",
            WarningKind::ExtraModules => "extra modules",
            WarningKind::NoSymbols => "no symbols",
            WarningKind::ChecksDiffer => "slope differs",
            WarningKind::UndelayedHooks => "undelayed hooks",
            WarningKind::LostCalls => "lost calls",
            WarningKind::OtherKernel => "other kernel",
            WarningKind::OtherModules => "other modules",
            WarningKind::DeniedCalls => "denied calls",
            WarningKind::UncoveredCalls => "uncovered calls",
            WarningKind::MissingMeasurements => "missing cells",
            WarningKind::Interrupted => "interrupted",
            WarningKind::StaleIndex => "stale index",
            WarningKind::Other => "other",
        })
    }
}
