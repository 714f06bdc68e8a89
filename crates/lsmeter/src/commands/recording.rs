// SPDX-License-Identifier: GPL-2.0-or-later
//! A recording in progress: each interval is in a journal when the next begins.

use std::time::Duration;

use anyhow::Result;
use lab::journal::{JournalFile, Journals};
use lab::{LabError, environment};
use model::journal::{JOURNAL_VERSION, JournalEntry, JournalHeader};
use model::{Document, Interval, Monitoring, Tool, Warning, WarningKind};
use monitor::live::Session;

use crate::cli::MonitorArgs;
use crate::commands::journals;
use crate::output;

/// Longer gaps between intervals mean an interruption.
const GAP_S: f64 = 0.05;
const GAPS_TOLD: usize = 20;

pub struct Recording {
    journals: Journals,
    started: Option<String>,
    before: Vec<Interval>,
    /// Start of this part, in seconds after the first part's.
    offset_s: f64,
}

impl Recording {
    pub fn choose(args: &MonitorArgs) -> Result<Option<Journals>> {
        let file = args.out.output.as_deref();
        let file = file.filter(|file| output::is_file(file));
        let chosen =
            file.map(|_| journals::choose("recording", file, args.progress.resume.as_ref()));
        chosen.transpose()
    }

    pub fn begin(journals: Journals, session: &mut Session) -> Result<Recording> {
        let now = JournalHeader {
            journal_version: JOURNAL_VERSION,
            tool: Tool::this(),
            environment: environment::here(),
            others: Vec::new(),
            started: environment::now(),
            experiment: None,
            monitor: Some(session.watched.clone()),
            treatment: String::new(),
            shard: None,
        };
        let mut recording = Recording {
            started: None,
            before: Vec::new(),
            offset_s: 0.0,
            journals,
        };
        let journal = recording.journals.number(1);
        let file = if journal.resume {
            let (file, found) = JournalFile::resume::<()>(&journal.first, &now)?;
            let cells = found.finished.into_values().map(|entry| entry.cell);
            let intervals = cells.filter_map(|cell| cell.interval().cloned());
            recording.before = intervals.collect();
            recording
                .before
                .sort_by(|a, b| a.begin_s.total_cmp(&b.begin_s));
            recording.started = found.header.map(|header| header.started);
            let started = recording.started.as_deref();
            let offset_s = started.and_then(environment::seconds_since).unwrap_or(0.0);
            // Clocks that were set back must not make intervals overlap.
            let last = recording.before.last();
            let until_s = last.map_or(0.0, |last| last.begin_s + last.seconds);
            recording.offset_s = offset_s.max(until_s);
            file
        } else {
            JournalFile::begin(&journal.first, &now)?
        };
        let mut keeper = Keeper {
            header: JournalHeader {
                started: recording.started.clone().unwrap_or(now.started.clone()),
                ..now
            },
            file,
            kept: recording.before.clone(),
            offset_s: recording.offset_s,
        };
        let keep = move |watched: &Monitoring, interval: &Interval| {
            let kept = keeper.keep(watched, interval);
            kept.map_err(|error| error.to_string())
        };
        let watched_s: f64 = recording.before.iter().map(|of| of.seconds).sum();
        let watched = Duration::try_from_secs_f64(watched_s).unwrap_or_default();
        session.keep(Box::new(keep), watched);
        Ok(recording)
    }

    pub fn complete(&self, document: &mut Document) {
        if self.before.is_empty() {
            return;
        }
        let Some(watched) = document.monitor.clone() else {
            return;
        };
        let now = document
            .intervals()
            .map(|interval| later(interval, self.offset_s));
        let all: Vec<Interval> = self.before.iter().cloned().chain(now).collect();
        let gaps: Vec<String> = all
            .windows(2)
            .map(|pair| [pair[0].begin_s + pair[0].seconds, pair[1].begin_s])
            .filter(|[end, begin]| begin - end > GAP_S)
            .map(|[end, begin]| format!("{end:.1} s to {begin:.1} s"))
            .take(GAPS_TOLD)
            .collect();
        let cells = (0..).zip(all);
        let cells = cells.map(|(number, interval)| watched.cell(number, interval));
        document.cells = cells.collect();
        document.started.clone_from(&self.started);
        let message = format!(
            "it was interrupted and went on: nothing was watched from {} after the start",
            gaps.join(", ")
        );
        document.warnings.push(Warning {
            advice: "record again if what happened then matters".to_owned(),
            ..Warning::new(WarningKind::Interrupted, message)
        });
    }

    pub fn remove(&self) -> Result<()> {
        journals::remove(&self.journals)
    }
}

struct Keeper {
    header: JournalHeader,
    file: JournalFile,
    kept: Vec<Interval>,
    offset_s: f64,
}

impl Keeper {
    fn keep(&mut self, watched: &Monitoring, interval: &Interval) -> Result<(), LabError> {
        let number = self.kept.len() as u32;
        let interval = later(interval, self.offset_s);
        self.file.add(&entry(watched, number, &interval))?;
        self.kept.push(interval);
        if self.kept.len() < monitor::live::KEPT {
            return Ok(());
        }
        // Bounds the journal like the recording.
        self.kept = monitor::live::joined(&self.kept);
        let kept = (0..).zip(&self.kept);
        let entries = kept.map(|(number, interval)| entry(watched, number, interval));
        self.file.replace(&self.header, entries)
    }
}

fn entry(watched: &Monitoring, number: u32, interval: &Interval) -> JournalEntry {
    JournalEntry {
        cell: watched.cell(number, interval.clone()),
        warnings: Vec::new(),
        proof: None,
        trace: None,
    }
}

fn later(interval: &Interval, seconds: f64) -> Interval {
    Interval {
        begin_s: interval.begin_s + seconds,
        ..interval.clone()
    }
}
