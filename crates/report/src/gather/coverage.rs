// SPDX-License-Identifier: GPL-2.0-or-later
//! The figure of a coverage: how much of each module ran.

use experiment::Document;

use super::{Draft, bar};
use crate::coverage::module_rows;
use crate::figure::{Bars, Chart};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

const SERIES: [&str; 3] = ["ran", "did not run, hook called", "hook not called"];

/// Functions of each module: those that ran, and those that did not.
pub(super) fn drafts(document: &Document) -> Vec<Draft> {
    let Some(findings) = &document.coverage else {
        return Vec::new();
    };
    let rows = module_rows(findings);
    let bars = rows.iter().enumerate().flat_map(|(category, (_, row))| {
        let parts = [row.ran, row.idle, row.functions - row.ran - row.idle];
        let parts = parts.into_iter().enumerate().filter(|(_, n)| *n > 0);
        parts.map(move |(series, n)| bar(category, series, n as f64))
    });
    let kernel = printable(&findings.kernel, TEXT_LIMIT);
    vec![Draft {
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
    }]
}
