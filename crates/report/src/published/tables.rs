// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures as tables, alone and next to ours.

use std::cell::RefCell;

use model::Metric;
use published::{
    Beside, Comparison, Figure, Over, Quantity, Setup, Time, Verdict, named, published, sources,
};

use crate::column::{Columns, Records};
use crate::format;
use crate::group::grouped;
use crate::table::{Footnotes, Report, TEXT_LIMIT, Table, Tone, Value};
use crate::text::{printable, short};

const VERDICTS: &str = "agrees: inside their range, or within a tenth of theirs; points: ours less theirs, or less \
     the nearest end of their range.";

/// For each kernel, file system and metric a table of overheads and one of counts. Footnotes list
/// possible causes of a difference, substitutions, and what the source leaves open.
pub fn beside_report(beside: &Beside) -> Report {
    let places = grouped(&beside.comparisons, place);
    let tables = places.iter().map(|(_, of_place)| compared(of_place));
    let mut report = Report {
        tables: tables.collect(),
        warnings: beside.caution.iter().map(|&of| of.to_owned()).collect(),
    };
    report.tables.extend(times(&beside.times));
    let unanswered = beside.unanswered.len();
    let overheads = published().iter().filter(|f| f.quantity.is_overhead());
    let overheads = overheads.count();
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

fn times(times: &[Time]) -> Option<Table> {
    Columns::new()
        .left("published in", |of: &Time| Value::plain(long_place(of.figure)))
        .left("configuration", |of| Value::plain(configurations(of.figure)))
        .right("theirs", |of| {
            Value::plain(format!("{} µs", range(of.figure)))
        })
        .right("ours", |of| Value::plain(&of.ours))
        .left("of", |of| Value::long(&of.of, 2 * TEXT_LIMIT))
        .table("published times, and ours".to_owned(), times)
        .legend([
            "Times of two machines and two kernels; theirs have a system call's entry and exit in them. [] holds the \
             95 % interval over our layouts.",
        ])
        .if_any()
}

fn place(comparison: &Comparison) -> (&str, &str, Metric, bool) {
    (
        &comparison.kernel,
        &comparison.filesystem,
        comparison.metric,
        comparison.figure.quantity.is_overhead(),
    )
}

fn compared(comparisons: &[&Comparison]) -> Table {
    let first = comparisons[0];
    let overheads = first.figure.quantity.is_overhead();
    let release = match first.release.as_str() {
        "" => String::new(),
        release => format!(" ({})", short(release)),
    };
    let count = |verdict| comparisons.iter().filter(|c| c.verdict == verdict).count();
    let [agree, differ] = [Verdict::Agrees, Verdict::Differs].map(count);
    let mut legend = vec![clocks(first.metric, overheads)];
    legend.extend(overheads.then(|| VERDICTS.to_owned()));
    legend.push(format!(
        "{} compared: {agree} agree, {differ} differ.",
        comparisons.len()
    ));
    let unclear = "~: our difference may be chance, as `lsmeter compare` judges it.";
    let throughput = "Of a throughput: theirs of operations per second; ours likewise, of one over \
                      what an operation takes.";
    let is_throughput = |c: &&Comparison| c.figure.quantity == Quantity::ThroughputOverhead;
    for (is_said, line) in [
        (comparisons.iter().any(|c| c.unclear), unclear),
        (comparisons.iter().any(is_throughput), throughput),
    ] {
        legend.extend(is_said.then(|| line.to_owned()));
    }
    legend.extend(intervals(comparisons.iter().copied()));
    let title = format!(
        "{}{release}, {}: published {} beside ours",
        short(&first.kernel),
        short(&first.filesystem),
        if overheads { "overheads" } else { "counts" },
    );
    // Shared by the closures below.
    let notes = RefCell::new(Footnotes::default());
    let mark = |text: String| notes.borrow_mut().mark(text);
    let points = if overheads { "points" } else { "difference" };
    let drawn = comparisons.iter().any(|c| c.layouts.is_some());
    let mut columns = Columns::new()
        .left("published in", |of: &Comparison| {
            let note = of.figure.note.as_ref();
            let note = note.map(|note| format!(" {}", mark(format!("theirs: {note}"))));
            Value::plain(long_place(of.figure) + &note.unwrap_or_default())
        })
        .left("benchmark", |of| Value::long(&of.benchmark, 2 * TEXT_LIMIT))
        .left("configuration", |of| {
            let mut text = printable(&setups(of), 2 * TEXT_LIMIT);
            for why in &of.stands_in {
                text += &format!(" {}", mark(format!("stands in for theirs: {why}")));
            }
            Value::plain(text)
        })
        .right("theirs", |of| {
            Value::plain(range_within(of.figure, of.bounds))
        })
        .right("ours", own);
    if drawn {
        columns = columns.right("ours, ns", |of| added_ns(of).unwrap_or_default());
    }
    let mut table = columns
        .right(points, |of| difference(of.figure.quantity, of.difference))
        .left("verdict", |of| {
            let marks = of.explanations.iter().map(|e| mark(e.text.clone()));
            let mut marks: Vec<String> = marks.collect();
            marks.sort_by_key(|mark| (mark.len(), mark.clone()));
            let verdict = format!("{} {}", of.verdict, marks.concat());
            Value::plain(verdict.trim_end())
        })
        .table(title, comparisons.iter().copied())
        .fixed(2)
        .legend(legend);
    table.footnotes = notes.into_inner().texts;
    table
}

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

pub(super) fn setups(comparison: &Comparison) -> String {
    let baseline = comparison.baseline.iter().map(|of| format!(" vs {of}"));
    comparison.tested.clone() + &baseline.collect::<String>()
}

pub(super) fn own(comparison: &Comparison) -> Value {
    let quantity = comparison.figure.quantity;
    let tone = match comparison.ours {
        _ if comparison.unclear => Tone::Faint,
        ours if quantity.is_overhead() && ours > 0.0 => Tone::Worse,
        ours if quantity.is_overhead() && ours < 0.0 => Tone::Better,
        _ => Tone::Plain,
    };
    let interval = comparison.layouts.as_ref().map(|of| {
        let [low, high] = of.ci95.map(|end| number(quantity, end));
        format!(" [{low}, {high}]")
    });
    let value = match comparison.unclear {
        true => "~".to_owned(),
        false => number(quantity, comparison.ours),
    };
    Value::toned(format!("{value}{}", interval.unwrap_or_default()), tone)
}

pub(super) fn added_ns(comparison: &Comparison) -> Option<String> {
    let of = comparison.layouts.as_ref()?.added_ns?;
    Some(format::added(of.value, of.ci95))
}

pub(super) fn intervals<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison>,
) -> Option<String> {
    let mut drawn = comparisons.into_iter().filter_map(|c| c.layouts.as_ref());
    let first = drawn.next()?;
    let pairing = match first.is_paired {
        true => "of each layout the overhead over the baseline's layout of the same number",
        false => "the baseline's layouts are others, so that each is compared with each",
    };
    Some(format!(
        "[]: 95 % interval over {} layouts of our kernel: {pairing}. It is of our figure alone, and no part of the \
         verdict.",
        first.count
    ))
}

/// The same with its source and kernel: `paper 5.3.0, Table 1, row Current SELinux: open`.
fn long_place(figure: &Figure) -> String {
    let numbered = figure.kernel.starts_with(|c: char| c.is_ascii_digit());
    let kernel = if numbered { figure.kernel.as_str() } else { "" };
    let from = format!("{} {kernel}", figure.source);
    format!("{}, {}", from.trim_end(), short_place(figure))
}

/// `Table 1, row Current SELinux: open`, with the hook if calls of that are counted.
fn short_place(figure: &Figure) -> String {
    format!("{}: {}", figure.place, subject(figure))
}

pub(super) fn subject(figure: &Figure) -> String {
    let hooks = match figure.quantity {
        Quantity::CallsAtMost | Quantity::HookCalls | Quantity::HookTime => figure.hooks.join(" "),
        _ => String::new(),
    };
    let separator = if hooks.is_empty() { "" } else { ", " };
    format!("{}{separator}{hooks}", figure.theirs)
}

pub(super) fn difference(quantity: Quantity, difference: f64) -> String {
    match quantity {
        _ if difference.abs() < 1e-9 => "0".to_owned(),
        q if q.unit() == "fraction" => format!("{:+.1}", difference * 100.0),
        _ => format!("{:+}", round(difference)),
    }
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

pub(super) fn number(quantity: Quantity, value: f64) -> String {
    match quantity {
        q if q.is_overhead() => format::percent(value),
        Quantity::HookShare => format!("{:.0} %", value * 100.0),
        _ if value.fract() == 0.0 || value >= 10_000.0 => format::figure(value.round()),
        _ => value.to_string(),
    }
}

pub(super) fn range(figure: &Figure) -> String {
    range_within(figure, [figure.low, figure.high])
}

fn range_within(figure: &Figure, bounds: [Option<f64>; 2]) -> String {
    let text = match bounds.map(|bound| bound.map(|bound| number(figure.quantity, bound))) {
        [Some(_), Some(high)] if bounds[0] == bounds[1] => high,
        [Some(low), Some(high)] => format!("{low} to {high}"),
        [None, Some(high)] => format!("at most {high}"),
        [Some(low), None] => format!("at least {low}"),
        [None, None] => "n/a".to_owned(),
    };
    match figure.unsigned {
        true => text.replace('+', "±"),
        false => text,
    }
}

/// Published figures whose id matches `pattern` (`*` matches anything): one table per source, with
/// the source's description of its machine.
pub fn published_report(pattern: &str) -> Report {
    let tables = sources().iter().filter_map(|source| {
        let figures = named(pattern).filter(|figure| figure.source == source.id);
        Columns::new()
            .left("figure", |figure: &Figure| Value::plain(&figure.id))
            .left("published in", |figure| Value::plain(short_place(figure)))
            .left("lines", |figure| Value::plain(&figure.lines))
            .left("kernel", |figure| {
                Value::plain(match (&figure.tested_kernel, &figure.baseline_kernel) {
                    (None, _) => figure.kernel.clone(),
                    (Some(tested), None) => tested.clone(),
                    (Some(tested), Some(baseline)) => format!("{tested} vs {baseline}"),
                })
            })
            .left("configuration", |figure| {
                Value::plain(configurations(figure))
            })
            .left("what", |figure| Value::plain(what(figure)))
            .right("value", |figure| {
                let each = ["", " per component"][usize::from(figure.per_component)];
                Value::plain(range(figure) + each).noted(figure.note.clone())
            })
            .left("unit", |figure| match figure.quantity {
                // The text already has the per cent sign.
                Quantity::Overhead | Quantity::ThroughputOverhead | Quantity::HookShare => "",
                quantity => quantity.unit(),
            })
            .left("ours", |figure| Value::plain(ours(figure)))
            .table(&source.title, figures)
            .legend([
                format!("{}.", source.cite),
                source.setting.clone(),
                format!("lines: {}.", source.lines),
            ])
            .if_any()
    });
    let tables: Vec<Table> = tables.collect();
    let nothing = format!("no published figure is called {}", short(pattern));
    let warnings = Vec::from_iter(tables.is_empty().then_some(nothing));
    Report { tables, warnings }
}

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

pub(super) fn ours(figure: &Figure) -> String {
    let names: Vec<String> = figure.ours.iter().map(ToString::to_string).collect();
    names.join(" ")
}

/// A row per published figure whose id matches `pattern`. Later versions only append columns.
pub fn published_records(pattern: &str) -> Records<'_> {
    Columns::new()
        .column("figure", |figure: &Figure| &figure.id)
        .column("source", |figure| &figure.source)
        .column("place", |figure| &figure.place)
        .column("lines", |figure| &figure.lines)
        .column("their_kernel", |figure| &figure.kernel)
        .column("their_benchmark", |figure| &figure.theirs)
        .column("their_configuration", configurations)
        .column("quantity", |figure| figure.quantity.as_str())
        .column("unit", |figure| figure.quantity.unit())
        .column("low", |figure| figure.low)
        .column("high", |figure| figure.high)
        .column("hooks", |figure| figure.hooks.join(" "))
        .column("per_component", |figure| u32::from(figure.per_component))
        .column("ours", ours)
        .column("note", |figure| figure.note.as_ref())
        .records(named(pattern))
}
