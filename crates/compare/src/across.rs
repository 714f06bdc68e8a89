// SPDX-License-Identifier: GPL-2.0-or-later
//! Cells of one run that differ in one thing.

use std::collections::BTreeMap;

use experiment::comparison::Axis;
use experiment::{ComparisonDocument, Experiment, Key, Kind};

use crate::cells;
use crate::compare::{Matter, Named, Options, conclude, notes, source};
use crate::error::CompareError;
use crate::item::Item;
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
    let items = cells::items(run);
    let mut values: Vec<String> = Vec::new();
    for item in &items {
        let value = value_of(&item.key, axis);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let base = base_value(of, axis, value, &values)?;
    let of_base = values.iter().position(|value| *value == base);
    let cells = |items: &[Item]| items.len();
    let (old, young): (Vec<Item>, Vec<Item>) =
        (items.into_iter()).partition(|item| value_of(&item.key, axis) == base);
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
            .position(|value| *value == value_of(&item.key, axis));
        by_value.entry(at.unwrap_or(0)).or_default().push(item);
    }
    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    for items in by_value.into_values() {
        let (found, alone) = match_up(old.clone(), items, |key| without(key, axis));
        pairs.extend(found);
        for cell in alone {
            if !unmatched.contains(&cell) {
                unmatched.push(cell);
            }
        }
    }
    let matter = Matter {
        base: base_source,
        new: new_source,
        across: Some(axis),
        pairs,
        unmatched,
        matched_by: vec![format!(
            "cells of one run are matched by all but their {axis}"
        )],
        environment: Vec::new(),
        aa: run.aa.clone(),
        notes: notes("the run", &run.warnings),
    };
    Ok(conclude(matter, (run, run), options))
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

fn value_of(key: &Key, axis: Axis) -> String {
    match axis {
        Axis::Kernel => key.kernel.clone(),
        Axis::Stack => key.stack.join(","),
        Axis::Policy => key.policy.to_string(),
        Axis::Integrity => {
            let words: Vec<&str> = key.integrity.iter().map(|i| i.as_str()).collect();
            if words.is_empty() {
                "none".to_owned()
            } else {
                words.join(",")
            }
        }
        Axis::Fs => key.filesystem.clone(),
    }
}

fn without(key: &Key, axis: Axis) -> Key {
    let mut key = key.clone();
    match axis {
        Axis::Kernel => key.kernel.clear(),
        Axis::Stack => key.stack.clear(),
        Axis::Policy => key.policy = experiment::Policy::None,
        Axis::Integrity => key.integrity.clear(),
        Axis::Fs => key.filesystem.clear(),
    }
    key
}
