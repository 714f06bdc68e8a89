// SPDX-License-Identifier: GPL-2.0-or-later
//! The slopes of one cell, and why they are not what was counted.

use std::collections::BTreeSet;

use experiment::{ALL_HOOKS, Caches, Cell, DelayModule, Slope, Status, Warning, WarningKind};
use instructions::profile::CellProfile;
use lab::sweep::Delayed;

use crate::hooks::{Planned, benchmark, calls_of};
use crate::slopes::{Line, LineError, line};

/// Slope and count differ if they are further apart, of a few decisions.
const DIFFERENCE: f64 = 0.05;
/// Of many decisions, this part of them.
const DIFFERENCE_SHARE: f64 = 0.005;

/// Instructions of a round of the longest wait's loop (`bpf_loop` on 6.1).
const WAIT_ROUND: f64 = 120.0;

/// Instructions that most paths of a fork are within of each other.
const PROCESS_PATHS: f64 = 3_000.0;

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
    let blank = |hooks: Vec<String>, part| Slope {
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
    };
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
    let makes_processes = benchmark(&cell.key()).is_some_and(|b| b.counts_children);
    let mut parts = Vec::new();
    let mut calls_of_all = profile.map(|_| 0);
    let mut seen = BTreeSet::new();
    for point in &planned.points {
        let Delayed::Hook(hook) = &point.delayed else {
            continue;
        };
        if !seen.insert(hook) {
            continue;
        }
        let mut part = blank(vec![hook.clone()], true);
        if undelayed.is_some_and(|undelayed| undelayed.contains(hook)) {
            part.status = Status::Unsupported;
            part.reason = Some(format!("the kernel lets no {module} program delay it"));
            parts.push(part);
            continue;
        }
        let calls = profile.map(|profile| calls_of(module, profile).remove(hook).unwrap_or(0));
        let on = tolerance(calls, makes_processes);
        fill(
            &mut part,
            line(&planned.points, figures, &point.delayed, on),
        );
        part.counted = calls.map(|calls| calls as f64);
        calls_of_all = calls_of_all.zip(calls).map(|(sum, calls)| sum + calls);
        part.explanation = explain(&part, &[], profile);
        parts.push(part);
    }
    let on = tolerance(calls_of_all, makes_processes);
    fill(
        &mut whole,
        line(&planned.points, figures, &Delayed::All, on),
    );
    whole.counted = calls_of_all.map(|calls| calls as f64);
    whole.explanation = explain(&whole, &parts, profile);
    if one_only {
        parts.clear();
    }
    [vec![whole], parts].concat()
}

/// How far, in instructions, an operation may lie from its line: a wait ends up to a
/// round of its loop late, of each decision alike. Operations that make processes take
/// hundreds of paths, none of them often, whose mean is steadier than any of them.
fn tolerance(calls: Option<u64>, makes_processes: bool) -> f64 {
    let waits = WAIT_ROUND * calls.unwrap_or(1).max(1) as f64;
    if makes_processes {
        waits.max(PROCESS_PATHS)
    } else {
        waits
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

fn differs(slope: &Slope) -> bool {
    let tolerance = |counted: f64| DIFFERENCE.max(counted * DIFFERENCE_SHARE);
    let counted = slope.counted.unwrap_or(0.0);
    slope
        .difference()
        .is_some_and(|difference| difference.abs() > tolerance(counted))
}

/// Why a slope is not the count.
fn explain(slope: &Slope, parts: &[Slope], profile: Option<&CellProfile>) -> Option<String> {
    if !differs(slope) {
        return None;
    }
    let paths = profile.map_or(1, |profile| profile.paths.len());
    let apart: Vec<String> = parts
        .iter()
        .filter(|part| differs(part))
        .map(|part| {
            format!(
                "{} {:+.2}",
                part.hooks[0],
                part.difference().unwrap_or_default()
            )
        })
        .collect();
    let curved = slope.bend.is_some_and(|bend| bend.abs() > 0.01);
    Some(if !apart.is_empty() {
        format!("its hooks differ: {}", apart.join(", "))
    } else if paths > 1 {
        format!(
            "the operation takes {paths} paths, which do not call the same hooks; the count is \
             the usual one's"
        )
    } else if curved {
        "cost does not follow the delay in a straight line: what it does depends on how long it \
         takes"
            .to_owned()
    } else if slope.difference().unwrap_or_default() < 0.0 {
        "the framework's function is called, but not each time asks the modules: the object is \
         private to the kernel, or an earlier module has answered"
            .to_owned()
    } else if !parts.is_empty() {
        "hooks are asked that no function of the framework stands for".to_owned()
    } else {
        "under delays the kernel asks again: a walk was tried anew, or a lock was waited for"
            .to_owned()
    })
}

/// That slopes from this position on are not what was counted.
pub(crate) fn doubts(slopes: &[Slope], from: usize) -> Option<Warning> {
    let apart: Vec<(usize, &Slope)> = slopes
        .iter()
        .enumerate()
        .skip(from)
        .filter(|(_, slope)| slope.is_whole() && differs(slope))
        .collect();
    let (_, first) = apart.first()?;
    let mut warning = Warning::new(
        WarningKind::SlopeDiffers,
        format!(
            "{} of {} slopes are not what was counted; for instance {} on {}: {:.2}, counted {}: {}",
            apart.len(),
            slopes[from..].iter().filter(|s| s.is_whole()).count(),
            first.title(),
            first.kernel,
            first.slope,
            first.counted.unwrap_or_default(),
            first.explanation.as_deref().unwrap_or_default()
        ),
    );
    warning.cells = apart.iter().map(|(at, _)| *at as u32).collect();
    Some(warning)
}
