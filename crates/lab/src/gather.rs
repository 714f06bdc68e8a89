// SPDX-License-Identifier: GPL-2.0-or-later
//! From what visits report to finished cells.

use std::time::Duration;

use experiment::{
    Cell, Counted, Estimate, Evidence, Metric, Outcome, PathCount, Paths, Status, Timed, Warning,
    WarningKind,
};
use instructions::calltree::kept;
use instructions::counts::{Counts, Path};
use instructions::profile::CellProfile;
use stats::{Summary, quantile_of_sorted};

use crate::outcome::{JournalEntry, Trace};
use crate::plan::PlannedCell;
use crate::profiles::hooked;
use crate::protocol::Sample;
use crate::session::CellReport;
use crate::tail::Recorded;

/// The clock may take this part of a sample.
const CLOCK_SHARE: f64 = 0.01;
/// Rounds whose medians lie further apart than this have drifted.
const DRIFT: f64 = 0.1;
/// This part of a round's samples are quieter than what stands for them ([`Timed::quiet`]).
const QUIET: f64 = 0.1;

/// What one visit found of one cell.
#[derive(Debug, Clone)]
pub enum Finding {
    /// The agent reported its end.
    Report {
        /// As the agent told it.
        report: CellReport,
        /// What the plugin counted, if the cell counts instructions.
        counts: Option<Result<Box<Recorded>, String>>,
        /// What reading the clock costs there, in ns.
        clock_ns: f64,
    },
    /// It never ended.
    Lost {
        /// Why, with the console's last lines.
        reason: String,
    },
    /// It cannot be measured here.
    Refused {
        /// Why.
        reason: String,
    },
}

/// What is known of a cell before its last visit has ended.
#[derive(Debug, Clone)]
pub struct Gathering {
    planned: PlannedCell,
    release: String,
    active_lsms: Vec<String>,
    /// What was timed, visit by visit.
    rounds: Vec<Vec<Sample>>,
    /// What was counted: in its only visit.
    recorded: Option<Box<Recorded>>,
    questions: Vec<String>,
    clock_ns: f64,
    batch: u32,
    took: Duration,
    left: u32,
}

/// What a finished cell's visits make together.
struct Measured {
    evidence: Evidence,
    profile: Option<CellProfile>,
    operations: Option<Vec<Option<f64>>>,
}

impl Gathering {
    /// A cell that takes `visits` visits.
    pub fn new(planned: PlannedCell, visits: u32) -> Gathering {
        Gathering {
            planned,
            release: String::new(),
            active_lsms: Vec::new(),
            rounds: Vec::new(),
            recorded: None,
            questions: Vec::new(),
            clock_ns: 0.0,
            batch: 0,
            took: Duration::ZERO,
            left: visits,
        }
    }

    /// What the guest said of itself: release and active LSMs.
    pub fn seen_in(&mut self, release: &str, active_lsms: &[String]) {
        release.clone_into(&mut self.release);
        self.active_lsms = active_lsms.to_vec();
    }

    /// Takes what a visit found; the finished cell after the last one. A cell that
    /// failed in one visit has failed.
    pub fn take(&mut self, finding: Finding, keep_samples: bool) -> Option<JournalEntry> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let (report, counts, clock_ns) = match finding {
            Finding::Lost { reason } => return Some(self.without(Status::Failed, reason)),
            Finding::Refused { reason } => return Some(self.without(Status::Unsupported, reason)),
            Finding::Report {
                report,
                counts,
                clock_ns,
            } => (report, counts, clock_ns),
        };
        self.took += report.took;
        self.questions = report.questions;
        match (report.status, counts) {
            (status @ (Status::Failed | Status::Unsupported), _) => {
                return Some(self.without(status, report.reason));
            }
            (Status::Ok, Some(Err(reason))) => {
                return Some(self.without(Status::Failed, reason));
            }
            (Status::Ok, Some(Ok(recorded))) => self.recorded = Some(recorded),
            (Status::Ok, None) => self.rounds.push(report.samples),
        }
        self.batch = report.batch;
        self.clock_ns = clock_ns;
        (self.left == 0).then(|| self.finish(keep_samples))
    }

    /// The cell, as it ended, without any other visit.
    fn end(&mut self, outcome: Outcome, warnings: Vec<Warning>) -> JournalEntry {
        self.left = 0;
        let job = &self.planned.job;
        JournalEntry {
            cell: Cell {
                key: self.planned.key.clone(),
                release: self.release.clone(),
                active_lsms: self.active_lsms.clone(),
                syscalls: job.syscalls.clone(),
                class: job.class.clone(),
                seconds: Some(self.took.as_secs_f64()),
                outcome,
            },
            warnings,
            proof: None,
            trace: Some(Trace {
                questions: std::mem::take(&mut self.questions),
                ..Trace::default()
            }),
        }
    }

    fn without(&mut self, status: Status, reason: String) -> JournalEntry {
        self.end(Outcome::without(status, reason), Vec::new())
    }

    fn finish(&mut self, keep_samples: bool) -> JournalEntry {
        let title = self.planned.key.title();
        let (measured, warnings) = match self.recorded.take() {
            Some(recorded) => {
                let warnings = doubt_counts(&title, &recorded.counts);
                (counted(*recorded, keep_samples), warnings)
            }
            None if self.planned.job.memory => (held(&self.rounds), Vec::new()),
            None => {
                let metric = self.planned.key.metric;
                let figures = |round: &Vec<Sample>| -> Vec<f64> {
                    round.iter().map(|sample| figure(metric, *sample)).collect()
                };
                let rounds: Vec<Vec<f64>> = self.rounds.iter().map(figures).collect();
                let medians = medians(&rounds);
                let warnings = self.doubt_times(&title, &medians);
                let quiet = match metric {
                    Metric::Time => quiet(&rounds),
                    _ => Vec::new(),
                };
                let timed = timed(&rounds, medians, quiet, self.batch, keep_samples);
                (timed, warnings)
            }
        };
        match measured {
            Ok(measured) => {
                let entry = self.end(measured.evidence.into(), warnings);
                let of_end = entry.trace.unwrap_or_default();
                JournalEntry {
                    trace: Some(Trace {
                        profile: measured.profile,
                        operations: measured.operations,
                        ..of_end
                    }),
                    ..entry
                }
            }
            Err(reason) => self.end(Outcome::Failed { reason }, warnings),
        }
    }

    fn doubt_times(&self, title: &str, medians: &[f64]) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let samples = self.rounds.iter().flatten();
        let shortest = samples.map(|sample| sample.ns).min().unwrap_or(0);
        let share = 2.0 * self.clock_ns / shortest.max(1) as f64;
        if share > CLOCK_SHARE {
            warnings.push(Warning::new(
                WarningKind::ClockShare,
                format!(
                    "{title}: reading the clock is {:.1} % of a sample",
                    share * 100.0
                ),
            ));
        }
        let low = medians.iter().copied().fold(f64::INFINITY, f64::min);
        let high = medians.iter().copied().fold(0.0, f64::max);
        if medians.len() > 1 && high > low * (1.0 + DRIFT) {
            warnings.push(Warning::new(
                WarningKind::Drift,
                format!("{title}: its rounds' medians reach from {low:.0} to {high:.0}"),
            ));
        }
        warnings
    }
}

fn counted(recorded: Recorded, keep_samples: bool) -> Result<Measured, String> {
    let Recorded {
        counts,
        profile,
        program,
        later,
        operations,
    } = recorded;
    let figures = counts
        .samples
        .iter()
        .map(|&instructions| instructions as f64);
    let evidence = Counted {
        estimate: Some(estimate(&[figures.collect()], keep_samples)?),
        // The runs of a program are alike, but none is like another to the instruction.
        paths: program.is_none().then(|| paths(&counts)),
        hooked: profile.as_ref().map(|profile| hooked(profile.modal())),
        tree: { profile.as_ref() }
            .filter(|_| program.is_none())
            .and_then(|profile| kept(profile.modal().tree.as_ref()?)),
        program,
        later,
        ..Counted::default()
    };
    let figures = |operations: Vec<Option<u64>>| {
        let operations = operations.into_iter();
        operations.map(|n| n.map(|n| n as f64)).collect()
    };
    Ok(Measured {
        evidence: Evidence::from(evidence),
        profile,
        operations: operations.map(figures),
    })
}

/// What the agent read of the kernel's memory: once, bytes for each of so many objects.
fn held(rounds: &[Vec<Sample>]) -> Result<Measured, String> {
    let figures =
        |round: &Vec<Sample>| round.iter().map(|of| figure(Metric::Memory, *of)).collect();
    let rounds: Vec<Vec<f64>> = rounds.iter().map(figures).collect();
    let evidence = Counted {
        estimate: Some(estimate(&rounds, false)?),
        ..Counted::default()
    };
    Ok(Measured {
        evidence: Evidence::from(evidence),
        profile: None,
        operations: None,
    })
}

fn timed(
    rounds: &[Vec<f64>],
    medians: Vec<f64>,
    quiet: Vec<f64>,
    batch: u32,
    keep_samples: bool,
) -> Result<Measured, String> {
    Ok(Measured {
        evidence: Evidence::Timed(Timed {
            rounds: medians,
            quiet,
            batch: Some(batch),
            ..Timed::of(estimate(rounds, keep_samples)?)
        }),
        profile: None,
        operations: Some(rounds.iter().flatten().copied().map(Some).collect()),
    })
}

fn estimate(rounds: &[Vec<f64>], keep_samples: bool) -> Result<Estimate, String> {
    let summary = Summary::of_rounds(rounds).map_err(|error| error.to_string())?;
    Ok(Estimate {
        samples: keep_samples.then(|| rounds.concat()),
        ..Estimate::from(&summary)
    })
}

/// Each round's median; a round without samples has none.
fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let median = |round: &Vec<f64>| Summary::of(round).ok().map(|summary| summary.median);
    rounds.iter().filter_map(median).collect()
}

/// What each round's quiet samples say; a round without samples has none.
fn quiet(rounds: &[Vec<f64>]) -> Vec<f64> {
    let rounds = rounds.iter().filter(|round| !round.is_empty());
    let quiet = rounds.map(|round| {
        let mut sorted = round.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        quantile_of_sorted(&sorted, QUIET)
    });
    quiet.collect()
}

fn figure(metric: Metric, sample: Sample) -> f64 {
    let (operations, ns) = (sample.operations as f64, sample.ns as f64);
    match metric {
        Metric::Throughput => operations * 1e9 / ns,
        _ => ns / operations,
    }
}

fn paths(counts: &Counts) -> Paths {
    let others = counts.others.iter().take(Paths::LIMIT);
    Paths {
        modal: path_count(&counts.modal),
        others: others.map(path_count).collect(),
        // One sample a clean window, or an operation made of several.
        windows: counts.samples.len() as u64,
        dirty: counts.dirty as u64,
        path_hash: None,
    }
}

fn path_count(path: &Path) -> PathCount {
    PathCount {
        instructions: path.instructions,
        rep_iterations: path.rep_iterations,
        windows: path.windows as u64,
    }
}

fn doubt_counts(title: &str, counts: &Counts) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let clean = counts.windows - counts.dirty;
    let others: usize = counts.others.iter().map(|path| path.windows).sum();
    if others > counts.modal.windows {
        warnings.push(Warning::new(
            WarningKind::UnstablePath,
            format!(
                "{title}: {} of {clean} windows took the modal path",
                counts.modal.windows
            ),
        ));
    }
    if counts.dirty > clean {
        warnings.push(Warning::new(
            WarningKind::DirtyWindows,
            format!(
                "{title}: {} of {} windows were dirty",
                counts.dirty, counts.windows
            ),
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue;
    use crate::job::Job;
    use experiment::{Configuration, Key, Stack, Subject};
    use std::sync::Arc;

    fn gathering(metric: Metric, visits: u32) -> Gathering {
        let benchmark = catalogue().iter().find(|b| b.id() == "open:AA").unwrap();
        let configuration = Configuration::of_stack(Stack::distribution());
        let subject = Subject::benchmark("open", "AA");
        let key = Key::new("debian:6.12", &configuration, "ext4", subject, metric);
        let job = Arc::new(Job::from(benchmark));
        Gathering::new(PlannedCell { key, job }, visits)
    }

    fn took(ns: u64) -> Finding {
        Finding::Report {
            report: CellReport {
                cell: 0,
                status: Status::Ok,
                reason: String::new(),
                samples: vec![Sample { operations: 10, ns }; 8],
                questions: Vec::new(),
                tasks: Vec::new(),
                batch: 10,
                took: Duration::from_millis(1),
            },
            counts: None,
            clock_ns: 20.0,
        }
    }

    #[test]
    fn a_timed_cell_ends_with_its_last_round() {
        let mut gathering = gathering(Metric::Time, 2);
        assert_eq!(gathering.take(took(10_000), false), None);
        let entry = gathering.take(took(10_000), true).unwrap();
        let estimate = entry.cell.estimate().unwrap();
        assert_eq!((estimate.n, estimate.median), (16, 1000.0));
        assert_eq!(estimate.samples.as_ref().map(Vec::len), Some(16));
        assert_eq!(entry.cell.timed().unwrap().batch, Some(10));
        assert_eq!(
            (entry.cell.syscalls.is_empty(), entry.warnings),
            (false, vec![])
        );
    }

    #[test]
    fn drift_between_rounds_is_told() {
        let mut gathering = gathering(Metric::Time, 2);
        gathering.take(took(10_000), false);
        let entry = gathering.take(took(20_000), false).unwrap();
        assert_eq!(entry.warnings[0].kind, WarningKind::Drift);
        let medians = &entry.cell.timed().unwrap().rounds;
        assert_eq!(medians.len(), 2);
        assert!((medians[1] - 2.0 * medians[0]).abs() < 1e-9);
        let quiet = &entry.cell.timed().unwrap().quiet;
        assert!(quiet.len() == 2 && quiet[0] <= medians[0] && quiet[1] > medians[0]);
    }

    #[test]
    fn a_lost_visit_fails_the_cell_at_once() {
        let mut gathering = gathering(Metric::Time, 3);
        gathering.take(took(10_000), false);
        let lost = Finding::Lost {
            reason: "QEMU was killed by signal 9".to_owned(),
        };
        let finished = gathering.take(lost, false).unwrap();
        assert_eq!(finished.cell.status(), Status::Failed);
        assert_eq!(finished.trace.and_then(|trace| trace.operations), None);
        assert_eq!(gathering.take(took(10_000), false), None);
    }

    #[test]
    fn throughput_is_operations_per_second() {
        assert_eq!(
            figure(
                Metric::Throughput,
                Sample {
                    operations: 5,
                    ns: 1_000
                }
            ),
            5e6
        );
    }
}
