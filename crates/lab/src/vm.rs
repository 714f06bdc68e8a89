// SPDX-License-Identifier: GPL-2.0-or-later
//! One boot: a kernel under one stack, the agent in it, the cells that it measures.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use experiment::Metric;
use instructions::counts::{Counts, count};
use instructions::records::{CellRecords, RecordReader};

use crate::initramfs;
use crate::process::{Process, describe, last_lines};
use crate::protocol::AgentStatus;
use crate::qemu::{Accelerator, Machine, Qemu};
use crate::session::{Break, CellReport, Event, Patience, Session};

/// Console lines that a failed boot's reason carries.
const CONSOLE_LINES: usize = 6;

/// A kernel and all that belongs to it, ready to boot.
#[derive(Debug, Clone)]
pub struct Bootable {
    /// vmlinux with a PVH entry, or bzImage.
    pub image: PathBuf,
    /// The initramfs without directives.
    pub initramfs: PathBuf,
    /// What its command line must hold for the file system.
    pub cmdline: String,
    /// Where interrupts and context switches begin, for the plugin.
    pub landmarks: Option<PathBuf>,
    /// Address of the system call entry, if known: the plugin sees whether the
    /// landmarks fit.
    pub syscall_entry: Option<u64>,
}

/// What to boot.
#[derive(Debug)]
pub struct Boot<'a> {
    /// The emulator.
    pub qemu: &'a Qemu,
    /// The kernel.
    pub bootable: &'a Bootable,
    /// Kernel command line: the stack and the user's additions.
    pub cmdline: &'a str,
    /// How it runs.
    pub accelerator: Accelerator,
    /// lsmeter's plugin as a file, if instructions are counted.
    pub plugin: Option<&'a Path>,
    /// The agent's directives.
    pub directives: &'a str,
    /// Each cell's number and metric, in the order of the directives.
    pub cells: &'a [(u32, Metric)],
    /// Time-outs.
    pub patience: Patience,
    /// A directory of its own.
    pub scratch: &'a Path,
}

/// What a boot tells its listener.
#[derive(Debug)]
pub enum BootEvent {
    /// The agent is up: release, active LSMs …
    Hello(std::collections::BTreeMap<String, String>),
    /// A cell begins.
    CellBegin(u32),
    /// A cell ended.
    CellEnd {
        /// As the agent told it.
        report: CellReport,
        /// What the plugin counted, for an instruction cell that ended well.
        counts: Option<Result<Counts, String>>,
    },
}

/// Boots and measures, telling `listener` what happens. A listener's error ends the
/// boot. Returns what the agent logged.
///
/// # Errors
/// [`Break`] when the guest did not get through all its cells, with the reason and
/// the console's last lines.
pub fn boot(
    boot: &Boot<'_>,
    cancel: &AtomicBool,
    listener: &mut dyn FnMut(BootEvent) -> Result<(), String>,
) -> Result<String, Break> {
    let broken = |what: &str, error: std::io::Error| Break::Failed(format!("{what}: {error}"));
    let initramfs = boot.scratch.join("initramfs");
    let records = boot.scratch.join("records");
    let socket = boot.scratch.join("agent");
    write_initramfs(boot, &initramfs).map_err(|error| broken("the initramfs", error))?;
    let listening = UnixListener::bind(&socket).map_err(|error| broken("a socket", error))?;
    let cmdline = format!("{} {}", boot.bootable.cmdline, boot.cmdline);
    let machine = Machine {
        kernel: &boot.bootable.image,
        initramfs: &initramfs,
        cmdline: cmdline.trim(),
        accelerator: boot.accelerator,
        agent_socket: &socket,
        plugin: boot.plugin.map(|plugin| {
            (
                plugin,
                records.as_path(),
                boot.bootable.landmarks.as_deref(),
            )
        }),
    };
    let mut qemu = Process::start(boot.qemu.command(&machine))
        .map_err(|error| broken("QEMU does not start", error))?;
    let stream = accept(&listening, &mut qemu, cancel, boot.patience.boot)?;
    let mut tail = RecordTail::new(&records, boot.bootable.syscall_entry);
    let numbers: Vec<u32> = boot.cells.iter().map(|(number, _)| *number).collect();
    let session = Session {
        stream,
        cells: &numbers,
        patience: boot.patience,
        cancel,
    };
    let outcome = session.run(
        None,
        &mut || match qemu.status() {
            Some(status) => Some(format!("QEMU {}", describe(status))),
            None => kvm_failure(&qemu.stderr()),
        },
        &mut |event| match event {
            Event::Hello(facts) => listener(BootEvent::Hello(facts)),
            Event::CellBegin(cell) => listener(BootEvent::CellBegin(cell)),
            Event::CellEnd(report) => {
                let metric = boot.cells.iter().find(|(number, _)| *number == report.cell);
                let counted = metric.is_some_and(|(_, metric)| *metric == Metric::Instructions);
                let counts = counted.then(|| tail.next_cell());
                let counts = counts.filter(|_| report.status == AgentStatus::Ok);
                listener(BootEvent::CellEnd { report, counts })
            }
        },
    );
    if outcome.is_ok() {
        // It reboots, which QEMU takes as its end; nothing depends on it any more.
        qemu.wait_at_most(Duration::from_secs(2));
    }
    qemu.end();
    outcome.map_err(|end| match end {
        Break::Cancelled => Break::Cancelled,
        Break::Failed(reason) => Break::Failed(explain(reason, &qemu)),
    })
}

/// What QEMU says when KVM can run the guest no further. It stops the guest then, but
/// does not end.
fn kvm_failure(stderr: &str) -> Option<String> {
    stderr
        .lines()
        .find(|line| {
            [
                "KVM internal error",
                "KVM: entry failed",
                "error: kvm run failed",
            ]
            .iter()
            .any(|begin| line.starts_with(begin))
        })
        .map(|line| format!("KVM failed ({line})"))
}

/// The directives travel in the initramfs, not over the port: when the host writes
/// there is chance, and under the deterministic clock nothing may be.
fn write_initramfs(boot: &Boot<'_>, path: &Path) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    let mut base = File::open(&boot.bootable.initramfs)?;
    std::io::copy(&mut base, &mut file)?;
    let directives = initramfs::with_directives(boot.directives).map_err(std::io::Error::other)?;
    file.write_all(&directives)
}

fn accept(
    listening: &UnixListener,
    qemu: &mut Process,
    cancel: &AtomicBool,
    patience: Duration,
) -> Result<UnixStream, Break> {
    let deadline = Instant::now() + patience;
    let failed = |reason: String| Err(Break::Failed(reason));
    if let Err(error) = listening.set_nonblocking(true) {
        return failed(format!("a socket: {error}"));
    }
    loop {
        match listening.accept() {
            Ok((stream, _)) => {
                return match stream.set_nonblocking(false) {
                    Ok(()) => Ok(stream),
                    Err(error) => failed(format!("a socket: {error}")),
                };
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return failed(format!("a socket: {error}")),
        }
        if cancel.load(Ordering::Relaxed) {
            return Err(Break::Cancelled);
        }
        if let Some(status) = qemu.status() {
            qemu.end();
            return failed(explain(format!("QEMU {}", describe(status)), qemu));
        }
        if Instant::now() > deadline {
            return failed("QEMU did not open the agent's port".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Adds what the console and QEMU itself said last; a panic becomes the reason.
fn explain(reason: String, qemu: &Process) -> String {
    let console = qemu.stdout();
    let panic = console.lines().find_map(|line| {
        line.find("Kernel panic")
            .map(|at| line[at..].trim_end().to_owned())
    });
    let mut text = match panic {
        Some(panic) => format!("{panic} ({reason})"),
        None => reason,
    };
    let stderr = qemu.stderr();
    for (source, output) in [("console", &console), ("QEMU", &stderr)] {
        for line in last_lines(output, CONSOLE_LINES) {
            text.push_str(&format!("\n{source}: {line}"));
        }
    }
    text
}

/// The plugin's records, read as cells end.
struct RecordTail {
    path: PathBuf,
    file: Option<File>,
    reader: RecordReader,
    ready: std::collections::VecDeque<CellRecords>,
    next: u32,
    entry: Option<u64>,
}

impl RecordTail {
    fn new(path: &Path, entry: Option<u64>) -> RecordTail {
        RecordTail {
            path: path.to_path_buf(),
            file: None,
            reader: RecordReader::new(),
            ready: std::collections::VecDeque::new(),
            next: 0,
            entry,
        }
    }

    fn fill(&mut self) -> Result<(), String> {
        let unreadable = |error: std::io::Error| format!("the plugin's records: {error}");
        if self.file.is_none() {
            self.file = Some(File::open(&self.path).map_err(unreadable)?);
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut buffer = vec![0; 256 << 10];
        loop {
            let n = file.read(&mut buffer).map_err(unreadable)?;
            if n == 0 {
                return Ok(());
            }
            let cells = self
                .reader
                .push(&buffer[..n])
                .map_err(|error| error.to_string())?;
            self.ready.extend(cells);
        }
    }

    /// The plugin wrote the cell's records before the agent could say that it ended.
    fn next_cell(&mut self) -> Result<Counts, String> {
        self.fill()?;
        let expected = self.next;
        self.next += 1;
        let Some(cell) = self.ready.pop_front() else {
            return Err("the plugin recorded nothing of this cell".to_owned());
        };
        if cell.number != expected {
            return Err(format!(
                "the plugin's records are of cell {}, not {expected}: markers are missing",
                cell.number
            ));
        }
        if let Some(entry) = self.entry
            && cell.entry != 0
            && cell.entry != entry
        {
            return Err(format!(
                "system calls enter at {:#x}, not at {entry:#x}: the kernel's symbols do not \
                 fit, so interrupts cannot be told apart",
                cell.entry
            ));
        }
        count(&cell).map_err(|error| error.to_string())
    }
}

/// Removes what earlier boots left behind whose lsmeter was killed.
pub fn remove_stale_scratch(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name
            .to_str()
            .and_then(|name| name.strip_prefix(SCRATCH_PREFIX))
            .and_then(|rest| rest.split('-').next())
            .and_then(|pid| pid.parse::<i32>().ok())
            .and_then(rustix::process::Pid::from_raw)
        else {
            continue;
        };
        if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

const SCRATCH_PREFIX: &str = "lsmeter-";

/// A directory for one boot, gone when dropped.
///
/// # Errors
/// The system's.
pub fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new()
        .prefix(&format!("{SCRATCH_PREFIX}{}-", std::process::id()))
        .tempdir()
}
