// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures as tables, alone and beside ours.

use experiment::Metric;
use published::{
    Beside, Comparison, Figure, Over, Quantity, Setup, Verdict, named, published, sources,
};

use crate::format;
use crate::table::{Align, Footnotes, Heading, Report, Row, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

const VERDICTS: &str = "agrees: within 3 points, or of the same sign and within a factor of 1.5; \
     same direction: of the same sign and within a factor of 3; points: ours less theirs, or less the nearest end of \
     their range.";

/// Ours beside theirs: for each kernel, file system and metric a table of overheads and
/// one of counts. Numbers in brackets are what could explain a difference, what stands
/// in for what, and what the source leaves open.
pub fn beside_report(beside: &Beside) -> Report {
    let mut places: Vec<(&str, &str, Metric, bool)> = Vec::new();
    for comparison in &beside.comparisons {
        let place = place(comparison);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let tables = places.into_iter().map(|wanted| {
        let of_place = beside.comparisons.iter().filter(|c| place(c) == wanted);
        compared(&of_place.collect::<Vec<_>>())
    });
    let mut report = Report {
        tables: tables.collect(),
        warnings: beside
            .caution
            .iter()
            .map(|caution| (*caution).to_owned())
            .collect(),
    };
    let unanswered = beside.unanswered.len();
    let overheads = published()
        .iter()
        .filter(|f| f.quantity.is_overhead())
        .count();
    let answered = format!(
        "This run answers {} of {overheads} published overheads.",
        overheads.saturating_sub(unanswered)
    );
    let mut answers = beside.comparisons.iter().map(|c| c.figure.quantity);
    match report.tables.first_mut() {
        Some(table) if answers.any(Quantity::is_overhead) => table.legend.push(answered),
        _ => report.warnings.push(
            "no published overhead can be put beside this run: that takes cells of a published \
             configuration and of its baseline (stack none: a kernel without LSMs)"
                .to_owned(),
        ),
    }
    report
}

fn place(comparison: &Comparison) -> (&str, &str, Metric, bool) {
    (
        &comparison.kernel,
        &comparison.filesystem,
        comparison.metric,
        comparison.figure.quantity.is_overhead(),
    )
}

/// One table, of comparisons of one place and kind.
fn compared(comparisons: &[&Comparison]) -> Table {
    let mut notes = Footnotes::default();
    let rows = comparisons.iter().map(|comparison| Row {
        values: row(comparison, &mut notes),
        summary: false,
    });
    let rows = rows.collect();
    let first = comparisons[0];
    let overheads = first.figure.quantity.is_overhead();
    let release = match first.release.as_str() {
        "" => String::new(),
        release => format!(" ({})", printable(release, TEXT_LIMIT)),
    };
    let mut columns: Vec<Heading> = ["published in", "benchmark", "configuration"]
        .map(|title| Heading::new(title, Align::Left))
        .into();
    let difference = if overheads { "points" } else { "difference" };
    columns.extend(["theirs", "ours", difference].map(|title| Heading::new(title, Align::Right)));
    columns.push(Heading::new("verdict", Align::Left));
    let count = |verdict| comparisons.iter().filter(|c| c.verdict == verdict).count();
    let (agree, same, differ) = (
        count(Verdict::Agrees),
        count(Verdict::SameDirection),
        count(Verdict::Differs),
    );
    let mut legend = vec![clocks(first.metric, overheads)];
    if overheads {
        legend.push(VERDICTS.to_owned());
        legend.push(format!(
            "{} compared: {agree} agree, {same} have the same direction, {differ} differ.",
            comparisons.len()
        ));
    } else {
        legend.push(format!(
            "{} compared: {agree} agree, {differ} differ.",
            comparisons.len()
        ));
    }
    if comparisons.iter().any(|c| c.unclear) {
        legend.push("~: our difference may be chance, as `lsmeter compare` judges it.".to_owned());
    }
    if comparisons
        .iter()
        .any(|c| c.figure.quantity == Quantity::ThroughputOverhead)
    {
        legend.push(
            "Of a throughput: theirs of operations per second; ours likewise, of one over what \
             an operation takes."
                .to_owned(),
        );
    }
    Table {
        title: format!(
            "{}{release}, {}: published {} beside ours",
            printable(&first.kernel, TEXT_LIMIT),
            printable(&first.filesystem, TEXT_LIMIT),
            if overheads { "overheads" } else { "counts" },
        ),
        legend,
        columns,
        fixed_columns: 2,
        rows,
        footnotes: notes.texts,
    }
}

/// What must be said before two figures stand side by side.
fn clocks(metric: Metric, overheads: bool) -> String {
    let ours = match metric {
        _ if !overheads => {
            return "Counts: calls of hooks per operation, and the like. No clock is in them."
                .to_owned();
        }
        Metric::Instructions => "guest kernel instructions, theirs time on silicon: two clocks",
        Metric::Time => "time on our machine, theirs time on another",
        Metric::Throughput => "throughput of our machine, theirs that of another",
        _ => "another figure than theirs",
    };
    format!("Ours are {ours}. Only relative overheads are compared, never the figures themselves.")
}

fn row(comparison: &Comparison, notes: &mut Footnotes) -> Vec<Value> {
    let quantity = comparison.figure.quantity;
    let mut published = long_place(comparison.figure);
    if let Some(note) = &comparison.figure.note {
        published += &format!(" {}", notes.mark(format!("theirs: {note}")));
    }
    let mut configuration = comparison.tested.clone();
    if let Some(baseline) = &comparison.baseline {
        configuration += &format!(" vs {baseline}");
    }
    let mut configuration = printable(&configuration, 2 * TEXT_LIMIT);
    for why in &comparison.stands_in {
        configuration += &format!(" {}", notes.mark(format!("stands in for theirs: {why}")));
    }
    let mut verdict = comparison.verdict.to_string();
    let marks = comparison
        .explanations
        .iter()
        .map(|e| notes.mark(e.text.clone()));
    let mut marks: Vec<String> = marks.collect();
    marks.sort_by_key(|mark| (mark.len(), mark.clone()));
    if !marks.is_empty() {
        verdict += &format!(" {}", marks.concat());
    }
    let tone = match comparison.ours {
        _ if comparison.unclear => Tone::Faint,
        ours if quantity.is_overhead() && ours > 0.0 => Tone::Worse,
        ours if quantity.is_overhead() && ours < 0.0 => Tone::Better,
        _ => Tone::Plain,
    };
    let unclear = if comparison.unclear { "~" } else { "" };
    let difference = match quantity {
        _ if comparison.difference.abs() < 1e-9 => "0".to_owned(),
        q if q.unit() == "fraction" => format!("{:+.1}", comparison.difference * 100.0),
        _ => format!("{:+}", round(comparison.difference)),
    };
    vec![
        Value::plain(published),
        Value::plain(printable(&comparison.benchmark, 2 * TEXT_LIMIT)),
        Value::plain(configuration),
        Value::plain(range(
            quantity,
            comparison.bounds,
            comparison.figure.unsigned,
        )),
        Value::toned(
            format!("{unclear}{}", number(quantity, comparison.ours)),
            tone,
        ),
        Value::plain(difference),
        Value::plain(verdict),
    ]
}

/// The same with its source and kernel: `paper 5.3.0, Table 1, row Current SELinux: open`.
fn long_place(figure: &Figure) -> String {
    let numbered = figure.kernel.starts_with(|c: char| c.is_ascii_digit());
    let kernel = if numbered { figure.kernel.as_str() } else { "" };
    let from = format!("{} {kernel}", figure.source);
    format!("{}, {}", from.trim_end(), short_place(figure))
}

/// `Table 1, row Current SELinux: open`, with the hook if that is what is counted.
fn short_place(figure: &Figure) -> String {
    let hooks = match figure.quantity {
        Quantity::CallsAtMost | Quantity::HookCalls | Quantity::HookTime => figure.hooks.join(" "),
        _ => String::new(),
    };
    let separator = if hooks.is_empty() { "" } else { ", " };
    format!("{}: {}{separator}{hooks}", figure.place, figure.theirs)
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn number(quantity: Quantity, value: f64) -> String {
    match quantity {
        q if q.is_overhead() => format::percent(value),
        Quantity::HookShare => format!("{:.0} %", value * 100.0),
        _ if value.fract() == 0.0 => format::figure(value),
        _ => value.to_string(),
    }
}

/// A published value, or its range, in words.
fn range(quantity: Quantity, bounds: [Option<f64>; 2], unsigned: bool) -> String {
    let text = match bounds {
        [Some(low), Some(high)] if low == high => number(quantity, low),
        [Some(low), Some(high)] => {
            format!("{} to {}", number(quantity, low), number(quantity, high))
        }
        [None, Some(high)] => format!("at most {}", number(quantity, high)),
        [Some(low), None] => format!("at least {}", number(quantity, low)),
        [None, None] => "n/a".to_owned(),
    };
    if unsigned {
        text.replace('+', "±")
    } else {
        text
    }
}

/// Every published figure whose id fits `pattern`, in which `*` stands for anything: one
/// table for each source, with a source's own account of what it measured on.
pub fn published_report(pattern: &str) -> Report {
    let tables = sources().iter().filter_map(|source| {
        let figures = named(pattern).filter(|figure| figure.source == source.id);
        let mut notes = Footnotes::default();
        let rows: Vec<Row> = figures.map(|figure| listed(figure, &mut notes)).collect();
        (!rows.is_empty()).then(|| Table {
            title: source.title.clone(),
            legend: vec![
                format!("{}.", source.cite),
                source.setting.clone(),
                format!("lines: {}.", source.lines),
            ],
            columns: [
                ("figure", Align::Left),
                ("published in", Align::Left),
                ("lines", Align::Left),
                ("kernel", Align::Left),
                ("configuration", Align::Left),
                ("what", Align::Left),
                ("value", Align::Right),
                ("unit", Align::Left),
                ("ours", Align::Left),
            ]
            .map(|(title, align)| Heading::new(title, align))
            .into(),
            fixed_columns: 1,
            rows,
            footnotes: notes.texts,
        })
    });
    let tables: Vec<Table> = tables.collect();
    let warnings = if tables.is_empty() {
        vec![format!(
            "no published figure is called {}",
            printable(pattern, TEXT_LIMIT)
        )]
    } else {
        Vec::new()
    };
    Report { tables, warnings }
}

fn listed(figure: &Figure, notes: &mut Footnotes) -> Row {
    let mut value = range(figure.quantity, [figure.low, figure.high], figure.unsigned);
    if figure.per_component {
        value += " per component";
    }
    if let Some(note) = &figure.note {
        value += &format!(" {}", notes.mark(note.clone()));
    }
    let unit = match figure.quantity {
        // The text says per cent.
        Quantity::Overhead | Quantity::ThroughputOverhead | Quantity::HookShare => "",
        quantity => quantity.unit(),
    };
    let kernel = match &figure.kernels {
        None => figure.kernel.clone(),
        Some([tested, baseline]) if baseline.is_empty() => tested.clone(),
        Some([tested, baseline]) => format!("{tested} vs {baseline}"),
    };
    Row {
        values: [
            figure.id.clone(),
            short_place(figure),
            figure.lines.clone(),
            kernel,
            configurations(figure),
            what(figure),
            value,
            unit.to_owned(),
            ours(figure),
        ]
        .map(Value::plain)
        .into(),
        summary: false,
    }
}

/// `capability,selinux +audit vs none`; empty if no configuration plays a part.
pub(super) fn configurations(figure: &Figure) -> String {
    let title = |setups: &[Setup]| setups.first().map(Setup::to_string);
    match (title(&figure.tested), title(&figure.baseline)) {
        (Some(tested), Some(baseline)) => format!("{tested} vs {baseline}"),
        (tested, baseline) => tested.or(baseline).unwrap_or_default(),
    }
}

fn what(figure: &Figure) -> String {
    let mut what = figure.quantity.as_str().to_owned();
    match figure.over {
        Over::Each => {}
        Over::Mean => what += ", mean",
        Over::Median => what += ", median",
        Over::Largest => what += ", largest",
    }
    if !figure.hooks.is_empty() {
        what += &format!(": {}", figure.hooks.join(" + "));
    }
    what
}

/// Our benchmarks for theirs, separated by blanks.
pub(super) fn ours(figure: &Figure) -> String {
    let names: Vec<String> = figure.ours.iter().map(ToString::to_string).collect();
    names.join(" ")
}
