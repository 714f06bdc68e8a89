// SPDX-License-Identifier: GPL-2.0-or-later
//! With which commit counts changed, as tables and as sentences.

use experiment::bisection::{BisectionStep, Commit, StepFigure, StepVerdict};
use experiment::comparison::{ComparedCell, Explanation, HookChange, Verdict};
use experiment::{BisectionDocument, ComparisonDocument, Document};

use crate::column::{Columns, Records};
use crate::comparison::{ComparisonOptions, comparison_report, comparison_summary};
use crate::format;
use crate::table::{Report, TEXT_LIMIT, Table, Tone, Value};
use crate::text::printable;

/// Most figures that stand in one line.
const FIGURES_MAX: usize = 3;
/// Most operations of which is told what holds their change.
const HELD_MAX: usize = 5;

/// The commits that were looked at, and what the first bad one changed.
pub fn bisection_report(document: &BisectionDocument) -> Report {
    let mut report = Report {
        tables: vec![steps(document)],
        warnings: Vec::new(),
    };
    if let Some(comparison) = &document.comparison {
        let changed = comparison_report(comparison, &ComparisonOptions { changed: true });
        report.tables.extend(changed.tables);
        report.warnings.extend(changed.warnings);
    }
    report
}

fn steps(document: &BisectionDocument) -> Table {
    let base = figures_of_good(document);
    let title = format!(
        "{}: {} commits from {} to {}",
        printable(&document.repository, TEXT_LIMIT),
        format::count(document.range),
        document.good.short,
        document.bad.short
    );
    Columns::new()
        .left("commit", |step: &BisectionStep| &step.commit.short)
        .left("subject", |step| Value::long(&step.commit.subject, 60))
        .right("built in", |step| {
            Value::plain(step.build_s.map_or("-".to_owned(), seconds))
        })
        .left("counts", move |step| {
            Value::plain(match &step.reason {
                Some(reason) => printable(reason, 120),
                None => step_figures(&step.figures, base),
            })
        })
        .left("verdict", |step| {
            Value::toned(step.verdict.to_string(), tone(step.verdict))
        })
        .table(title, &document.steps)
        .legend([match &document.limit {
            None => {
                "good: all counts are those of the first commit above; bad: one differs.".to_owned()
            }
            Some(limit) => format!(
                "bad: a cell is worse than the first commit's by more than {}.",
                printable(limit, 60)
            ),
        }])
}

fn tone(verdict: StepVerdict) -> Tone {
    Tone::of(match verdict {
        StepVerdict::Good => Verdict::Same,
        StepVerdict::Bad => Verdict::Worse,
        StepVerdict::Skipped => Verdict::Missing,
    })
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.0} s")
}

fn figures_of_good(document: &BisectionDocument) -> &[StepFigure] {
    document.steps.first().map_or(&[], |step| &step.figures)
}

/// A row for each figure of each commit that was looked at; one without a figure for one that was
/// skipped. A later version may append columns; it keeps these.
pub fn bisection_records(document: &BisectionDocument) -> Records<'_> {
    type Line<'a> = (&'a BisectionStep, Option<&'a StepFigure>);
    let lines = document.steps.iter().flat_map(|step| -> Vec<Line<'_>> {
        match step.figures.as_slice() {
            [] => vec![(step, None)],
            figures => figures.iter().map(|figure| (step, Some(figure))).collect(),
        }
    });
    Columns::new()
        .column("commit", |(step, _): Line<'_>| &step.commit.hash)
        .column("subject", |(step, _)| &step.commit.subject)
        .column("author", |(step, _)| &step.commit.author)
        .column("date", |(step, _)| &step.commit.date)
        .column("verdict", |(step, _)| step.verdict.to_string())
        .column("build_s", |(step, _)| step.build_s)
        .column("compiled", |(step, _)| step.compiled)
        .column("configuration", |(_, figure)| Some(&figure?.configuration))
        .column("operation", |(_, figure)| Some(&figure?.operation))
        .column("metric", |(_, figure)| Some(figure?.metric.to_string()))
        .column("value", |(_, figure)| figure?.value)
        .column("reason", |(step, _)| step.reason.as_ref())
        .records(lines)
}

/// The figures of a run document as a step has them.
pub fn figures_of(document: &Document) -> Vec<StepFigure> {
    let cells = document.cells.iter();
    let figures = cells.map(|cell| StepFigure {
        configuration: cell.configuration_title(),
        operation: cell.title(),
        metric: cell.key.metric,
        value: cell.headline(),
    });
    figures.collect()
}

/// Figures in one line: each if they are few, else how many there are and how many differ from
/// `base`.
pub fn step_figures(figures: &[StepFigure], base: &[StepFigure]) -> String {
    if figures.len() <= FIGURES_MAX {
        let several = figures
            .windows(2)
            .any(|two| two[0].configuration != two[1].configuration);
        let one = |figure: &StepFigure| {
            let value = figure.value.map_or("-".to_owned(), format::figure);
            let operation = printable(&figure.operation, TEXT_LIMIT);
            match several {
                true => format!("{operation} under {} {value}", figure.configuration),
                false => format!("{operation} {value}"),
            }
        };
        return figures.iter().map(one).collect::<Vec<_>>().join(", ");
    }
    let all = format!("{} counts", format::count(figures.len() as u64));
    let differ = figures.iter().zip(base);
    let differ = differ
        .filter(|(figure, base)| figure.value != base.value)
        .count();
    match differ {
        0 => all,
        _ => format!("{all}, {} differ", format::count(differ as u64)),
    }
}

/// What became of a search, in sentences of one line each.
pub fn bisection_lines(document: &BisectionDocument) -> Vec<String> {
    let named = |commit: &Commit| format!("{} {}", commit.short, printable(&commit.subject, 72));
    let Some(first) = &document.first_bad else {
        let n = document.candidates.len();
        if n == 0 {
            let (good, bad) = (&document.good.short, &document.bad.short);
            return vec![format!("nothing to find: {bad} has the counts of {good}")];
        }
        let mut lines = vec![format!(
            "one of {n} commits is the first bad one; those between could not be told:"
        )];
        lines.extend(
            document
                .candidates
                .iter()
                .map(|commit| format!("  {}", named(commit))),
        );
        return lines;
    };
    let mut lines = vec![
        format!("first bad commit: {}", named(first)),
        format!(
            "  by {}, {}",
            printable(&first.author, 120),
            printable(&first.date, 40)
        ),
    ];
    if let Some(comparison) = &document.comparison {
        lines.extend(held(comparison).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

/// What changed, in one line: how many cells, and that with the largest change.
pub fn change_line(comparison: &ComparisonDocument) -> String {
    let n = comparison.compared.len();
    let cells = if n == 1 { "cell" } else { "cells" };
    let is_changed = |verdict| !matches!(verdict, Verdict::Same);
    let odd = comparison
        .compared
        .iter()
        .any(|cell| is_changed(cell.verdict));
    if !odd && comparison.unmatched.is_empty() {
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

/// `open:AA under capability: 4,979 to 4,980 (+1, +0.0 %)`.
fn changed_cell(cell: &ComparedCell) -> String {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), format::figure);
    let difference = cell.difference.unwrap_or_default();
    let sign = if difference > 0.0 { "+" } else { "" };
    let mut by = format!("{sign}{}", format::figure(difference));
    if let Some(overhead) = cell.overhead {
        by += &format!(", {}", format::percent(overhead));
    }
    format!(
        "{} under {}: {} to {} ({by})",
        printable(&cell.title(), TEXT_LIMIT),
        printable(&cell.place.configuration, TEXT_LIMIT),
        value(cell.base.value),
        value(cell.new.value)
    )
}

/// What holds the changes of the operations that changed most.
fn held(comparison: &ComparisonDocument) -> Vec<String> {
    let explained = |at: usize| {
        let mut explanations = comparison.explanations.iter();
        explanations.find(|explained| explained.cell as usize == at)
    };
    let mut cells: Vec<(usize, &ComparedCell)> = (comparison.compared.iter().enumerate())
        .filter(|(_, cell)| !matches!(cell.verdict, Verdict::Same))
        .collect();
    let size = |cell: &ComparedCell| cell.difference.map_or(0.0, f64::abs);
    cells.sort_by(|(_, a), (_, b)| size(b).total_cmp(&size(a)));
    let mut lines: Vec<String> = (cells.iter().take(HELD_MAX))
        .map(|&(at, cell)| match explained(at) {
            Some(explained) => format!("{}: {}", changed_cell(cell), held_by(explained)),
            None => changed_cell(cell),
        })
        .collect();
    if cells.len() > HELD_MAX {
        lines.push(format!("and {} more operations", cells.len() - HELD_MAX));
    }
    lines
}

/// `hook inode_permission +4 (selinux_inode_permission +4)`, and what is outside hooks.
fn held_by(explained: &Explanation) -> String {
    let functions = |held: Vec<(String, i64)>| {
        let held: Vec<String> = (held
            .into_iter()
            .filter(|(_, by)| *by != 0)
            .take(FIGURES_MAX))
        .map(|(name, by)| format!("{} {}", printable(&name, TEXT_LIMIT), signed(by)))
        .collect();
        match held.is_empty() {
            true => String::new(),
            false => format!(" ({})", held.join(", ")),
        }
    };
    let of_hook = |hook: &HookChange| {
        let own = hook.implementations.iter();
        let mut own: Vec<(String, i64)> = own
            .map(|own| (own.function.clone(), own.difference))
            .collect();
        own.push((format!("{} itself", hook.function), hook.dispatch));
        let name = printable(&hook.hook, TEXT_LIMIT);
        format!("hook {name} {}{}", signed(hook.difference), functions(own))
    };
    let hooks = explained.hooks.iter().filter(|hook| hook.difference != 0);
    let mut parts: Vec<String> = hooks.take(FIGURES_MAX).map(of_hook).collect();
    let outside: Vec<(String, i64)> = (explained.residual_functions.iter())
        .map(|held| (held.function.clone(), held.difference))
        .collect();
    if explained.residual != 0 || !outside.is_empty() {
        let by = signed(explained.residual);
        parts.push(format!("outside hooks {by}{}", functions(outside)));
    }
    parts.join(", ")
}

fn signed(by: i64) -> String {
    format::difference(by.into())
}
