// SPDX-License-Identifier: GPL-2.0-or-later
//! Detects QEMU's features.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use kernels::child::describe;
use model::{Failure, PluginApi, printable};

use super::{Qemu, join};
use crate::process::Process;

/// The limit for a QEMU without a machine, which takes seconds on a busy host.
const TRIAL: Duration = Duration::from_secs(60);

impl Qemu {
    #[must_use]
    pub fn no_plugin(&self) -> Failure {
        let Qemu {
            version,
            plugin_refusal: refusal,
            ..
        } = self;
        let has_none = ["invalid option", "not enabled"];
        if refusal.is_empty() || has_none.iter().any(|words| refusal.contains(words)) {
            return Failure::environment(
                format!("QEMU {version} has no TCG plugins, so instructions cannot be counted"),
                "give --qemu a QEMU built with --enable-plugins, or use --metric time",
            );
        }
        Failure::environment(
            format!("QEMU {version} does not load lsmeter's plugin: {refusal}"),
            "check QEMU's memory limit (`ulimit -v`) and that it can read files in TMPDIR",
        )
    }

    /// QEMU reports the plugin versions that it supports when it refuses a plugin. The error
    /// contains any other output.
    pub(super) fn probe_plugin(&self, plugin: &Path) -> Result<PluginApi, String> {
        let refusal = |version: &str, words: &str| -> Result<u32, String> {
            let text = self.try_start(
                &["-plugin".into(), join("", plugin)],
                &[("LSMETER_PLUGIN_API", version)],
            )?;
            let number = text.split_once(words).and_then(|(_, rest)| {
                let mut digits = rest.trim_start().split(|c: char| !c.is_ascii_digit());
                digits.next()?.parse().ok()
            });
            number.ok_or_else(|| first_line(text.as_bytes()))
        };
        let current = refusal("999", "up to version")?;
        let min = refusal("0", "minimum version of").unwrap_or(0);
        Ok(PluginApi { min, current })
    }

    pub(super) fn accepts(&self, arguments: &[&str]) -> bool {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        self.try_start(&arguments, &[])
            .is_ok_and(|text| text.trim().is_empty())
    }

    /// Starts QEMU without a machine, sends `quit`, and returns its messages; an error if it does
    /// not start or does not end.
    fn try_start(
        &self,
        arguments: &[OsString],
        environment: &[(&str, &str)],
    ) -> Result<String, String> {
        // The monitor reads this when QEMU starts.
        let failed = |error: io::Error| format!("it does not start: {error}");
        let (stdin, mut quit) = io::pipe().map_err(failed)?;
        quit.write_all(b"quit\n").map_err(failed)?;
        let mut command = Command::new(&self.path);
        command
            .args(["-machine", "none", "-nodefaults", "-display", "none"])
            .args(["-monitor", "stdio"])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(stdin)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = Process::start(command).map_err(failed)?;
        process.wait_at_most(TRIAL);
        let Some(status) = process.status() else {
            return Err(format!("it does not end within {} s", TRIAL.as_secs()));
        };
        process.end();
        match (status.signal(), process.stderr()) {
            (Some(_), text) if text.is_empty() => Err(format!("it {}", describe(status))),
            (_, text) => Ok(text),
        }
    }
}

pub(super) fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty());
    printable(line.unwrap_or_default().trim(), 300)
}
