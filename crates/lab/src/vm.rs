// SPDX-License-Identifier: GPL-2.0-or-later
//! One boot: a kernel under one stack, the agent, its cells.

use std::cell::OnceCell;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use counts::functions::FunctionTable;
use counts::profile::Profiler;
use counts::program::ProgramReader;
use counts::walk::Functions;
use kernels::symbols::SymbolTable;
use model::{Metric, Status};

use crate::initramfs::{self, DiskFile};
use crate::port::Port;
use crate::prepare::Profiling;
use crate::process::{Process, end_of, explained};
use crate::qemu::{Accelerator, PluginMode, Qemu};
use crate::root::Root;
use crate::session::{AgentEvent, Break, Patience, Session};
use crate::tail::RecordTail;

#[derive(Debug, Clone)]
pub struct Bootable {
    pub image: PathBuf,
    pub initramfs: PathBuf,
    /// The disk, unless the initramfs has the file system; boots share it.
    pub disk: Option<DiskFile>,
    pub cmdline: String,
    /// Addresses of interrupts and context switches for the plugin, or why they are unknown.
    pub landmarks: Result<PathBuf, String>,
    /// The plugin checks the landmarks against this system call entry.
    pub syscall_entry: Option<u64>,
    pub functions: Option<(PathBuf, Arc<FunctionTable>)>,
    pub profiling: Option<Arc<Profiling>>,
}

impl Bootable {
    fn program_reader<'a>(&'a self, active_lsms: &'a [String]) -> Option<ProgramReader<'a>> {
        let (_, functions) = self.functions.as_ref()?;
        let profiling = self.profiling.as_deref()?;
        Some(ProgramReader {
            functions,
            symbols: &profiling.symbols,
            framework: &profiling.framework,
            active_lsms,
            keep_trees: profiling.keep_trees,
        })
    }
}

#[derive(Debug, Clone)]
pub struct BootCell {
    pub number: u32,
    pub metric: Metric,
    /// In a sweep, the points that operations rotate through; equal points have equal numbers.
    pub kinds: Option<Vec<usize>>,
}

#[derive(Debug)]
pub struct Boot<'a> {
    pub qemu: &'a Qemu,
    pub bootable: &'a Bootable,
    pub cmdline: &'a str,
    pub accelerator: Accelerator,
    pub plugin: Option<(&'a Path, PluginMode)>,
    pub directives: &'a str,
    pub files: &'a [(String, Vec<u8>)],
    pub root: Option<&'a Root>,
    pub cells: &'a [BootCell],
    pub patience: Patience,
    pub scratch: &'a Path,
}

/// Boots, measures, and returns the agent's log. A listener's error ends the boot.
///
/// # Errors
/// [`Break`] when the guest did not finish all its cells, with the reason and the console's last
/// lines.
pub fn boot(
    boot: &Boot<'_>,
    cancel: &AtomicBool,
    listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
) -> Result<String, Break> {
    let broken = |what: &str, error: std::io::Error| Break::Failed(format!("{what}: {error}"));
    let initramfs = boot.scratch.join("initramfs");
    let records = boot.scratch.join("records");
    let fifo = boot.scratch.join("agent");
    write_initramfs(boot, &initramfs).map_err(|error| broken("the initramfs", error))?;
    let port = Port::fifo(&fifo).map_err(|error| broken("the agent's port", error))?;
    let mut qemu = Process::start(boot.qemu.command(boot, &initramfs, &records, &fifo))
        .map_err(|error| broken("QEMU does not start", error))?;
    let mut tail = RecordTail::new(&records, boot.bootable.syscall_entry);
    let profiling = boot.bootable.profiling.as_deref();
    let symbols: OnceCell<SymbolTable> = OnceCell::new();
    let mut active_lsms = Vec::new();
    let mut profiler: Option<Profiler<'_>> = None;
    let numbers: Vec<u32> = boot.cells.iter().map(|cell| cell.number).collect();
    let session = Session {
        port,
        cells: &numbers,
        patience: boot.patience,
        process: Some(qemu.id()),
        cancel,
    };
    let outcome = session.run(
        None,
        &mut || match qemu.status() {
            Some(status) => Some(end_of("QEMU", status)),
            None => kvm_failure(&qemu.stderr()).map(Break::Failed),
        },
        &mut |mut event| {
            match &mut event {
                AgentEvent::Hello(facts) => {
                    let lsm = facts.get("lsm").map_or("", String::as_str);
                    active_lsms = lsm.split(',').map(str::to_owned).collect();
                }
                AgentEvent::Modules(sections) => {
                    if let Some(profiling) = profiling {
                        let merged = profiling.with_modules(sections);
                        let _ = symbols.set(merged.map_err(|error| error.to_string())?);
                    }
                }
                AgentEvent::CellEnd { report, counts } => {
                    let cell = boot.cells.iter().find(|cell| cell.number == report.cell);
                    let counted = cell.is_some_and(|cell| cell.metric.is_of_instructions());
                    let kinds = cell.and_then(|cell| cell.kinds.as_deref());
                    if let (Some(profiling), None) = (profiling, &profiler) {
                        let symbols = symbols.get().unwrap_or(&profiling.symbols);
                        profiler = Some(Profiler {
                            framework: &profiling.framework,
                            functions: Functions::new(symbols),
                            active_lsms: active_lsms.clone(),
                            keep_trees: profiling.keep_trees,
                            events: profiling.events,
                            optional: profiling.optional,
                        });
                    }
                    let reader = boot.bootable.program_reader(&active_lsms);
                    let found = counted.then(|| match &reader {
                        Some(reader) => tail.next_program(reader, &report.samples, &report.tasks),
                        None => tail.next_cell(profiler.as_mut(), kinds),
                    });
                    *counts = found.filter(|_| report.status == Status::Ok);
                }
                AgentEvent::Step(_) | AgentEvent::Undelayed(_) | AgentEvent::CellBegin(_) => {}
            }
            listener(event)
        },
    );
    if outcome.is_ok() {
        // Its reboot ends QEMU; nothing depends on it any more.
        qemu.wait_at_most(Duration::from_secs(2));
    }
    qemu.end();
    outcome.map_err(|end| explained(end, &qemu, "QEMU"))
}

/// QEMU's message when KVM cannot run the guest further. The guest stops, but QEMU does not end.
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

/// Directives are part of the initramfs, not sent over the port: the time of the host's writes is
/// random, and the deterministic clock must not see it.
fn write_initramfs(boot: &Boot<'_>, path: &Path) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    let mut base = File::open(&boot.bootable.initramfs)?;
    std::io::copy(&mut base, &mut file)?;
    let directives =
        initramfs::with_directives(boot.directives, boot.files).map_err(std::io::Error::other)?;
    file.write_all(&directives)
}
