// SPDX-License-Identifier: GPL-2.0-or-later
//! The slopes of one cell, and why they are not what was counted.

use std::collections::BTreeSet;

use experiment::{ALL_HOOKS, Caches, Cell, DelayModule, Slope, Status, Warning, WarningKind};
use instructions::profile::CellProfile;
use lab::sweep::Delayed;

use crate::hooks::{Planned, benchmark, calls_of, calls_on};
use crate::points::CellPoints;
use crate::slopes::{Line, LineError, Paths, line, line_of_times};

/// Instructions that an operation's usual path is within, without its waits.
const ONE_PATH: f64 = 120.0;

/// What became known of a cell.
pub(crate) struct Found<'a> {
    pub(crate) module: DelayModule,
    pub(crate) planned: Option<&'a Planned>,
    pub(crate) figures: &'a [Option<f64>],
    pub(crate) profile: Option<&'a CellProfile>,
    pub(crate) undelayed: Option<&'a BTreeSet<String>>,
    /// Hooks that were asked for; none for all.
    pub(crate) wanted: &'a [String],
    pub(crate) caches: Caches,
}

/// The slopes of a cell: all hooks together, then each hook.
pub(crate) fn slopes_of(cell: &Cell, found: &Found<'_>) -> Vec<Slope> {
    let Found {
        module,
        planned,
        figures,
        profile,
        undelayed,
        wanted,
        caches,
    } = *found;
    let blank = |hooks, part| blank(cell, module, caches, hooks, part);
    let together = match wanted {
        [] => vec![ALL_HOOKS.to_owned()],
        hooks => hooks.to_vec(),
    };
    let one_only = together.len() == 1 && together[0] != ALL_HOOKS;
    let mut whole = blank(together, false);
    let planned = match (planned, cell.status) {
        (Some(Ok(planned)), Status::Ok) => planned,
        (Some(Err(reason)), Status::Ok) => {
            whole.status = Status::Unsupported;
            whole.reason = Some(reason.clone());
            return vec![whole];
        }
        _ => return vec![whole],
    };
    let paths = match benchmark(&cell.key()) {
        Some(benchmark) if benchmark.composite => Paths::OfParts,
        Some(benchmark) if benchmark.counts_children => Paths::Many,
        _ => Paths::One { within: ONE_PATH },
    };
    let mut parts = Vec::new();
    let mut calls_of_all = profile.map(|_| 0);
    for hook in planned.hooks() {
        let mut part = blank(vec![hook.clone()], true);
        if undelayed.is_some_and(|undelayed| undelayed.contains(hook)) {
            cannot_be_delayed(&mut part, module);
            parts.push(part);
            continue;
        }
        let calls = profile.map(|profile| calls_of(module, profile).remove(hook).unwrap_or(0));
        fill(
            &mut part,
            line(
                &planned.points,
                figures,
                &Delayed::Hook(hook.clone()),
                paths,
            ),
        );
        part.counted = calls.map(|calls| calls as f64);
        calls_of_all = calls_of_all.zip(calls).map(|(sum, calls)| sum + calls);
        part.explanation = explain(&part, &[], found);
        parts.push(part);
    }
    fill(
        &mut whole,
        line(&planned.points, figures, &Delayed::All, paths),
    );
    whole.counted = calls_of_all.map(|calls| calls as f64);
    whole.explanation = explain(&whole, &parts, found);
    if one_only {
        parts.clear();
    }
    [vec![whole], parts].concat()
}

/// The slopes of a cell that was timed on this machine: all hooks together, then each
/// that has points of its own.
pub(crate) fn timed_slopes_of(
    cell: &Cell,
    planned: &CellPoints,
    figures: &[Option<f64>],
    wanted: &[String],
    undelayed: &BTreeSet<String>,
) -> Vec<Slope> {
    let together = match wanted {
        [] => vec![ALL_HOOKS.to_owned()],
        hooks => hooks.to_vec(),
    };
    let blank = |hooks, part| blank(cell, DelayModule::Bpf, Caches::Warm, hooks, part);
    let mut slopes = vec![blank(together, false)];
    if cell.status != Status::Ok {
        return slopes;
    }
    let figures: Vec<f64> = figures.iter().map(|figure| figure.unwrap_or(0.0)).collect();
    fill(
        &mut slopes[0],
        line_of_times(&planned.points, &figures, &Delayed::All),
    );
    for hook in planned.hooks() {
        let mut part = blank(vec![hook.clone()], true);
        if undelayed.contains(hook) {
            cannot_be_delayed(&mut part, DelayModule::Bpf);
        } else {
            fill(
                &mut part,
                line_of_times(&planned.points, &figures, &Delayed::Hook(hook.clone())),
            );
        }
        slopes.push(part);
    }
    slopes
}

fn cannot_be_delayed(slope: &mut Slope, module: DelayModule) {
    slope.status = Status::Unsupported;
    slope.reason = Some(format!("the kernel lets no {module} program delay it"));
}

/// A slope that is not known yet.
fn blank(
    cell: &Cell,
    module: DelayModule,
    caches: Caches,
    hooks: Vec<String>,
    part: bool,
) -> Slope {
    Slope {
        kernel: cell.kernel.clone(),
        release: cell.release.clone(),
        module,
        stack: cell.stack.clone(),
        hooks,
        part,
        filesystem: cell.filesystem.clone(),
        caches,
        benchmark: cell.benchmark.clone(),
        variant: cell.variant.clone(),
        syscalls: cell.syscalls.clone(),
        status: cell.status,
        reason: cell.reason.clone(),
        slope: 0.0,
        ci95: [0.0, 0.0],
        intercept: 0.0,
        unit: cell.metric.unit(),
        r2: None,
        bend: None,
        residual: 0.0,
        n: 0,
        dirty: 0,
        others: 0,
        points: Vec::new(),
        counted: None,
        explanation: None,
    }
}

fn fill(slope: &mut Slope, line: Result<Line, LineError>) {
    match line {
        Ok(line) => {
            slope.slope = line.slope;
            slope.ci95 = line.ci95;
            slope.intercept = line.intercept;
            slope.r2 = line.r2;
            slope.bend = line.bend;
            slope.residual = line.residual;
            slope.n = line.n;
            slope.dirty = line.dirty;
            slope.others = line.others;
            slope.points = line.points;
        }
        Err(error) => {
            slope.status = Status::Failed;
            slope.reason = Some(error.to_string());
        }
    }
}

/// Why a slope is not the count, as far as that can be told.
fn explain(slope: &Slope, parts: &[Slope], found: &Found<'_>) -> Option<String> {
    let difference = slope.difference().filter(|_| slope.differs())?;
    let apart: Vec<String> = parts
        .iter()
        .filter(|part| part.differs())
        .map(|part| {
            format!(
                "{} {:+.2}",
                part.hooks[0],
                part.difference().unwrap_or_default()
            )
        })
        .collect();
    let paths = found.profile.map_or(0, |profile| {
        let mut counts: Vec<u64> = profile
            .paths
            .iter()
            .map(|path| calls_on(found.module, path).values().sum())
            .collect();
        counts.sort_unstable();
        counts.dedup();
        counts.len()
    });
    Some(if !apart.is_empty() {
        format!("its hooks differ: {}", apart.join(", "))
    } else if paths > 1 {
        format!(
            "without delays its paths call hooks {paths} different numbers of times; the count is \
             the usual path's"
        )
    } else if slope.bend.is_some_and(|bend| bend.abs() > 0.01) {
        "cost does not follow the delay in a straight line: what it does depends on how long it \
         takes"
            .to_owned()
    } else if difference < 0.0 {
        "the hook may not come to the module at each call: the object is private to the kernel, \
         or an earlier module has answered"
            .to_owned()
    } else {
        "under delays the kernel may ask again: a walk tried anew, or a lock waited for".to_owned()
    })
}

/// Reasons to doubt the slopes from this position on.
pub(crate) fn doubts(slopes: &[Slope], from: usize) -> Vec<Warning> {
    let about = |kind, told: &dyn Fn(&Slope) -> Option<String>| {
        let new = slopes.iter().enumerate().skip(from);
        let whole: Vec<(usize, &Slope)> = new.filter(|(_, slope)| slope.is_whole()).collect();
        let doubted: Vec<(usize, String)> = whole
            .iter()
            .filter_map(|(at, slope)| Some((*at, told(slope)?)))
            .collect();
        let (first, what) = doubted.first()?;
        let message = format!(
            "{} of {} operations on {}, for instance {}: {what}",
            doubted.len(),
            whole.len(),
            slopes[*first].kernel,
            slopes[*first].title(),
        );
        let mut warning = Warning::new(kind, message);
        warning.cells = doubted.iter().map(|(at, _)| *at as u32).collect();
        Some(warning)
    };
    let differs = about(WarningKind::SlopeDiffers, &|slope| {
        let (counted, why) = (slope.counted?, slope.explanation.as_deref()?);
        let differs = slope.differs();
        differs.then(|| format!("slope {:.4}, counted {counted}: {why}", slope.slope))
    });
    let unstable = about(WarningKind::UnstablePath, &|slope| {
        let few = slope.n < slope.others;
        few.then(|| {
            let all = slope.n + slope.others;
            format!("{} of {all} operations lie on its line", slope.n)
        })
    });
    differs.into_iter().chain(unstable).collect()
}
