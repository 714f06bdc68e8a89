// SPDX-License-Identifier: GPL-2.0-or-later
//! git, run in a directory.

use std::io;
use std::path::Path;
use std::process::Output;

use model::{Failure, printable};

use crate::bisect::BisectError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a>(pub(crate) &'a Path);

impl Git<'_> {
    /// What it prints, without the last line's end.
    pub(crate) fn read(self, arguments: &[&str]) -> Result<String, BisectError> {
        let output = self.run(arguments)?;
        if !output.status.success() {
            return Err(self.failed(arguments, &output).into());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// What it printed and how it ended, whichever that is.
    pub(crate) fn run(self, arguments: &[&str]) -> Result<Output, BisectError> {
        let run = || kernels::git::command(self.0)?.args(arguments).output();
        run().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let hint = "install the package git";
                Failure::environment("git is not on this machine", hint).into()
            }
            _ => kernels::Error::io("run git in", self.0)(error).into(),
        })
    }

    pub(crate) fn failed(self, arguments: &[&str], output: &Output) -> Failure {
        let (command, dir) = (arguments.join(" "), self.0.display());
        let hint = kernels::git::hint(self.0);
        let what = format!("git {command} failed in {dir}: {}", said(output));
        let by_hand = || format!("try `git -C {dir} {command}` by hand");
        Failure::environment(what, hint.unwrap_or_else(by_hand))
    }
}

/// The fatal line of git's complaints, or the last one.
pub(crate) fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("fatal:"));
    let line = line.or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("no message").trim_start_matches("fatal: ");
    printable(line.trim_start_matches("error: "), 300)
}
