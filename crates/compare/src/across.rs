// SPDX-License-Identifier: GPL-2.0-or-later
//! Cells of one run that differ in one thing.

use std::collections::{BTreeMap, HashMap};
use std::mem::take;

use experiment::comparison::Axis;
use experiment::{ComparisonDocument, Experiment, Key, Kind};

use crate::compare::{Named, Options, Sides, conclude, notes, source};
use crate::error::CompareError;
use crate::item::{Item, items};
use crate::pair::match_up;

/// Compares the cells of one run along an axis: all values of it with one, which is the
/// experiment's baseline's, or that of the first cell, unless it is named.
///
/// # Errors
/// [`CompareError`] if it is no run, holds nothing, or has one value only.
pub fn across(
    of: Named<'_>,
    axis: Axis,
    value: Option<&str>,
    options: &Options,
) -> Result<ComparisonDocument, CompareError> {
    let run = of.document;
    if run.kind != Kind::Run {
        return Err(CompareError::NoRun {
            name: of.name.to_owned(),
            kind: run.kind,
        });
    }
    let items = items(run);
    let mut values: Vec<String> = Vec::new();
    for item in &items {
        let value = split(&item.key, axis).0;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let base = base_value(of, axis, value, &values)?;
    let of_base = values.iter().position(|value| *value == base);
    let cells = |items: &[Item]| items.len();
    let (old, young): (Vec<Item>, Vec<Item>) =
        (items.into_iter()).partition(|item| split(&item.key, axis).0 == base);
    let mut sources = [source(of, cells(&old)), source(of, cells(&young))];
    sources[0].name = format!("{}: {axis} {base}", of.name);
    if let Some(of_base) = of_base {
        values.remove(of_base);
    }
    sources[1].name = format!("{}: {axis} {}", of.name, values.join("; "));
    let [base_source, new_source] = sources;

    // Each other value meets BASE on its own: BASE's cells are matched again and again.
    let mut by_value: BTreeMap<usize, Vec<Item>> = BTreeMap::new();
    for item in young {
        let at = values
            .iter()
            .position(|value| *value == split(&item.key, axis).0);
        by_value.entry(at.unwrap_or(0)).or_default().push(item);
    }
    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    for items in by_value.into_values() {
        let (found, alone) = match_up(old.clone(), items, |key| split(key, axis).1);
        pairs.extend(found);
        for cell in alone {
            if !unmatched.contains(&cell) {
                unmatched.push(cell);
            }
        }
    }
    let sides = Sides {
        base: base_source,
        new: new_source,
        across: Some(axis),
        of_one_run: true,
        pairs,
        unmatched,
        matched_by: vec![format!(
            "cells of one run are matched by all but their {axis}"
        )],
        environment: Vec::new(),
        aa: run.aa.clone(),
        notes: notes("the run", &run.warnings),
    };
    Ok(conclude(sides, (run, run), options))
}

/// Compares each cell of a run that has a figure with its baseline's, as tables do.
pub fn with_baselines(of: Named<'_>, options: &Options) -> ComparisonDocument {
    let run = of.document;
    let items = items(run);
    let measured = items.iter().filter(|item| item.measured.value.is_some());
    let by_key: HashMap<&Key, &Item> = measured.map(|item| (&item.key, item)).collect();
    let pairs = items.iter().filter_map(|item| {
        let base = by_key.get(&run.baseline_of(&item.key)?)?;
        let measured = item.measured.value.is_some();
        measured.then(|| ((*base).clone(), item.clone()))
    });
    let pairs: Vec<(Item, Item)> = pairs.collect();
    let source = source(of, pairs.len());
    let sides = Sides {
        base: source.clone(),
        new: source,
        across: None,
        of_one_run: true,
        pairs,
        unmatched: Vec::new(),
        matched_by: vec!["cells of one run are matched with their baselines".to_owned()],
        environment: Vec::new(),
        aa: run.aa.clone(),
        notes: notes("the run", &run.warnings),
    };
    conclude(sides, (run, run), options)
}

fn base_value(
    of: Named<'_>,
    axis: Axis,
    asked: Option<&str>,
    values: &[String],
) -> Result<String, CompareError> {
    let name = || of.name.to_owned();
    let Some(first) = values.first() else {
        return Err(CompareError::Empty {
            name: name(),
            what: "cells",
        });
    };
    let experiment = of.document.experiment.as_ref();
    let baseline = match (axis, asked) {
        (_, Some(asked)) => {
            if !values.iter().any(|value| value == asked) {
                return Err(CompareError::NoValue {
                    name: name(),
                    axis,
                    value: asked.to_owned(),
                    known: values.join("; "),
                });
            }
            Some(asked.to_owned())
        }
        (Axis::Kernel, None) => experiment.and_then(|of| of.baseline_kernel.clone()),
        (Axis::Stack, None) => {
            let baseline = experiment.and_then(Experiment::baseline_configuration);
            baseline.map(|configuration| configuration.stack.names().join(","))
        }
        _ => None,
    };
    if values.len() < 2 {
        return Err(CompareError::OneValue {
            name: name(),
            axis,
            value: first.clone(),
        });
    }
    let baseline = baseline.filter(|value| values.contains(value));
    Ok(baseline.unwrap_or_else(|| first.clone()))
}

/// A key's value along an axis, and the key without it.
fn split(key: &Key, axis: Axis) -> (String, Key) {
    let mut key = key.clone();
    let value = match axis {
        Axis::Kernel => take(&mut key.kernel),
        Axis::Stack => take(&mut key.stack).join(","),
        Axis::Policy => take(&mut key.policy).to_string(),
        Axis::Integrity => match take(&mut key.integrity).as_slice() {
            [] => "none".to_owned(),
            all => all.iter().map(|i| i.as_str()).collect::<Vec<_>>().join(","),
        },
        Axis::Fs => take(&mut key.filesystem),
    };
    (value, key)
}
