// SPDX-License-Identifier: GPL-2.0-or-later
//! The paper's Table 6 beside ours.

use std::collections::HashMap;

use model::{ALL_HOOKS, Caches, DelayModule};
use published::{Figure, Quantity, published};

use super::{Parted, Swept, numbers, operations};
use crate::cells::{Operation, not_measured, without_figure};
use crate::column::Columns;
use crate::group::grouped;
use crate::table::{TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

const TABLE6: &str = "paper:table6.";

/// A larger difference is more than rounding and noise: the paper's slopes have one
/// decimal, and are up to 0.1 off a whole number.
const DIFFERENCE: f64 = 0.15;

/// Most kernels and modules beside the paper: a document may hold any number.
const PLACES_LIMIT: usize = 32;

/// Most hooks of a slope that are compared with a figure's.
const HOOKS_LIMIT: usize = 1_024;

/// The paper's figures that Table 6 holds.
pub(crate) fn table6() -> impl Iterator<Item = &'static Figure> {
    published()
        .iter()
        .filter(|figure| figure.id.starts_with(TABLE6) && figure.quantity == Quantity::Slope)
}

/// Kernel, module and file system: what two columns are of.
struct Place<'a> {
    kernel: &'a str,
    module: DelayModule,
    filesystem: &'a str,
    operations: HashMap<Operation<'a>, Parted<'a>>,
}

/// Our slope over a figure's hooks, or what stands for it.
type Ours = Result<f64, Value>;

pub(super) fn table(swept: &[Swept<'_>]) -> Option<Table> {
    let warm = swept.iter().filter(|of| of.delay.caches == Caches::Warm);
    let places = grouped(warm, |swept| {
        let (kernel, module, _, filesystem, _) = swept.place();
        ((kernel, module), filesystem)
    });
    let mut places: Vec<Place<'_>> = places
        .into_iter()
        .map(|(((kernel, module), filesystem), slopes)| Place {
            kernel,
            module,
            filesystem,
            operations: operations(&slopes).into_iter().collect(),
        })
        .collect();
    places.retain(|place| table6().any(|figure| ours(place, figure).is_some()));
    let first = places.first()?.filesystem;
    let one_filesystem = places.iter().all(|place| place.filesystem == first);
    let all = places.len();
    places.truncate(PLACES_LIMIT);

    let mut columns = Columns::new()
        .left("operation", |figure: &Figure| {
            figure.theirs.replacen(' ', ":", 1)
        })
        .right("the paper", |figure| {
            theirs(figure).map_or("-".to_owned(), |slope| numbers::decimals(slope, 1))
        });
    for place in &places {
        let mut name = format!("{} {}", printable(place.kernel, TEXT_LIMIT), place.module);
        if !one_filesystem {
            name += &format!(" {}", printable(place.filesystem, TEXT_LIMIT));
        }
        let name = Some(name.as_str());
        columns = columns
            .grouped(name, "slope", |figure| slope(ours(place, figure)))
            .grouped(name, "difference", |figure| {
                difference(ours(place, figure), figure)
            });
    }
    let answered = |figure: &&Figure| places.iter().any(|place| ours(place, figure).is_some());
    let title = "Table 6 of the paper (Linux 5.3) beside ours: decisions per operation";
    let left_out = if all > places.len() {
        format!("Shown: {PLACES_LIMIT} of {all} kernels.")
    } else {
        String::new()
    };
    let table = columns
        .table(title, table6().filter(answered))
        .fixed(2)
        .legend([
            "slope: over the hooks that the paper delayed, inode_permission and file_permission: \
             their own, or the sum of each one's; caches warm; difference: to the paper's.",
            &left_out,
        ]);
    Some(table)
}

fn theirs(figure: &Figure) -> Option<f64> {
    figure.low.or(figure.high)
}

fn slope(ours: Option<Ours>) -> Value {
    match ours {
        None => not_measured("not measured"),
        Some(Err(without)) => without,
        Some(Ok(slope)) => Value::from(slope).shown(numbers::decimals(slope, 4)),
    }
}

fn difference(ours: Option<Ours>, figure: &Figure) -> Value {
    let Some(Ok(slope)) = ours else {
        return Value::default();
    };
    let Some(difference) = theirs(figure).map(|theirs| slope - theirs) else {
        return Value::plain("-");
    };
    let tone = match difference.abs() > DIFFERENCE {
        true => Tone::Worse,
        false => Tone::Plain,
    };
    Value::from(difference)
        .shown(numbers::signed(difference, 4))
        .tone(tone)
}

/// The slope over the figure's hooks: of those delayed together, or the sum over each
/// delayed alone. A hook that all were delayed with and has no slope is never called.
fn ours(place: &Place<'_>, figure: &Figure) -> Option<Ours> {
    let operation = figure.ours.first()?;
    let key = (operation.benchmark.as_str(), operation.variant.as_str());
    let Parted { wholes, parts } = place.operations.get(&key)?;
    let wanted = &figure.hooks;
    let same = |swept: &&&Swept<'_>| {
        let hooks = swept.hooks();
        hooks.len() == wanted.len() && wanted.iter().all(|hook| hooks.contains(hook))
    };
    let slope = |swept: &Swept<'_>| {
        let slope = swept.slope.map(|of| of.slope);
        slope.ok_or_else(|| without_figure(swept.cell))
    };
    if let Some(whole) = wholes.iter().find(same) {
        return Some(slope(whole));
    }
    let covers = |swept: &&&Swept<'_>| {
        let hooks = &swept.hooks()[..swept.hooks().len().min(HOOKS_LIMIT)];
        hooks == [ALL_HOOKS] || wanted.iter().all(|hook| hooks.contains(hook))
    };
    let other_hooks = || Some(Err(not_measured("other hooks were delayed")));
    let Some(whole) = wholes.iter().find(covers) else {
        return other_hooks();
    };
    if let without @ Err(_) = slope(whole) {
        return Some(without);
    }
    if parts.is_empty() {
        return other_hooks();
    }
    let part = |hook: &String| parts.iter().find(|part| part.hooks() == [hook.as_str()]);
    let mut alone = wanted.iter().filter_map(part);
    Some(alone.try_fold(0.0, |sum, part| Ok(sum + slope(part)?)))
}
