// SPDX-License-Identifier: GPL-2.0-or-later
//! The figure of a check: where instruments agree, and where they do not.

use experiment::CheckDocument;
use experiment::check::{CheckedHook, CheckedResidual, PairSummary, Verdicts};

use super::{Draft, bar};
use crate::figure::{Bars, Chart};
use crate::group::grouped;
use crate::instruments::{pair_title, subject};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// What does not agree comes first: it is little, and all rows begin at the same place.
const SERIES: [&str; 4] = ["disagree", "explained", "agree", "alone"];
/// Red among blues, and grey for what was not compared.
const COLOURS: [usize; 4] = [1, 5, 0, 23];

/// What is compared, and how often.
type Row = (String, Verdicts);

pub(super) fn drafts(document: &CheckDocument) -> Vec<Draft> {
    vec![agreement(&rows(document), document)]
}

fn agreement(rows: &[Row], document: &CheckDocument) -> Draft {
    let bars = rows.iter().enumerate().flat_map(|(category, (_, of))| {
        let parts = [of.disagree, of.explained, of.agree, of.alone];
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
        title: format!("Do the instruments agree? {}", subject(document)),
        description: "Stacked bars: for each two instruments the hooks of operations that either \
                      tells of, those in which they disagree first, then those in which they \
                      differ for a known reason, agree, or one of them tells nothing. Outside \
                      hooks: operations in which a further stack must not differ from the first."
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

/// Of thousands a few are too narrow to be seen, and they are what one looks for.
fn disagreements(rows: &[Row]) -> Option<String> {
    let disagree = rows.iter().filter(|(_, of)| of.disagree > 0);
    let named: Vec<String> = disagree
        .map(|(title, of)| format!("{title} ({})", of.disagree))
        .collect();
    (!named.is_empty()).then(|| {
        let text = format!("Disagree: {}.", named.join("; "));
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
    let stacks = grouped(&document.residuals, |residual| residual.stack.as_slice());
    let stacks = stacks.into_iter().map(|(stack, residuals)| {
        let stack = printable(&stack.join(","), TEXT_LIMIT);
        (format!("outside hooks: {stack}"), verdicts(&residuals))
    });
    pairs.chain(stacks).collect()
}

/// Hooks of operations that one of the two alone tells of.
fn alone(document: &CheckDocument, pair: &PairSummary) -> u64 {
    let one = |hook: &&CheckedHook| hook.tells(pair.first) != hook.tells(pair.second);
    let hooks = document.benchmarks.iter().flat_map(|of| &of.hooks);
    hooks.filter(one).count() as u64
}

fn verdicts(residuals: &[&CheckedResidual]) -> Verdicts {
    Verdicts::of(residuals.iter().map(|residual| residual.verdict))
}
