// SPDX-License-Identifier: GPL-2.0-or-later
//! A booted guest that is ready, and its copies, each of which measures one cell.
//!
//! QEMU copies itself ([`counts`]' `serve.h`), so that a measurement depends on nothing that was
//! measured before it, and what breaks a copy costs only its own measurement.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use counts::profile::Profiler;
use counts::walk::Functions;
use kernels::scratch::Scratch;
use kernels::symbols::SymbolTable;
use model::{Metric, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::active;
use crate::deadline::Deadline;
use crate::process::{end_of, end_of_file, explained};
use crate::protocol::{Decoder, Message};
use crate::session::{AgentEvent, Break, CellReport, replay};
use crate::tail::{RecordTail, Recorded};
use crate::vm::{Boot, Bootable, Started};

/// A sample is 16 bytes; of a program's names and tasks there are fewer.
const SENT_LIMIT_BYTES: u64 = 64 << 20;
/// The text of 64 pages with 16 bytes of header each, less the NUL (`struct ready_page` of
/// `serve.h`).
const DIRECTIVES_LIMIT_BYTES: usize = 64 * (4096 - 16) - 1;
const LEAVE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);
/// A copy that sleeps for so many ticks will not wake: its guest has halted, or was reset.
const ASLEEP: u32 = 3;

#[derive(Debug, Clone)]
pub struct Wanted {
    pub metric: Metric,
    /// In a sweep, the points that operations rotate through; equal points have equal numbers.
    pub kinds: Option<Vec<usize>>,
    pub directives: String,
}

impl Wanted {
    /// What each copy calls its cell: what is measured depends on what it is told.
    pub const NUMBER: u32 = 0;
}

pub struct Machine<'a> {
    started: Mutex<Started>,
    bootable: &'a Bootable,
    patience: Duration,
    active_lsms: Vec<String>,
    /// With those of loaded modules.
    symbols: Option<SymbolTable>,
    copies: AtomicU32,
    scratch: Scratch,
}

/// What a copy's agent says.
struct Sent {
    path: PathBuf,
    file: Option<File>,
    decoder: Decoder,
    left: u64,
    messages: Vec<Message>,
}

impl Sent {
    fn new(path: PathBuf) -> Sent {
        Sent {
            path,
            file: None,
            decoder: Decoder::default(),
            left: SENT_LIMIT_BYTES,
            messages: Vec::new(),
        }
    }

    /// Up to the file's present end.
    fn read(&mut self) -> Result<(), Break> {
        let failed = |why: String| Err(Break::Failed(why));
        let mut new = Vec::new();
        if self.file.is_none() {
            // Until the copy has made it there is none.
            self.file = File::open(&self.path).ok();
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        match file.take(self.left).read_to_end(&mut new) {
            Ok(read) => self.left -= read as u64,
            Err(error) => return failed(format!("the agent's file: {error}")),
        }
        match self.decoder.push(&new) {
            Ok(messages) => self.messages.extend(messages),
            Err(error) => return failed(error.to_string()),
        }
        match self.left {
            0 => failed(format!("the agent said more than {SENT_LIMIT_BYTES} bytes")),
            _ => Ok(()),
        }
    }
}

impl<'a> Machine<'a> {
    /// Boots until the guest is ready.
    pub fn boot(
        boot: &Boot<'_>,
        bootable: &'a Bootable,
        scratch: Scratch,
        cancel: &AtomicBool,
        listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
    ) -> Result<Machine<'a>, Break> {
        let mut started = Started::new(boot)?;
        let profiling = bootable.profiling.as_deref();
        let symbols = OnceCell::new();
        let mut active_lsms = Vec::new();
        started.listen(&[], boot.patience, cancel, &mut |event| {
            match &event {
                AgentEvent::Hello(facts) => {
                    let lsm = facts.get("lsm").map_or("", String::as_str);
                    active_lsms = active::active_lsms(lsm);
                }
                AgentEvent::Modules(sections) => {
                    if let Some(profiling) = profiling {
                        let merged = profiling.with_modules(sections);
                        let _ = symbols.set(merged.map_err(|error| error.to_string())?);
                    }
                }
                _ => {}
            }
            listener(event)
        })?;
        Ok(Machine {
            started: Mutex::new(started),
            bootable,
            patience: boot.patience.cell,
            active_lsms,
            symbols: symbols.into_inner(),
            copies: AtomicU32::new(0),
            scratch,
        })
    }

    /// Measures one cell in a copy.
    pub fn measure(
        &self,
        wanted: &Wanted,
        cancel: &AtomicBool,
        listener: &mut dyn FnMut(AgentEvent) -> Result<(), String>,
    ) -> Result<(), Break> {
        let number = self.copies.fetch_add(1, Ordering::Relaxed);
        let began = Instant::now();
        let mut sent = Sent::new(self.file(number, "agent"));
        let waited = self
            .copy(number, &wanted.directives)
            .and_then(|(pid, copy)| self.wait(pid, &copy, &mut sent, cancel));
        let heard = waited.and_then(|()| {
            replay(
                sent.messages,
                Wanted::NUMBER,
                began.elapsed(),
                &mut |mut event| {
                    if let AgentEvent::CellEnd { report, counts } = &mut event
                        && report.status == Status::Ok
                        && wanted.metric.is_of_instructions()
                    {
                        *counts = Some(self.read_records(number, wanted, report));
                    }
                    listener(event)
                },
            )
        });
        let heard = heard.map_err(|end| {
            let stderr = self.started().qemu.stderr();
            explained(
                end,
                &end_of_file(&self.file(number, "console")),
                &stderr,
                "QEMU",
            )
        });
        for name in ["agent", "console", "records"] {
            let _ = fs::remove_file(self.file(number, name));
        }
        heard.map(drop)
    }

    fn started(&self) -> MutexGuard<'_, Started> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, number: u32, name: &str) -> PathBuf {
        self.scratch.path().join(format!("{number}.{name}"))
    }

    /// Asks for a copy (struct request of `serve.h`).
    fn copy(&self, number: u32, directives: &str) -> Result<(Pid, OwnedFd), Break> {
        let (bytes, most) = (directives.len(), DIRECTIVES_LIMIT_BYTES);
        if bytes > most {
            // The plugin would end the machine.
            return Err(Break::Failed(format!(
                "the measurement takes {bytes} bytes of directives, and a copy at most {most}: \
                 ask for fewer points"
            )));
        }
        let mut request = Vec::from(number.to_ne_bytes());
        request.extend((directives.len() as u32).to_ne_bytes());
        request.extend(directives.as_bytes());
        let mut started = self.started();
        let mut answer = [0; 4];
        let asked = started.control.write_all(&request);
        let answered = asked.and_then(|()| started.control.read_exact(&mut answer));
        if let Err(error) = answered {
            started.qemu.wait_at_most(LEAVE);
            return Err(match started.qemu.status() {
                Some(status) => end_of("QEMU", status),
                None => Break::Failed(format!("QEMU does not answer: {error}")),
            });
        }
        let answer = i32::from_ne_bytes(answer);
        let failed =
            |error: std::io::Error| Break::Failed(format!("the machine cannot be copied: {error}"));
        match Pid::from_raw(answer) {
            // The plugin does not reap it before the next request.
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
        let deadline = Deadline::new(Some(pid), self.patience);
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
                break Break::Failed("the guest stopped in the midst of a measurement".to_owned());
            }
            if deadline.is_over() {
                let limit = self.patience.as_secs();
                break Break::Failed(format!("no end within {limit} s"));
            }
        };
        let _ = pidfd_send_signal(copy, Signal::KILL);
        Err(end)
    }

    fn read_records(
        &self,
        number: u32,
        wanted: &Wanted,
        report: &CellReport,
    ) -> Result<Box<Recorded>, String> {
        let path = self.file(number, "records");
        let mut tail = RecordTail::new(&path, self.bootable.syscall_entry);
        if let Some(reader) = self.bootable.program_reader(&self.active_lsms) {
            return tail.next_program(&reader, &report.samples, &report.tasks);
        }
        let mut profiler = self
            .bootable
            .profiling
            .as_deref()
            .map(|profiling| Profiler {
                framework: &profiling.framework,
                functions: Functions::new(self.symbols.as_ref().unwrap_or(&profiling.symbols)),
                active_lsms: self.active_lsms.clone(),
                keep_trees: profiling.keep_trees,
                events: profiling.events,
                optional: profiling.optional,
            });
        tail.next_cell(profiler.as_mut(), wanted.kinds.as_deref())
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        let started = self
            .started
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let _ = started.control.shutdown(Shutdown::Both);
        started.qemu.wait_at_most(LEAVE);
    }
}

/// A copy has one thread, which waits for nothing.
fn sleeps(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let state = stat
        .ok()
        .and_then(|stat| stat.rsplit(')').next()?.trim_start().chars().next());
    state == Some('S')
}
