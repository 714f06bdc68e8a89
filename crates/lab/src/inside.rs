// SPDX-License-Identifier: GPL-2.0-or-later
//! A boot in which a program of this machine runs in the agent's place, and tells lines.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use experiment::{Clock, FileSystem};

use crate::deadline::Deadline;
use crate::error::LabError;
use crate::initramfs;
use crate::port::Port;
use crate::prepare::{image, refuse_other};
use crate::process::{Process, explained};
use crate::qemu::{Accelerator, Machine, Qemu};
use crate::session::{Break, Patience};
use kernels::Kernel;
use kernels::child::describe;
use kernels::scratch::Scratch;

/// Longest line of a guest, in bytes.
const LINE_LIMIT: usize = 4096;
/// Most bytes that a guest may say.
const TEXT_LIMIT: usize = 32 << 20;
/// How often a waiting host looks at its deadline and at the process.
const TICK: Duration = Duration::from_millis(50);

/// What runs in a guest.
#[derive(Debug)]
pub struct Inside<'a> {
    /// The emulator.
    pub qemu: &'a Qemu,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The file system whose modules and image the program finds, as the agent would.
    pub filesystem: FileSystem,
    /// The guest's first process, an ELF executable.
    pub program: &'a [u8],
    /// Its arguments, without blanks in them.
    pub arguments: &'a [&'a str],
    /// Directories of its shared libraries, in the guest.
    pub library_directories: &'a [String],
    /// Files that it needs: path without a leading `/`, and content.
    pub files: &'a [(String, Vec<u8>)],
    /// What it finds in `/experiment`.
    pub text: &'a str,
    /// Kernel command line: the stack and the user's additions.
    pub cmdline: &'a str,
    /// Until its first line, and from one line to the next.
    pub patience: Patience,
}

/// Boots, and gives `line` every line that the program writes to the second serial port,
/// until `line` says that it was the last (false). An error of it ends the boot.
///
/// # Errors
/// [`LabError`] if the boot cannot be made; inside, [`Break`] if the guest ended too early,
/// said too much or too little, with the console's last lines.
pub fn run(
    inside: &Inside<'_>,
    cancel: &AtomicBool,
    line: &mut dyn FnMut(&str) -> Result<bool, String>,
) -> Result<Result<(), Break>, LabError> {
    refuse_other(inside.program, inside.kernel)?;
    let dir = Scratch::new().map_err(LabError::io("create", &std::env::temp_dir()))?;
    let initramfs = dir.path().join("initramfs");
    let mut archive = initramfs::build(inside.program, inside.filesystem, inside.kernel)?;
    archive.extend(initramfs::with_directives(inside.text, inside.files)?);
    std::fs::write(&initramfs, archive).map_err(LabError::io("write", &initramfs))?;
    let fifo = dir.path().join("port");
    let port = Port::fifo(&fifo).map_err(LabError::io("create", &fifo))?;
    let cmdline = command_line(inside);
    let machine = Machine {
        kernel: image(inside.kernel),
        initramfs: &initramfs,
        cmdline: &cmdline,
        accelerator: Accelerator::Tcg(Clock::Fast),
        agent_port: &fifo,
        plugin: None,
        root: None,
        disk: None,
    };
    let mut qemu = match Process::start(inside.qemu.command(&machine)) {
        Ok(qemu) => qemu,
        Err(error) => {
            let reason = format!("QEMU does not start: {error}");
            return Ok(Err(Break::Failed(reason)));
        }
    };
    let heard = listen(port, &mut qemu, inside.patience, cancel, line);
    qemu.end();
    Ok(heard.map_err(|end| explained(end, &qemu, "QEMU")))
}

/// What the kernel does not know of it, it gives to its first process: `NAME=VALUE` as its
/// environment, what follows `--` as its arguments.
fn command_line(inside: &Inside<'_>) -> String {
    let mut words = initramfs::kernel_arguments(inside.filesystem);
    words.push(inside.cmdline.to_owned());
    if !inside.library_directories.is_empty() {
        let directories = inside.library_directories.join(":");
        words.push(format!("LD_LIBRARY_PATH={directories}"));
    }
    words.push(format!("-- {}", inside.arguments.join(" ")));
    words.join(" ")
}

fn listen(
    mut port: Port,
    qemu: &mut Process,
    patience: Patience,
    cancel: &AtomicBool,
    line: &mut dyn FnMut(&str) -> Result<bool, String>,
) -> Result<(), Break> {
    let failed = |reason: String| Err(Break::Failed(reason));
    let mut deadline = Deadline::new(Some(qemu.id()), patience.boot);
    let mut lines = Lines::default();
    let mut buffer = [0; 4096];
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(Break::Cancelled);
        }
        let ended = qemu.status();
        let read = match port.read(&mut buffer, TICK) {
            Ok(None) if ended.is_none() => 0,
            Ok(None | Some(0)) => {
                qemu.wait_at_most(Duration::from_secs(2));
                let ended = qemu.status().map_or_else(String::new, describe);
                return failed(format!("the guest ended too early: QEMU {ended}"));
            }
            Ok(Some(read)) => read,
            Err(error) => return failed(format!("the guest's port: {error}")),
        };
        for text in lines.push(&buffer[..read]).map_err(Break::Failed)? {
            deadline.restart(patience.cell);
            match line(&text) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(reason) => return failed(reason),
            }
        }
        if deadline.is_over() {
            return failed("the guest said nothing for too long".to_owned());
        }
    }
}

/// Takes bytes as they come and gives whole lines.
#[derive(Debug, Default)]
struct Lines {
    pending: Vec<u8>,
    all: usize,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        self.all += bytes.len();
        if self.all > TEXT_LIMIT {
            return Err(format!("the guest said more than {} MiB", TEXT_LIMIT >> 20));
        }
        let mut lines = Vec::new();
        for &byte in bytes {
            if byte == b'\n' {
                let line = String::from_utf8_lossy(&self.pending);
                lines.push(line.trim_end_matches('\r').to_owned());
                self.pending.clear();
            } else if self.pending.len() == LINE_LIMIT {
                return Err(format!(
                    "the guest wrote a line of more than {LINE_LIMIT} bytes"
                ));
            } else {
                self.pending.push(byte);
            }
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_bounded() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"one\r\ntw").unwrap(), ["one"]);
        assert_eq!(lines.push(b"o\n\n").unwrap(), ["two", ""]);
        let error = lines.push(&[b'x'; LINE_LIMIT + 1]).unwrap_err();
        assert_eq!(error, "the guest wrote a line of more than 4096 bytes");
        let mut lines = Lines::default();
        let chunk = [b'\n'; 1 << 20];
        for _ in 0..32 {
            lines.push(&chunk).unwrap();
        }
        let error = lines.push(b"\n").unwrap_err();
        assert_eq!(error, "the guest said more than 32 MiB");
    }

    proptest! {
        #[test]
        fn however_bytes_come_lines_are_the_same(
            text in proptest::collection::vec(any::<u8>(), 0..400), at in 0_usize..400,
        ) {
            let whole = Lines::default().push(&text).unwrap();
            let (begin, end) = text.split_at(at.min(text.len()));
            let mut lines = Lines::default();
            let mut parts = lines.push(begin).unwrap();
            parts.extend(lines.push(end).unwrap());
            prop_assert_eq!(whole, parts);
        }
    }
}
