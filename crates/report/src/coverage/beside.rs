// SPDX-License-Identifier: GPL-2.0-or-later
//! Coverages of one kernel beside each other: how much each calls, and what only one of them does.

use std::collections::{BTreeMap, BTreeSet};

use model::coverage::{CoverageFindings, CoveredHook};

use super::{NAMED, coverage_share, module_rows};
use crate::column::Columns;
use crate::format::listed;
use crate::gather::{Content, Source};
use crate::table::{Report, TEXT_LIMIT, Table, Value};
use crate::text::printable;

const FUNCTIONS_LIMIT: usize = 400;

/// A coverage, and what its reader calls it.
type NamedCoverage<'a> = (&'a str, &'a CoverageFindings);

/// What is counted, how much of it there is, and how much each coverage has.
struct Line {
    what: String,
    all: u64,
    each: Vec<u64>,
}

/// A hook that one coverage alone calls, or of which functions ran in it alone.
struct Only<'a> {
    hook: &'a CoveredHook,
    others_call: bool,
    functions: Vec<&'a str>,
}

/// Tables of the coverages among these documents, where several are of one kernel: how much each
/// calls, then for each what no other does. Empty if there are none.
pub(crate) fn coverages_beside(sources: &[Source]) -> Report {
    let mut kernels: BTreeMap<(&str, &str), Vec<NamedCoverage<'_>>> = BTreeMap::new();
    for source in sources {
        let Content::Measured(document) = &source.content else {
            continue;
        };
        if let Some(findings) = &document.coverage {
            let of = kernels.entry((&findings.kernel, &findings.release));
            of.or_default().push((&source.name, findings));
        }
    }
    let mut report = Report::default();
    for ((kernel, release), coverages) in &kernels {
        if coverages.len() < 2 {
            continue;
        }
        let place = format!(
            "{} ({})",
            printable(kernel, TEXT_LIMIT),
            printable(release, TEXT_LIMIT)
        );
        report.tables.push(shares(&place, coverages));
        for at in 0..coverages.len() {
            report.tables.extend(alone(&place, coverages, at));
        }
    }
    report
}

/// Hooks that each calls, and functions of each module that ran.
fn shares(place: &str, coverages: &[NamedCoverage<'_>]) -> Table {
    let each = |of: &dyn Fn(&CoverageFindings) -> u64| {
        let all = coverages.iter().map(|(_, findings)| of(findings));
        all.collect::<Vec<u64>>()
    };
    let hooks = |findings: &CoverageFindings| u64::from(findings.share.hooks);
    let mut lines = vec![Line {
        what: "hooks".to_owned(),
        all: each(&hooks).into_iter().max().unwrap_or(0),
        each: each(&|findings| u64::from(findings.share.called)),
    }];
    let mut modules: BTreeMap<&str, Line> = BTreeMap::new();
    for (at, (_, findings)) in coverages.iter().enumerate() {
        for (module, row) in module_rows(findings) {
            let line = modules.entry(module).or_insert_with(|| Line {
                what: format!("functions of {}", printable(module, TEXT_LIMIT)),
                all: 0,
                each: vec![0; coverages.len()],
            });
            line.all = line.all.max(row.functions);
            line.each[at] = row.ran;
        }
    }
    let ran = |line: &Line| line.each.iter().any(|ran| *ran > 0);
    lines.extend(modules.into_values().filter(ran));
    let mut columns = Columns::new()
        .left("what", |line: &Line| &line.what)
        .column("all", |line| line.all);
    for (at, (name, _)) in coverages.iter().enumerate() {
        let name = printable(name, TEXT_LIMIT);
        columns = columns.column(name, move |line: &Line| line.each.get(at).copied());
    }
    let shares = coverages.iter().map(|(name, findings)| {
        format!(
            "{}: {}",
            printable(name, TEXT_LIMIT),
            coverage_share(findings)
        )
    });
    let modules = "hooks: that are called; functions: of a module for its hooks, that ran: none where no \
         stack had the module.";
    columns
        .table(format!("Coverages beside each other: {place}"), &lines)
        .legend(shares.chain([modules.to_owned()]))
}

fn alone(place: &str, coverages: &[NamedCoverage<'_>], at: usize) -> Option<Table> {
    let (name, own) = coverages[at];
    let others = coverages.iter().enumerate().filter(|(of, _)| *of != at);
    let others = others.flat_map(|(_, (_, findings))| &findings.hooks);
    let mut called: BTreeSet<&str> = BTreeSet::new();
    let mut ran: BTreeSet<(&str, &str)> = BTreeSet::new();
    for hook in others {
        if hook.is_called() {
            called.insert(&hook.hook);
        }
        ran.extend(functions(hook));
    }
    let only = own.hooks.iter().map(|hook| Only {
        hook,
        others_call: called.contains(hook.hook.as_str()),
        functions: functions(hook)
            .filter(|function| !ran.contains(function))
            .map(|(_, function)| function)
            .collect(),
    });
    let only: Vec<Only<'_>> = only
        .filter(|of| of.hook.is_called() && (!of.others_call || !of.functions.is_empty()))
        .collect();
    let hooks = only.iter().filter(|of| !of.others_call).count();
    let functions: usize = only.iter().map(|of| of.functions.len()).sum();
    Columns::new()
        .left("hook", |of: &Only<'_>| &of.hook.hook)
        .left("called", |of| match of.others_call {
            true => "in others, too",
            false => "here alone",
        })
        .left("functions that ran here alone", |of| {
            Value::long(&of.functions.join(", "), FUNCTIONS_LIMIT)
        })
        .left("called by", |of| {
            let calling = of.hook.called_by.iter().map(|by| by.title());
            let after = of.hook.called_after.iter().map(|of| of.title());
            let titles: Vec<String> = calling.chain(after).collect();
            Value::plain(listed(&titles, NAMED))
        })
        .table(
            format!(
                "What {} has alone: {place}: hooks: {hooks}, functions: {functions}",
                printable(name, TEXT_LIMIT)
            ),
            &only,
        )
        .if_any()
}

/// What ran for a hook: module and function.
fn functions(hook: &CoveredHook) -> impl Iterator<Item = (&str, &str)> {
    let ran = hook.implementations.iter().filter(|of| of.ran.is_some());
    ran.map(|of| (of.module.as_str(), of.function.as_str()))
}
