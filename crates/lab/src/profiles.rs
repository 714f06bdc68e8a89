// SPDX-License-Identifier: GPL-2.0-or-later
//! From a run's cells and what was called in them to a document of profiles.

use std::collections::BTreeMap;

use experiment::{
    BaselineProfile, Cell, CellKey, Metric, Policy, Profile, ProfileDocument, Stack, Status,
    Tuning, Warning, WarningKind,
};
use instructions::hooks::{differences, explain, outermost_sum};
use instructions::profile::{CellProfile, PathProfile};

use crate::run::Outcome;

/// The profiles of a run, each compared with the same cell under `baseline`, if that is
/// given; the baseline's own are then part of the others.
pub fn document(outcome: &Outcome, baseline: Option<&Stack>) -> ProfileDocument {
    let run = &outcome.run;
    let baseline = baseline.map(Stack::names);
    let cells = run
        .cells
        .iter()
        .filter(|cell| cell.metric == Metric::Instructions);
    let mut profiles = Vec::new();
    for cell in cells.filter(|cell| baseline.as_ref() != Some(&cell.stack)) {
        let mut profile = blank(cell);
        let own = outcome.profiles.get(&cell.key());
        match (own, &baseline) {
            (Some(own), Some(stack)) => match base_of(cell, stack, &outcome.profiles) {
                Some(base) => compare(&mut profile, own, stack, base),
                None => {
                    fill(&mut profile, own, own.modal());
                    let missing = format!("{} has no profile there", stack.join(","));
                    profile.reason = Some(missing);
                }
            },
            (Some(own), None) => fill(&mut profile, own, own.modal()),
            (None, _) => {}
        }
        profiles.push(profile);
    }
    ProfileDocument {
        schema_version: experiment::SCHEMA_VERSION,
        tool: run.tool.clone(),
        environment: run.environment.clone(),
        profiles,
        warnings: run
            .warnings
            .iter()
            .filter(|warning| tells_of_profiles(warning))
            .map(|warning| Warning {
                // They speak of the run's cells, which are not all here.
                cells: Vec::new(),
                ..warning.clone()
            })
            .collect(),
    }
}

/// The stacks of a comparison differ in these on purpose, or show it themselves.
fn tells_of_profiles(warning: &Warning) -> bool {
    warning.kind != WarningKind::ExtraModules
}

fn base_of<'a>(
    cell: &Cell,
    stack: &[String],
    profiles: &'a BTreeMap<CellKey, CellProfile>,
) -> Option<&'a CellProfile> {
    let mut key = cell.key();
    key.stack = stack.to_vec();
    profiles.get(&key).or_else(|| {
        // A baseline like capability has no policy that could be in any state.
        key.policy = Policy::None;
        key.tuning = Tuning::default();
        profiles.get(&key)
    })
}

fn blank(cell: &Cell) -> Profile {
    Profile {
        kernel: cell.kernel.clone(),
        release: cell.release.clone(),
        stack: cell.stack.clone(),
        integrity: cell.integrity.clone(),
        policy: cell.policy,
        tuning: cell.tuning,
        active_lsms: cell.active_lsms.clone(),
        filesystem: cell.filesystem.clone(),
        benchmark: cell.benchmark.clone(),
        variant: cell.variant.clone(),
        syscalls: cell.syscalls.clone(),
        status: cell.status,
        reason: cell.reason.clone(),
        total: 0,
        rep_iterations: 0,
        hooked: 0,
        hooks: Vec::new(),
        baseline: None,
        residual: None,
        residual_functions: Vec::new(),
        windows: 0,
        path_windows: 0,
        dirty: cell.counts.as_ref().map_or(0, |counts| counts.dirty),
    }
}

fn fill(profile: &mut Profile, cell: &CellProfile, path: &PathProfile) {
    profile.status = Status::Ok;
    profile.total = path.path.instructions;
    profile.rep_iterations = path.path.rep_iterations;
    profile.hooked = outermost_sum(&path.hooks);
    profile.hooks = path.hooks.clone();
    profile.windows = cell.windows as u64;
    profile.path_windows = path.path.windows as u64;
}

fn compare(profile: &mut Profile, own: &CellProfile, stack: &[String], base: &CellProfile) {
    let (at_base, at_own) = base.comparable(own);
    let (base_path, path) = (&base.paths[at_base], &own.paths[at_own]);
    fill(profile, own, path);
    profile.residual_functions = differences(&base_path.outside, &path.outside);
    explain(&mut profile.residual_functions, own.composite);
    profile.residual = Some(
        profile
            .residual_functions
            .iter()
            .map(|function| function.difference)
            .sum(),
    );
    profile.baseline = Some(BaselineProfile {
        stack: stack.to_vec(),
        total: base_path.path.instructions,
        hooked: outermost_sum(&base_path.hooks),
        hooks: base_path.hooks.clone(),
        path_windows: base_path.path.windows as u64,
        windows: base.windows as u64,
    });
}
