// SPDX-License-Identifier: GPL-2.0-or-later
//! Exit code and hint of an error.

use std::error::Error;

use crate::diagnostics::Exit;

pub trait Fault: Error {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn hint(&self) -> Option<String> {
        None
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Failure {
    exit: Exit,
    what: String,
    hint: String,
}

impl Failure {
    /// The command line, or a file named on it, is invalid: what is wrong, and what to write
    /// instead.
    pub fn usage(what: impl ToString, hint: impl ToString) -> Failure {
        Failure::new(Exit::Usage, what, hint)
    }

    /// The command cannot run on this machine: what is missing, and how to get it.
    pub fn environment(what: impl ToString, hint: impl ToString) -> Failure {
        Failure::new(Exit::Environment, what, hint)
    }

    /// A bug in lsmeter.
    pub fn internal(what: impl ToString) -> Failure {
        let hint = "this is a bug in lsmeter: please report it";
        Failure::new(Exit::Internal, what, hint)
    }

    fn new(exit: Exit, what: impl ToString, hint: impl ToString) -> Failure {
        Failure {
            exit,
            what: what.to_string(),
            hint: hint.to_string(),
        }
    }
}

impl Fault for Failure {
    fn exit(&self) -> Exit {
        self.exit
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}

/// System errors count as [`Exit::Environment`].
impl Fault for std::io::Error {
    fn exit(&self) -> Exit {
        Exit::Environment
    }
}
