// SPDX-License-Identifier: GPL-2.0-or-later
//! Why documents cannot be merged.

use model::{Exit, Fault, Metric};

/// Why documents cannot be merged; `a` and `b` are the names of two of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// One is not a run's document.
    #[error("{name} is a {what}: only run documents are merged")]
    NoRun { name: String, what: &'static str },
    /// No document was given.
    #[error("there is nothing to merge")]
    Nothing,
    #[error("{a} and {b} are of different experiments: `{key}` differs")]
    Experiments { a: String, b: String, key: String },
    #[error("{a} was written by {a_tool}, {b} by {b_tool}")]
    Tools {
        a: String,
        a_tool: String,
        b: String,
        b_tool: String,
    },
    /// Not the same number of shards, or of cells in all of them; `[shards, cells]`.
    #[error(
        "{a} is of {} shards with {} cells, {b} of {} with {}",
        a_split[0], a_split[1], b_split[0], b_split[1]
    )]
    Splits {
        a: String,
        a_split: [u32; 2],
        b: String,
        b_split: [u32; 2],
    },
    /// A cell is not in the same place of the whole, or another one is there.
    #[error("{a} and {b} do not agree where {cell} belongs")]
    Positions { a: String, b: String, cell: String },
    /// One cell, different figures.
    #[error("{cell} is in both {a} and {b}, and not the same")]
    Cells { a: String, b: String, cell: String },
    /// The same name, another kernel.
    #[error("{a} and {b} ran different kernels by the name of {kernel}")]
    Kernels {
        a: String,
        b: String,
        kernel: String,
    },
    /// Their figures come from different machines.
    #[error("{metric} of {a} is from {a_machine}, of {b} from {b_machine}")]
    Machines {
        metric: Box<Metric>,
        a: String,
        a_machine: String,
        b: String,
        b_machine: String,
    },
    /// Two of them have A/A reports, and not the same.
    #[error("{a} and {b} have different A/A reports")]
    AaReports { a: String, b: String },
}

impl Fault for MergeError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            MergeError::Nothing | MergeError::NoRun { .. } => "give the documents of the shards",
            MergeError::Experiments { .. } | MergeError::Splits { .. } => {
                "merge shards of one experiment, all run with the same spec, flags and number of \
                 shards; `lsmeter compare` tells what differs between two runs"
            }
            MergeError::Tools { .. } => "run all shards with the same lsmeter",
            MergeError::Positions { .. } => {
                "one of them was changed by hand, or comes from another build: run it again"
            }
            MergeError::Cells { .. } | MergeError::AaReports { .. } => {
                "leave one of them out; if nobody changed a document, `lsmeter compare` tells what \
                 differs"
            }
            MergeError::Kernels { .. } => {
                "name the exact version, such as debian:6.12.0-56, or copy one kernel to all machines"
            }
            MergeError::Machines { metric, .. } if metric.is_counted() => {
                "count on machines with the same QEMU"
            }
            MergeError::Machines { .. } => {
                "take times on machines of one kind; --by-machine writes a document for each"
            }
        };
        Some(hint.to_owned())
    }
}
