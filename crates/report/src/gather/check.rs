// SPDX-License-Identifier: GPL-2.0-or-later
//! The figure of a check: where instruments agree, and where they do not.

use experiment::CheckDocument;
use experiment::check::{CheckedHook, PairSummary, Verdicts};

use super::Draft;
use crate::figure::{Chart, Heat, HeatRow, Tile};
use crate::group::grouped;
use crate::instruments::{pair_title, residual_title, subject};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// What is looked for comes first.
const COLUMNS: [&str; 4] = ["disagree", "explained", "agree", "alone"];
/// What is compared, and how often.
type Row = (String, Verdicts);

/// A map, not bars: where a few of thousands disagree, no part of a bar is wide enough to be seen.
pub(super) fn drafts(document: &CheckDocument) -> Vec<Draft> {
    let rows = rows(document);
    let tiles = rows.iter().enumerate().flat_map(|(row, (_, of))| {
        let parts = [of.disagree, of.explained, of.agree, of.alone];
        let parts = parts.into_iter().enumerate().filter(|(_, n)| *n > 0);
        parts.map(move |(column, n)| Tile {
            row,
            column,
            value: n as f64,
        })
    });
    vec![Draft {
        base: "agreement",
        subjects: vec![
            document.kernel.clone(),
            document.stack.join(","),
            document.filesystem.clone(),
        ],
        title: format!("Agreement: {}", subject(document)),
        description:
            "A map: a row for each two instruments, and in the tiles in how many hooks of \
                      operations they disagree, differ for a known reason, agree, and of how many \
                      one of the two alone tells. Outside hooks: operations in which a further \
                      stack must not differ from the first."
                .to_owned(),
        chart: Chart::Heat(Heat {
            axis: "comparisons".to_owned(),
            category: "what is compared".to_owned(),
            kind: "verdict".to_owned(),
            rows: rows.iter().map(|(title, _)| row(title)).collect(),
            columns: COLUMNS.map(str::to_owned).to_vec(),
            tiles: tiles.collect(),
        }),
        notes: Vec::new(),
    }]
}

fn row(title: &str) -> HeatRow {
    HeatRow {
        label: title.to_owned(),
        note: String::new(),
    }
}

/// Pairs of instruments, then each further stack.
fn rows(document: &CheckDocument) -> Vec<Row> {
    let pairs = document.summary.pairs.iter().map(|pair| {
        let of = Verdicts {
            agree: pair.agree,
            explained: pair.explained,
            disagree: pair.disagree,
            alone: alone(document, pair),
        };
        (pair_title(pair), of)
    });
    let stacks = grouped(&document.residuals, |residual| {
        (&*residual.stack, &*residual.baseline)
    });
    let stacks = stacks.into_iter().map(|((stack, baseline), residuals)| {
        let title = printable(&residual_title(stack, baseline), TEXT_LIMIT);
        let verdicts = residuals.iter().map(|residual| residual.verdict);
        (title, Verdicts::of(verdicts))
    });
    pairs.chain(stacks).collect()
}

/// Hooks of operations that one of the two alone tells of.
fn alone(document: &CheckDocument, pair: &PairSummary) -> u64 {
    let one = |hook: &&CheckedHook| hook.tells(pair.first) != hook.tells(pair.second);
    let hooks = document.benchmarks.iter().flat_map(|of| &of.hooks);
    hooks.filter(one).count() as u64
}
