// SPDX-License-Identifier: GPL-2.0-or-later
//! What keeps a sweep from running at all.

use lab::LabError;
use model::{DelayModule, Exit, Fault};

#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The lab cannot.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The kernel was built without the module.
    #[error("the hooks of {kernel} cannot be delayed by the module {module}: {why}")]
    NoModule {
        kernel: String,
        module: DelayModule,
        /// What is missing.
        why: String,
    },
    /// This machine does not let hooks be delayed.
    #[error("the hooks of this machine cannot be delayed: {why}")]
    Refused {
        /// What is refused, and what that takes.
        why: String,
    },
    /// More batches than the agent keeps.
    #[error("{turns} turns of {points} delays are more than the {most} samples that are kept")]
    TooManyTurns {
        /// Times that each delay was to have its turn.
        turns: u32,
        /// Delays, at all hooks together and at single ones.
        points: usize,
        most: usize,
    },
    /// A hook that was asked for is none, or cannot be delayed.
    #[error("{kernel} has no hook `{hook}` that can be delayed")]
    UnknownHook {
        kernel: String,
        hook: String,
        nearest: Option<String>,
    },
}

impl Fault for SweepError {
    fn exit(&self) -> Exit {
        match self {
            SweepError::Lab(error) => error.exit(),
            SweepError::NoModule { .. } | SweepError::Refused { .. } => Exit::Environment,
            SweepError::UnknownHook { .. } | SweepError::TooManyTurns { .. } => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            SweepError::Lab(error) => error.hint(),
            SweepError::NoModule { module, .. } => Some(match module {
                DelayModule::Tunable => "build one with `lsmeter kernel build NAME --source \
                    linux-source-6.12`, or delay a stock kernel's hooks with --module bpf"
                    .to_owned(),
                DelayModule::Bpf => "take a kernel from 5.17 on with \
                    CONFIG_BPF_LSM=y and CONFIG_DEBUG_INFO_BTF=y, such as debian:6.12, or one built here with --module \
                    tunable"
                    .to_owned(),
            }),
            SweepError::Refused { .. } => Some(
                "sweep a kernel in the lab, without --on host; `lsmeter doctor` tells when it \
                 works here"
                    .to_owned(),
            ),
            SweepError::TooManyTurns { .. } => Some("lower --samples".to_owned()),
            SweepError::UnknownHook { nearest, .. } => Some(nearest.as_ref().map_or_else(
                || {
                    "hooks are named as in the kernel's lsm_hook_defs.h: inode_permission"
                        .to_owned()
                },
                |nearest| format!("did you mean {nearest}?"),
            )),
        }
    }
}
