// SPDX-License-Identifier: GPL-2.0-or-later
//! Detects QEMU's features.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use kernels::child::describe;
use model::{Failure, PluginApi, printable};

use super::{Qemu, join};

/// For a QEMU without a machine: seconds on a busy host.
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
                format!("QEMU {version} loads no TCG plugins, so instructions cannot be counted"),
                "name a QEMU built with --enable-plugins with --qemu, or measure --metric time",
            );
        }
        Failure::environment(
            format!("QEMU {version} does not load lsmeter's plugin: {refusal}"),
            "see that QEMU has enough memory (`ulimit -v`) and can read files in TMPDIR",
        )
    }

    /// QEMU reports its plugin versions when it refuses one. The error is any other output.
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
        let mut child = Command::new(&self.path)
            .args([
                "-machine",
                "none",
                "-nodefaults",
                "-display",
                "none",
                "-monitor",
                "stdio",
            ])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("it does not start: {error}"))?;
        // A QEMU that refuses has ended by now: ignore the error.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(b"quit\n");
        }
        let deadline = Instant::now() + TRIAL;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() <= deadline => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Ok(None) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("it does not end within {} s", TRIAL.as_secs()));
                }
            }
        };
        let mut text = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            // Output before an error is enough.
            let _ = stderr.take(64 << 10).read_to_end(&mut text);
        }
        match (status.signal(), text.is_empty()) {
            (Some(_), true) => Err(format!("it {}", describe(status))),
            _ => Ok(String::from_utf8_lossy(&text).into_owned()),
        }
    }
}

pub(super) fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty());
    printable(line.unwrap_or_default().trim(), 300)
}
