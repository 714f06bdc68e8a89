// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes to standard output, or to a file that appears complete or not at all.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use kernels::scratch::replace;
use report::{Layout, Report};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::failure::usage;
use crate::target::{self, Target};

/// Makes untrusted text safe for a terminal.
pub fn print(text: &str) -> Result<()> {
    print_as_it_is(&model::harmless(text))
}

/// Prints machine-readable output or coloured tables unchanged.
pub fn print_as_it_is(text: &str) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

pub fn is_stdout(path: &Path) -> bool {
    Target::new(path) == Target::Stdout
}

pub fn is_file(path: &Path) -> bool {
    matches!(Target::new(path), Target::File(_))
}

pub fn check(path: &Path) -> Result<()> {
    match Target::new(path).refusal() {
        None => Ok(()),
        Some(reason) => Err(usage(
            format!("cannot write {}: {reason}", path.display()),
            "name a file in an existing directory that you may write to",
        )),
    }
}

/// Checks that all files can be written, that no two are the same file, and that at most one output
/// (including `others`) uses standard output. Returns whether one does.
pub fn check_all(paths: &[&Path], others: usize) -> Result<bool> {
    let targets: Vec<Target> = paths
        .iter()
        .map(|path| Target::new(path).resolved())
        .collect();
    let to_stdout = targets.iter().filter(|target| **target == Target::Stdout);
    let to_stdout = to_stdout.count() + others;
    if to_stdout > 1 {
        return Err(usage(
            "two outputs cannot both go to standard output",
            "name a file for one of the two",
        ));
    }
    for (at, target) in targets.iter().enumerate() {
        if target.is_for_one() && targets[..at].contains(target) {
            return Err(usage(
                format!("two outputs cannot both go to {}", paths[at].display()),
                "name another file for one of the two",
            ));
        }
    }
    for path in paths {
        check(path)?;
    }
    Ok(to_stdout > 0)
}

/// Writes a temporary file next to it, syncs and renames. Symbolic links are followed. `-`,
/// descriptors, pipes and devices are written directly.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let named = || format!("cannot write {}", path.display());
    let place = match Target::new(path) {
        Target::Stdout => return Remembering::fill(io::stdout().lock(), fill),
        Target::Descriptor(number) => {
            let inherited = target::inherited(number).with_context(named)?;
            return Remembering::fill(inherited, fill).with_context(named);
        }
        Target::Special(path) => {
            let special = std::fs::OpenOptions::new().write(true).open(path);
            return Remembering::fill(special.with_context(named)?, fill).with_context(named);
        }
        Target::File(place) => place,
    };
    replace(&place, |file| {
        let mut buffered = io::BufWriter::new(file);
        fill(&mut buffered)?;
        buffered.flush().map_err(anyhow::Error::from)
    })
    .with_context(named)
}

/// Remembers a closed pipe. Not all libraries return the error.
struct Remembering<W> {
    writer: W,
    closed: bool,
}

impl<W: Write> Remembering<W> {
    fn fill(writer: W, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let mut writer = Remembering {
            writer,
            closed: false,
        };
        let filled = fill(&mut writer).and_then(|()| Ok(writer.flush()?));
        if writer.closed {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        }
        filled
    }

    fn remember<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.closed |= done.as_ref().is_err_and(closed);
        done
    }
}

impl<W: Write> Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes);
        self.remember(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.writer.flush();
        self.remember(flushed)
    }
}

pub fn print_report(report: &Report) -> Result<()> {
    let stdout = io::stdout();
    let width = stdout
        .is_terminal()
        .then(|| rustix::termios::tcgetwinsize(&stdout).ok())
        .flatten()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns >= report::WIDTH_MIN);
    let colour = has_colour();
    print_as_it_is(&report::terminal(report, &Layout { width, colour }))
}

pub fn has_colour() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

struct Listing<'a, T> {
    name: &'static str,
    entries: &'a [T],
}

impl<T: Serialize> Serialize for Listing<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(2))?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry(self.name, self.entries)?;
        map.end()
    }
}

/// A list as JSON with its version, under this name.
pub fn print_listing(name: &'static str, entries: &[impl Serialize]) -> Result<()> {
    print_json(&Listing { name, entries })
}

pub fn print_json(value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print_as_it_is(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_stays_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert!(check(&pipe).is_ok());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).unwrap()
        });
        write(&pipe, |to| Ok(to.write_all(b"all of it")?)).unwrap();
        assert_eq!(reader.join().unwrap(), "all of it");
        assert!(std::os::unix::fs::FileTypeExt::is_fifo(
            &std::fs::metadata(&pipe).unwrap().file_type()
        ));
    }
}
