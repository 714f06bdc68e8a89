// SPDX-License-Identifier: GPL-2.0-or-later
//! Why nothing can be predicted.

use model::{Exit, Fault, nearest};

/// Why nothing can be predicted from these documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PredictError {
    /// No hook was called in the recording.
    #[error("the recording holds no call of a hook")]
    Empty,
    /// The recording holds no calls by system call.
    #[error("a {kind} holds no calls of hooks by system call")]
    NoCalls {
        /// Which document it is.
        kind: &'static str,
    },
    /// There is no such program in the recording.
    #[error("the recording holds no workload `{name}`")]
    NoWorkload { name: String, known: Vec<String> },
    /// No hooks were told apart in the costs.
    #[error("the costs hold no hooks")]
    NoHooks,
    /// The costs do not say what instructions do.
    #[error("the costs do not say what instructions do, so they cannot be weighed")]
    NoEvents,
    /// The costs are of several kernels, none of them named.
    #[error("the costs are of several kernels: {}", known.join(", "))]
    SeveralKernels { known: Vec<String> },
    /// The costs are not of that kernel.
    #[error("the costs hold nothing of the kernel `{kernel}`")]
    NoKernel { kernel: String, known: Vec<String> },
    /// The costs are not of that stack.
    #[error("the costs hold nothing of the stack `{stack}`")]
    NoStack { stack: String, known: Vec<String> },
    /// The costs are of more stacks than anybody compares.
    #[error("the costs are of more than {limit} stacks")]
    ManyStacks {
        /// The most.
        limit: usize,
    },
    /// There is no stack beside the baseline.
    #[error("there is only the stack `{stack}`, and nothing to compare it with")]
    OneStack { stack: String },
    /// No operation was counted under every stack.
    #[error("no operation was counted under each of {}", stacks.join(" and "))]
    NothingShared { stacks: Vec<String> },
}

impl Fault for PredictError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        let near = |name: &str, known: &[String]| {
            let near = nearest(name, known.iter().map(String::as_str));
            near.map_or_else(
                || {
                    let some: Vec<&str> = known.iter().take(8).map(String::as_str).collect();
                    format!("there are {}", some.join("; "))
                },
                |near| format!("did you mean `{near}`?"),
            )
        };
        Some(match self {
            PredictError::Empty => "record for longer, or watch more hooks or processes".to_owned(),
            PredictError::NoCalls { .. } => {
                "give what `lsmeter monitor --record` wrote, or a document of whole programs"
                    .to_owned()
            }
            PredictError::NoHooks => {
                "give what `lsmeter profile --output`, or `lsmeter run` of whole \
                                      programs, wrote"
                    .to_owned()
            }
            PredictError::NoEvents => {
                "count them with `lsmeter profile --events`, or let `predict --kernel` count them"
                    .to_owned()
            }
            PredictError::SeveralKernels { .. } => "name one with --kernel".to_owned(),
            PredictError::OneStack { .. } => {
                "name the baseline, then others, all of which the costs must have: --stack capability \
                 --stack capability,selinux"
                    .to_owned()
            }
            PredictError::ManyStacks { .. } => {
                "give documents of fewer stacks".to_owned()
            }
            PredictError::NothingShared { .. } => {
                "profile the same benchmarks under all stacks".to_owned()
            }
            PredictError::NoWorkload { name, known } => near(name, known),
            PredictError::NoKernel { kernel, known } => near(kernel, known),
            PredictError::NoStack { stack, known } => near(stack, known),
        })
    }
}
