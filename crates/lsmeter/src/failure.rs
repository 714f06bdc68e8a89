// SPDX-License-Identifier: GPL-2.0-or-later
//! What went wrong, for people: the chain of causes, a hint, and the exit code.

use std::fmt::Display;

use check::CheckError;
use compare::{BudgetError, CompareError};
use experiment::merge::MergeError;
use experiment::{DocumentError, DocumentFault, PatternError, SpecError, UnknownPreset};
use history::HistoryError;
use kernels::ErrorKind;
use lab::LabError;
use monitor::MonitorError;
use placement::PlacementError;
use report::PdfError;
use sensitivity::SweepError;

use crate::exit::Exit;

/// An error of the command line itself.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct UsageError {
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub hint: Option<String>,
}

/// A usage error with a hint.
pub fn usage(what: impl Display, hint: impl Display) -> anyhow::Error {
    UsageError {
        what: what.to_string(),
        hint: Some(hint.to_string()),
    }
    .into()
}

fn of_kind(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::Usage | ErrorKind::NotFound | ErrorKind::Damaged | ErrorKind::Unsupported => {
            Exit::Usage
        }
        _ => Exit::Environment,
    }
}

fn of_lab(error: &LabError) -> Exit {
    match error {
        LabError::Select(_) | LabError::Journal { .. } | LabError::WorkDirectory { .. } => {
            Exit::Usage
        }
        LabError::Kernel(error) => of_kind(error.kind()),
        _ => Exit::Environment,
    }
}

fn of_placement(error: &PlacementError) -> Exit {
    match error {
        PlacementError::Unreadable { source, .. }
            if source.kind() != std::io::ErrorKind::NotFound =>
        {
            Exit::Environment
        }
        PlacementError::Git { .. } => Exit::Environment,
        PlacementError::BadFacts { .. } | PlacementError::BrokeOff { .. } => Exit::Internal,
        _ => Exit::Usage,
    }
}

fn of_history(error: &HistoryError) -> Exit {
    match error {
        HistoryError::Unreadable { source, .. }
            if source.kind() != std::io::ErrorKind::NotFound =>
        {
            Exit::Environment
        }
        HistoryError::Unwritable { .. } => Exit::Environment,
        _ => Exit::Usage,
    }
}

/// The exit code and the hint of an error.
pub fn explain(error: &anyhow::Error) -> (Exit, Option<String>) {
    for cause in error.chain() {
        if let Some(error) = cause.downcast_ref::<UsageError>() {
            return (Exit::Usage, error.hint.clone());
        }
        if let Some(error) = cause.downcast_ref::<SpecError>() {
            return (Exit::Usage, error.hint());
        }
        if let Some(error) = cause.downcast_ref::<UnknownPreset>() {
            let hint = error.hint().unwrap_or_else(|| {
                "`lsmeter list presets` lists them; a file is named by its path".to_owned()
            });
            return (Exit::Usage, Some(hint));
        }
        if let Some(error) = cause.downcast_ref::<DocumentError>()
            && !matches!(error.fault, DocumentFault::Io(_))
        {
            return (Exit::Usage, error.hint().map(str::to_owned));
        }
        if let Some(error) = cause.downcast_ref::<CheckError>() {
            let exit = match error {
                CheckError::Nothing { .. } => Exit::Usage,
                CheckError::BadFacts { .. } => Exit::Internal,
            };
            return (exit, Some(error.hint().to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<CompareError>() {
            return (Exit::Usage, Some(error.hint()));
        }
        if let Some(error) = cause.downcast_ref::<MergeError>() {
            return (Exit::Usage, Some(error.hint().to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<BudgetError>() {
            return (Exit::Usage, Some(error.hint().to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<SweepError>() {
            let exit = match error {
                SweepError::Lab(error) => of_lab(error),
                SweepError::NoModule { .. } | SweepError::Refused { .. } => Exit::Environment,
                SweepError::UnknownHook { .. } | SweepError::TooManyTurns { .. } => Exit::Usage,
            };
            return (exit, error.hint());
        }
        if let Some(error) = cause.downcast_ref::<MonitorError>() {
            let exit = match error {
                MonitorError::NoHooks { .. }
                | MonitorError::NoProcess(_)
                | MonitorError::Cgroup { .. }
                | MonitorError::TooLarge { .. } => Exit::Usage,
                _ => Exit::Environment,
            };
            return (exit, error.hint().map(str::to_owned));
        }
        if let Some(error) = cause.downcast_ref::<PlacementError>() {
            return (of_placement(error), Some(error.hint()));
        }
        if let Some(error) = cause.downcast_ref::<HistoryError>() {
            return (of_history(error), Some(error.hint()));
        }
        if let Some(PdfError::NoFont) = cause.downcast_ref() {
            let hint = "install one (apt install fonts-dejavu-core), or write an .svg";
            return (Exit::Environment, Some(hint.to_owned()));
        }
        if let Some(error) = cause.downcast_ref::<LabError>() {
            return (of_lab(error), error.hint());
        }
        if let Some(error) = cause.downcast_ref::<kernels::Error>() {
            return (of_kind(error.kind()), error.hint().map(str::to_owned));
        }
        if cause.downcast_ref::<PatternError>().is_some() {
            return (Exit::Usage, None);
        }
        if cause.downcast_ref::<toml::de::Error>().is_some() {
            return (Exit::Usage, None);
        }
        if cause.downcast_ref::<std::io::Error>().is_some() {
            return (Exit::Environment, None);
        }
    }
    (Exit::Internal, None)
}
