// SPDX-License-Identifier: GPL-2.0-or-later
//! Comparisons as tables, and as output of a gate for other programs.

mod changed;
mod found;
mod gate;

use compare::judge::GETPPID;
use model::comparison::{
    ComparedCell, EnvironmentDifference, Method, Place, Side, UnmatchedCell, Verdict,
};
use model::{AaLayouts, AaMetric, AaReport, ComparisonDocument};

use crate::column::{Columns, Records};
use crate::format;
use crate::group::grouped;
use crate::table::{Report, Table, Tone, Value};
use crate::text::{printable, short};

pub(crate) use changed::changed;
pub(crate) use found::{Answer, Cause, Found};
pub(crate) use gate::word as gate_word;
pub use gate::{junit, ktap};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparisonOptions {
    pub changed: bool,
}

const NOTES_MAX: usize = 20;

pub fn comparison_report(document: &ComparisonDocument, options: &ComparisonOptions) -> Report {
    let parts = parts(document, options).into_iter();
    Report::new(parts.map(|(_, tables)| tables), notes(document))
}

pub(crate) fn parts<'a>(
    document: &'a ComparisonDocument,
    options: &ComparisonOptions,
) -> Vec<(&'static str, Vec<Table>)> {
    let place = |cell: &'a ComparedCell| (&cell.place, &cell.base_place, cell.metric);
    let cells = grouped(&document.compared, place).into_iter();
    let cells = cells.map(|(_, cells)| table(title(document, cells[0]), &cells, options));
    let unmatched = Vec::from_iter(unmatched(&document.unmatched));
    let environment = Vec::from_iter(environment(&document.environment));
    let aa = aa_tables(document.aa.as_ref());
    let mut parts = vec![
        ("Every cell", cells.collect()),
        ("Cells on one side only", unmatched),
        ("Hooks of each change", changed::tables(document)),
        ("Different environments", environment),
        ("Differences without a change (A/A)", aa),
        ("The gate", Vec::from_iter(gate::table(document))),
    ];
    parts.retain(|(_, tables): &(_, Vec<Table>)| !tables.is_empty());
    parts
}

fn title(document: &ComparisonDocument, cell: &ComparedCell) -> String {
    let title = |place: &Place| printable(&place.title(), 200);
    let base = cell.base_place.as_ref();
    let base = base.map(|base| format!(" against {}", title(base)));
    let (new, base_name) = (short(&document.new.name), short(&document.base.name));
    let sources = match document.across {
        Some(axis) => format!("along the {axis}"),
        None => format!("{new} against {base_name}"),
    };
    let (place, base) = (title(&cell.place), base.unwrap_or_default());
    format!(
        "{place}{base}: {}, {sources}",
        format::measured(cell.metric)
    )
}

fn table(title: String, cells: &[&ComparedCell], options: &ComparisonOptions) -> Table {
    let statistical = cells.iter().any(|cell| is_statistical(cell));
    let shown = |cell: &&&ComparedCell| !options.changed || cell.verdict != Verdict::Same;
    let hidden = match cells.len() - cells.iter().filter(shown).count() {
        0 => String::new(),
        hidden => format!("{hidden} unchanged cells are not shown."),
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
        .tone(Tone::from_verdict(cell.verdict))
}

fn change(cell: &ComparedCell) -> Value {
    match (cell.verdict, cell.overhead) {
        (Verdict::Missing, _) => Value::dash(),
        (_, None) => Value::toned("n/a", Tone::Missing),
        (verdict, Some(overhead)) => Value::from(overhead)
            .shown(format::change(overhead, verdict.is_clear(cell.difference)))
            .tone(Tone::from_verdict(verdict)),
    }
}

fn verdict(cell: &ComparedCell) -> Value {
    let doubts = (!cell.doubts.is_empty()).then(|| format!("doubted: {}", cell.doubts.join("; ")));
    let reasons = cell.reason.iter().chain(&doubts).map(|reason| {
        let text = reason.lines().collect::<Vec<_>>().join("; ");
        printable(&text, 200)
    });
    Value::toned(cell.verdict.to_string(), Tone::from_verdict(cell.verdict)).noted(reasons)
}

fn statistics<'a>(columns: Columns<'a, &'a ComparedCell>) -> Columns<'a, &'a ComparedCell> {
    columns
        .right("95 % interval", |cell| {
            let ci95 = cell.ci95.filter(|_| is_statistical(cell));
            let [low, high] = ci95?.map(format::percent);
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

/// The mean over the operations; for counts, only exact operations are included, without the floor.
fn summary(cells: &[&ComparedCell]) -> Option<Vec<Value>> {
    let metric = cells.first().map(|cell| cell.metric)?;
    if !metric.has_mean() {
        return None;
    }
    let is_in = |cell: &&&ComparedCell| {
        let is_exact = cell.method == Method::Exact || !cell.metric.is_counted();
        is_exact && cell.benchmark != GETPPID
    };
    let cells = cells.iter().filter(is_in);
    let ratios = cells.filter_map(|cell| Some(cell.new.value? / cell.base.value?));
    let mean = metric.direction().mean_overhead(ratios);
    let (mean, n) = mean.filter(|(_, n)| *n > 1)?;
    let mut values = vec![Value::default(); 5];
    values[0] = Value::plain("geometric mean");
    values[4] = Value::plain(format::percent(mean)).beside(format!("n={n}"));
    Some(values)
}

fn legend(cells: &[&ComparedCell], statistical: bool) -> Vec<String> {
    let worse = match cells.first().map(|cell| cell.metric.direction()) {
        Some(stats::Direction::HigherIsBetter) => "fewer",
        _ => "more",
    };
    let mut legend = vec![format!(
        "difference: NEW minus BASE; change: the same as a share of BASE (+: {worse}, which is \
         worse)."
    )];
    let is_exact = cells.iter().any(|cell| cell.method == Method::Exact);
    let exact = "Counts without an interval are exact: even a difference of one is a change.";
    legend.extend(is_exact.then(|| exact.to_owned()));
    let statistics = "95 % interval: of the change; p: probability of such a difference without a \
        change, corrected for the number of tests (only for times, and for counts over several \
        machines); effect: Cliff's delta, from -1 (all samples of NEW are smaller) to +1; n: \
        samples of BASE + NEW; detectable: the smallest change found with 80 % power; ~: the \
        difference may be chance.";
    legend.extend(statistical.then(|| statistics.to_owned()));
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
        .table("Cells on one side only", cells)
        .fixed(2)
        .if_any()
}

fn environment(differences: &[EnvironmentDifference]) -> Option<Table> {
    Columns::new()
        .left("what", |difference: &EnvironmentDifference| &difference.key)
        .left("BASE", |difference| &difference.base)
        .left("NEW", |difference| &difference.new)
        .table("Different environments", differences)
        .legend([
            "Counts of the guest kernel can still be compared. Times cannot be compared without \
             --trust-environment.",
        ])
        .if_any()
}

fn notes(document: &ComparisonDocument) -> Vec<String> {
    let notes = document.notes.iter().take(NOTES_MAX);
    let more = document.notes.len().saturating_sub(NOTES_MAX);
    let more =
        (more > 0).then(|| format!("and {more} more, in the comparison result file (--json)"));
    notes.map(|note| printable(note, 400)).chain(more).collect()
}

pub fn comparison_summary(document: &ComparisonDocument) -> String {
    let n = document.compared.len();
    let parts = [
        (document.count(Verdict::Worse), "worse"),
        (document.count(Verdict::Better), "better"),
        (document.count(Verdict::Same), "the same"),
        (document.count(Verdict::Unclear), "unclear"),
        (document.count(Verdict::Missing), "without a figure"),
        (document.unmatched.len(), "more on one side only"),
    ];
    let cells = if n == 1 { "cell" } else { "cells" };
    let parts = parts.iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, words)| format!("{n} {words}")).collect();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("{n} {cells}{colon}{}", parts.join(", "))
}

pub fn comparison_records(document: &ComparisonDocument) -> Records<'_> {
    fn base(cell: &ComparedCell) -> &Place {
        cell.base_place.as_ref().unwrap_or(&cell.place)
    }
    Columns::new()
        .column("kernel", |cell: &ComparedCell| &cell.place.kernel)
        .column("configuration", |cell| &cell.place.configuration)
        .column("filesystem", |cell| &cell.place.filesystem)
        .column("base_kernel", |cell| &base(cell).kernel)
        .column("base_configuration", |cell| &base(cell).configuration)
        .column("base_filesystem", |cell| &base(cell).filesystem)
        .column("benchmark", |cell| &cell.benchmark)
        .column("variant", |cell| &cell.variant)
        .column("detail", |cell| &cell.detail)
        .column("quantity", |cell| cell.metric.to_string())
        .column("unit", |cell| &cell.unit)
        .column("base", |cell| cell.base.value)
        .column("new", |cell| cell.new.value)
        .column("base_n", |cell| cell.base.n)
        .column("new_n", |cell| cell.new.n)
        .column("difference", |cell| cell.difference)
        .column("change", |cell| cell.overhead)
        .column("ci95_low", |cell| cell.ci95.map(|[low, _]| low))
        .column("ci95_high", |cell| cell.ci95.map(|[_, high]| high))
        .column("effect", |cell| cell.effect)
        .column("p", |cell| cell.p)
        .column("p_adjusted", |cell| cell.p_adjusted)
        .column("detectable", |cell| cell.detectable)
        .column("method", |cell| cell.method.to_string())
        .column("verdict", |cell| cell.verdict.to_string())
        .column("gate", |cell| Some(cell.gate.as_ref()?.verdict.to_string()))
        .column("reason", |cell| {
            let reasons = cell.reason.iter().chain(&cell.doubts);
            reasons.map(String::as_str).collect::<Vec<_>>().join("; ")
        })
        .records(&document.compared)
}

pub fn change_line(comparison: &ComparisonDocument) -> String {
    let n = comparison.compared.len();
    let cells = if n == 1 { "cell" } else { "cells" };
    let mut compared = comparison.compared.iter();
    if compared.all(|cell| cell.verdict == Verdict::Same) && comparison.unmatched.is_empty() {
        return format!("no change in {n} {cells}");
    }
    let summary = comparison_summary(comparison);
    let size = |cell: &&ComparedCell| cell.overhead.map_or(0.0, f64::abs);
    let changed = comparison.compared.iter();
    let changed = changed.filter(|cell| matches!(cell.verdict, Verdict::Worse | Verdict::Better));
    match changed.max_by(|a, b| size(a).total_cmp(&size(b))) {
        Some(cell) => format!("{summary}; most: {}", changed_cell(cell)),
        None => summary,
    }
}

fn changed_cell(cell: &ComparedCell) -> String {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), format::figure);
    let mut by = format::signed(cell.difference.unwrap_or_default());
    if let Some(overhead) = cell.overhead {
        by += &format!(", {}", format::percent(overhead));
    }
    format!(
        "{} under {}: {} to {} ({by})",
        short(&cell.title()),
        short(&cell.place.configuration),
        value(cell.base.value),
        value(cell.new.value)
    )
}

pub(crate) fn aa_tables(report: Option<&AaReport>) -> Vec<Table> {
    let aa_tables = |report: &AaReport| {
        let layouts = of_layouts(&report.layouts).if_any();
        [of_metrics(report)].into_iter().chain(layouts)
    };
    report.into_iter().flat_map(aa_tables).collect()
}

fn hundredths(fraction: f64) -> Value {
    Value::from(fraction).shown(format!("{:.2} %", fraction * 100.0))
}

fn of_layouts(layouts: &[AaLayouts]) -> Table {
    Columns::new()
        .left("kernel", |row: &AaLayouts| &row.kernel)
        .left("on", |row| &row.filesystem)
        .column("layouts", |row| row.layouts)
        .column("rounds", |row| row.rounds)
        .column("intervals", |row| row.intervals)
        .column("false", |row| row.false_intervals)
        .right("rate", |row| hundredths(row.rate()))
        .right("half-width", |row| hundredths(row.half_width_median))
        .right("largest", |row| hundredths(row.half_width_largest))
        .left("largest in", |row| {
            format!("{}, {} ns", short(&row.widest), format::figure(row.half_width_largest_ns))
        })
        .right("getppid, ns", |row| row.getppid_largest_ns)
        .table("A/A over layouts: each stack under two names", layouts)
        .legend([
            "Even rounds of a stack against odd ones. false: intervals that \
             exclude 0; half-width: half of an interval's width, as a fraction of the operation's time, \
             median over intervals, and the largest of all; getppid: the largest cost of a stack in \
             the operation without hooks.",
        ])
}

fn of_metrics(report: &AaReport) -> Table {
    Columns::new()
        .left("metric", |row: &AaMetric| row.metric.to_string())
        .column("pairs of cells", |row| row.cells)
        .column("false", |row| row.alarms)
        .right("rate", |row| hundredths(row.rate))
        .right("at most", |row| hundredths(row.rate_at_most))
        .column("alone", |row| row.alarms_uncorrected)
        .right("largest", |row| hundredths(row.largest))
        .right("detectable", |row| hundredths(row.detectable))
        .table(
            format!(
                "A/A: {} runs without a change, all pairs compared",
                report.runs
            ),
            &report.metrics,
        )
        .legend([
            "false: differences wrongly judged real; at most: upper 95 % limit of that rate; \
             alone: false differences without the correction; largest: largest difference between \
             two values of one measurement; detectable: smallest change that would be found, \
             median over measurements. A difference between times up to the largest counts as \
             noise.",
        ])
}
