// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks per operation next to counts, with one operation per row.

use model::{Slope, SlopePoint, Unit};

use super::{Parted, Swept, hooks_title, numbers, operations, where_swept};
use crate::cells::without_figure;
use crate::column::Columns;
use crate::format::count;
use crate::group::{grouped, shared, sum};
use crate::profile::full_name;
use crate::table::{Table, Tone, Value};
use crate::text::{printable, short};

/// If the sag of a line is at least this fraction of its rise, the line is reported as bent.
const BEND_SHOWN: f64 = 0.01;
const LEGEND: &str = "slope: permission checks per operation, with its 95 % interval; \
    counted: calls of the hooks without delays; no delay: cost where the line begins; r²: share of \
    the variance that the line explains; n: operations; dirty: left out because something \
    else ran in them; others: off the line, because they took other code paths.";

pub(super) fn tables(swept: &[Swept<'_>], by_hook: bool) -> Vec<Table> {
    let groups = grouped(swept, Swept::place).into_iter();
    let mut tables: Vec<Table> = groups.map(|(_, slopes)| table(&slopes, by_hook)).collect();
    if let Some(first) = tables.first_mut() {
        first.legend.insert(0, LEGEND.to_owned());
    }
    tables
}

struct Shape<'a> {
    /// Set if the same hooks were delayed together in all rows.
    hooks: Option<&'a [String]>,
    longest_ns: Option<u32>,
    delays_differ: bool,
    bent: bool,
    no_delay: &'static str,
}

impl<'a> Shape<'a> {
    fn new(slopes: &[&Swept<'a>], shown: &[&Swept<'a>], unit: Unit) -> Shape<'a> {
        let longest = || shown.iter().filter_map(|swept| longest_ns(swept.slope?));
        let longest_ns = shared(longest());
        Shape {
            hooks: shared(shown.iter().map(|swept| swept.hooks())),
            longest_ns,
            delays_differ: longest_ns.is_none() && longest().next().is_some(),
            bent: { slopes.iter() }.any(|swept| swept.slope.and_then(bend).is_some()),
            no_delay: match unit {
                Unit::Instructions => "no delay",
                Unit::Ns => "ns, no delay",
                Unit::OpsPerS => "ops/s, no delay",
            },
        }
    }

    fn columns<'c>(&self) -> Columns<'c, &'c Line<'c>> {
        Columns::new()
            .left("operation", |line: &Line<'_>| Value::plain(&line.label))
            .right("slope", |line| {
                let Swept { cell, slope, .. } = line.swept?;
                Some(slope.map_or_else(|| without_figure(cell), slope_value))
            })
            .right("counted", |line| {
                let counted = line.ok()?.counted;
                Some(counted.map_or("-".to_owned(), numbers::calls))
            })
            .right("difference", |line| line.ok().map(difference))
            .right(self.no_delay, |line| {
                Some(numbers::cost(line.ok()?.intercept))
            })
            .right("r²", |line| Some(numbers::r2(line.ok()?.r2)))
            .only_if(self.bent, |columns| {
                columns.right("bend", |line| {
                    let bend = bend(line.ok()?)?;
                    Some(Value::toned(numbers::percent(bend), Tone::Worse))
                })
            })
            .column("n", |line| Some(line.ok()?.n))
            .column("dirty", |line| Some(line.ok()?.dirty))
            .column("others", |line| Some(line.ok()?.others))
            .only_if(self.delays_differ, |columns| {
                columns.right("delays to (µs)", |line| {
                    longest_ns(line.ok()?).map(numbers::microseconds)
                })
            })
    }
}

struct Line<'a> {
    label: String,
    swept: Option<&'a Swept<'a>>,
}

impl<'a> Line<'a> {
    fn ok(&self) -> Option<&'a Slope> {
        self.swept?.slope
    }
}

fn table<'a>(slopes: &[&'a Swept<'a>], by_hook: bool) -> Table {
    let operations = operations(slopes);
    let wholes = operations.iter().flat_map(|(_, parted)| &parted.wholes);
    let wholes: Vec<&Swept<'_>> = wholes.copied().collect();
    let unit = slopes.first().map_or(Unit::Instructions, |s| s.unit);
    let shape = Shape::new(slopes, &wholes, unit);
    let mut lines = Vec::new();
    let mut hooks_shown = false;
    for (_, Parted { wholes, parts }) in &operations {
        lines.extend(wholes.iter().map(|&whole| {
            let mut label = short(&whole.cell.title());
            if shape.hooks.is_none() {
                label += &format!(" ({})", hooks_title(whole.hooks()));
            }
            let swept = Some(whole);
            Line { label, swept }
        }));
        if let Some(first) = parts.first().filter(|_| wholes.is_empty()) {
            lines.push(Line {
                label: short(&first.cell.title()),
                swept: None,
            });
        }
        if !parts.is_empty() && (by_hook || wholes.is_empty()) {
            hooks_shown = true;
            lines.extend(parts.iter().map(|part| {
                let hook = part.hooks().first().map_or("", String::as_str);
                Line {
                    label: short(&format!("  {hook}")),
                    swept: Some(part),
                }
            }));
        }
    }
    let (title, summary) = (title(slopes, unit, &shape), summary(&wholes, &shape));
    let table = shape.columns().summed_up(title, &lines, summary);
    table.legend(legend(&wholes, &shape, hooks_shown))
}

fn title(slopes: &[&Swept<'_>], unit: Unit, shape: &Shape<'_>) -> String {
    let stack = slopes.first().map(|first| full_name(&first.cell.key.stack));
    let clock = match unit {
        Unit::Instructions => ", deterministic clock",
        Unit::Ns | Unit::OpsPerS => "",
    };
    let hooks = shape
        .hooks
        .map(hooks_title)
        .map(|hooks| format!(" at {hooks}"));
    format!(
        "{}{clock}, {}: permission checks per operation: the slope of its {unit} over the ns of a \
         delay{}",
        where_swept(slopes),
        stack.unwrap_or_default(),
        hooks.unwrap_or_default()
    )
}

fn legend(wholes: &[&Swept<'_>], shape: &Shape<'_>, hooks_shown: bool) -> Vec<String> {
    let mut legend = Vec::new();
    if hooks_shown {
        legend.push("Below an operation: each hook delayed alone.".to_owned());
    }
    let bend = "bend: how far the points sag from the line, as a share of its rise, if above 1 %.";
    legend.extend(shape.bent.then(|| bend.to_owned()));
    if let Some(longest_ns) = shape.longest_ns {
        let slopes = wholes.iter().filter_map(|swept| swept.slope);
        let to = numbers::microseconds(longest_ns);
        legend.push(match shared(slopes.map(|slope| slope.points.len())) {
            Some(delays) => format!("Delays: {delays}, up to {to} µs."),
            None => format!("Delays: up to {to} µs."),
        });
    }
    legend
}

fn longest_ns(slope: &Slope) -> Option<u32> {
    let delays = slope.points.iter().map(|point: &SlopePoint| point.delay_ns);
    delays.max()
}

fn bend(slope: &Slope) -> Option<f64> {
    slope.bend.filter(|bend| bend.abs() > BEND_SHOWN)
}

pub(super) fn slope_value(slope: &Slope) -> Value {
    let slope_text = numbers::decimals(slope.slope, 4);
    let value = Value::from(slope.slope).shown(slope_text);
    value.beside(numbers::plus_minus(slope.slope, slope.ci95))
}

fn difference(slope: &Slope) -> Value {
    let Some(difference) = slope.difference() else {
        return Value::plain("-");
    };
    let why = slope.explanation.as_deref();
    let why = why.filter(|why| !why.trim().is_empty());
    let unknown = slope.differs().then(|| "unknown reason".to_owned());
    let tone = [Tone::Plain, Tone::Worse][usize::from(slope.differs())];
    Value::from(difference)
        .shown(numbers::signed(difference, 4))
        .noted(why.map(|why| printable(why, 400)).or(unknown))
        .tone(tone)
}

fn summary(wholes: &[&Swept<'_>], shape: &Shape<'_>) -> Option<Vec<Value>> {
    let ok: Vec<&Slope> = wholes.iter().filter_map(|swept| swept.slope).collect();
    if ok.len() < 2 {
        return None;
    }
    let differences = ok.iter().filter_map(|slope| slope.difference());
    let largest = differences.map(f64::abs).max_by(f64::total_cmp);
    let explained = ok.iter().filter_map(|slope| slope.r2);
    let smallest = explained.min_by(f64::total_cmp);
    let total = |count: fn(&Slope) -> u64| Value::from(sum(ok.iter().map(|slope| count(slope))));
    let mut values = vec![Value::default(); if shape.bent { 7 } else { 6 }];
    values[0] = Value::plain(format!("{} slopes", count(ok.len() as u64)));
    let largest = largest.map(|largest| format!("≤ {}", numbers::decimals(largest, 4)));
    values[3] = largest.into();
    values[5] = smallest
        .map(|r2| format!("≥ {}", numbers::r2(Some(r2))))
        .into();
    let (n, dirty) = (total(|slope| slope.n), total(|slope| slope.dirty));
    values.extend([n, dirty, total(|slope| slope.others)]);
    Some(values)
}
