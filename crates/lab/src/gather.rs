// SPDX-License-Identifier: GPL-2.0-or-later
//! From what visits report to cells of the run document.

use std::time::Duration;

use experiment::journal::JournalEntry;
use experiment::{Cell, Counts, Metric, PathCount, Status, Warning, WarningKind};
use instructions::profile::CellProfile;
use stats::Summary;

use crate::protocol::{AgentStatus, Sample};
use crate::session::CellReport;
use crate::tail::Counted;

/// The clock may take this part of a sample.
const CLOCK_SHARE: f64 = 0.01;
/// Rounds whose medians lie further apart than this have drifted.
const DRIFT: f64 = 0.1;

/// What one visit found of one cell.
#[derive(Debug, Clone)]
pub enum Finding {
    /// The agent reported its end.
    Report {
        /// As the agent told it.
        report: CellReport,
        /// What the plugin counted, if the cell counts instructions.
        counts: Option<Result<Box<Counted>, String>>,
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

/// A cell on its way: filled visit by visit.
#[derive(Debug, Clone)]
pub struct Gathering {
    cell: Cell,
    rounds: Vec<Vec<Sample>>,
    counts: Option<instructions::counts::Counts>,
    profile: Option<CellProfile>,
    operations: Option<Vec<Option<f64>>>,
    questions: Vec<String>,
    clock_ns: f64,
    batch: u32,
    took: Duration,
    left: u32,
}

impl Gathering {
    /// A cell that takes `visits` visits.
    pub fn new(cell: Cell, visits: u32) -> Gathering {
        Gathering {
            cell,
            rounds: Vec::new(),
            counts: None,
            profile: None,
            operations: None,
            questions: Vec::new(),
            clock_ns: 0.0,
            batch: 0,
            took: Duration::ZERO,
            left: visits,
        }
    }

    /// What the guest said of itself: release and active LSMs.
    pub fn seen_in(&mut self, release: &str, active_lsms: &[String]) {
        release.clone_into(&mut self.cell.release);
        self.cell.active_lsms = active_lsms.to_vec();
    }

    /// Takes what a visit found; the finished cell after the last one. A cell that
    /// failed in one visit has failed.
    pub fn take(&mut self, finding: Finding, keep_samples: bool) -> Option<JournalEntry> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        match finding {
            Finding::Lost { reason } => return self.end(Status::Failed, reason),
            Finding::Refused { reason } => return self.end(Status::Unsupported, reason),
            Finding::Report {
                report,
                counts,
                clock_ns,
            } => {
                self.took += report.took;
                self.questions = report.questions;
                match (report.status, counts) {
                    (AgentStatus::Failed, _) => return self.end(Status::Failed, report.reason),
                    (AgentStatus::Unsupported, _) => {
                        return self.end(Status::Unsupported, report.reason);
                    }
                    (AgentStatus::Ok, Some(Err(reason))) => {
                        return self.end(Status::Failed, reason);
                    }
                    (AgentStatus::Ok, Some(Ok(counted))) => {
                        self.counts = Some(counted.counts);
                        self.profile = counted.profile;
                        let figures = |counted: Vec<Option<u64>>| {
                            let counted = counted.into_iter();
                            counted.map(|n| n.map(|n| n as f64)).collect()
                        };
                        self.operations = counted.operations.map(figures);
                    }
                    (AgentStatus::Ok, None) => self.rounds.push(report.samples),
                }
                self.batch = report.batch;
                self.clock_ns = clock_ns;
            }
        }
        (self.left == 0).then(|| self.finish(keep_samples))
    }

    /// What was called in it, once: of a finished cell that was profiled.
    pub fn take_profile(&mut self) -> Option<CellProfile> {
        self.profile.take().filter(|_| self.left == 0)
    }

    /// Each operation of a finished cell in order, in the metric's unit; None where
    /// something else ran in it. Timed ones visit by visit. Only counted ones of a sweep
    /// are kept one by one.
    pub fn operations(&self) -> Option<Vec<Option<f64>>> {
        if self.left > 0 || self.cell.status != Status::Ok {
            return None;
        }
        let metric = self.cell.metric;
        let timed = || {
            let samples = self.rounds.iter().flatten();
            samples.map(|s| Some(figure(metric, *s))).collect()
        };
        match metric {
            Metric::Instructions => self.operations.clone(),
            Metric::Time | Metric::Throughput => Some(timed()),
        }
    }

    /// What one operation asked of hooks, if that was to be told.
    pub fn questions(&self) -> &[String] {
        &self.questions
    }

    fn end(&mut self, status: Status, reason: String) -> Option<JournalEntry> {
        self.left = 0;
        self.cell.seconds = Some(self.took.as_secs_f64());
        self.cell.unusable(status, reason);
        Some(JournalEntry {
            cell: self.cell.clone(),
            warnings: Vec::new(),
            proof: None,
        })
    }

    fn finish(&mut self, keep_samples: bool) -> JournalEntry {
        let mut warnings = Vec::new();
        let rounds: Vec<Vec<f64>> = match &self.counts {
            Some(counts) => {
                self.cell.counts = Some(document(counts));
                self.cell.hooks = self
                    .profile
                    .as_ref()
                    .map(|profile| profile.modal().hooks.clone());
                warnings.extend(doubt_counts(&self.cell, counts));
                let samples = counts.samples.iter();
                vec![samples.map(|&instructions| instructions as f64).collect()]
            }
            None => {
                let metric = self.cell.metric;
                warnings.extend(self.doubt_times());
                self.cell.batch = Some(self.batch);
                let figures = |round: &Vec<Sample>| {
                    let samples = round.iter();
                    samples.map(|sample| figure(metric, *sample)).collect()
                };
                let rounds: Vec<Vec<f64>> = self.rounds.iter().map(figures).collect();
                self.cell.round_medians = Some(medians(&rounds));
                rounds
            }
        };
        self.cell.seconds = Some(self.took.as_secs_f64());
        match Summary::of_rounds(&rounds) {
            Ok(summary) => self.cell.measured(&summary),
            Err(error) => self.cell.unusable(Status::Failed, error.to_string()),
        }
        if keep_samples && self.cell.status == Status::Ok {
            self.cell.samples = Some(rounds.concat());
        }
        JournalEntry {
            cell: self.cell.clone(),
            warnings,
            proof: None,
        }
    }

    fn doubt_times(&self) -> Vec<Warning> {
        let title = self.cell.title();
        let metric = self.cell.metric;
        let mut warnings = Vec::new();
        let shortest = self
            .rounds
            .iter()
            .flatten()
            .map(|sample| sample.ns)
            .min()
            .unwrap_or(0);
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
        let rounds: Vec<Vec<f64>> = self
            .rounds
            .iter()
            .map(|round| round.iter().map(|s| figure(metric, *s)).collect())
            .collect();
        let medians = medians(&rounds);
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

/// Each round's median; a round without samples has none.
fn medians(rounds: &[Vec<f64>]) -> Vec<f64> {
    let median = |round: &Vec<f64>| Summary::of(round).ok().map(|summary| summary.median);
    rounds.iter().filter_map(median).collect()
}

fn figure(metric: Metric, sample: Sample) -> f64 {
    let (operations, ns) = (sample.operations as f64, sample.ns as f64);
    match metric {
        Metric::Throughput => operations * 1e9 / ns,
        Metric::Time | Metric::Instructions => ns / operations,
    }
}

fn document(counts: &instructions::counts::Counts) -> Counts {
    let path = |path: &instructions::counts::Path| PathCount {
        instructions: path.instructions,
        rep_iterations: path.rep_iterations,
        windows: path.windows as u64,
    };
    Counts {
        modal: path(&counts.modal),
        paths: counts
            .others
            .iter()
            .take(Counts::PATHS_LIMIT)
            .map(path)
            .collect(),
        // One sample a clean window, or an operation made of several.
        windows: counts.samples.len() as u64,
        dirty: counts.dirty as u64,
        path_hash: None,
    }
}

fn doubt_counts(cell: &Cell, counts: &instructions::counts::Counts) -> Vec<Warning> {
    let title = cell.title();
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
    use experiment::CellKey;

    fn gathering(metric: Metric, visits: u32) -> Gathering {
        let key = CellKey {
            kernel: "debian:6.12".to_owned(),
            stack: vec!["capability".to_owned()],
            integrity: Vec::new(),
            policy: experiment::Policy::None,
            tuning: experiment::Tuning::default(),
            filesystem: "ext4".to_owned(),
            benchmark: "open".to_owned(),
            variant: "AA".to_owned(),
            metric,
        };
        Gathering::new(Cell::unmeasured(key), visits)
    }

    fn timed(ns: u64) -> Finding {
        Finding::Report {
            report: CellReport {
                cell: 0,
                status: AgentStatus::Ok,
                reason: String::new(),
                samples: vec![Sample { operations: 10, ns }; 8],

                questions: Vec::new(),
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
        assert_eq!(gathering.take(timed(10_000), false), None);
        let entry = gathering.take(timed(10_000), false).unwrap();
        assert_eq!((entry.cell.n, entry.cell.median), (Some(16), Some(1000.0)));
        assert_eq!(entry.warnings, []);
    }

    #[test]
    fn drift_between_rounds_is_told() {
        let mut gathering = gathering(Metric::Time, 2);
        gathering.take(timed(10_000), false);
        let entry = gathering.take(timed(20_000), false).unwrap();
        assert_eq!(entry.warnings[0].kind, WarningKind::Drift);
        let medians = entry.cell.round_medians.unwrap();
        assert_eq!(medians.len(), 2);
        assert!((medians[1] - 2.0 * medians[0]).abs() < 1e-9);
    }

    #[test]
    fn a_lost_visit_fails_the_cell_at_once() {
        let mut gathering = gathering(Metric::Time, 3);
        gathering.take(timed(10_000), false);
        let lost = Finding::Lost {
            reason: "QEMU was killed by signal 9".to_owned(),
        };
        let entry = gathering.take(lost, false).unwrap();
        assert_eq!(entry.cell.status, Status::Failed);
        assert_eq!(gathering.take(timed(10_000), false), None);
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
