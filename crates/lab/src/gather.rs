// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes finished measurements from the reports of visits.

use std::time::Duration;

use counts::calltree::kept;
use counts::counts::{Counts, Path};
use counts::profile::CellProfile;
use model::{
    Cell, Counted, Evidence, Metric, Outcome, PathCount, Paths, Status, Warning, WarningKind,
    is_dominant,
};

use crate::outcome::{Finished, Trace};
use crate::plan::PlannedCell;
use crate::profiles::hooked;
use crate::recorded::Recorded;
use crate::rounds::{Rounds, estimate};
use crate::session::CellReport;

#[derive(Debug, Clone)]
pub enum Finding {
    Report {
        report: CellReport,
        counts: Option<Result<Box<Recorded>, String>>,
        /// Cost of reading the clock, ns.
        clock_ns: f64,
    },
    /// Failed without a report, or unsupported in this configuration. The reason includes the
    /// console's last lines.
    Nothing(Status, String),
}

#[derive(Debug, Clone)]
pub struct Gathering {
    planned: PlannedCell,
    release: String,
    active_lsms: Vec<String>,
    rounds: Rounds,
    recorded: Option<Box<Recorded>>,
    questions: Vec<String>,
    took: Duration,
    left: u32,
    further: u32,
}

type Measured = (Evidence, Option<CellProfile>, Option<Vec<Option<f64>>>);

impl Gathering {
    pub fn new(planned: PlannedCell, visits: u32) -> Gathering {
        let metric = planned.key.metric;
        Gathering {
            planned,
            release: String::new(),
            active_lsms: Vec::new(),
            rounds: Rounds::new(metric, visits),
            recorded: None,
            questions: Vec::new(),
            took: Duration::ZERO,
            left: visits,
            further: if metric == Metric::Time { visits } else { 0 },
        }
    }

    /// Whether the agent detects other users of the core. If so, rounds that differ get more
    /// visits.
    pub fn set_probed(&mut self, probes: bool) {
        self.rounds.are_probed = probes;
    }

    pub fn seen_in(&mut self, release: &str, active_lsms: &[String]) {
        release.clone_into(&mut self.release);
        self.active_lsms = active_lsms.to_vec();
    }

    /// Adds one visit's finding, and returns the finished measurement after the last visit. A
    /// measurement fails if it fails in any visit.
    pub fn take(&mut self, finding: Finding, keep_samples: bool) -> Option<Finished> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let is_ok =
            matches!(&finding, Finding::Report { report, .. } if report.status == Status::Ok);
        if !is_ok && self.rounds.are_complete() {
            // If an extra visit fails, the earlier result is kept.
            return self.finish_unless_disturbed(keep_samples);
        }
        let (report, counts, clock_ns) = match finding {
            Finding::Nothing(status, reason) => return Some(self.without(status, reason)),
            Finding::Report {
                report,
                counts,
                clock_ns,
            } => (report, counts, clock_ns),
        };
        self.took += report.took;
        self.questions.clone_from(&report.questions);
        match (report.status, counts) {
            (status @ (Status::Failed | Status::Unsupported), _) => {
                return Some(self.without(status, report.reason));
            }
            (Status::Ok, Some(Err(reason))) => {
                return Some(self.without(Status::Failed, reason));
            }
            (Status::Ok, Some(Ok(recorded))) => self.recorded = Some(recorded),
            (Status::Ok, None) => self.rounds.take(report, clock_ns),
        }
        self.finish_unless_disturbed(keep_samples)
    }

    fn finish_unless_disturbed(&mut self, keep_samples: bool) -> Option<Finished> {
        let is_done = self.left == 0 && self.lacks() == 0;
        is_done.then(|| self.finish(keep_samples))
    }

    pub fn lacks(&self) -> u32 {
        match self.left == 0 && self.further > 0 {
            true => self.rounds.missing(),
            false => 0,
        }
    }

    pub fn visit_again(&mut self) {
        self.further -= 1;
        self.left = 1;
    }

    /// Returns the measurement without further visits, if the requested visits are done.
    pub fn give_up(&mut self, keep_samples: bool) -> Option<Finished> {
        let is_open = self.left > 0 || self.lacks() > 0;
        (is_open && self.rounds.are_complete()).then(|| self.finish(keep_samples))
    }

    fn end(&mut self, outcome: Outcome, warnings: Vec<Warning>) -> Finished {
        (self.left, self.further) = (0, 0);
        let job = &self.planned.job;
        Finished {
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
            trace: Trace {
                questions: std::mem::take(&mut self.questions),
                ..Trace::default()
            },
        }
    }

    fn without(&mut self, status: Status, reason: String) -> Finished {
        self.end(Outcome::without(status, reason), Vec::new())
    }

    fn finish(&mut self, keep_samples: bool) -> Finished {
        let title = self.planned.key.title();
        let (measured, warnings) = match self.recorded.take() {
            Some(recorded) => {
                let mut warnings = doubt_counts(&title, &recorded.counts);
                let program = recorded.program.as_ref();
                if let Some(denials) = program.and_then(|program| program.denials.as_ref()) {
                    let under = self.planned.key.configuration_title();
                    warnings.push(denials.warning(&format!("{title} under {under}")));
                }
                (counted(*recorded, keep_samples), warnings)
            }
            None if self.planned.job.memory => (self.held(), Vec::new()),
            None => (self.timed(keep_samples), self.rounds.doubts(&title)),
        };
        match measured {
            Ok((evidence, profile, operations)) => {
                let mut entry = self.end(evidence.into(), warnings);
                (entry.trace.profile, entry.trace.operations) = (profile, operations);
                entry
            }
            Err(reason) => self.end(Outcome::Failed { reason }, warnings),
        }
    }

    fn held(&self) -> Result<Measured, String> {
        let evidence = Counted {
            estimate: Some(self.rounds.held()?),
            ..Counted::default()
        };
        Ok((evidence.into(), None, None))
    }

    fn timed(&self, keep_samples: bool) -> Result<Measured, String> {
        let (evidence, samples) = self.rounds.timed(keep_samples)?;
        let operations = samples.into_iter().map(Some).collect();
        Ok((evidence, None, Some(operations)))
    }
}

fn counted(recorded: Recorded, keep_samples: bool) -> Result<Measured, String> {
    let Recorded {
        counts,
        profile,
        program,
        operations,
    } = recorded;
    let figures = counts
        .samples
        .iter()
        .map(|&instructions| instructions as f64);
    let evidence = Counted {
        estimate: Some(estimate(&[figures.collect()], keep_samples)?),
        // No two runs of a program have the same instructions.
        paths: program.is_none().then(|| paths(&counts)),
        hooked: profile.as_ref().map(|profile| hooked(profile.dominant())),
        tree: { profile.as_ref() }
            .filter(|_| program.is_none())
            .and_then(|profile| kept(profile.dominant().tree.as_ref()?)),
        program,
        ..Counted::default()
    };
    let figures = |operations: Vec<Option<u64>>| {
        let operations = operations.into_iter();
        operations.map(|n| n.map(|n| n as f64)).collect()
    };
    Ok((evidence.into(), profile, operations.map(figures)))
}

fn paths(counts: &Counts) -> Paths {
    let others = counts.others.iter().take(Paths::LIMIT);
    Paths {
        dominant: path_count(&counts.dominant),
        others: others.map(path_count).collect(),
        regions: counts.samples.len() as u64,
        dirty: counts.dirty as u64,
        path_hash: None,
    }
}

fn path_count(path: &Path) -> PathCount {
    PathCount {
        instructions: path.instructions,
        rep_iterations: path.rep_iterations,
        lines: path.lines,
        regions: path.regions as u64,
    }
}

fn doubt_counts(title: &str, counts: &Counts) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let clean = counts.regions - counts.dirty;
    let (dominant, all) = (counts.dominant.regions, counts.samples.len());
    if !is_dominant(dominant as u64, all as u64) {
        warnings.push(Warning::new(
            WarningKind::UnstablePath,
            format!(
                "{title}: no dominant path: only {dominant} of {all} measured regions took the \
                 most frequent path"
            ),
        ));
    }
    if counts.dirty > clean {
        warnings.push(Warning::new(
            WarningKind::DirtyRegions,
            format!(
                "{title}: {} of {} measured regions were dirty",
                counts.dirty, counts.regions
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
    use crate::protocol::Sample;
    use model::{Configuration, Key, Stack, Subject};
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
        took_with(ns, 0)
    }

    fn took_with(ns: u64, disturbed: u32) -> Finding {
        Finding::Report {
            report: CellReport {
                samples: vec![Sample { operations: 10, ns }; 8],
                batch: 10,
                disturbed,
                took: Duration::from_millis(1),
                ..CellReport::default()
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
    fn who_differs_from_round_to_round_is_visited_more_often() {
        let twice = |ns: u64| {
            let mut gathering = gathering(Metric::Time, 2);
            gathering.set_probed(true);
            assert_eq!(gathering.take(took(10_000), false), None);
            assert_eq!(gathering.take(took(ns), false), None);
            assert_eq!(gathering.lacks(), 2);
            gathering.visit_again();
            gathering
        };
        let mut vain = twice(10_900);
        assert_eq!(vain.take(took(10_000), false), None);
        vain.visit_again();
        let entry = vain.take(took(10_900), false).unwrap();
        let rounds = &entry.cell.timed().unwrap().rounds;
        assert_eq!(rounds, &[1000.0, 1090.0, 1000.0, 1090.0]);
        assert_eq!(entry.warnings, []);

        let entry = twice(10_350).take(took(10_175), false).unwrap();
        assert_eq!(entry.cell.timed().unwrap().rounds.len(), 3);

        let mut steady = gathering(Metric::Time, 2);
        steady.set_probed(true);
        assert_eq!(steady.take(took(10_000), false), None);
        assert!(steady.take(took(10_200), false).is_some());
    }

    #[test]
    fn a_cell_says_whether_its_rounds_were_disturbed() {
        for (disturbed, told) in [(8, true), (0, false)] {
            let mut gathering = gathering(Metric::Time, 2);
            gathering.set_probed(true);
            let ends = [(); 2].map(|()| gathering.take(took_with(18_000, disturbed), false));
            let given_up = gathering.give_up(false);
            let entry = ends.into_iter().flatten().chain(given_up).next().unwrap();
            assert_eq!(entry.cell.timed().unwrap().disturbed, Some(told));
        }
    }

    #[test]
    fn who_was_disturbed_in_most_rounds_is_visited_again() {
        let disturbed = || {
            let mut gathering = gathering(Metric::Time, 3);
            for n in [8, 3, 0] {
                assert_eq!(gathering.take(took_with(10_000, n), false), None);
            }
            assert_eq!(gathering.lacks(), 1);
            gathering
        };
        let mut helped = disturbed();
        helped.visit_again();
        let entry = helped.take(took(12_000), false).unwrap();
        assert_eq!(entry.cell.timed().unwrap().rounds, [1000.0, 1200.0]);

        let mut given_up = disturbed();
        given_up.visit_again();
        assert_eq!(given_up.lacks(), 0);
        assert_eq!(given_up.take(took_with(20_000, 1), false), None);
        let entry = given_up.give_up(false).unwrap();
        assert_eq!(given_up.give_up(false), None);
        assert_eq!(entry.cell.timed().unwrap().rounds, [1000.0]);
        let told = &entry.warnings[0];
        assert_eq!(told.kind, WarningKind::Disturbed);
        assert!(told.message.ends_with("in 3 of 4 rounds"), "{told:?}");

        let mut lost = disturbed();
        let ends = [(); 3].map(|()| {
            lost.visit_again();
            lost.take(Finding::Nothing(Status::Failed, "killed".to_owned()), false)
        });
        let [None, None, Some(entry)] = ends else {
            panic!("it ends with its last visit");
        };
        assert_eq!(entry.cell.timed().unwrap().rounds, [1000.0]);

        let mut vain = disturbed();
        let ends = std::iter::from_fn(|| {
            (vain.lacks() > 0).then(|| vain.visit_again());
            Some(vain.take(took_with(20_000, 1), false))
        });
        let ends: Vec<_> = ends.take(3).collect();
        assert!(ends[..2].iter().all(Option::is_none) && ends[2].is_some());
    }

    #[test]
    fn a_lost_visit_fails_the_cell_at_once() {
        let mut gathering = gathering(Metric::Time, 3);
        gathering.take(took(10_000), false);
        let reason = "QEMU was killed by signal 9".to_owned();
        let lost = Finding::Nothing(Status::Failed, reason);
        let finished = gathering.take(lost, false).unwrap();
        assert_eq!(finished.cell.status(), Status::Failed);
        assert_eq!(finished.trace.operations, None);
        assert_eq!(gathering.take(took(10_000), false), None);
    }
}
