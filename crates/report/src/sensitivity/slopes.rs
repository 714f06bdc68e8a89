// SPDX-License-Identifier: GPL-2.0-or-later
//! Slopes beside counts: an operation in each row.

use experiment::{SensitivityDocument, Slope, SlopePoint, Status, Unit};

use super::{Parted, has_figures, hooks_title, numbers, operations, row, where_swept};
use crate::format::count;
use crate::group::grouped;
use crate::profile::full_name;
use crate::table::{Align, Column, Footnotes, Row, TEXT_LIMIT, Table, Tone, Value, without_figure};
use crate::text::printable;

/// A sag from which on a line is called bent, as a share of its rise.
const BEND_SHOWN: f64 = 0.01;
/// Stands above the first table, and holds for all.
const LEGEND: &str = "slope: decisions that an operation asks for, with its 95 % interval; \
    counted: calls of the hooks without delays; no delay: cost where the line begins; r²: share of \
    the variance that the line explains; n: operations; dirty: those left out because something \
    else ran in them; others: those off the line, which took other paths.";

pub(super) fn tables(document: &SensitivityDocument, by_hook: bool) -> Vec<Table> {
    grouped(&document.slopes, |slope| {
        (
            slope.kernel.as_str(),
            slope.module,
            slope.caches,
            slope.filesystem.as_str(),
            slope.unit,
        )
    })
    .into_iter()
    .enumerate()
    .map(|(at, (_, slopes))| {
        let mut table = table(document, &slopes, by_hook);
        if at == 0 {
            table.legend.insert(0, LEGEND.to_owned());
        }
        table
    })
    .collect()
}

/// What all rows of a table have in common.
struct Shape<'a> {
    /// The hooks delayed together, if they are the same in all rows.
    hooks: Option<&'a [String]>,
    /// The longest delay, likewise.
    longest_ns: Option<u32>,
    bent: bool,
    columns: Vec<Column>,
}

impl<'a> Shape<'a> {
    fn of(slopes: &[&'a Slope], shown: &[&'a Slope], unit: Unit) -> Shape<'a> {
        let mut hooks = shown.iter().map(|slope| slope.hooks.as_slice());
        let first = hooks.next();
        let mut longest = shown.iter().filter_map(|slope| longest_ns(slope));
        let longest_ns = longest.next();
        let bent = slopes.iter().any(|slope| bend(slope).is_some());
        let mut shape = Shape {
            hooks: first.filter(|first| hooks.all(|hooks| hooks == *first)),
            longest_ns: longest_ns.filter(|first| longest.all(|other| other == *first)),
            bent,
            columns: vec![Column::new("operation", Align::Left)],
        };
        let no_delay = match unit {
            Unit::Instructions => "no delay",
            Unit::Ns => "ns, no delay",
            Unit::OpsPerS => "ops/s, no delay",
        };
        let mut titles = vec!["slope", "counted", "difference", no_delay, "r²"];
        if bent {
            titles.push("bend");
        }
        titles.extend(["n", "dirty", "others"]);
        if shape.longest_ns.is_none() && longest_ns.is_some() {
            titles.push("delays to (µs)");
        }
        let titles = titles.into_iter().map(|title| Column::figures(title, None));
        shape.columns.extend(titles);
        shape
    }
}

fn table(document: &SensitivityDocument, slopes: &[&Slope], by_hook: bool) -> Table {
    let operations = operations(slopes);
    let wholes: Vec<&Slope> = operations
        .iter()
        .flat_map(|(_, parted)| parted.wholes.iter().copied())
        .collect();
    let unit = slopes.first().map_or(Unit::Instructions, |s| s.unit);
    let shape = Shape::of(slopes, &wholes, unit);
    let mut notes = Footnotes::default();
    let mut rows = Vec::new();
    let mut hooks_shown = false;
    for (_, parted) in &operations {
        let Parted { wholes, parts } = parted;
        for whole in wholes {
            let mut label = printable(&whole.title(), TEXT_LIMIT);
            if shape.hooks.is_none() {
                label += &format!(" ({})", hooks_title(&whole.hooks));
            }
            rows.push(row_of(label, whole, &shape, &mut notes));
        }
        let Some(first) = parts.first() else {
            continue;
        };
        if wholes.is_empty() {
            let label = Value::plain(printable(&first.title(), TEXT_LIMIT));
            rows.push(row(vec![label], shape.columns.len(), false));
        }
        if by_hook || wholes.is_empty() {
            hooks_shown = true;
            for part in parts {
                let hook = part.hooks.first().map_or("", String::as_str);
                let label = printable(&format!("  {hook}"), TEXT_LIMIT);
                rows.push(row_of(label, part, &shape, &mut notes));
            }
        }
    }
    rows.extend(summary(&wholes, &shape));
    Table {
        title: title(document, slopes, &shape),
        legend: legend(&wholes, &shape, hooks_shown),
        columns: shape.columns,
        fixed_columns: 1,
        rows,
        footnotes: notes.texts,
    }
}

fn title(document: &SensitivityDocument, slopes: &[&Slope], shape: &Shape<'_>) -> String {
    let mut title = format!(
        "{}, {} clock",
        where_swept(slopes),
        document.environment.clock
    );
    if let Some(first) = slopes.first() {
        title += &format!(", {}", full_name(&first.stack));
    }
    let unit = slopes.first().map_or(Unit::Instructions, |s| s.unit);
    title += &format!(": decisions per operation: the slope of its {unit} over the ns of a delay");
    if let Some(hooks) = shape.hooks {
        title += &format!(" at {}", hooks_title(hooks));
    }
    title
}

fn legend(wholes: &[&Slope], shape: &Shape<'_>, hooks_shown: bool) -> Vec<String> {
    let mut legend = Vec::new();
    if hooks_shown {
        legend.push("Below an operation: each hook delayed alone.".to_owned());
    }
    if shape.bent {
        legend.push(
            "bend: how far the points sag from the line, of its rise, if above 1 %.".to_owned(),
        );
    }
    let points = wholes.iter().filter(|slope| has_figures(slope));
    let mut delays = points.map(|slope| slope.points.len());
    if let (Some(longest_ns), Some(first)) = (shape.longest_ns, delays.next()) {
        let to = numbers::microseconds(longest_ns);
        legend.push(if delays.all(|other| other == first) {
            format!("Delays: {first}, up to {to} µs.")
        } else {
            format!("Delays: up to {to} µs.")
        });
    }
    legend
}

fn longest_ns(slope: &Slope) -> Option<u32> {
    let delays = slope.points.iter().map(|point: &SlopePoint| point.delay_ns);
    delays.max().filter(|_| has_figures(slope))
}

fn bend(slope: &Slope) -> Option<f64> {
    slope
        .bend
        .filter(|bend| bend.abs() > BEND_SHOWN && has_figures(slope))
}

fn row_of(label: String, slope: &Slope, shape: &Shape<'_>, notes: &mut Footnotes) -> Row {
    let mut values = vec![Value::plain(label)];
    if slope.status != Status::Ok {
        values.push(without_figure(slope.status, slope.reason.as_deref(), notes));
        return row(values, shape.columns.len(), false);
    }
    values.push(slope_value(slope));
    let counted = slope.counted.map_or("-".to_owned(), numbers::calls);
    values.push(Value::plain(counted));
    values.push(difference(slope, notes));
    values.push(Value::plain(numbers::cost(slope.intercept)));
    values.push(Value::plain(numbers::r2(slope.r2)));
    if shape.bent {
        values.push(match bend(slope) {
            Some(bend) => Value::toned(numbers::percent(bend), Tone::Worse),
            None => Value::default(),
        });
    }
    values.push(Value::plain(count(slope.n)));
    values.push(Value::plain(count(slope.dirty)));
    values.push(Value::plain(count(slope.others)));
    if let Some(longest_ns) = longest_ns(slope) {
        values.push(Value::plain(numbers::microseconds(longest_ns)));
    }
    // Without its column the last one is cut.
    values.truncate(shape.columns.len());
    row(values, shape.columns.len(), false)
}

/// A slope with its interval.
pub(super) fn slope_value(slope: &Slope) -> Value {
    Value {
        text: numbers::decimals(slope.slope, 4),
        absolute: Some(numbers::plus_minus(slope.slope, slope.ci95)),
        tone: Tone::Plain,
    }
}

fn difference(slope: &Slope, notes: &mut Footnotes) -> Value {
    let Some(difference) = slope.difference() else {
        return Value::plain("-");
    };
    let why = slope.explanation.as_deref();
    let why = why.filter(|why| !why.trim().is_empty());
    let mut text = numbers::signed(difference, 4);
    if let Some(why) = why {
        text += &format!(" {}", notes.mark(printable(why, 400)));
    } else if slope.differs() {
        text += &format!(" {}", notes.mark("no reason is known".to_owned()));
    }
    let tone = if slope.differs() {
        Tone::Worse
    } else {
        Tone::Plain
    };
    Value::toned(text, tone)
}

/// The worst of all operations.
fn summary(wholes: &[&Slope], shape: &Shape<'_>) -> Option<Row> {
    let ok: Vec<&&Slope> = wholes.iter().filter(|slope| has_figures(slope)).collect();
    if ok.len() < 2 {
        return None;
    }
    let differences = ok.iter().filter_map(|slope| slope.difference());
    let largest = differences.map(f64::abs).max_by(f64::total_cmp);
    let explained = ok.iter().filter_map(|slope| slope.r2);
    let smallest = explained.min_by(f64::total_cmp);
    let sum = |of: fn(&Slope) -> u64| {
        let all = ok.iter().map(|slope| of(slope));
        count(all.fold(0, u64::saturating_add))
    };
    let mut values = vec![
        format!("{} slopes", count(ok.len() as u64)),
        String::new(),
        String::new(),
        largest.map_or(String::new(), |d| format!("≤ {}", numbers::decimals(d, 4))),
        String::new(),
        smallest.map_or(String::new(), |r2| format!("≥ {}", numbers::r2(Some(r2)))),
    ];
    if shape.bent {
        values.push(String::new());
    }
    values.extend([
        sum(|slope| slope.n),
        sum(|slope| slope.dirty),
        sum(|slope| slope.others),
    ]);
    let values = values.into_iter().map(Value::plain).collect();
    Some(row(values, shape.columns.len(), true))
}
