// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs git in a directory.

use std::io;
use std::path::Path;
use std::process::Output;

use kernels::Error;
use model::printable;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a>(pub(crate) &'a Path);

impl Git<'_> {
    /// Standard output without the final newline.
    pub(crate) fn read(self, arguments: &[&str]) -> Result<String, Error> {
        let output = self.run(arguments)?;
        if !output.status.success() {
            return Err(self.failed(arguments, &output));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    pub(crate) fn run(self, arguments: &[&str]) -> Result<Output, Error> {
        let run = || kernels::git::command(self.0)?.args(arguments).output();
        run().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Environment {
                what: "git is not installed".to_owned(),
                hint: "install the package git".to_owned(),
            },
            _ => Error::io("run git in", self.0)(error),
        })
    }

    pub(crate) fn failed(self, arguments: &[&str], output: &Output) -> Error {
        let (command, dir) = (arguments.join(" "), self.0.display());
        let hint = kernels::git::hint(self.0);
        let what = format!("git {command} failed in {dir}: {}", error_line(output));
        let by_hand = || format!("try `git -C {dir} {command}` by hand");
        let hint = hint.unwrap_or_else(by_hand);
        Error::Environment { what, hint }
    }
}

/// The `fatal:` line of git's errors, or the last one.
pub(crate) fn error_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("fatal:"));
    let line = line.or_else(|| text.lines().rfind(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("no message").trim_start_matches("fatal: ");
    printable(line.trim_start_matches("error: "), 300)
}
