// SPDX-License-Identifier: GPL-2.0-or-later
//! A booted guest that is ready, and its copies. Each copy makes one measurement.
//!
//! QEMU copies itself ([`counts`]' `serve.h`), so a measurement does not depend on earlier ones,
//! and a broken copy costs only its own measurement. Cached measurements are not repeated: a
//! machine boots when its first copy is needed.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counts::profile::Profiler;
use counts::walk::{Counted, Functions};
use kernels::files::read;
use kernels::scratch::Scratch;
use kernels::symbols::SymbolTable;
use model::{Metric, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::active;
use crate::cache::{Entries, Entry, READY, Reuse, name_of};
use crate::deadline::Deadline;
use crate::process::{end_of, end_of_file, explained};
use crate::protocol::Decoder;
use crate::recorded::{Recorded, Records};
use crate::session::{AgentEvent, Break, CellReport, replay};
use crate::vm::{Boot, FILE_LIMIT_BYTES, Started};

/// A sample has 16 bytes; a program's names and tasks take less space than the samples.
const SENT_LIMIT_BYTES: u64 = 64 << 20;
/// The text in 64 pages with headers of 16 bytes, minus the NUL (`struct ready_page` of `serve.h`).
const DIRECTIVES_LIMIT_BYTES: usize = 64 * (4096 - 16) - 1;
const LEAVE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);
/// A copy that sleeps for this many ticks will not wake: its guest has halted, or was reset.
const ASLEEP: u32 = 3;
/// The maximum number of consecutive boots without a measurement. Without this limit, each copy
/// would boot a dead machine again.
const BOOTS: u32 = 3;

type Listener<'a> = dyn FnMut(AgentEvent) -> Result<(), String> + 'a;

#[derive(Debug, Clone)]
pub struct Wanted {
    pub metric: Metric,
    /// In a sweep, the points through which operations rotate; equal points have equal numbers.
    pub kinds: Option<Vec<usize>>,
    pub directives: String,
}

impl Wanted {
    /// Every copy gives its measurement this number, because results depend on the directives.
    pub const NUMBER: u32 = 0;
}

pub struct Machine<'a> {
    boot: Boot<'a>,
    entries: Option<Entries>,
    reuse: Reuse,
    running: Mutex<Running>,
    ready: Vec<u8>,
    active_lsms: Vec<String>,
    /// Includes the symbols of loaded modules.
    symbols: Option<SymbolTable>,
    copies: AtomicU32,
    scratch: Scratch,
}

#[derive(Default)]
struct Running {
    started: Option<Started>,
    boots: u32,
}

impl Running {
    /// Returns the frames of its agent.
    fn boot(
        &mut self,
        boot: &Boot<'_>,
        cancel: &AtomicBool,
        listener: &mut Listener<'_>,
    ) -> Result<Vec<u8>, Break> {
        self.boots += 1;
        let mut started = Started::new(boot)?;
        started.listen(&[], boot.patience, cancel, listener)?;
        let said = read(&started.agent, SENT_LIMIT_BYTES);
        self.started = Some(started);
        said.map_err(|error| Break::Failed(format!("cannot read the agent's file: {error}")))
    }

    /// Boots the machine if it is not running.
    fn up(&mut self, machine: &Machine<'_>, cancel: &AtomicBool) -> Result<&mut Started, Break> {
        if self.started.is_none() && self.boots < BOOTS {
            let said = self.boot(&machine.boot, cancel, &mut |_| Ok(()))?;
            if said != machine.ready {
                return Err(differs("a boot of the machine"));
            }
        }
        let failed = || Break::Failed(format!("the virtual machine failed {BOOTS} times"));
        self.started.as_mut().ok_or_else(failed)
    }
}

/// Output of a copy's agent.
struct Sent {
    path: PathBuf,
    file: Option<File>,
    /// Detects errors while the copy runs.
    decoder: Decoder,
    said: Vec<u8>,
}

impl Sent {
    fn new(path: PathBuf) -> Sent {
        Sent {
            path,
            file: None,
            decoder: Decoder::default(),
            said: Vec::new(),
        }
    }

    /// Reads up to the file's current end.
    fn read(&mut self) -> Result<(), Break> {
        let failed = |why: String| Err(Break::Failed(why));
        if self.file.is_none() {
            // The file does not exist until the copy creates it.
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let before = self.said.len();
        let left = SENT_LIMIT_BYTES - before as u64;
        match file.take(left).read_to_end(&mut self.said) {
            Ok(read) if read as u64 == left => {
                failed(format!("the agent sent more than {SENT_LIMIT_BYTES} bytes"))
            }
            Ok(_) => match self.decoder.push(&self.said[before..]) {
                Ok(_) => Ok(()),
                Err(error) => failed(error.to_string()),
            },
            Err(error) => failed(format!("cannot read the agent's file: {error}")),
        }
    }
}

impl<'a> Machine<'a> {
    /// Boots until the guest is ready, unless the cache has its agent's output.
    pub fn new(
        boot: Boot<'a>,
        scratch: Scratch,
        (entries, reuse): (Option<Entries>, Reuse),
        cancel: &AtomicBool,
        listener: &mut Listener<'_>,
    ) -> Result<Machine<'a>, Break> {
        let profiling = boot.bootable.profiling.as_deref();
        let mut symbols = None;
        let mut sections = Vec::new();
        let mut active_lsms = Vec::new();
        let mut hear = |event: AgentEvent| {
            match &event {
                AgentEvent::Hello(facts) => {
                    let lsm = facts.get("lsm").map_or("", String::as_str);
                    active_lsms = active::active_lsms(lsm);
                }
                AgentEvent::Modules(more) => {
                    sections.extend_from_slice(more);
                    if let Some(profiling) = profiling {
                        let merged = profiling.with_modules(&sections);
                        symbols = Some(merged.map_err(|error| error.to_string())?);
                    }
                }
                _ => {}
            }
            listener(event)
        };
        let mut running = Running::default();
        let cached = entries.as_ref().and_then(|entries| entries.read(READY));
        let ready = match (cached, reuse) {
            (Some(entry), Reuse::Use) => {
                heard(&entry.frames, None, Duration::ZERO, &mut hear)?;
                entry.frames
            }
            (cached, _) => {
                let said = running.boot(&boot, cancel, &mut hear)?;
                let records = Vec::new();
                let entry = Entry {
                    frames: said,
                    records,
                };
                keep(entries.as_ref(), READY, cached, &entry)?;
                entry.frames
            }
        };
        Ok(Machine {
            boot,
            entries,
            reuse,
            running: Mutex::new(running),
            ready,
            active_lsms,
            symbols,
            copies: AtomicU32::new(0),
            scratch,
        })
    }

    /// Makes one measurement in a copy, unless the cache has it.
    pub fn measure(
        &self,
        wanted: &Wanted,
        cancel: &AtomicBool,
        listener: &mut Listener<'_>,
    ) -> Result<(), Break> {
        let began = Instant::now();
        let name = name_of(&wanted.directives);
        let cached = self
            .entries
            .as_ref()
            .and_then(|entries| entries.read(&name));
        let (entry, cached) = match (cached, self.reuse) {
            (Some(entry), Reuse::Use) => (entry, None),
            (cached, _) => (self.make(wanted, cancel)?, Some(cached)),
        };
        let mut unequal = Ok(());
        heard(
            &entry.frames,
            Some(Wanted::NUMBER),
            began.elapsed(),
            &mut |mut event| {
                if let AgentEvent::CellEnd { report, counts } = &mut event {
                    let is_ok = report.status == Status::Ok;
                    if is_ok && wanted.metric.is_recorded() {
                        *counts = Some(self.evaluate(&entry.records, wanted, report));
                    }
                    if let Some(cached) = cached.clone()
                        && report.status != Status::Failed
                        && !matches!(counts, Some(Err(_)))
                    {
                        // Stored before it is reported: a finished measurement is never repeated.
                        unequal = keep(self.entries.as_ref(), &name, cached, &entry);
                    }
                }
                listener(event)
            },
        )?;
        unequal
    }

    /// Makes the measurement in a copy.
    fn make(&self, wanted: &Wanted, cancel: &AtomicBool) -> Result<Entry, Break> {
        let number = self.copies.fetch_add(1, Ordering::Relaxed);
        let mut sent = Sent::new(self.file(number, "agent"));
        let waited = self
            .copy(number, &wanted.directives, cancel)
            .and_then(|(pid, copy)| self.wait(pid, &copy, &mut sent, cancel));
        let made = waited.and_then(|()| {
            let records = match wanted.metric.is_recorded() {
                true => read(&self.file(number, "records"), FILE_LIMIT_BYTES),
                false => Ok(Vec::new()),
            };
            let said = sent.said;
            match records {
                Ok(records) => Ok(Entry {
                    frames: said,
                    records,
                }),
                Err(error) => Err(Break::Failed(format!(
                    "cannot read the plugin's records: {error}"
                ))),
            }
        });
        if made.is_ok() {
            self.running().boots = 0;
        }
        let made = made.map_err(|end| {
            let console = end_of_file(&self.file(number, "console"));
            let running = self.running();
            let stderr = running.started.as_ref().map(|of| of.qemu.stderr());
            explained(end, &console, &stderr.unwrap_or_default(), "QEMU")
        });
        for name in ["agent", "console", "records"] {
            let _ = fs::remove_file(self.file(number, name));
        }
        made
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, number: u32, name: &str) -> PathBuf {
        self.scratch.path().join(format!("{number}.{name}"))
    }

    /// Requests a copy (struct request of `serve.h`).
    fn copy(
        &self,
        number: u32,
        directives: &str,
        cancel: &AtomicBool,
    ) -> Result<(Pid, OwnedFd), Break> {
        let (bytes, most) = (directives.len(), DIRECTIVES_LIMIT_BYTES);
        if bytes > most {
            // The plugin would end the machine if it received a longer request.
            return Err(Break::Failed(format!(
                "the measurement needs {bytes} bytes of directives, more than the limit of {most}: \
                 request fewer points"
            )));
        }
        let mut request = Vec::from(number.to_ne_bytes());
        request.extend((directives.len() as u32).to_ne_bytes());
        request.extend(directives.as_bytes());
        let mut answer = [0; 4];
        let mut running = self.running();
        loop {
            let started = running.up(self, cancel)?;
            let asked = started.control.write_all(&request);
            let answered =
                asked.and_then(|()| answer_of(&mut started.control, cancel, &mut answer));
            if cancel.load(Ordering::Relaxed) {
                return Err(Break::Cancelled);
            }
            let Err(error) = answered else {
                break;
            };
            started.qemu.wait_at_most(LEAVE);
            let Some(status) = started.qemu.status() else {
                return Err(Break::Failed(format!("QEMU does not answer: {error}")));
            };
            running.started = None;
            if running.boots == BOOTS {
                return Err(end_of("QEMU", status));
            }
        }
        let answer = i32::from_ne_bytes(answer);
        let failed =
            |error: std::io::Error| Break::Failed(format!("the machine cannot be copied: {error}"));
        match Pid::from_raw(answer) {
            // The plugin does not reap the copy before the next request.
            Some(pid) if answer > 0 => {
                let copy = pidfd_open(pid, PidfdFlags::empty());
                Ok((pid, copy.map_err(|error| failed(error.into()))?))
            }
            _ => Err(failed(std::io::Error::from_raw_os_error(-answer))),
        }
    }

    fn wait(
        &self,
        pid: Pid,
        copy: &OwnedFd,
        sent: &mut Sent,
        cancel: &AtomicBool,
    ) -> Result<(), Break> {
        let deadline = Deadline::new(Some(pid), self.boot.patience.cell);
        let tick = Timespec::try_from(TICK).unwrap_or_default();
        let mut asleep = 0;
        let end = loop {
            let polled = poll(&mut [PollFd::new(copy, PollFlags::IN)], Some(&tick));
            if polled.is_ok_and(|ready| ready > 0) {
                return sent.read();
            }
            if let Err(end) = sent.read() {
                break end;
            }
            asleep = if sleeps(pid) { asleep + 1 } else { 0 };
            if cancel.load(Ordering::Relaxed) {
                break Break::Cancelled;
            }
            if asleep >= ASLEEP {
                break Break::Failed("the guest stopped during a measurement".to_owned());
            }
            if deadline.is_over() {
                let limit = self.boot.patience.cell.as_secs();
                break Break::Failed(format!("the measurement did not end within {limit} s"));
            }
        };
        let _ = pidfd_send_signal(copy, Signal::KILL);
        Err(end)
    }

    fn evaluate(
        &self,
        records: &[u8],
        wanted: &Wanted,
        report: &CellReport,
    ) -> Result<Box<Recorded>, String> {
        let bootable = self.boot.bootable;
        let records = Records::read(records, bootable.syscall_entry)?;
        if let Some(reader) = bootable.program_reader(&self.active_lsms) {
            let (tasks, denials) = (&report.tasks, report.denials.clone());
            return records.of_program(&reader, &report.samples, tasks, denials);
        }
        let mut profiler = bootable.profiling.as_deref().map(|profiling| Profiler {
            framework: &profiling.framework,
            functions: Functions::new(self.symbols.as_ref().unwrap_or(&profiling.symbols))
                .with_types(profiling.types()),
            active_lsms: self.active_lsms.clone(),
            keep_trees: profiling.keep_trees,
            counted: match (wanted.metric.is_of_transfers(), profiling.events) {
                (true, _) => Counted::Transfers,
                (false, true) => Counted::Events,
                (false, false) => Counted::Instructions,
            },
            optional: profiling.optional,
        });
        records.of_operations(profiler.as_mut(), wanted.kinds.as_deref())
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        let running = self.running.get_mut();
        let running = running.unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = &mut running.started {
            let _ = started.control.shutdown(Shutdown::Both);
            started.qemu.wait_at_most(LEAVE);
        }
    }
}

/// Waits for the answer until `cancel`.
fn answer_of(
    control: &mut UnixStream,
    cancel: &AtomicBool,
    answer: &mut [u8],
) -> std::io::Result<()> {
    control.set_read_timeout(Some(TICK))?;
    loop {
        // Either the complete answer arrives, or nothing.
        match control.read_exact(answer) {
            Err(error)
                if error.kind() == ErrorKind::WouldBlock && !cancel.load(Ordering::Relaxed) => {}
            read => return read,
        }
    }
}

fn heard(
    said: &[u8],
    cell: Option<u32>,
    took: Duration,
    listener: &mut Listener<'_>,
) -> Result<(), Break> {
    let messages = Decoder::default().push(said);
    let messages = messages.map_err(|error| Break::Failed(error.to_string()))?;
    replay(messages, cell, took, listener).map(drop)
}

/// Stores a new entry. If one exists already, the two must be the same.
fn keep(
    entries: Option<&Entries>,
    name: &str,
    cached: Option<Entry>,
    made: &Entry,
) -> Result<(), Break> {
    match (entries, cached) {
        (Some(entries), None) => entries.write(name, made),
        (_, Some(cached)) if cached != *made => return Err(differs("a measurement")),
        _ => {}
    }
    Ok(())
}

fn differs(what: &str) -> Break {
    Break::Unequal(format!(
        "{what} differs from an earlier one with the same input"
    ))
}

/// Whether a copy sleeps. It has one thread, which normally never blocks.
fn sleeps(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let state = stat
        .ok()
        .and_then(|stat| stat.rsplit(')').next()?.trim_start().chars().next());
    state == Some('S')
}
