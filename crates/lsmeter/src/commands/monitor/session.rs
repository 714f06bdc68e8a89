// SPDX-License-Identifier: GPL-2.0-or-later
//! A live machine that is watched: what is read of it, and when it is over.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use experiment::{Interval, Monitoring, Warning, WarningKind};
use lab::environment;
use monitor::{Filter, Mode, Monitor, Options, Progress, Selection, Snapshot};

use super::interval::{interval, monitoring};
use super::recorder::Recorder;
use super::scraped::Scraped;
use super::target::Target;
use crate::cli::MonitorArgs;
use crate::progress::Line;
use crate::view::{Reading, Source};

/// Programs that are attached, and who gets what they note.
pub struct Session {
    monitor: Monitor,
    /// What is watched, and how.
    pub watched: Monitoring,
    recorder: Recorder,
    scraped: Option<Scraped>,
    target: Option<Target>,
    processes: Vec<u32>,
    deadline: Option<Instant>,
    last: Snapshot,
}

impl Session {
    /// Attaches, which takes seconds, and has the command begin.
    ///
    /// # Errors
    /// If this machine does not allow it, or there is no such command.
    pub fn start(args: &MonitorArgs, line: &Line) -> Result<Session> {
        let mut target = match args.command.as_slice() {
            [] => None,
            words => Some(Target::prepare(words)?),
        };
        let mut scraped = Scraped::bind(args)?;
        let (options, scope) = options(args, target.as_ref());
        line.say("looking at the kernel");
        let monitor = Monitor::start(&options, &mut |progress| match progress {
            Progress::Calibrating => line.say("measuring what watching costs"),
            Progress::Attaching {
                done,
                total,
                function,
            } => line.say(format!("attaching {}/{total}: {function}", done + 1)),
        })?;
        monitor.drop_capabilities()?;
        let watched = monitoring(&monitor, scope, environment::now());
        let first = monitor.snapshot();
        if let Some(scraped) = &mut scraped {
            scraped.publish(&watched, &[interval(&first, Duration::ZERO)])?;
        }
        if let Some(target) = &mut target {
            target.begin()?;
        }
        Ok(Session {
            monitor,
            watched,
            recorder: Recorder::new(first.clone()),
            scraped,
            target,
            processes: args.processes.clone(),
            deadline: args.duration.map(|duration| Instant::now() + duration),
            last: first,
        })
    }

    /// When it is over at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Has its time passed, or what is watched ended?
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

    /// What happened since the last time.
    ///
    /// # Errors
    /// If it cannot be published.
    pub fn take(&mut self) -> Result<&Interval> {
        self.last = self.monitor.snapshot();
        if let Some(scraped) = &mut self.scraped {
            let total = interval(&self.last, Duration::ZERO);
            scraped.publish(&self.watched, &[total])?;
        }
        Ok(self.recorder.take(self.last.clone()))
    }

    /// Everything since the start, as of the last time that was taken.
    pub fn total(&self) -> Interval {
        interval(&self.last, Duration::ZERO)
    }

    /// The intervals that were taken, and reasons to doubt them. The programs stay until
    /// this process ends, which detaches them faster than one by one.
    pub fn end(mut self) -> (Monitoring, Vec<Interval>, Vec<Warning>) {
        let warnings = doubts(&self.monitor, &self.last);
        if let Some(target) = &mut self.target {
            target.tell_end();
        }
        std::mem::forget(self.monitor);
        (self.watched, self.recorder.into_intervals(), warnings)
    }
}

impl Source for Session {
    fn read(&mut self) -> Reading {
        // What is served is written to memory, which does not fail.
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

/// What is to be watched, in the engine's words and in the reader's.
fn options(args: &MonitorArgs, target: Option<&Target>) -> (Options, String) {
    let words = |words: &[String]| -> Vec<String> {
        let words = words.iter().map(|word| word.trim().to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let (filter, scope) = match (target, &args.cgroup, args.processes.as_slice()) {
        (Some(target), _, _) => {
            let words: Vec<_> = args.command.iter().map(|w| w.to_string_lossy()).collect();
            let scope = format!("{}{}", Monitoring::OF_COMMAND, words.join(" "));
            (Filter::Processes(vec![target.process()]), scope)
        }
        (None, Some(dir), _) => {
            let scope = format!("the control group {}", dir.display());
            (Filter::Cgroup(dir.clone()), scope)
        }
        (None, None, []) => (Filter::Machine, "the machine".to_owned()),
        (None, None, processes) => {
            let numbers: Vec<String> = processes.iter().map(u32::to_string).collect();
            let scope = format!("process {}", numbers.join(", "));
            (Filter::Processes(processes.to_vec()), scope)
        }
    };
    let options = Options {
        mode: match (args.count, args.histogram) {
            (true, _) => Mode::Count,
            (false, true) => Mode::Histogram,
            (false, false) => Mode::Time,
        },
        filter,
        selection: Selection {
            hooks: words(&args.hooks),
            implementations: words(&args.functions),
        },
        pairs: args.pairs as usize,
        system_calls: args.system_calls,
    };
    (options, scope)
}

fn doubts(monitor: &Monitor, last: &Snapshot) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut lost = |message: String| warnings.push(Warning::new(WarningKind::LostCalls, message));
    let calls = last.lost.total();
    if calls > 0 {
        let kinds = [
            (
                last.lost.no_stack,
                "of more tasks at once than there is room for",
            ),
            (last.lost.too_deep, "too deep in each other"),
            (last.lost.abandoned, "whose end was not seen"),
            (last.lost.no_processor, "on a processor that came later"),
        ];
        let kinds = kinds.iter().filter(|(calls, _)| *calls > 0);
        let kinds: Vec<String> = kinds
            .map(|(calls, kind)| format!("{calls} {kind}"))
            .collect();
        lost(format!(
            "{calls} calls are in no figure: {}",
            kinds.join(", ")
        ));
    }
    if let Some(missed @ 1..) = monitor.missed() {
        lost(format!("the kernel did not run a program {missed} times"));
    }
    if last.pairs_refused > 0 {
        lost(format!(
            "{} pairs of a hook and a system call were not told apart (--pairs)",
            last.pairs_refused
        ));
    }
    warnings
}
