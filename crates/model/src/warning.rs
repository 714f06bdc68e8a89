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
    /// Positions in `measurements`, from 0; empty if the warning concerns the complete run.
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

/// Defines each kind with its title and advice.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $title:literal: $advice:literal,)+) => {
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum WarningKind {
            $($(#[$doc])* $kind,)+
        }

        impl WarningKind {
            pub fn advice(self) -> &'static str {
                match self {
                    $(WarningKind::$kind => $advice,)+
                }
            }
        }

        impl fmt::Display for WarningKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(WarningKind::$kind => $title,)+
                })
            }
        }
    };
}

kinds! {
    /// Time was measured on an emulated processor.
    EmulatedTime "emulated time":
        "use the metric instructions, or measure time on the host or with KVM",
    /// Most measured regions were dirty, so that the dominant path rests on few.
    DirtyRegions "dirty measured regions":
        "raise `samples`",
    /// No code path is clearly the most frequent.
    UnstablePath "unstable path":
        "raise `warmup` and `samples`, and see the other paths (--details)",
    /// The clock's share of a sample is above its limit.
    ClockShare "clock share":
        "the operation cannot be batched further: the value is an upper bound",
    /// Other processes or machines used the core of the measuring processor in every round.
    Disturbed "disturbed":
        "leave the machine idle, or measure while other users of its processors are idle: \
         times may be up to twice as long",
    /// The rounds of a timed measurement disagree: something drifted.
    Drift "drift":
        "leave the machine idle and raise `rounds`",
    /// The kernel runs modules that the stack does not name and cannot leave out.
    ExtraModules "extra modules":
        "compare only stacks on the same kernel: they all include these modules",
    /// The kernel has no symbols: fewer measured regions can be counted.
    NoSymbols "no symbols":
        "build the kernel with CONFIG_KALLSYMS=y, or provide the unstripped vmlinux next to it",
    /// A slope differs from the counted calls.
    ChecksDiffer "slope differs":
        "see the slopes by hook, and the reason given there",
    /// Some hooks cannot be delayed: slopes exclude their decisions.
    UndelayedHooks "undelayed hooks":
        "slopes over all hooks exclude these; a kernel with the Tunable Security Module \
         can delay every hook",
    /// Hook calls were lost: no value includes them.
    LostCalls "lost calls":
        "the counts are lower bounds; watch fewer hooks or processes",
    /// Costs were counted on a different kernel from the recorded one.
    OtherKernel "other kernel":
        "count the costs on the kernel of the recording (--kernel)",
    /// The recorded machine had modules that are in no predicted stack.
    OtherModules "other modules":
        "values apply to the named stacks; other modules that ran there are not included",
    /// Denied calls were recorded: their cost differs from the cost that the lab counted.
    DeniedCalls "denied calls":
        "values assume that these calls had been allowed",
    /// A policy denied accesses of a measured program.
    Denials "denials":
        "allow these accesses, or expect that the program did something else than without \
         the policy",
    /// Calls were recorded whose cost is unknown.
    UncoveredCalls "uncovered calls":
        "count programs that make such calls with `lsmeter run --programs`, and add them \
         with --costs",
    MissingMeasurements "missing measurements":
        "see the reason for each measurement",
    /// The run was stopped before all measurements were made.
    Interrupted "interrupted":
        "run the same command again to measure the rest",
    /// A kind that this version does not know; the message is still valid.
    #[serde(other)]
    Other "other":
        "see the documentation of the lsmeter version that wrote the file",
}
