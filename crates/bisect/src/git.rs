// SPDX-License-Identifier: GPL-2.0-or-later
//! git, run in a directory.

use std::io;
use std::path::Path;
use std::process::Output;

use diagnostics::{Failure, printable};

use crate::BisectError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a>(pub(crate) &'a Path);

impl Git<'_> {
    /// What it prints, without the last line's end.
    pub(crate) fn read(self, arguments: &[&str]) -> Result<String, BisectError> {
        let output = self.run(arguments)?;
        if !output.status.success() {
            return Err(self.failed(arguments, &output));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Does something of which no output is wanted.
    pub(crate) fn act(self, arguments: &[&str]) -> Result<(), BisectError> {
        self.read(arguments).map(drop)
    }

    /// What it printed and how it ended, whichever that is.
    pub(crate) fn run(self, arguments: &[&str]) -> Result<Output, BisectError> {
        let run = || kernels::git::command(self.0)?.args(arguments).output();
        run().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let hint = "install the package git";
                Failure::environment("git is not on this machine", hint).into()
            }
            _ => BisectError::io("run git in", self.0)(error),
        })
    }

    pub(crate) fn failed(self, arguments: &[&str], output: &Output) -> BisectError {
        BisectError::Git {
            command: arguments.join(" "),
            dir: self.0.to_path_buf(),
            said: said(output),
        }
    }
}

/// The last line of what git complains about.
pub(crate) fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.find(|line| line.starts_with("fatal:"));
    let line = line.or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("it says nothing").trim();
    let line = line.trim_start_matches("fatal: ");
    printable(line.trim_start_matches("error: "), 300)
}
