// SPDX-License-Identifier: GPL-2.0-or-later
//! Sorts the parts of a run by machine.

use std::collections::BTreeMap;

use model::{Document, Environment, Metric, Share, Warning};

use super::Part;

/// Splits result files by machine, in the order of the machines' descriptions.
pub fn by_machine(parts: &[Part]) -> Vec<(String, Vec<Part>)> {
    let mut machines: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for part in parts {
        let mut cells: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in 0..part.run.cells.len() {
            let machine = machine(part.run.environment_of(index));
            cells.entry(machine).or_default().push(index);
        }
        if cells.is_empty() {
            // A file without measurements also belongs to a machine.
            cells.insert(machine(&part.run.environment), Vec::new());
        }
        for (machine, cells) in cells {
            let run = restricted(&part.run, &machine, &cells);
            machines.entry(machine).or_default().push(Part {
                run,
                ..part.clone()
            });
        }
    }
    machines.into_iter().collect()
}

fn machine(environment: &Environment) -> String {
    environment.fingerprint(Metric::Time)
}

fn restricted(run: &Document, name: &str, cells: &[usize]) -> Document {
    let place = |index: &u32| cells.binary_search(&(*index as usize)).ok();
    let all = run.cells.len() as u32;
    let share = run.share.clone().unwrap_or_else(|| Share {
        count: 1,
        shards: vec![1],
        cells: all,
        positions: (0..all).collect(),
    });
    let kept = |positions: &[u32]| -> Vec<u32> {
        let places = positions.iter().filter_map(place);
        places.map(|place| place as u32).collect()
    };
    let mut environments = run.environments.clone();
    environments.retain_mut(|origin| {
        origin.cells = kept(&origin.cells);
        machine(&origin.environment) == name
    });
    let environment = environments.first().map(|origin| &origin.environment);
    let warnings = run.warnings.iter().filter_map(|warning| {
        let cells = kept(&warning.cells);
        let concerned = warning.cells.is_empty() || !cells.is_empty();
        concerned.then(|| Warning {
            cells,
            ..warning.clone()
        })
    });
    Document {
        share: Some(Share {
            positions: cells.iter().map(|&index| share.positions[index]).collect(),
            ..share
        }),
        environment: environment.unwrap_or(&run.environment).clone(),
        cells: cells
            .iter()
            .map(|&index| run.cells[index].clone())
            .collect(),
        warnings: warnings.collect(),
        environments,
        ..run.clone()
    }
}
