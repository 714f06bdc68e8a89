// SPDX-License-Identifier: GPL-2.0-or-later
//! Boots a UML kernel (`ARCH=um`) with the agent linked into it, under one stack, without root and
//! without KVM. `docs/time.md` describes what it measures.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use model::{Failure, FileSystem};
use rustix::process::Signal;

use crate::awake::Awake;
use crate::error::LabError;
use crate::initramfs;
use crate::process::{Process, end_of, explained};
use crate::session::{AgentEvent, Break, Patience, Session};
use kernels::Kernel;
use kernels::child::{die_with_parent, no_core};
use kernels::scratch::Scratch;

/// Twice the size of the suite's largest tree. Only touched pages of this file take space.
const MEMORY: &str = "mem=256M";
const LEAVE: Duration = Duration::from_secs(2);

pub(crate) const NO_POLICIES: &str = "checking a policy takes a second task, but UML kernels run \
                                      only one task: measure policies in virtual machines";

#[derive(Debug, Clone)]
pub struct Program {
    image: PathBuf,
    initramfs: PathBuf,
    arguments: Vec<String>,
}

/// A probe's ratio on an undisturbed processor, per mille; key on the command line and in hello.
pub(crate) const UNDISTURBED: &str = "undisturbed";
/// Time of a probe's work, ns: a measure of the processor's frequency. Also a key.
const PACE: &str = "pace_ns";

#[derive(Debug)]
pub struct Programs {
    pub by_kernel: BTreeMap<usize, Program>,
    probes: Mutex<Probes>,
    /// The processor of all boots, chosen by the first; None if it cannot be kept awake.
    awake: OnceLock<Option<Awake>>,
}

#[derive(Debug, Default)]
struct Probes {
    /// The minimum of all boots, per mille.
    undisturbed: Option<u32>,
    /// The pace of the first boot, because the reference must not change within a run.
    pace_ns: Option<u32>,
}

impl Probes {
    fn learn(&mut self, facts: &BTreeMap<String, String>) {
        let fact = |name: &str| facts.get(name)?.parse().ok().filter(|fact| *fact > 0);
        self.undisturbed = self.undisturbed.into_iter().chain(fact(UNDISTURBED)).min();
        self.pace_ns = self.pace_ns.or_else(|| fact(PACE));
    }

    /// Arguments for the next boot. A boot that is always disturbed could not detect this by
    /// itself, and all boots must scale times in the same way.
    fn words(&self) -> Vec<String> {
        let words = [(UNDISTURBED, self.undisturbed), (PACE, self.pace_ns)];
        let known = words
            .into_iter()
            .filter_map(|(word, known)| Some((word, known?)));
        known
            .map(|(word, known)| format!("lsmeter.{word}={known}"))
            .collect()
    }
}

impl Programs {
    pub fn new(by_kernel: BTreeMap<usize, Program>) -> Programs {
        Programs {
            by_kernel,
            probes: Mutex::default(),
            awake: OnceLock::new(),
        }
    }

    fn awake(&self) -> Option<&Awake> {
        self.awake.get_or_init(|| Awake::start().ok()).as_ref()
    }

    fn probes(&self) -> MutexGuard<'_, Probes> {
        // The values are valid even if a thread panicked.
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub struct Boot<'a, Words> {
    pub programs: &'a Programs,
    pub program: &'a Program,
    pub cmdline: Words,
    pub directives: &'a str,
    pub cells: &'a [u32],
    pub patience: Patience,
}

pub fn refuse_program(kernel: &Kernel) -> Result<(), LabError> {
    if !kernel.is_program {
        return Ok(());
    }
    let name = &kernel.name;
    Err(Failure::environment(
        format!("{name} is a UML kernel, which virtual machines cannot boot"),
        format!("use `lsmeter run --on um --kernel {name}`, or another kernel"),
    )
    .into())
}

pub fn prepare(kernel: &Kernel, filesystem: FileSystem, dir: &Path) -> Result<Program, LabError> {
    if !kernel.is_program {
        return Err(Failure::environment(
            format!("{} is not a UML kernel", kernel.name),
            "build one with `lsmeter kernel build um --source linux-source-6.12 --flavour um`, \
             then use --kernel build:um",
        )
        .into());
    }
    let files = initramfs::write(&[], filesystem.into(), kernel, dir)?;
    Ok(Program {
        image: kernel.image.clone(),
        initramfs: files.initramfs,
        arguments: files.arguments,
    })
}

fn command<'a>(
    boot: Boot<'a, impl Iterator<Item = &'a str>>,
    scratch: &Path,
    port: OwnedFd,
) -> Command {
    let option = |name: &str, path: &Path| {
        let mut option = std::ffi::OsString::from(name);
        option.push(path);
        option
    };
    let mut command = Command::new(&boot.program.image);
    command
        .env_clear()
        // A static program linked with glibc 2.35 or later registers an rseq area with the host.
        // The processes that the kernel makes must not share that area.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env("HOME", scratch)
        .current_dir(scratch)
        .args([MEMORY, "con=null", "con0=null,fd:1", "noreboot", "panic=-1"])
        .arg(option("uml_dir=", scratch))
        .arg(option("initrd=", &boot.program.initramfs))
        .args(&boot.program.arguments)
        .args(boot.cmdline.filter(|word| !word.is_empty()))
        .args(boot.programs.probes().words())
        .stdin(Stdio::from(port))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut command, Signal::KILL);
    no_core(&mut command);
    command
}

/// Boots, measures, and returns the agent's log.
///
/// # Errors
/// [`Break`] when the kernel did not finish all its measurements, with the reason and the console's
/// last lines.
pub fn boot<'a>(
    boot: Boot<'a, impl Iterator<Item = &'a str>>,
    cancel: &AtomicBool,
    listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
) -> Result<String, Break> {
    let failed =
        |error: std::io::Error| Break::Failed(format!("cannot start the UML kernel: {error}"));
    let scratch = Scratch::new().map_err(failed)?;
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let (cells, patience) = (boot.cells, boot.patience);
    let (directives, programs) = (boot.directives, boot.programs);
    let mut process =
        Process::start(command(boot, scratch.path(), theirs.into())).map_err(failed)?;
    let session = Session {
        port: OwnedFd::from(ours).into(),
        cells,
        patience,
        process: Some(process.id()),
        cancel,
    };
    if let Some(awake) = programs.awake() {
        // If this fails, the probes show the effect.
        let _ = awake.take(process.id());
    }
    let outcome = session.run(
        Some(directives),
        &mut || process.status().map(|status| end_of("it", status)),
        &mut |event| {
            if let AgentEvent::Hello(facts) = &event {
                programs.probes().learn(facts);
            }
            listener(event)
        },
    );
    if outcome.is_ok() {
        process.wait_at_most(LEAVE);
    }
    process.end();
    outcome.map_err(|end| explained(end, &process.stdout(), &process.stderr(), "host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boots_know_what_earlier_ones_found() {
        let mut probes = Probes::default();
        assert_eq!(probes.words(), Vec::<String>::new());
        for (undisturbed, pace, least) in [
            ("1020", "661", 1020),
            ("1600", "690", 1020),
            ("1010", "650", 1010),
            ("0", "-1", 1010),
            ("much", "", 1010),
        ] {
            let facts = [(UNDISTURBED, undisturbed), (PACE, pace)];
            let facts = facts.map(|(name, fact)| (name.to_owned(), fact.to_owned()));
            probes.learn(&BTreeMap::from(facts));
            let words = [
                format!("lsmeter.undisturbed={least}"),
                "lsmeter.pace_ns=661".to_owned(),
            ];
            assert_eq!(probes.words(), words);
        }
    }
}
