// SPDX-License-Identifier: GPL-2.0-or-later
//! Comparisons as tables, and for the machines that read a gate's word.

use experiment::ComparisonDocument;
use experiment::comparison::{
    ComparedCell, EnvironmentDifference, Method, Place, Quantity, Side, UnmatchedCell, Verdict,
};

use crate::format;
use crate::group::grouped;
use crate::table::{Align, Column, Footnotes, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

mod aa;
mod csv;
mod explained;
mod gate;
mod junit;
mod kcidb;
mod ktap;

pub(crate) use aa::table as aa_table;
pub use csv::{COMPARISON_CSV_COLUMNS, comparison_csv};
pub use junit::{JunitError, junit};
pub use kcidb::{KcidbNames, kcidb};
pub use ktap::ktap;

/// What a comparison's tables show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparisonOptions {
    /// Only cells that differ, or of which nothing can be said.
    pub changed: bool,
}

/// Most notes of either document that are told.
const NOTES_MAX: usize = 20;

/// All tables of a comparison, in the order of its cells.
pub fn comparison_report(document: &ComparisonDocument, options: &ComparisonOptions) -> Report {
    let groups = grouped(&document.compared, |cell| {
        (&cell.place, &cell.base_place, cell.quantity)
    });
    let mut tables: Vec<Table> = groups
        .into_iter()
        .map(|((place, base_place, quantity), cells)| {
            let title = title(document, place, base_place.as_ref(), quantity);
            table(title, &cells, options)
        })
        .collect();
    tables.extend(unmatched(&document.unmatched));
    tables.extend(explained::tables(document));
    tables.extend(environment(&document.environment));
    tables.extend(aa::table(document.aa.as_ref()));
    tables.extend(gate::table(document));
    Report {
        tables,
        warnings: notes(document),
    }
}

fn title(
    document: &ComparisonDocument,
    place: &Place,
    base_place: Option<&Place>,
    quantity: Quantity,
) -> String {
    let of = |place: &Place| printable(&place.title(), 200);
    let place = match base_place {
        Some(base) => format!("{} against {}", of(place), of(base)),
        None => of(place),
    };
    let sources = match document.across {
        Some(axis) => format!("along the {axis}"),
        None => format!(
            "{} against {}",
            printable(&document.new.name, TEXT_LIMIT),
            printable(&document.base.name, TEXT_LIMIT)
        ),
    };
    let quantity = match quantity {
        Quantity::Instructions => "guest kernel instructions per operation",
        Quantity::HookInstructions => "guest kernel instructions inside hooks, per operation",
        Quantity::Time => "nanoseconds per operation",
        Quantity::Throughput => "operations per second",
        Quantity::Calls => "calls in the whole recording",
        Quantity::CallRate => "calls per second",
        Quantity::CallTime => "nanoseconds per call",
        Quantity::Slope => "decisions asked for per operation (slope)",
    };
    format!("{place}: {quantity}, {sources}")
}

fn table(title: String, cells: &[&ComparedCell], options: &ComparisonOptions) -> Table {
    let exact = |cell: &&&ComparedCell| matches!(cell.method, Method::Exact | Method::None);
    let statistical = cells.iter().any(|cell| !exact(&cell));
    let mut columns = vec![
        Column::new("benchmark", Align::Left),
        Column::figures("BASE", None),
        Column::figures("NEW", None),
        Column::figures("difference", None),
        Column::figures("change", None),
    ];
    if statistical {
        columns.extend([
            Column::figures("95 % interval", None),
            Column::figures("p", None),
            Column::figures("effect", None),
            Column::figures("n", None),
            Column::figures("detectable", None),
        ]);
    }
    columns.push(Column::new("verdict", Align::Left));
    let mut footnotes = Footnotes::default();
    let shown = |cell: &&&ComparedCell| !options.changed || cell.verdict != Verdict::Same;
    let mut rows: Vec<Row> = (cells.iter().filter(shown))
        .map(|cell| Row {
            values: values(cell, statistical, &mut footnotes),
            summary: false,
        })
        .collect();
    rows.extend(summary(cells, columns.len()));
    let mut legend = legend(cells, statistical);
    let hidden = cells.len() - cells.iter().filter(shown).count();
    if hidden > 0 {
        legend.push(format!("{hidden} cells that are the same are not shown."));
    }
    Table {
        title,
        legend,
        columns,
        fixed_columns: 1,
        rows,
        footnotes: footnotes.texts,
    }
}

fn values(cell: &ComparedCell, statistical: bool, notes: &mut Footnotes) -> Vec<Value> {
    let tone = match cell.verdict {
        Verdict::Worse => Tone::Worse,
        Verdict::Better => Tone::Better,
        Verdict::Same => Tone::Plain,
        Verdict::Unclear => Tone::Faint,
        Verdict::Missing => Tone::Missing,
    };
    let figure = |value: Option<f64>| match value {
        Some(value) => Value::plain(format::figure(value)),
        None => Value::toned("-", Tone::Missing),
    };
    let difference = match cell.difference {
        Some(difference) => {
            let sign = if difference > 0.0 { "+" } else { "" };
            Value::toned(format!("{sign}{}", format::figure(difference)), tone)
        }
        None => Value::toned("-", Tone::Missing),
    };
    let change = match (cell.overhead, cell.verdict) {
        (_, Verdict::Missing) => Value::toned("-", Tone::Missing),
        (None, _) => Value::toned("n/a", Tone::Missing),
        (Some(overhead), Verdict::Unclear) => {
            Value::toned(format!("~{}", format::percent(overhead)), tone)
        }
        (Some(overhead), _) => Value::toned(format::percent(overhead), tone),
    };
    let mut values = vec![
        Value::plain(printable(&cell.title(), TEXT_LIMIT)),
        figure(cell.base.value),
        figure(cell.new.value),
        difference,
        change,
    ];
    if statistical {
        values.extend(statistics(cell));
    }
    let mut verdict = cell.verdict.to_string();
    let doubts = (!cell.doubts.is_empty()).then(|| format!("doubted: {}", cell.doubts.join("; ")));
    for reason in [cell.reason.clone(), doubts].into_iter().flatten() {
        let text = reason.lines().collect::<Vec<_>>().join("; ");
        verdict += &format!(" {}", notes.mark(printable(&text, 200)));
    }
    values.push(Value::toned(verdict, tone));
    values
}

fn statistics(cell: &ComparedCell) -> [Value; 5] {
    let or_none = |text: Option<String>| Value::plain(text.unwrap_or_default());
    let statistical = !matches!(cell.method, Method::Exact | Method::None);
    let interval = cell.ci95.filter(|_| statistical);
    let n = [cell.base.n, cell.new.n].map(|n| n.map_or("?".to_owned(), format::count));
    let rounds = cell.base.rounds.zip(cell.new.rounds);
    let rounds = rounds.filter(|_| cell.method == Method::Rounds);
    let rounds = rounds.map_or(String::new(), |(a, b)| format!(" in {a}+{b} rounds"));
    [
        or_none(
            interval.map(|[low, high]| {
                format!("{} to {}", format::percent(low), format::percent(high))
            }),
        ),
        or_none(cell.p_adjusted.map(|p| {
            if p < 0.001 {
                "<0.001".to_owned()
            } else {
                format!("{p:.3}")
            }
        })),
        or_none(cell.effect.map(|effect| format!("{effect:+.2}"))),
        or_none(statistical.then(|| format!("{}+{}{rounds}", n[0], n[1]))),
        or_none(
            cell.detectable
                .map(|least| format!("{:.1} %", least * 100.0)),
        ),
    ]
}

/// The geometric mean of the ratios.
fn summary(cells: &[&ComparedCell], columns: usize) -> Option<Row> {
    let direction = cells.first()?.quantity.direction();
    let ratios: Vec<f64> = (cells.iter())
        .filter_map(|cell| {
            let ratio = cell.new.value? / cell.base.value?;
            (ratio.is_finite() && ratio > 0.0).then_some(ratio)
        })
        .collect();
    let n = ratios.len();
    let mean = stats::geometric_mean(ratios).filter(|_| n > 1)?;
    let mut values = vec![Value::default(); columns];
    values[0] = Value::plain("geometric mean");
    values[4] = Value {
        text: format::percent(direction.overhead_of_ratio(mean)),
        absolute: Some(format!("n={n}")),
        tone: Tone::Plain,
    };
    Some(Row {
        values,
        summary: true,
    })
}

fn legend(cells: &[&ComparedCell], statistical: bool) -> Vec<String> {
    let worse = match cells.first().map(|cell| cell.quantity.direction()) {
        Some(stats::Direction::HigherIsBetter) => "fewer",
        _ => "more",
    };
    let mut legend = vec![format!(
        "difference: NEW less BASE; change: the same as a share of BASE (+: {worse}, which is \
         worse)."
    )];
    if cells.iter().any(|cell| cell.method == Method::Exact) {
        legend.push("Counts without an interval are exact: one more is a difference.".to_owned());
    }
    if statistical {
        legend.push(
            "95 % interval: of the change; p: how probable such a difference is if there is none, \
             corrected for the number of cells; effect: Cliff's delta, from -1 (all of NEW's \
             samples are smaller) to +1; n: samples of BASE + NEW; detectable: the smallest \
             change that four of five such comparisons would find; ~: nothing can be said."
                .to_owned(),
        );
    }
    legend
}

fn unmatched(cells: &[UnmatchedCell]) -> Option<Table> {
    let rows = cells.iter().map(|cell| {
        let title = if cell.detail.is_empty() {
            cell.benchmark.clone()
        } else {
            format!("{} ({})", cell.benchmark, cell.detail)
        };
        let only = match cell.side {
            Side::Base => "BASE",
            Side::New => "NEW",
        };
        Row {
            values: vec![
                Value::plain(only),
                Value::plain(printable(&title, TEXT_LIMIT)),
                Value::plain(cell.quantity.unit()),
                Value::plain(printable(&cell.place.title(), 200)),
            ],
            summary: false,
        }
    });
    let rows: Vec<Row> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: "Cells of one side only".to_owned(),
        legend: Vec::new(),
        columns: vec![
            Column::new("only in", Align::Left),
            Column::new("benchmark", Align::Left),
            Column::new("unit", Align::Left),
            Column::new("measured on", Align::Left),
        ],
        fixed_columns: 2,
        rows,
        footnotes: Vec::new(),
    })
}

fn environment(differences: &[EnvironmentDifference]) -> Option<Table> {
    let rows: Vec<Row> = differences
        .iter()
        .map(|difference| Row {
            values: [&difference.key, &difference.base, &difference.new]
                .into_iter()
                .map(|text| Value::plain(printable(text, TEXT_LIMIT)))
                .collect(),
            summary: false,
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: "Not measured alike".to_owned(),
        legend: vec![
            "Counts are those of the guest's kernel and may still be compared; times may not, \
             unless --trust-environment says so."
                .to_owned(),
        ],
        columns: vec![
            Column::new("what", Align::Left),
            Column::new("BASE", Align::Left),
            Column::new("NEW", Align::Left),
        ],
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

fn notes(document: &ComparisonDocument) -> Vec<String> {
    let mut notes: Vec<String> = (document.notes.iter().take(NOTES_MAX))
        .map(|note| printable(note, 400))
        .collect();
    let more = document.notes.len().saturating_sub(NOTES_MAX);
    if more > 0 {
        notes.push(format!(
            "and {more} more, in the comparison document (--json)"
        ));
    }
    notes
}

/// What was found, in one line: `24 cells: 3 worse, 1 better, 20 the same`.
pub fn comparison_summary(document: &ComparisonDocument) -> String {
    let n = document.compared.len();
    let mut parts = Vec::new();
    for (verdict, words) in [
        (Verdict::Worse, "worse"),
        (Verdict::Better, "better"),
        (Verdict::Same, "the same"),
        (Verdict::Unclear, "unclear"),
        (Verdict::Missing, "without a figure"),
    ] {
        match document.count(verdict) {
            0 => {}
            count => parts.push(format!("{count} {words}")),
        }
    }
    let lone = document.unmatched.len();
    if lone > 0 {
        parts.push(format!("{lone} more on one side only"));
    }
    let cells = if n == 1 { "cell" } else { "cells" };
    if parts.is_empty() {
        format!("{n} {cells}")
    } else {
        format!("{n} {cells}: {}", parts.join(", "))
    }
}
