// SPDX-License-Identifier: GPL-2.0-or-later
//! The monitor in a guest, from the host's side: what it is given, and what it says.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use arch::Arch;
use check::{CountedCell, Subject, Transcript};
use experiment::{Cell, Document, Experiment, Kind};
use lab::catalogue::{Benchmark, agents_of, catalogue_of};
use lab::inside::{Inside, run};
use lab::session::{Break, Patience};

use super::program::Program;
use crate::commands::measure::Machines;
use crate::progress::Line;

/// The hidden command that a guest's lsmeter runs.
pub const COMMAND: &str = "in-guest-monitor";
/// Where the guest finds the agent: where a path has one component, as in a profile's guest.
pub const AGENT: &str = "agent";
/// Attaching some 250 programs takes a while in an emulator, on top of the boot.
const ATTACHING: Duration = Duration::from_secs(240);

/// What came of it.
pub enum Counted {
    /// Counts.
    Document(Box<Document>),
    /// The kernel takes no monitor, for this reason.
    Unavailable(String),
    /// The user ended it.
    Cancelled,
}

/// The benchmarks of a selection that a monitor can count.
///
/// # Errors
/// If nothing is selected.
fn cells(experiment: &Experiment, arch: &Arch) -> Result<Vec<CountedCell>> {
    let all = catalogue_of(arch);
    let chosen = experiment.selection.choose(all);
    let chosen = chosen.map_err(lab::LabError::from)?;
    let benchmarks = chosen.into_iter().map(|at| &all[at]);
    let cells = benchmarks.filter(|benchmark| is_countable(benchmark));
    Ok(cells
        .map(|benchmark| CountedCell {
            benchmark: benchmark.name.clone(),
            variant: benchmark.variant.clone(),
            syscalls: benchmark.syscalls.clone(),
        })
        .collect())
}

/// Two runs must differ in operations alone: not those of thousands of names, which are all
/// made at once, nor tree walks, whose repetitions are their own.
fn is_countable(benchmark: &Benchmark) -> bool {
    benchmark.repetitions.is_none()
        && !benchmark.composite
        && !benchmark.variant.ends_with("-names")
}

/// What was counted of the same before, if a document of it is there and can be read.
pub fn counted_before(path: &Path, experiment: &Experiment, arch: &Arch) -> Option<Document> {
    let file = std::fs::File::open(path).ok()?;
    let document = Document::read(file).ok()?;
    let stack = experiment.configurations[0].stack.names();
    let filesystem = experiment.filesystem?.to_string();
    let asked = cells(experiment, arch).ok()?;
    let same = |(cell, asked): (&Cell, &CountedCell)| {
        let key = &cell.key;
        key.kernel == experiment.kernels[0]
            && key.stack == stack
            && key.filesystem == filesystem
            && (key.benchmark(), key.variant()) == (&*asked.benchmark, &*asked.variant)
    };
    let all = document.kind == Kind::Counts && document.cells.len() == asked.len();
    (all && document.cells.iter().zip(&asked).all(same)).then_some(document)
}

/// Boots the experiment's kernel under its first stack with lsmeter in it, which counts hooks
/// there, but for one that it is to be `blind_to`.
///
/// # Errors
/// If this machine cannot do that at all.
pub fn count(
    experiment: &Experiment,
    machines: &Machines,
    blind_to: Option<&str>,
    cancel: &AtomicBool,
    line: &Line,
) -> Result<Counted> {
    let kernel = &machines.kernels[0];
    let filesystem = experiment.filesystem.context("a file system")?;
    let stack = &experiment.configurations[0].stack;
    let subject = Subject {
        kernel: experiment.kernels[0].clone(),
        architecture: kernel.architecture,
        release: kernel.release.clone(),
        stack: stack.names(),
        fs: filesystem.to_string(),
    };
    let arch = kernel.arch();
    let cells = cells(experiment, arch)?;
    let program = match Program::of(arch)? {
        Ok(program) => program,
        Err(why) => return Ok(Counted::Unavailable(why)),
    };
    let mut files = program.libraries;
    files.push((AGENT.to_owned(), agents_of(arch)?[0].to_vec()));
    let mut text = format!("fs {filesystem}\n");
    if let Some(hook) = blind_to {
        let _ = writeln!(text, "blind-to {hook}");
    }
    for cell in &cells {
        let calls = cell.syscalls.join(",");
        let _ = writeln!(text, "cell {} {} {calls}", cell.benchmark, cell.variant);
    }
    let inside = Inside {
        qemu: &machines.qemu,
        kernel,
        filesystem,
        program: &program.executable,
        arguments: &[COMMAND],
        library_directories: &program.directories,
        files: &files,
        text: &text,
        cmdline: &format!("lsm={} {}", stack.as_str(), experiment.cmdline),
        patience: Patience {
            boot: ATTACHING + Duration::from_secs(experiment.boot_timeout_s.into()),
            cell: Duration::from_secs(experiment.cell_timeout_s.into()),
        },
    };
    let mut transcript = Transcript::new(&subject, &cells);
    let mut done = 0;
    let heard = run(&inside, cancel, &mut |text| {
        transcript.line(text).map_err(|error| error.to_string())?;
        if let Some(cell) = transcript.current() {
            done += usize::from(text.starts_with("begin "));
            let (kernel, title, of) = (&subject.kernel, cell.title(), cells.len());
            line.say(format!("{kernel}: monitoring {title} ({done} of {of})"));
        }
        Ok(!transcript.is_finished())
    })?;
    Ok(match heard {
        Err(Break::Cancelled) => Counted::Cancelled,
        // Only the guest itself can say that its kernel takes no monitor.
        Err(Break::Killed(why) | Break::Failed(why)) => {
            Counted::Document(transcript.broken(&why).into())
        }
        Ok(()) => match transcript.finish()? {
            Ok(document) => Counted::Document(document.into()),
            Err(why) => Counted::Unavailable(why),
        },
    })
}
