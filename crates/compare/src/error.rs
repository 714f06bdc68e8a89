// SPDX-License-Identifier: GPL-2.0-or-later
//! Why two documents cannot be compared.

use diagnostics::{Exit, Fault};
use experiment::Kind;
use experiment::comparison::Axis;

/// Why two documents cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They are of different kinds.
    #[error("{base} is a {}, {new} a {}", title(base_kind), title(new_kind))]
    Kinds {
        /// BASE's name.
        base: String,
        /// What it is.
        base_kind: Kind,
        /// NEW's name.
        new: String,
        /// What it is.
        new_kind: Kind,
    },
    /// Documents of this kind hold no figures.
    #[error("{name} is a {}, which holds nothing to compare", title(kind))]
    NotMeasured {
        /// Its name.
        name: String,
        /// What it is.
        kind: Kind,
    },
    /// There is nothing in it.
    #[error("{name} holds no {what}")]
    Empty {
        /// Its name.
        name: String,
        /// What it should hold.
        what: &'static str,
    },
    /// They are of different metrics.
    #[error("{base} holds {base_units}, {new} {new_units}: no unit is in both")]
    Units {
        /// BASE's name.
        base: String,
        /// Its metrics.
        base_units: String,
        /// NEW's name.
        new: String,
        /// Its metrics.
        new_units: String,
    },
    /// The cells of one run are all of one value.
    #[error("all cells of {name} have the same {axis}: {value}")]
    OneValue {
        /// Its name.
        name: String,
        /// The axis.
        axis: Axis,
        /// The value.
        value: String,
    },
    /// No cell has the value that others should be compared with.
    #[error("no cell of {name} has the {axis} `{value}`; there are {known}")]
    NoValue {
        /// Its name.
        name: String,
        /// The axis.
        axis: Axis,
        /// What was asked for.
        value: String,
        /// What there is.
        known: String,
    },
    /// Only runs have axes.
    #[error("{name} is a {}: --across takes a run document", title(kind))]
    NoRun {
        /// Its name.
        name: String,
        /// What it is.
        kind: Kind,
    },
}

fn title(kind: &Kind) -> &'static str {
    Kind::title(Some(*kind))
}

impl Fault for CompareError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            CompareError::Kinds { .. } => "give two documents that the same command wrote",
            CompareError::NotMeasured { .. } => {
                "give documents of lsmeter run, profile, monitor or sensitivity"
            }
            CompareError::Empty { .. } => "measure again, and see that a cell is selected",
            CompareError::Units { .. } => {
                "measure both with the same --metric: instructions are not time"
            }
            CompareError::OneValue { .. } => {
                "compare along another axis, or two documents: lsmeter compare BASE NEW"
            }
            CompareError::NoValue { .. } => "name one of these with --base-value",
            CompareError::NoRun { .. } => "give a document that `lsmeter run --output FILE` wrote",
        };
        Some(hint.to_owned())
    }
}
