// SPDX-License-Identifier: GPL-2.0-or-later
//! Reasons to doubt a result file.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason to doubt a run or some of its measurements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    pub kind: WarningKind,
    /// What happened, in one or two sentences.
    pub message: String,
    pub advice: String,
    /// Positions in `measurements`, from 0; empty: the whole run.
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
    /// Time was measured on an emulated processor.
    EmulatedTime,
    /// Most measured regions were dirty, so that the dominant path rests on few.
    DirtyRegions,
    /// No code path is clearly the most frequent.
    UnstablePath,
    /// The clock's share of a sample is above its limit.
    ClockShare,
    /// Other processes or machines used the core of the measuring processor in every round.
    Disturbed,
    /// The measuring thread could not be pinned to a processor.
    NotPinned,
    /// The processor's frequency may have changed while measuring.
    Throttling,
    /// The rounds of a timed measurement disagree: something drifted.
    Drift,
    /// The kernel runs modules that the stack does not name and cannot leave out.
    ExtraModules,
    /// The kernel has no symbols: fewer measured regions can be counted.
    NoSymbols,
    /// A slope differs from the counted calls.
    ChecksDiffer,
    /// Some hooks cannot be delayed: slopes exclude their decisions.
    UndelayedHooks,
    /// Hook calls were lost: no value includes them.
    LostCalls,
    /// Costs were counted on a different kernel from the recorded one.
    OtherKernel,
    /// The recorded machine had modules that are in no predicted stack.
    OtherModules,
    /// Denied calls were recorded: their cost differs from the cost that the lab counted.
    DeniedCalls,
    /// A policy denied accesses of a measured program.
    Denials,
    /// Calls were recorded whose cost is unknown.
    UncoveredCalls,
    MissingMeasurements,
    /// The run was stopped before all measurements were made.
    Interrupted,
    /// Part of the kernel index could not be refreshed.
    StaleIndex,
    /// A kind that this version does not know; the message is still valid.
    #[serde(other)]
    Other,
}

impl WarningKind {
    pub fn advice(self) -> &'static str {
        match self {
            WarningKind::EmulatedTime => {
                "use the metric instructions, or measure time on the host or with KVM"
            }
            WarningKind::DirtyRegions => "raise `samples`",
            WarningKind::UnstablePath => {
                "raise `warmup` and `samples`, and see the other paths (--details)"
            }
            WarningKind::ClockShare => {
                "the operation cannot be batched further: the value is an upper bound"
            }
            WarningKind::Disturbed => {
                "leave the machine idle, or measure while other users of its processors are idle: \
                 times may be up to twice as long"
            }
            WarningKind::NotPinned => "allow sched_setaffinity, or expect a wider interval",
            WarningKind::Throttling => {
                "fix the processor's frequency (cpupower frequency-set) and leave the machine idle"
            }
            WarningKind::Drift => "leave the machine idle and raise `rounds`",
            WarningKind::ExtraModules => {
                "compare only stacks on the same kernel: they all include these modules"
            }
            WarningKind::NoSymbols => {
                "build the kernel with CONFIG_KALLSYMS=y, or provide the unstripped vmlinux next to it"
            }
            WarningKind::ChecksDiffer => "see the slopes by hook, and the reason given there",
            WarningKind::UndelayedHooks => {
                "slopes over all hooks exclude these; a kernel with the Tunable Security Module \
                 can delay every hook"
            }
            WarningKind::LostCalls => "the counts are lower bounds; watch fewer hooks or processes",
            WarningKind::OtherKernel => "count the costs on the kernel of the recording (--kernel)",
            WarningKind::OtherModules => {
                "values apply to the named stacks; other modules that ran there are not included"
            }
            WarningKind::DeniedCalls => "values assume that these calls had been allowed",
            WarningKind::Denials => {
                "allow these accesses, or expect that the program did something else than without \
                 the policy"
            }
            WarningKind::UncoveredCalls => {
                "count programs that make such calls with `lsmeter run --programs`, and add them \
                 with --costs"
            }
            WarningKind::MissingMeasurements => "see the reason for each measurement",
            WarningKind::Interrupted => "run the same command again to measure the rest",
            WarningKind::StaleIndex => {
                "check the network and fetch the kernel again if its version matters"
            }
            WarningKind::Other => {
                "see the documentation of the lsmeter version that wrote the file"
            }
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
            WarningKind::Denials => "denials",
            WarningKind::UncoveredCalls => "uncovered calls",
            WarningKind::MissingMeasurements => "missing measurements",
            WarningKind::Interrupted => "interrupted",
            WarningKind::StaleIndex => "stale index",
            WarningKind::Other => "other",
        })
    }
}
