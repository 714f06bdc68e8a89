// SPDX-License-Identifier: GPL-2.0-or-later
//! Slopes of one measurement, and why they differ from the count.

use std::collections::BTreeSet;

use counts::profile::CellProfile;
use lab::sweep::Delayed;
use model::{
    ALL_HOOKS, Caches, Cell, Delay, DelayModule, Evidence, Key, Metric, Outcome, Slope, Unit,
    Warning, WarningKind,
};

use crate::hooks::{Planned, benchmark, calls_of, calls_on};
use crate::slopes::{LineError, Paths, line, line_of_times};

/// The range in which the instructions of an operation's dominant path may vary without delays.
const ONE_PATH: f64 = 120.0;

pub(crate) struct Found<'a> {
    pub(crate) module: DelayModule,
    pub(crate) planned: Option<&'a Planned>,
    pub(crate) figures: &'a [Option<f64>],
    pub(crate) profile: Option<&'a CellProfile>,
    pub(crate) undelayed: &'a BTreeSet<String>,
    pub(crate) wanted: &'a [String],
    pub(crate) caches: Caches,
    pub(crate) unit: Unit,
}

/// All hooks together, then each hook.
pub(crate) fn slopes_of(cell: &Cell, found: &Found<'_>) -> Vec<Cell> {
    let Found {
        module,
        planned,
        figures,
        profile,
        undelayed,
        wanted,
        caches,
        unit,
    } = *found;
    let delay = |hooks, part| Delay {
        module,
        hooks,
        part,
        caches,
    };
    let together = together(wanted);
    let one_only = together.len() == 1 && together[0] != ALL_HOOKS;
    let whole = |outcome| under(cell, delay(together, false), outcome);
    let planned = match (&cell.outcome, planned) {
        (Outcome::Ok { .. }, Some(Ok(planned))) => planned,
        (Outcome::Ok { .. }, Some(Err(reason))) => {
            let reason = reason.clone();
            return vec![whole(Outcome::Unsupported { reason })];
        }
        (Outcome::Ok { .. }, None) => {
            let reason = "the hook calls of this operation were not counted".to_owned();
            return vec![whole(Outcome::Failed { reason })];
        }
        (outcome, _) => return vec![whole(outcome.clone())],
    };
    let paths = match benchmark(&cell.key) {
        Some(benchmark) if benchmark.composite => Paths::OfParts,
        Some(benchmark) if benchmark.counts_children => Paths::Many,
        _ => Paths::One { within: ONE_PATH },
    };
    let slope = |which: &Delayed, counted: Option<u64>, parts: &[Cell]| {
        let mut slope = match unit {
            Unit::Ns => line_of_times(&planned.points, figures, which)?,
            _ => line(&planned.points, figures, which, paths)?,
        };
        slope.counted = counted.map(|calls| calls as f64);
        slope.explanation = explain(&slope, parts, found);
        Ok(slope)
    };
    let mut parts = Vec::new();
    let mut calls_of_all = profile.map(|_| 0);
    for hook in planned.hooks() {
        let outcome = if undelayed.contains(hook) {
            Outcome::Unsupported {
                reason: format!("the kernel does not allow a {module} program at this hook"),
            }
        } else {
            let calls = profile.map(|profile| calls_of(module, profile).remove(hook).unwrap_or(0));
            calls_of_all = calls_of_all.zip(calls).map(|(sum, calls)| sum + calls);
            ended(slope(&Delayed::Hook(hook.clone()), calls, &[]))
        };
        parts.push(under(cell, delay(vec![hook.clone()], true), outcome));
    }
    let mut slopes = vec![whole(ended(slope(&Delayed::All, calls_of_all, &parts)))];
    if !one_only {
        slopes.append(&mut parts);
    }
    slopes
}

fn together(wanted: &[String]) -> Vec<String> {
    match wanted {
        [] => vec![ALL_HOOKS.to_owned()],
        hooks => hooks.to_vec(),
    }
}

fn under(cell: &Cell, delay: Delay, outcome: Outcome) -> Cell {
    Cell {
        key: Key {
            delay: Some(delay),
            metric: Metric::Slope,
            ..cell.key.clone()
        },
        release: cell.release.clone(),
        active_lsms: cell.active_lsms.clone(),
        syscalls: cell.syscalls.clone(),
        class: cell.class.clone(),
        // An operation's slopes are measured in turns, so none has a duration of its own.
        seconds: None,
        outcome,
    }
}

fn ended(slope: Result<Slope, LineError>) -> Outcome {
    match slope {
        Ok(slope) => Evidence::Slope(slope).into(),
        Err(error) => Outcome::Failed {
            reason: error.to_string(),
        },
    }
}

fn explain(slope: &Slope, parts: &[Cell], found: &Found<'_>) -> Option<String> {
    let difference = slope.difference().filter(|_| slope.differs())?;
    let apart = parts.iter().filter_map(|part| {
        let slope = part.slope().filter(|slope| slope.differs())?;
        let hook = part.key.delay.as_ref()?.hooks.first()?;
        Some(format!("{hook} {:+.2}", slope.difference()?))
    });
    let apart: Vec<String> = apart.collect();
    let paths = found.profile.map_or(0, |profile| {
        let calls = |path| calls_on(found.module, path).values().sum::<u64>();
        profile
            .paths
            .iter()
            .map(calls)
            .collect::<BTreeSet<u64>>()
            .len()
    });
    Some(if !apart.is_empty() {
        format!("hooks that differ: {}", apart.join(", "))
    } else if paths > 1 {
        format!(
            "without delays, its paths have {paths} different numbers of hook calls; the count is \
             from the dominant path"
        )
    } else if slope.bend.is_some_and(|bend| bend.abs() > 0.01) {
        "cost is not linear in the delay: what the operation does depends on how long it takes"
            .to_owned()
    } else if difference < 0.0 {
        "the module may not receive every call of the hook: the object may be private to the \
         kernel, or an earlier module may have decided"
            .to_owned()
    } else {
        "under delays the kernel may repeat checks: a path walk is retried, or a lock is contended"
            .to_owned()
    })
}

/// For the slopes from index `from` on.
pub(crate) fn doubts(cells: &[Cell], from: usize) -> Vec<Warning> {
    let about = |kind, doubt: &dyn Fn(&Slope) -> Option<String>| {
        let is_whole = |cell: &Cell| cell.key.delay.as_ref().is_some_and(Delay::is_whole);
        let new = cells.iter().enumerate().skip(from);
        let whole: Vec<(usize, &Cell)> = new.filter(|(_, cell)| is_whole(cell)).collect();
        let doubted: Vec<(usize, String)> = whole
            .iter()
            .filter_map(|(at, cell)| Some((*at, doubt(cell.slope()?)?)))
            .collect();
        let (first, what) = doubted.first()?;
        let message = format!(
            "{} of {} operations on {}, for example {}: {what}",
            doubted.len(),
            whole.len(),
            cells[*first].key.kernel,
            cells[*first].title(),
        );
        let mut warning = Warning::new(kind, message);
        warning.cells = doubted.iter().map(|(at, _)| *at as u32).collect();
        Some(warning)
    };
    let differs = about(WarningKind::ChecksDiffer, &|slope| {
        let (counted, why) = (slope.counted?, slope.explanation.as_deref()?);
        let differs = slope.differs();
        differs.then(|| format!("slope {:.4}, counted {counted}: {why}", slope.slope))
    });
    let unstable = about(WarningKind::UnstablePath, &|slope| {
        let few = slope.n < slope.others;
        few.then(|| {
            let all = slope.n + slope.others;
            format!("{} of {all} operations are on its line", slope.n)
        })
    });
    differs.into_iter().chain(unstable).collect()
}
