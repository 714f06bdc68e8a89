// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares measurements of one run that differ along one axis.

use std::collections::HashMap;
use std::mem::take;

use model::comparison::{Axis, Source};
use model::{ComparisonDocument, Experiment, Failure, Key, Kind};

use crate::compare::{Named, Options, begin, conclude, empty, notes, source};
use crate::item::{Item, items};
use crate::pair::match_up;

/// All values on the axis are compared with one of them; by default this is the experiment's
/// baseline or the first value.
pub fn across(
    named: Named<'_>,
    axis: Axis,
    value: Option<&str>,
    options: &Options,
) -> Result<ComparisonDocument, Failure> {
    let (name, run) = (named.name, named.document);
    if run.kind != Kind::Run {
        let kind = Kind::title(Some(run.kind));
        return Err(Failure::usage(
            format!("{name} is a {kind}, but --across needs a run result file"),
            "give a result file from `lsmeter run --output FILE`",
        ));
    }
    let items = items(run);
    let mut values: Vec<String> = Vec::new();
    for item in &items {
        let value = split(&item.key, axis).0;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let base = base_value(named, axis, value, &values)?;
    let parted = |items: Vec<Item>, value: &str| -> (Vec<Item>, Vec<Item>) {
        (items.into_iter()).partition(|item| split(&item.key, axis).0 == value)
    };
    let (old, mut young) = parted(items, &base);
    values.retain(|value| *value != base);
    let side = |items: &[Item], value: &str| Source {
        name: format!("{name}: {axis} {value}"),
        ..source(named, items.len())
    };
    let begun = begin(side(&old, &base), side(&young, &values.join("; ")), options);

    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    for value in &values {
        let (items, others) = parted(young, value);
        young = others;
        let (found, alone) = match_up(old.clone(), items, |key| split(key, axis).1);
        pairs.extend(found);
        for cell in alone {
            if !unmatched.contains(&cell) {
                unmatched.push(cell);
            }
        }
    }
    let comparison = ComparisonDocument {
        across: Some(axis),
        unmatched,
        matched_by: vec![format!(
            "measurements in one run are matched by everything except the {axis}"
        )],
        aa: run.aa.clone(),
        notes: notes("the run", &run.warnings),
        ..begun
    };
    Ok(conclude(comparison, &pairs, (run, run), true, options))
}

/// Compares each figure with its baseline, as tables do.
pub fn with_baselines(named: Named<'_>, options: &Options) -> ComparisonDocument {
    let run = named.document;
    let items = items(run);
    let measured = items.iter().filter(|item| item.measured.value.is_some());
    let by_key: HashMap<&Key, &Item> = measured.map(|item| (&item.key, item)).collect();
    let pairs = items.iter().filter_map(|item| {
        let base = by_key.get(&run.baseline_of(&item.key)?)?;
        let measured = item.measured.value.is_some();
        measured.then(|| ((*base).clone(), item.clone()))
    });
    let pairs: Vec<(Item, Item)> = pairs.collect();
    let source = source(named, pairs.len());
    let comparison = ComparisonDocument {
        matched_by: vec!["measurements in one run are matched with their baselines".to_owned()],
        aa: run.aa.clone(),
        notes: notes("the run", &run.warnings),
        ..begin(source.clone(), source, options)
    };
    conclude(comparison, &pairs, (run, run), true, options)
}

fn base_value(
    named: Named<'_>,
    axis: Axis,
    asked: Option<&str>,
    values: &[String],
) -> Result<String, Failure> {
    let name = named.name;
    let Some(first) = values.first() else {
        return Err(empty(named, "measurements"));
    };
    let experiment = named.document.experiment.as_ref();
    let baseline = match (axis, asked) {
        (_, Some(asked)) => {
            if !values.iter().any(|value| value == asked) {
                let known = values.join("; ");
                return Err(Failure::usage(
                    format!(
                        "no measurement in {name} has the {axis} `{asked}`; available: {known}"
                    ),
                    "choose one of these with --baseline",
                ));
            }
            Some(asked.to_owned())
        }
        (Axis::Kernel, None) => {
            experiment.and_then(|experiment| experiment.baseline_kernel.clone())
        }
        (Axis::Stack, None) => {
            let baseline = experiment.and_then(Experiment::baseline_configuration);
            baseline.map(|configuration| configuration.stack.names().join(","))
        }
        _ => None,
    };
    if values.len() < 2 {
        return Err(Failure::usage(
            format!("all measurements in {name} have the same {axis}: {first}"),
            "compare along another axis, or give two result files: lsmeter compare BASE NEW",
        ));
    }
    let baseline = baseline.filter(|value| values.contains(value));
    Ok(baseline.unwrap_or_else(|| first.clone()))
}

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
