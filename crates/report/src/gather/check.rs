// SPDX-License-Identifier: GPL-2.0-or-later
//! The figure of a check: where instruments agree, and where they do not.

use experiment::CheckDocument;
use experiment::check::{CheckedHook, PairSummary, Verdicts};

use super::{Draft, bar};
use crate::figure::{Bars, Chart};
use crate::group::grouped;
use crate::instruments::{pair_title, residual_title, subject};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

const SERIES: [&str; 4] = ["agree", "explained", "disagree", "alone"];
/// Red among blues, and grey for what was not compared.
const COLOURS: [usize; 4] = [0, 5, 1, 23];

/// What is compared, and how often.
type Row = (String, Verdicts);

pub(super) fn drafts(document: &CheckDocument) -> Vec<Draft> {
    vec![agreement(&rows(document), document)]
}

fn agreement(rows: &[Row], document: &CheckDocument) -> Draft {
    let bars = rows.iter().enumerate().flat_map(|(category, (_, of))| {
        let parts = [of.agree, of.explained, of.disagree, of.alone];
        let parts = parts.into_iter().enumerate().filter(|(_, n)| *n > 0);
        parts.map(move |(series, n)| bar(category, series, n as f64))
    });
    Draft {
        base: "agreement",
        subjects: vec![
            document.kernel.clone(),
            document.stack.join(","),
            document.filesystem.clone(),
        ],
        title: format!("Agreement: {}", subject(document)),
        description: "Stacked bars: for each two instruments the hooks of operations that either \
                      tells of: those in which they agree, differ for a known reason, disagree, \
                      and those that one alone tells of. Outside hooks: operations in which a \
                      further stack must not differ from the first."
            .to_owned(),
        chart: Chart::Bars(Bars {
            axis: "comparisons".to_owned(),
            category: "what is compared".to_owned(),
            kind: "verdict".to_owned(),
            categories: rows.iter().map(|(title, _)| title.clone()).collect(),
            series: SERIES.map(str::to_owned).to_vec(),
            colours: COLOURS.to_vec(),
            bars: bars.collect(),
            stacked: true,
        }),
        notes: disagreements(rows).into_iter().collect(),
    }
}

/// What one looks for: a few of thousands are too narrow to be seen.
fn disagreements(rows: &[Row]) -> Option<String> {
    let disagree = rows.iter().filter(|(_, of)| of.disagree > 0);
    let named: Vec<String> = disagree
        .map(|(title, of)| format!("{} in {title}", of.disagree))
        .collect();
    (!named.is_empty()).then(|| {
        let text = format!("Of them disagree: {}.", named.join("; "));
        printable(&text, 400)
    })
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
