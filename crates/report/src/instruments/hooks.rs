// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks of operations, by verdict.

use std::collections::BTreeMap;

use experiment::check::{CheckedBenchmark, CheckedHook};
use experiment::{CheckDocument, CheckVerdict};

use super::{REASON_LIMIT, some_of};
use crate::column::{Columns, Records};
use crate::table::{Table, Tone, Value};
use crate::text::printable;

const LEGEND: &str = "Calls in one operation; slope: what an operation takes longer for each \
                      unit that the hook's decision takes longer; -: the instrument tells nothing.";

/// A hook of an operation.
type Line<'a> = (&'a CheckedBenchmark, &'a CheckedHook);

/// Each hook in which instruments differ for no known reason.
pub(super) fn disagreements(document: &CheckDocument) -> Option<Table> {
    counts(of_operation(Tone::Worse))
        .left("who disagrees", |(_, hook)| Value::plain(apart(hook)))
        .table(
            "Hooks in which instruments do not agree",
            hooks(document, CheckVerdict::Disagree),
        )
        .fixed(2)
        .legend([LEGEND])
        .if_any()
}

/// Each hook in which instruments differ for a reason, operations together that differ alike.
pub(super) fn explained(document: &CheckDocument) -> Option<Table> {
    type Group<'a> = (Line<'a>, &'a [String]);
    let told = counts(Columns::new());
    let mut groups: BTreeMap<_, (Line<'_>, Vec<String>)> = BTreeMap::new();
    for line in hooks(document, CheckVerdict::Explained) {
        let why = line.1.explanation.as_deref().unwrap_or_default();
        let shown = told
            .values(line)
            .iter()
            .map(Value::text)
            .collect::<Vec<_>>();
        let group = groups.entry((why, &line.1.hook, shown));
        group.or_insert((line, Vec::new())).1.push(line.0.title());
    }
    Columns::new()
        .left("hook", |((_, hook), _): Group<'_>| &hook.hook)
        .left("operations", |(_, titles)| Value::plain(some_of(titles)))
        .all(counts(Columns::new()), |(line, _)| line)
        .left("why", |((_, hook), _)| {
            let why = hook.explanation.as_deref().unwrap_or_default();
            Value::default().noted([printable(why, REASON_LIMIT)])
        })
        .table(
            "Hooks in which instruments differ for a reason",
            groups
                .values()
                .map(|(line, titles)| (*line, titles.as_slice())),
        )
        .fixed(2)
        .legend([LEGEND])
        .if_any()
}

/// Every hook of every operation.
pub(super) fn all(document: &CheckDocument) -> Option<Table> {
    counts(of_operation(Tone::Plain))
        .left("verdict", |(_, hook)| {
            let tone = match hook.verdict {
                CheckVerdict::Disagree => Tone::Worse,
                CheckVerdict::Alone => Tone::Faint,
                CheckVerdict::Agree | CheckVerdict::Explained => Tone::Plain,
            };
            Value::toned(hook.verdict.as_str(), tone)
        })
        .table("All hooks of all operations", every(document))
        .fixed(2)
        .legend([LEGEND])
        .if_any()
}

/// A row for each hook of each operation. A later version may append columns; it keeps these.
///
/// - `operation` (`benchmark:variant`), `hook`: which.
/// - `profile`, `monitor`: calls that were counted; `slope`: of `lsmeter sensitivity`;
///   `nominal`, `maximum`: of `lsmeter placement`. Empty where an instrument tells nothing, and
///   where there is no bound.
/// - `verdict`: `agree`, `explained`, `disagree`, or `alone`: one instrument tells of it.
/// - `apart`: pairs of instruments that differ for no known reason; `explanation`: why others do.
pub fn instruments_records(document: &CheckDocument) -> Records<'_> {
    Columns::new()
        .column("operation", |(benchmark, _): Line<'_>| benchmark.title())
        .column("hook", |(_, hook)| &hook.hook)
        .column("profile", |(_, hook)| hook.profile)
        .column("monitor", |(_, hook)| hook.monitor)
        .column("slope", |(_, hook)| hook.slope)
        .column("nominal", |(_, hook)| hook.nominal)
        .column("maximum", |(_, hook)| hook.maximum)
        .column("verdict", |(_, hook)| hook.verdict.as_str())
        .column("apart", |(_, hook)| apart(hook))
        .column("explanation", |(_, hook)| hook.explanation.as_ref())
        .records(every(document))
}

fn every(document: &CheckDocument) -> impl Iterator<Item = Line<'_>> {
    document.benchmarks.iter().flat_map(|benchmark| {
        let hooks = benchmark.hooks.iter();
        hooks.map(move |hook| (benchmark, hook))
    })
}

pub(super) fn hooks(
    document: &CheckDocument,
    verdict: CheckVerdict,
) -> impl Iterator<Item = Line<'_>> {
    every(document).filter(move |(_, hook)| hook.verdict == verdict)
}

fn of_operation<'a>(tone: Tone) -> Columns<'a, Line<'a>> {
    Columns::new()
        .left("operation", |(benchmark, _): Line<'_>| benchmark.title())
        .left("hook", move |(_, hook)| Value::from(&hook.hook).tone(tone))
}

/// What each instrument tells.
fn counts<'a>(columns: Columns<'a, Line<'a>>) -> Columns<'a, Line<'a>> {
    fn told<T>(figure: Option<T>) -> Value
    where
        Value: From<T>,
    {
        figure.map_or_else(Value::dash, Value::from)
    }
    columns
        .right("profile", |(_, hook)| told(hook.profile))
        .right("monitor", |(_, hook)| told(hook.monitor))
        .right("slope", |(_, hook)| {
            let slope = hook.slope.map(|slope| format!("{slope:.4}"));
            slope.map_or_else(Value::dash, Value::plain)
        })
        .right("nominal", |(_, hook)| told(hook.nominal))
        .right("at most", |(_, hook)| match (hook.nominal, hook.maximum) {
            (Some(_), None) => Value::plain("any"),
            _ => told(hook.maximum),
        })
}

/// `profile and monitor; profile and sensitivity`.
fn apart(hook: &CheckedHook) -> String {
    let apart = hook.apart.iter().filter(|apart| !apart.explained);
    let pairs = apart.map(|apart| format!("{} and {}", apart.first, apart.second));
    pairs.collect::<Vec<_>>().join("; ")
}
