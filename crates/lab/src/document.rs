// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes a result file and its warnings from finished measurements.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Cell, Document, Environment, Experiment, Key, Kind, Origin, PolicyProof, Share, Status,
    Warning, WarningKind,
};

use crate::environment::{self, Begun};
use crate::outcome::Finished;
use crate::plan::Plan;
use crate::setup::{Ground, Setup};

pub(crate) fn document(
    experiment: &Experiment,
    plan: &Plan,
    setup: &Setup<'_>,
    begun: Begun,
    mut finished: BTreeMap<Key, Finished>,
    cancelled: bool,
) -> Document {
    let mut cells = Vec::new();
    let mut positions = Vec::new();
    let mut setups: Vec<PolicyProof> = Vec::new();
    let mut doubted: BTreeMap<(WarningKind, u32), Vec<(u32, Warning)>> = BTreeMap::new();
    for (position, planned) in plan.cells.iter().enumerate() {
        let Some(entry) = finished.remove(&planned.key) else {
            continue;
        };
        for warning in entry.warnings {
            let position = cells.len() as u32;
            // Each program has its own denied accesses.
            let alone = u32::from(warning.kind == WarningKind::Denials) * position;
            let of_kind = doubted.entry((warning.kind, alone)).or_default();
            of_kind.push((position, warning));
        }
        cells.push(entry.cell);
        positions.push(position as u32);
        setups.extend(entry.proof.filter(|proof| {
            let is_same = |known: &PolicyProof| {
                (&known.kernel, &known.configuration) == (&proof.kernel, &proof.configuration)
            };
            !setups.iter().any(is_same)
        }));
    }
    let place = |proof: &PolicyProof| {
        let mut kernels = experiment.kernels.iter();
        let kernel = kernels.position(|kernel| *kernel == proof.kernel);
        let mut configurations = experiment.configurations.iter();
        (
            kernel,
            configurations.position(|c| *c == proof.configuration),
        )
    };
    setups.sort_by_key(place);
    let mut warnings: Vec<Warning> = doubted
        .into_values()
        .map(|doubted| together(&cells, doubted))
        .collect();
    let environments = origins(&cells, experiment, setup, &begun);
    warnings.extend(match environments.as_slice() {
        [] => doubts(&cells, &[&begun.environment]),
        several => doubts(&cells, &Origin::of_timed(several, &cells)),
    });
    if cancelled {
        let (done, all) = (cells.len(), plan.measured().len());
        let message = format!("{done} of {all} measurements were made");
        warnings.push(Warning::new(WarningKind::Interrupted, message));
    }
    Document {
        share: setup.shard.map(|shard| Share {
            count: shard.count,
            shards: vec![shard.index],
            cells: plan.cells.len() as u32,
            positions,
        }),
        started: Some(begun.started),
        finished: Some(environment::now()),
        experiment: Some(experiment.clone()),
        setups,
        cells,
        environments,
        warnings,
        ..Document::new(Kind::Run, begun.environment)
    }
}

/// One environment per architecture, and one for UML kernels; nothing if there is only one.
fn origins(
    cells: &[Cell],
    experiment: &Experiment,
    setup: &Setup<'_>,
    begun: &Begun,
) -> Vec<Origin> {
    if begun.others.is_empty() {
        return Vec::new();
    }
    let kernels = experiment.kernels.iter().map(String::as_str);
    let grounds: BTreeMap<&str, Ground> =
        kernels.zip(setup.kernels.iter().map(Ground::new)).collect();
    let environments = [&begun.environment].into_iter().chain(&begun.others);
    let origin = |(environment, ground): (&Environment, Ground)| Origin {
        environment: environment.clone(),
        cells: (0..)
            .zip(cells)
            .filter(|(_, cell)| grounds.get(cell.key.kernel.as_str()) == Some(&ground))
            .map(|(position, _)| position)
            .collect(),
    };
    environments.zip(setup.grounds()).map(origin).collect()
}

/// One warning for all measurements that share it: the benchmarks, and one warning in full.
fn together(cells: &[Cell], doubted: Vec<(u32, Warning)>) -> Warning {
    let positions: Vec<u32> = doubted.iter().map(|(position, _)| *position).collect();
    let mut titles: Vec<String> = positions
        .iter()
        .map(|&position| cells[position as usize].title())
        .collect();
    let mut seen = BTreeSet::new();
    titles.retain(|title| seen.insert(title.clone()));
    let mut doubted = doubted.into_iter().map(|(_, warning)| warning);
    let mut warning = doubted
        .next()
        .unwrap_or_else(|| Warning::new(WarningKind::Other, ""));
    let first = warning.message.clone();
    if titles.len() > 1 && doubted.any(|other| other.message != first) {
        warning.message = format!("{}; for instance {first}", titles.join(", "));
    }
    warning.cells = positions;
    warning
}

pub fn doubts(cells: &[Cell], environments: &[&Environment]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let timed = cells.iter().any(|cell| cell.key.metric.is_timed());
    let emulated = |environment: &&Environment| environment.qemu.is_some() && !environment.kvm;
    if timed && environments.iter().any(emulated) {
        warnings.push(Warning::new(
            WarningKind::EmulatedTime,
            "times were measured on an emulated processor",
        ));
    }
    let failed = cells.iter().filter(|cell| cell.status() == Status::Failed);
    let missing = failed.count();
    if missing > 0 {
        let message = format!("{missing} of {} measurements failed", cells.len());
        warnings.push(Warning::new(WarningKind::MissingMeasurements, message));
    }
    warnings
}
