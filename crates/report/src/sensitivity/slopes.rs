// SPDX-License-Identifier: GPL-2.0-or-later
//! Slopes beside counts: an operation in each row.

use experiment::{SensitivityDocument, Slope, SlopePoint, Unit};

use super::{Parted, has_figures, hooks_title, numbers, operations, where_swept};
use crate::column::Columns;
use crate::format::count;
use crate::group::grouped;
use crate::profile::full_name;
use crate::table::{TEXT_LIMIT, Table, Tone, Value, without_figure};
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
    /// Rows differ in their longest delay.
    delays_differ: bool,
    bent: bool,
    no_delay: &'static str,
}

impl<'a> Shape<'a> {
    fn of(slopes: &[&'a Slope], shown: &[&'a Slope], unit: Unit) -> Shape<'a> {
        let mut hooks = shown.iter().map(|slope| slope.hooks.as_slice());
        let first = hooks.next();
        let mut longest = shown.iter().filter_map(|slope| longest_ns(slope));
        let any_ns = longest.next();
        let longest_ns = any_ns.filter(|first| longest.all(|other| other == *first));
        Shape {
            hooks: first.filter(|first| hooks.all(|hooks| hooks == *first)),
            longest_ns,
            delays_differ: longest_ns.is_none() && any_ns.is_some(),
            bent: slopes.iter().any(|slope| bend(slope).is_some()),
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
                let slope = line.slope?;
                Some(match has_figures(slope) {
                    true => slope_value(slope),
                    false => without_figure(slope.status, slope.reason.as_deref()),
                })
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
                    let bend = bend(line.slope?)?;
                    Some(Value::toned(numbers::percent(bend), Tone::Worse))
                })
            })
            .column("n", |line| Some(line.ok()?.n))
            .column("dirty", |line| Some(line.ok()?.dirty))
            .column("others", |line| Some(line.ok()?.others))
            .only_if(self.delays_differ, |columns| {
                columns.right("delays to (µs)", |line| {
                    longest_ns(line.slope?).map(numbers::microseconds)
                })
            })
    }
}

/// A slope under its name; none above those of an operation's hooks alone.
struct Line<'a> {
    label: String,
    slope: Option<&'a Slope>,
}

impl<'a> Line<'a> {
    /// The slope if it has figures.
    fn ok(&self) -> Option<&'a Slope> {
        self.slope.filter(|slope| has_figures(slope))
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
    let mut lines = Vec::new();
    let mut hooks_shown = false;
    for (_, Parted { wholes, parts }) in &operations {
        lines.extend(wholes.iter().map(|&whole| {
            let mut label = printable(&whole.title(), TEXT_LIMIT);
            if shape.hooks.is_none() {
                label += &format!(" ({})", hooks_title(&whole.hooks));
            }
            let slope = Some(whole);
            Line { label, slope }
        }));
        let Some(first) = parts.first() else {
            continue;
        };
        if wholes.is_empty() {
            lines.push(Line {
                label: printable(&first.title(), TEXT_LIMIT),
                slope: None,
            });
        }
        if by_hook || wholes.is_empty() {
            hooks_shown = true;
            lines.extend(parts.iter().map(|part| {
                let hook = part.hooks.first().map_or("", String::as_str);
                Line {
                    label: printable(&format!("  {hook}"), TEXT_LIMIT),
                    slope: Some(part),
                }
            }));
        }
    }
    shape
        .columns()
        .summed_up(
            title(document, slopes, &shape),
            &lines,
            summary(&wholes, &shape),
        )
        .legend(legend(&wholes, &shape, hooks_shown))
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

/// A slope with its interval.
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
    let unknown = slope.differs().then(|| "no reason is known".to_owned());
    let tone = if slope.differs() {
        Tone::Worse
    } else {
        Tone::Plain
    };
    Value::from(difference)
        .shown(numbers::signed(difference, 4))
        .noted(why.map(|why| printable(why, 400)).or(unknown))
        .tone(tone)
}

/// The worst of all operations.
fn summary(wholes: &[&Slope], shape: &Shape<'_>) -> Option<Vec<Value>> {
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
    Some(values.into_iter().map(Value::plain).collect())
}
