// SPDX-License-Identifier: GPL-2.0-or-later
//! A comparison in one line.

use model::ComparisonDocument;
use model::comparison::{ComparedCell, Verdict};

use super::comparison_summary;
use crate::format;
use crate::text::short;

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

/// `open:AA under capability: 4,979 to 4,980 (+1, +0.0 %)`.
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
