// SPDX-License-Identifier: GPL-2.0-or-later
//! The monitor in a guest, from the inside: lsmeter as the first process of a virtual
//! machine, which runs benchmarks there and says what their hooks were.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use check::{Line, OPERATIONS};
use diagnostics::Exit;
use experiment::{MonitorMode, Status};
use lab::protocol::{Decoder, Message, encode_experiment};
use monitor::{Filter, Monitor, MonitorError, Options, Selection, Snapshot, SystemCall};
use syscalls::Sysno;

/// Operations before those that are counted.
const WARMUP: u32 = 16;
/// Rows for pairs of a hook and a system call.
const PAIRS: usize = 8192;
/// Most bytes of the agent's answers that are read.
const ANSWERS_LIMIT: u64 = 16 << 20;
/// The oldest kernel that the monitor is made for.
const OLDEST: (u32, u32) = (5, 15);
const AGENT: &str = "/agent";
const DIRECTIVES: &str = "/tmp/directives";
const ANSWERS: &str = "/tmp/answers";

/// Monitors the benchmarks of `/experiment` and restarts the machine. Of use only as the first
/// process of one.
///
/// # Errors
/// If it is not that.
pub fn monitor() -> Result<Exit> {
    if !rustix::process::getpid().is_init() {
        return Err(crate::failure::usage(
            "this runs in virtual machines only, where `lsmeter check` puts it",
            "run `lsmeter check`",
        ));
    }
    let outcome = told();
    if let Err(error) = &outcome {
        // The console's last lines are what the host shows.
        note!("lsmeter: {error:#}");
    }
    world::end()
}

fn told() -> Result<()> {
    world::mount_system()?;
    let text = fs::read_to_string("/experiment").context("/experiment")?;
    let wanted = Wanted::parse(&text)?;
    let mut port = BufWriter::new(world::port()?);
    let mut say = |line: Line| -> Result<()> {
        writeln!(port, "{line}")?;
        Ok(port.flush()?)
    };
    let release = rustix::system::uname();
    say(Line::Release(release.release().to_string_lossy().into()))?;
    let lsm = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
    say(Line::Lsm(lsm.trim().to_owned()))?;
    world::mount_work(&wanted.fs)?;
    let options = Options {
        mode: MonitorMode::Count,
        filter: Filter::Machine,
        selection: Selection::default(),
        pairs: PAIRS,
        ..Options::default()
    };
    let monitor = match Monitor::start(&options, &mut |_| {}) {
        Ok(monitor) => monitor,
        Err(error) => {
            return match unavailable(&error, &release.release().to_string_lossy()) {
                Some(why) => say(Line::Unavailable(why)),
                // A fault of the monitor's own is no kernel's.
                None => Err(error.into()),
            };
        }
    };
    for left in monitor.left_out() {
        say(Line::LeftOut(left.name.clone(), left.reason.clone()))?;
    }
    // What the agent reads and makes for the first time is none of a benchmark's.
    let _ = watch(&monitor, "getppid null", 1)?;
    for (at, cell) in (0..).zip(&wanted.cells) {
        say(Line::Begin(at))?;
        for line in cell.count(&monitor, wanted.blind_to.as_deref())? {
            say(line)?;
        }
    }
    let lost = monitor.snapshot().lost.total() + monitor.missed().unwrap_or(0);
    say(Line::Lost(lost))?;
    // Its links go with the machine, faster than one by one.
    std::mem::forget(monitor);
    Ok(())
}

/// Why the monitor cannot be had on this kernel, if it is the kernel that lacks something.
fn unavailable(error: &MonitorError, release: &str) -> Option<String> {
    let mut numbers = release.split(['.', '-']).map_while(|of| of.parse().ok());
    let version: Option<(u32, u32)> = numbers.next().zip(numbers.next());
    let lacks = matches!(
        error,
        MonitorError::NoBtf { .. }
            | MonitorError::Lockdown
            | MonitorError::Refused
            | MonitorError::NoBpf
            | MonitorError::NoTrampolines { .. }
            | MonitorError::NeverRun
    );
    if lacks {
        return Some(error.to_string());
    }
    let old = version.is_some_and(|version| version < OLDEST);
    old.then(|| {
        let (major, minor) = OLDEST;
        format!("the monitor needs Linux {major}.{minor} or newer: {error}")
    })
}

/// What `/experiment` asks for.
#[derive(Default)]
struct Wanted {
    fs: String,
    blind_to: Option<String>,
    cells: Vec<Cell>,
}

struct Cell {
    /// Benchmark and variant, as the agent takes them.
    name: String,
    syscalls: BTreeSet<u16>,
}

impl Wanted {
    fn parse(text: &str) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["fs", fs] => wanted.fs = fs.to_owned(),
                ["blind-to", hook] => wanted.blind_to = Some(hook.to_owned()),
                ["cell", benchmark, variant, calls] => {
                    let numbers = calls.split(',').map(|name| {
                        // Where it is the only one of its kind, the list of numbers has it as
                        // asm-generic/unistd.h calls it: fstatat.
                        let plain = name.strip_prefix("new").unwrap_or(name);
                        let call: Result<Sysno, _> = name.parse().or_else(|()| plain.parse());
                        call.map(|call| call.id() as u16)
                            .map_err(|()| anyhow::anyhow!("{name} is no system call"))
                    });
                    wanted.cells.push(Cell {
                        name: format!("{benchmark} {variant}"),
                        syscalls: numbers.collect::<Result<_>>()?,
                    });
                }
                _ => bail!("/experiment: {line}"),
            }
        }
        Ok(wanted)
    }
}

/// What was called while the agent ran, or how its cell ended.
type Watched = std::result::Result<Snapshot, Line>;

impl Cell {
    /// Two runs, of which one has more operations: what they do not have in common.
    fn count(&self, monitor: &Monitor, blind_to: Option<&str>) -> Result<Vec<Line>> {
        let mut runs = Vec::new();
        for operations in OPERATIONS {
            match watch(monitor, &self.name, operations)? {
                Ok(snapshot) => runs.push(self.calls(&snapshot)),
                Err(line) => return Ok(vec![line]),
            }
        }
        let [short, long] = [&runs[0], &runs[1]];
        let hooks: BTreeSet<&String> = short.keys().chain(long.keys()).collect();
        let lines = hooks.into_iter().filter(|hook| blind_to != Some(hook));
        let of = |run: &BTreeMap<String, u64>, hook: &String| run.get(hook).copied().unwrap_or(0);
        let lines = lines.map(|hook| Line::Count(hook.clone(), of(short, hook), of(long, hook)));
        Ok(lines.chain([Line::Ended]).collect())
    }

    /// Calls in the system calls that the operation is made of.
    fn calls(&self, snapshot: &Snapshot) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for hook in &snapshot.hooks {
            for (call, figures) in &hook.system_calls {
                let own = |number| self.syscalls.contains(number);
                if matches!(call, SystemCall::Number(number) if own(number)) {
                    *counts.entry(hook.probe.hook.clone()).or_default() += figures.count;
                }
            }
        }
        counts
    }
}

/// Runs the agent on one benchmark.
fn watch(monitor: &Monitor, name: &str, operations: u64) -> Result<Watched> {
    let work = world::WORK;
    let directives =
        format!("dir {work}\ncell 0 {name} instructions warmup={WARMUP} samples={operations}\n");
    fs::write(DIRECTIVES, encode_experiment(&directives)).context(DIRECTIVES)?;
    let before = monitor.snapshot();
    let status = Command::new(AGENT)
        .stdin(File::open(DIRECTIVES).context(DIRECTIVES)?)
        .stdout(File::create(ANSWERS).context(ANSWERS)?)
        .stderr(Stdio::inherit())
        .status()
        .context(AGENT)?;
    let after = monitor.snapshot();
    Ok(match ended()? {
        Some((Status::Ok, _)) => Ok(after.since(&before)),
        Some((Status::Unsupported, why)) => Err(Line::Unsupported(why)),
        Some((Status::Failed, why)) => Err(Line::Failed(why)),
        None => Err(Line::Failed(format!("the agent ended too early: {status}"))),
    })
}

/// How the agent says that its cell ended.
fn ended() -> Result<Option<(Status, String)>> {
    let mut bytes = Vec::new();
    let answers = File::open(ANSWERS).context(ANSWERS)?;
    answers.take(ANSWERS_LIMIT).read_to_end(&mut bytes)?;
    let messages = Decoder::default().push(&bytes)?;
    Ok(messages.into_iter().find_map(|message| match message {
        Message::CellEnd { status, reason, .. } => Some((status, reason)),
        Message::Failed(reason) => Some((Status::Failed, reason)),
        _ => None,
    }))
}
