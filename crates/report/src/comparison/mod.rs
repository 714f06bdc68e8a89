// SPDX-License-Identifier: GPL-2.0-or-later
//! Comparisons as tables, and as output of a gate for other programs.

use compare::judge::GETPPID;
use model::comparison::{
    ComparedCell, EnvironmentDifference, Method, Place, Side, UnmatchedCell, Verdict,
};
use model::{ComparisonDocument, Metric};

use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::table::{Report, Table, Tone, Value};
use crate::text::{printable, short};

mod aa;
mod changed;
mod explained;
mod found;
mod gate;
mod junit;
mod ktap;
mod line;
mod picture;
mod records;

pub(crate) use aa::tables as aa_tables;
pub use junit::junit;
pub use ktap::ktap;
pub use line::change_line;
pub use records::comparison_records;

pub(crate) use changed::changed;
pub(crate) use found::{Answer, Cause, Found};
pub(crate) use gate::word as gate_word;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparisonOptions {
    pub changed: bool,
}

const NOTES_MAX: usize = 20;

pub fn comparison_report(document: &ComparisonDocument, options: &ComparisonOptions) -> Report {
    let parts = parts(document, options).into_iter();
    Report {
        tables: parts.flat_map(|(_, tables)| tables).collect(),
        warnings: notes(document),
    }
}

pub(crate) fn parts(
    document: &ComparisonDocument,
    options: &ComparisonOptions,
) -> Vec<(&'static str, Vec<Table>)> {
    let groups = grouped(&document.compared, |cell| {
        (&cell.place, &cell.base_place, cell.metric)
    });
    let cells = groups
        .into_iter()
        .map(|((place, base_place, metric), cells)| {
            let title = title(document, place, base_place.as_ref(), metric);
            table(title, &cells, options)
        });
    let unmatched = Vec::from_iter(unmatched(&document.unmatched));
    let environment = Vec::from_iter(environment(&document.environment));
    let aa = aa::tables(document.aa.as_ref());
    let mut parts = vec![
        ("Every cell", cells.collect()),
        ("Cells on one side only", unmatched),
        ("Hooks behind each change", explained::tables(document)),
        ("Not measured alike", environment),
        ("What differs without a change", aa),
        ("The gate", Vec::from_iter(gate::table(document))),
    ];
    parts.retain(|(_, tables): &(_, Vec<Table>)| !tables.is_empty());
    parts
}

fn title(
    document: &ComparisonDocument,
    place: &Place,
    base_place: Option<&Place>,
    metric: Metric,
) -> String {
    let title = |place: &Place| printable(&place.title(), 200);
    let base = base_place.map(|base| format!(" against {}", title(base)));
    let (new, base_name) = (short(&document.new.name), short(&document.base.name));
    let sources = match document.across {
        Some(axis) => format!("along the {axis}"),
        None => format!("{new} against {base_name}"),
    };
    let (place, base) = (title(place), base.unwrap_or_default());
    format!("{place}{base}: {}, {sources}", format::measured(metric))
}

fn table(title: String, cells: &[&ComparedCell], options: &ComparisonOptions) -> Table {
    let statistical = cells.iter().any(|cell| is_statistical(cell));
    let shown = |cell: &&&ComparedCell| !options.changed || cell.verdict != Verdict::Same;
    let hidden = match cells.len() - cells.iter().filter(shown).count() {
        0 => String::new(),
        hidden => format!("{hidden} cells that are the same are not shown."),
    };
    let figure = |value: Option<f64>| value.map_or_else(Value::dash, Value::from);
    Columns::new()
        .left("benchmark", |cell: &ComparedCell| cell.title())
        .right("BASE", move |cell| figure(cell.base.value))
        .right("NEW", move |cell| figure(cell.new.value))
        .right("difference", difference)
        .right("change", change)
        .only_if(statistical, statistics)
        .left("verdict", verdict)
        .summed_up(title, cells.iter().filter(shown).copied(), summary(cells))
        .legend(legend(cells, statistical))
        .legend([hidden])
}

fn is_statistical(cell: &ComparedCell) -> bool {
    !matches!(cell.method, Method::Exact | Method::None)
}

fn difference(cell: &ComparedCell) -> Value {
    let Some(difference) = cell.difference else {
        return Value::dash();
    };
    let text = match cell.verdict.is_clear(cell.difference) {
        true => format::signed(difference),
        false => "~".to_owned(),
    };
    Value::from(difference)
        .shown(text)
        .tone(Tone::of(cell.verdict))
}

fn change(cell: &ComparedCell) -> Value {
    match (cell.verdict, cell.overhead) {
        (Verdict::Missing, _) => Value::dash(),
        (_, None) => Value::toned("n/a", Tone::Missing),
        (verdict, Some(overhead)) => Value::from(overhead)
            .shown(format::change(overhead, verdict.is_clear(cell.difference)))
            .tone(Tone::of(verdict)),
    }
}

fn verdict(cell: &ComparedCell) -> Value {
    let doubts = (!cell.doubts.is_empty()).then(|| format!("doubted: {}", cell.doubts.join("; ")));
    let reasons = cell.reason.iter().chain(&doubts).map(|reason| {
        let text = reason.lines().collect::<Vec<_>>().join("; ");
        printable(&text, 200)
    });
    Value::toned(cell.verdict.to_string(), Tone::of(cell.verdict)).noted(reasons)
}

fn statistics<'a>(columns: Columns<'a, &'a ComparedCell>) -> Columns<'a, &'a ComparedCell> {
    columns
        .right("95 % interval", |cell| {
            let [low, high] = cell
                .ci95
                .filter(|_| is_statistical(cell))?
                .map(format::percent);
            Some(format!("{low} to {high}"))
        })
        .right("p", |cell| {
            Some(match cell.p_adjusted? {
                p if p < 0.001 => "<0.001".to_owned(),
                p => format!("{p:.3}"),
            })
        })
        .right("effect", |cell| Some(format!("{:+.2}", cell.effect?)))
        .right("n", |cell| {
            let n = [cell.base.n, cell.new.n].map(|n| n.map_or("?".to_owned(), format::count));
            let rounds = cell.base.rounds.zip(cell.new.rounds);
            let rounds = rounds.filter(|_| cell.method == Method::Rounds);
            let rounds = rounds.map_or(String::new(), |(a, b)| format!(" in {a}+{b} rounds"));
            is_statistical(cell).then(|| format!("{}+{}{rounds}", n[0], n[1]))
        })
        .right("detectable", |cell| cell.detectable.map(format::fraction))
}

/// Mean over the operations, for counts exact ones only and without the floor.
fn summary(cells: &[&ComparedCell]) -> Option<Vec<Value>> {
    let direction = cells.first()?.metric.direction();
    let is_in = |cell: &&&ComparedCell| {
        let is_exact = cell.method == Method::Exact || !cell.metric.is_counted();
        is_exact && cell.benchmark != GETPPID
    };
    let cells = cells.iter().filter(is_in);
    let ratios = cells.filter_map(|cell| Some(cell.new.value? / cell.base.value?));
    let (mean, n) = direction.mean_overhead(ratios).filter(|(_, n)| *n > 1)?;
    let mean = format::percent(mean);
    let mut values = vec![Value::default(); 5];
    values[0] = Value::plain("geometric mean");
    values[4] = Value::plain(mean).beside(format!("n={n}"));
    Some(values)
}

fn legend(cells: &[&ComparedCell], statistical: bool) -> Vec<String> {
    let worse = match cells.first().map(|cell| cell.metric.direction()) {
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
             corrected for the number of cells, of times only; effect: Cliff's delta, from -1 (all \
             of NEW's samples are smaller) to +1; n: samples of BASE + NEW; detectable: the smallest \
             change that four of five such comparisons would find; ~: it may be chance."
                .to_owned(),
        );
    }
    legend
}

fn unmatched(cells: &[UnmatchedCell]) -> Option<Table> {
    Columns::new()
        .left("only in", |cell: &UnmatchedCell| match cell.side {
            Side::Base => "BASE",
            Side::New => "NEW",
        })
        .left("benchmark", |cell| match cell.detail.as_str() {
            "" => cell.benchmark.clone(),
            detail => format!("{} ({detail})", cell.benchmark),
        })
        .left("unit", |cell| cell.metric.unit())
        .left("measured on", |cell| Value::long(&cell.place.title(), 200))
        .table("Cells of one side only", cells)
        .fixed(2)
        .if_any()
}

fn environment(differences: &[EnvironmentDifference]) -> Option<Table> {
    Columns::new()
        .left("what", |difference: &EnvironmentDifference| &difference.key)
        .left("BASE", |difference| &difference.base)
        .left("NEW", |difference| &difference.new)
        .table("Not measured alike", differences)
        .legend([
            "Counts are those of the guest's kernel and may still be compared; times may not, \
             unless --trust-environment says so.",
        ])
        .if_any()
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
        parts.push((document.count(verdict), words));
    }
    parts.push((document.unmatched.len(), "more on one side only"));
    parts.retain(|(count, _)| *count > 0);
    let cells = if n == 1 { "cell" } else { "cells" };
    let parts: Vec<String> = parts
        .iter()
        .map(|(n, words)| format!("{n} {words}"))
        .collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("{n} {cells}{colon}{}", parts.join(", "))
}
