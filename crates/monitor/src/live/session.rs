// SPDX-License-Identifier: GPL-2.0-or-later
//! Watches a live machine: its intervals and its end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{Filter, Monitor, Options, Progress, Snapshot};
use model::{
    Document, Environment, Interval, Kind, LeftOutFunction, Monitoring, Warning, WarningKind,
};

use crate::MonitorError;
use crate::layout::LOST;
use crate::live::interval::{interval, monitoring};
use crate::live::target::Target;
use crate::live::textfile::Textfile;
use crate::live::view::{Reading, Source};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    Machine,
    /// A command, started by the session, and its descendants; at least one word.
    Command(Vec<OsString>),
    /// A control group (cgroup v2) by its directory, and those below it.
    Cgroup(PathBuf),
    Processes(Vec<u32>),
}

#[derive(Debug)]
pub struct Request {
    pub subject: Subject,
    /// All options except the filter, which comes from the subject.
    pub options: Options,
    /// If None, the session lasts until the subject ends or somebody stops it.
    pub duration: Option<Duration>,
    /// Active modules of this machine, in order; empty if unknown.
    pub active_lsms: Vec<String>,
    pub environment: Environment,
    pub now: fn() -> String,
}

pub struct Session {
    monitor: Monitor,
    pub watched: Monitoring,
    pub left_out: Vec<LeftOutFunction>,
    environment: Environment,
    now: fn() -> String,
    started: String,
    since: Duration,
    intervals: Vec<Interval>,
    textfile: Option<Textfile>,
    target: Option<Target>,
    processes: Vec<u32>,
    pub deadline: Option<Instant>,
    last: Snapshot,
    keep: Option<Keep>,
}

/// One hour of seconds. If there are more intervals, neighbours are merged.
const KEPT: usize = 3_600;

fn joined(intervals: &[Interval]) -> Vec<Interval> {
    intervals.chunks(2).map(Interval::sum).collect()
}

pub type Keep = Box<dyn FnMut(&Session) -> Result<(), String>>;

#[derive(Debug)]
pub struct Ended {
    pub recording: Document,
    /// A message that the command failed or still runs.
    pub command: Option<String>,
}

impl Session {
    pub fn start(
        request: Request,
        textfile: Option<Textfile>,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Session, MonitorError> {
        let (mut target, mut processes) = (None, Vec::new());
        let (scope, filter) = match request.subject {
            Subject::Machine => ("the machine".to_owned(), Filter::Machine),
            Subject::Command(words) => {
                let command = target.insert(Target::prepare(&words)?);
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                let scope = format!("{}{}", Monitoring::OF_COMMAND, words.join(" "));
                (scope, Filter::Processes(vec![command.process]))
            }
            Subject::Cgroup(directory) => {
                let scope = format!("the control group {}", directory.display());
                (scope, Filter::Cgroup(directory))
            }
            Subject::Processes(those) => {
                processes.clone_from(&those);
                let numbers: Vec<String> = those.iter().map(u32::to_string).collect();
                let scope = format!("process {}", numbers.join(", "));
                (scope, Filter::Processes(those))
            }
        };
        let options = Options {
            filter,
            ..request.options
        };
        let monitor = Monitor::start(&options, progress)?;
        monitor.drop_capabilities()?;
        let watched = monitoring(&monitor, scope, request.active_lsms);
        let started = (request.now)();
        let last = monitor.snapshot();
        Ok(Session {
            left_out: monitor.left_out.clone(),
            monitor,
            watched,
            environment: request.environment,
            now: request.now,
            started,
            since: Duration::ZERO,
            intervals: Vec::new(),
            textfile,
            target,
            processes,
            deadline: request.duration.map(|duration| Instant::now() + duration),
            last,
            keep: None,
        })
    }

    /// Starts the command, if there is one, and writes the first text file.
    pub fn begin(&mut self) -> Result<(), MonitorError> {
        self.write_text()?;
        self.target.as_mut().map_or(Ok(()), Target::begin)
    }

    /// Calls `keep` after each interval.
    pub fn keep(&mut self, keep: Keep) {
        self.keep = Some(keep);
    }

    pub fn is_over(&mut self) -> bool {
        if self.deadline.is_some_and(|at| Instant::now() >= at) {
            return true;
        }
        if let Some(target) = &mut self.target {
            return target.has_ended();
        }
        let lives = |process: &u32| Path::new(&format!("/proc/{process}")).exists();
        !self.processes.is_empty() && !self.processes.iter().any(lives)
    }

    pub fn take(&mut self) -> Result<&Interval, MonitorError> {
        if self.intervals.len() >= KEPT {
            self.intervals = joined(&self.intervals);
        }
        let snapshot = self.monitor.snapshot();
        let difference = snapshot.since(&self.last);
        self.last = snapshot;
        let at = self.intervals.len();
        self.intervals.push(interval(&difference, self.since));
        self.since += difference.elapsed;
        self.write_text()?;
        if let Some(mut keep) = self.keep.take() {
            let kept = keep(self).map_err(std::io::Error::other);
            self.keep = Some(keep);
            kept.map_err(MonitorError::doing("cannot save the recording"))?;
        }
        Ok(&self.intervals[at])
    }

    fn write_text(&mut self) -> Result<(), MonitorError> {
        let total = self.total();
        let Some(textfile) = &mut self.textfile else {
            return Ok(());
        };
        let written = textfile.write(&self.watched, &total);
        written.map_err(MonitorError::doing("cannot write the text file"))
    }

    pub fn total(&self) -> Interval {
        interval(&self.last, Duration::ZERO)
    }

    /// The recording of what was watched so far.
    pub fn recording(&self) -> Document {
        let numbered = (0..).zip(&self.intervals);
        let cells = numbered.map(|(number, calls)| self.watched.cell(number, calls.clone()));
        Document {
            started: Some(self.started.clone()),
            finished: Some((self.now)()),
            cells: cells.collect(),
            left_out: self.left_out.clone(),
            warnings: doubts(&self.monitor, &self.last),
            monitor: Some(self.watched.clone()),
            ..Document::new(Kind::Recording, self.environment.clone())
        }
    }

    /// The programs stay attached until this process ends, because its exit detaches them faster
    /// than closing them one by one.
    pub fn end(mut self) -> Ended {
        let recording = self.recording();
        let command = self.target.as_mut().and_then(Target::end);
        std::mem::forget(self.monitor);
        Ended { recording, command }
    }
}

impl Source for Session {
    fn read(&mut self) -> Reading {
        let since_last = self.take().cloned();
        let total = self.total();
        Reading {
            since_last: since_last.unwrap_or_else(|_| total.clone()),
            total,
        }
    }

    fn ended(&mut self) -> bool {
        self.is_over()
    }
}

fn doubts(monitor: &Monitor, last: &Snapshot) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut lost = |message: String| warnings.push(Warning::new(WarningKind::LostCalls, message));
    let calls = last.lost_calls();
    if calls > 0 {
        let kinds = last.lost.iter().zip(LOST).filter(|(calls, _)| **calls > 0);
        let kinds = kinds.map(|(calls, (_, kind))| format!("{calls} {kind}"));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        lost(format!(
            "{calls} calls are missing from all figures: {kinds}"
        ));
    }
    if let Some(missed @ 1..) = monitor.missed() {
        lost(format!("the kernel did not run a program {missed} times"));
    }
    if let pairs @ 1.. = last.pairs_refused {
        lost(format!(
            "{pairs} pairs of hook and system call had no row of their own (--pairs)"
        ));
    }
    warnings
}
