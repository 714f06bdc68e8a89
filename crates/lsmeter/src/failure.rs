// SPDX-License-Identifier: GPL-2.0-or-later
//! Errors for users: the chain of causes, a hint, and the exit code.

use std::error::Error;
use std::fmt::Display;
use std::io;

use lab::LabError;
use model::{DocumentError, Exit, Failure, Fault, PatternError, SpecError, UnknownPreset};
use monitor::MonitorError;

use crate::config::ConfigError;

type AsFault = for<'a> fn(&'a (dyn Error + 'static)) -> Option<&'a dyn Fault>;

/// The error types of all crates, with exit codes and hints. Any other error is a bug in lsmeter.
const FAULTS: [AsFault; 10] = [
    fault::<ConfigError>,
    fault::<DocumentError>,
    fault::<Failure>,
    fault::<LabError>,
    fault::<MonitorError>,
    fault::<PatternError>,
    fault::<SpecError>,
    fault::<UnknownPreset>,
    fault::<kernels::Error>,
    fault::<io::Error>,
];

fn fault<'a, T: Fault + 'static>(cause: &'a (dyn Error + 'static)) -> Option<&'a dyn Fault> {
    cause.downcast_ref::<T>().map(|fault| fault as &dyn Fault)
}

pub fn usage(what: impl Display, hint: impl Display) -> anyhow::Error {
    Failure::usage(what, hint).into()
}

pub fn explain(error: &anyhow::Error) -> (Exit, Option<String>) {
    let known = |cause| FAULTS.iter().find_map(|fault| fault(cause));
    match error.chain().find_map(known) {
        Some(fault) => (fault.exit(), fault.hint()),
        None => (Exit::Internal, None),
    }
}
