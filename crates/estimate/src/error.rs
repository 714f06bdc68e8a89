// SPDX-License-Identifier: GPL-2.0-or-later
//! Why nothing can be estimated.

use model::{Events, Exit, Fault, estimate::CONFLICTING_LINES};

/// Why nothing can be estimated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EstimateError {
    /// The document has no times of stacks and of a baseline.
    #[error("the document has no times of a stack and of its baseline")]
    NoTimes,
    /// The document does not say what instructions do.
    #[error("the document does not say what the instructions of a stack and of its baseline do")]
    NoEvents,
    /// No operation is in both.
    #[error("{pairs} operations were both timed and counted with a baseline, {needed} are needed")]
    FewPairs { pairs: usize, needed: usize },
    /// What a system call by itself costs is not known.
    #[error("getppid was not both timed and counted")]
    NoNullCall,
    /// Nothing has two weights.
    #[error("`{name}` is named twice")]
    TermTwice { name: String },
    /// Its times are of kernels that are not one.
    #[error("the times are of {}: which of them is not said", kernels.join(" and "))]
    SeveralKernels { kernels: Vec<String> },
    /// There is no such event.
    #[error("there is no event `{name}`")]
    UnknownTerm { name: String },
}

impl Fault for EstimateError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            EstimateError::NoTimes => "take times with `lsmeter run --on um` of two stacks or \
                more: see docs/um.md"
                .to_owned(),
            EstimateError::NoEvents => {
                "count with `lsmeter profile --events --baseline capability`".to_owned()
            }
            EstimateError::FewPairs { .. } => "take both of the same benchmarks, stacks and file \
                system, and count again what an lsmeter counted that told no long REP instructions"
                .to_owned(),
            EstimateError::NoNullCall => {
                "select getppid in both, for instance by the preset suite".to_owned()
            }
            EstimateError::TermTwice { .. } => "name each event once".to_owned(),
            EstimateError::SeveralKernels { .. } => {
                format!(
                    "give times of one kernel, or of {} layouts of one and more",
                    compare::judge::FEWEST_LAYOUTS
                )
            }
            EstimateError::UnknownTerm { .. } => {
                let names: Vec<&str> = Events::KINDS.iter().map(|kind| kind.name).collect();
                format!(
                    "one of instructions, {CONFLICTING_LINES}, {}",
                    names.join(", ")
                )
            }
        })
    }
}
