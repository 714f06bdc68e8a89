// SPDX-License-Identifier: GPL-2.0-or-later
//! The figures of a coverage: which suites call each hook, and how much of each module ran.

use model::coverage::{CoverageFindings, CoveredHook};
use model::{Document, Suite};

use super::{Draft, bar};
use crate::coverage::module_rows;
use crate::figure::{Bars, Chart, Heat, HeatRow, Tile};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// Longest reason, in characters; a drawing shows what fits.
const NOTE_LIMIT: usize = 400;
const SERIES: [&str; 3] = ["ran", "did not run, hook called", "hook not called"];

pub(super) fn drafts(document: &Document) -> Vec<Draft> {
    let findings = document.coverage.iter();
    findings.flat_map(|of| [hooks(of), modules(of)]).collect()
}

/// Each hook, with how many operations of each suite call it.
fn hooks(findings: &CoverageFindings) -> Draft {
    let suites: Vec<Suite> = Suite::ALL
        .iter()
        .copied()
        .filter(|suite| {
            let mut called = findings.hooks.iter().flat_map(CoveredHook::suites);
            called.any(|of| of == *suite)
        })
        .collect();
    let tiles = findings.hooks.iter().enumerate().flat_map(|(row, hook)| {
        let suites = suites.iter().enumerate();
        suites.filter_map(move |(column, suite)| {
            let operations = hook.suites().filter(|of| of == suite);
            let value = operations.count() as f64;
            (value > 0.0).then_some(Tile { row, column, value })
        })
    });
    let kernel = printable(&findings.kernel, TEXT_LIMIT);
    Draft {
        base: "coverage-hooks",
        subjects: vec![findings.kernel.clone()],
        title: format!("Hooks by the suites that call them: {kernel}"),
        description: "A map: a row for each hook, a column for each suite, and in the tile how \
                      many operations of the suite call the hook or are followed by its call, the darker the more; of a hook \
                      that none calls, what it would take."
            .to_owned(),
        chart: Chart::Heat(Heat {
            axis: "operations that call it".to_owned(),
            category: "hook".to_owned(),
            kind: "suite".to_owned(),
            rows: findings.hooks.iter().map(row).collect(),
            columns: suites.iter().map(|of| of.as_str().to_owned()).collect(),
            tiles: tiles.collect(),
        }),
        notes: Vec::new(),
    }
}

/// A hook of the map; one that no operation of a suite calls says why.
fn row(hook: &CoveredHook) -> HeatRow {
    let by_suite = hook.suites().next().is_some();
    let note = match (&hook.reason, hook.is_called()) {
        _ if by_suite && hook.called_by.is_empty() => "only after operations".to_owned(),
        _ if by_suite => String::new(),
        (_, true) => "called by whole programs alone".to_owned(),
        (Some(reason), false) => format!("{}: {}", reason.needs, reason.why),
        (None, false) => "no known reason".to_owned(),
    };
    HeatRow {
        label: printable(&hook.hook, TEXT_LIMIT),
        note: printable(&note, NOTE_LIMIT),
    }
}

/// Functions of each module: those that ran, and those that did not.
fn modules(findings: &CoverageFindings) -> Draft {
    let rows = module_rows(findings);
    let bars = rows.iter().enumerate().flat_map(|(category, (_, row))| {
        let parts = [row.ran, row.idle, row.functions - row.ran - row.idle];
        let parts = parts.into_iter().enumerate().filter(|(_, n)| *n > 0);
        parts.map(move |(series, n)| bar(category, series, n as f64))
    });
    let kernel = printable(&findings.kernel, TEXT_LIMIT);
    Draft {
        base: "coverage",
        subjects: vec![findings.kernel.clone()],
        title: format!("Functions of modules for hooks: {kernel}"),
        description: "Stacked bars: for each module the functions that the kernel calls for its \
                      hooks, those that ran first, then those that did not though their hook is \
                      called, then those whose hook no operation calls."
            .to_owned(),
        chart: Chart::Bars(Bars {
            axis: "functions".to_owned(),
            category: "module".to_owned(),
            kind: "state".to_owned(),
            categories: rows
                .iter()
                .map(|(name, _)| printable(name, TEXT_LIMIT))
                .collect(),
            series: SERIES.map(str::to_owned).to_vec(),
            colours: (0..SERIES.len()).collect(),
            bars: bars.collect(),
            stacked: true,
        }),
        notes: Vec::new(),
    }
}
