// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes profiles from a run's measurements.

use std::collections::BTreeMap;

use counts::hooks::{Extent, differences, explain, explain_asked, outermost_sum};
use counts::profile::{CellProfile, PathProfile};
use model::{
    Cell, Counted, Document, Evidence, Experiment, FunctionDifference, HookedPath, Key, Kind,
    Origin, Outcome as CellOutcome, Policy, ProgramResidual, Residual, Settings, Stack, Warning,
    WarningKind,
};

use crate::outcome::{Outcome, Trace};

/// The counted measurements with their hooks. With a `baseline`, each is compared with the same
/// measurement under the baseline, and the baseline's own measurements are left out.
pub fn document(outcome: &Outcome, baseline: Option<&Stack>) -> Document {
    let run = &outcome.run;
    let baseline = baseline.map(Stack::names);
    let all = (0..).zip(&run.cells);
    let counted = all.filter(|(_, cell)| cell.key.metric.is_counted());
    let kept = counted.filter(|(_, cell)| baseline.as_ref() != Some(&cell.key.stack));
    let (positions, cells): (Vec<u32>, Vec<&Cell>) = kept.unzip();
    let environments = run.environments.iter().map(|origin| Origin {
        environment: origin.environment.clone(),
        cells: { origin.cells.iter() }
            .filter_map(|cell| positions.binary_search(cell).ok())
            .map(|place| place as u32)
            .collect(),
    });
    // The compared stacks differ in these on purpose, or the tables show it.
    let is_kept = |warning: &&Warning| warning.kind != WarningKind::ExtraModules;
    let warnings = run.warnings.iter().filter(is_kept);
    Document {
        kind: Kind::Profile,
        share: None,
        environments: environments.collect(),
        cells: cells
            .into_iter()
            .map(|cell| profiled(cell, baseline.as_deref(), outcome))
            .collect(),
        warnings: warnings
            .map(|warning| Warning {
                // Indices refer to measurements of the run, some of which are missing here.
                cells: Vec::new(),
                ..warning.clone()
            })
            .collect(),
        ..run.clone()
    }
}

fn profiled(cell: &Cell, baseline: Option<&[String]>, outcome: &Outcome) -> Cell {
    let mut cell = cell.clone();
    let operation = cell.key.title();
    if let CellOutcome::Ok {
        evidence: Evidence::Counted(counted),
    } = &mut cell.outcome
    {
        // The profile contains the needed parts of the tree, but not transferred words. The path
        // that is compared with a baseline is chosen here.
        if baseline.is_some() || !cell.key.metric.is_of_transfers() {
            counted.tree = None;
        }
        if let Some(program) = &mut counted.program {
            // The run's baseline may differ from this one.
            program.residual = None;
        }
        let (Some(own), Some(stack)) = (outcome.profile(&cell.key), baseline) else {
            return cell;
        };
        match base_of(&cell.key, stack, outcome) {
            Some(base) => compare(counted, &operation, own, stack, base),
            None => {
                let missing = format!("{} has no profile of this operation", stack.join(","));
                counted.not_compared = Some(missing);
            }
        }
    }
    cell
}

fn base_of<'a>(key: &Key, stack: &[String], outcome: &'a Outcome) -> Option<&'a CellProfile> {
    let mut key = Key {
        stack: stack.to_vec(),
        ..key.clone()
    };
    outcome.profile(&key).or_else(|| {
        // A baseline like capability has no policy, and so no policy state.
        key.policy = Policy::None;
        key.settings = Settings::default();
        outcome.profile(&key)
    })
}

pub(crate) fn hooked(path: &PathProfile) -> HookedPath {
    HookedPath {
        total: path.path.instructions,
        rep_iterations: Some(path.path.rep_iterations),
        regions: path.path.regions as u64,
        hooked: outermost_sum(&path.hooks),
        hooks: path.hooks.clone(),
        system_calls: path.system_calls.clone(),
        events: path.events,
        irqs_off: path.irqs_off.clone(),
    }
}

fn compare(
    counted: &mut Counted,
    operation: &str,
    own: &CellProfile,
    stack: &[String],
    base: &CellProfile,
) {
    let (at_base, at_own) = base.comparable(own);
    let (base_path, path) = (&base.paths[at_base], &own.paths[at_own]);
    counted.hooked = Some(hooked(path));
    let extent = match (&counted.program, own.composite) {
        (Some(_), _) => Extent::Program,
        (None, true) => Extent::Windows,
        (None, false) => Extent::Window,
    };
    let functions = explained(base_path, path, operation, extent);
    counted.residual = Some(Residual {
        stack: stack.to_vec(),
        path: hooked(base_path),
        regions: base.regions as u64,
        instructions: functions.iter().map(|function| function.difference).sum(),
        functions,
    });
}

fn explained(
    base: &PathProfile,
    own: &PathProfile,
    operation: &str,
    extent: Extent,
) -> Vec<FunctionDifference> {
    let mut functions = differences(&base.outside, &own.outside);
    let asked = explain_asked(&mut functions, &base.asked, &own.asked);
    // More frequent calls are evidence as well: each kind of file has its own read function.
    let rest = functions.len();
    functions.extend(asked.iter().cloned());
    explain(&mut functions, operation, extent);
    functions.truncate(rest);
    functions.extend(asked);
    functions.sort_by_key(|row| std::cmp::Reverse(row.difference.unsigned_abs()));
    functions
}

/// Adds to each program its differences outside hooks from the same program under the baseline.
pub(crate) fn compare_programs(
    cells: &mut [Cell],
    experiment: &Experiment,
    traces: &BTreeMap<Key, Trace>,
) {
    let profile = |key: &Key| traces.get(key)?.profile.as_ref();
    for cell in cells {
        if let CellOutcome::Ok {
            evidence: Evidence::Counted(counted),
        } = &mut cell.outcome
            && let Some(program) = &mut counted.program
            && let Some(base) = experiment.baseline_of(&cell.key)
            && base.kernel == cell.key.kernel
            && let (Some(own), Some(of_base)) = (profile(&cell.key), profile(&base))
        {
            let functions = explained(
                of_base.dominant(),
                own.dominant(),
                &cell.key.title(),
                Extent::Program,
            );
            program.residual = Some(ProgramResidual::new(&base.stack, functions));
        }
    }
}
