// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares two result files.

use std::collections::BTreeSet;

use crate::judge::Judged;
use model::comparison::{ComparedCell, Judgement, Method, Source};
use model::{ComparisonDocument, Document, Failure, Kind, Metric, Warning};

use crate::budget::Budget;
use crate::environment;
use crate::explain::explain;
use crate::gate;
use crate::item::{self, Item, place};
use crate::pair::pair;
use crate::recordings;

/// A gate does not trust the times of only two runs, because their samples and rounds do not show
/// the drift between runs.
const NO_AA: &str = "the difference between two runs without a change is unknown: measure it with lsmeter run --aa=5";

#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A difference is real if its corrected p is at most this value, which is above 0 and below 1.
    pub alpha: f64,
    pub trust_environment: bool,
    pub budget: Option<Budget>,
    pub explain: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            alpha: crate::judge::ALPHA,
            trust_environment: false,
            budget: None,
            explain: false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    pub name: &'a str,
    pub document: &'a Document,
}

pub fn compare(
    base: Named<'_>,
    new: Named<'_>,
    options: &Options,
) -> Result<ComparisonDocument, Failure> {
    let (old, young) = (base.document.kind, new.document.kind);
    if old != young {
        let [a, b] = [old, young].map(|kind| Kind::title(Some(kind)));
        return Err(Failure::usage(
            format!("{} is a {a}, but {} is a {b}", base.name, new.name),
            "give two result files from the same command",
        ));
    }
    let by_command = recordings::are_of_commands(base.document, new.document);
    let (a, b) = (items(base, by_command)?, items(new, by_command)?);
    same_units(base, &a, new, &b)?;
    let begun = begin(source(base, a.len()), source(new, b.len()), options);
    let paired = pair(a, b);
    let mut notes = Vec::from_iter(self::notes("BASE", &base.document.warnings));
    notes.extend(self::notes("NEW", &new.document.warnings));
    let comparison = ComparisonDocument {
        unmatched: paired.unmatched,
        matched_by: paired.matched_by,
        environment: environment::differences(base.document, new.document),
        // Known false alarms: those of NEW, or of BASE if NEW has none.
        aa: new.document.aa.clone().or_else(|| base.document.aa.clone()),
        notes,
        ..begun
    };
    let (pairs, documents) = (&paired.pairs, (base.document, new.document));
    Ok(conclude(comparison, pairs, documents, false, options))
}

fn items(named: Named<'_>, by_command: bool) -> Result<Vec<Item>, Failure> {
    let document = named.document;
    let (what, items) = match document.kind {
        Kind::Run => ("measurements", item::items(document)),
        Kind::Profile => ("profiles", item::items(document)),
        Kind::Sensitivity => ("slopes", item::items(document)),
        Kind::Recording => ("calls", recordings::items(document, by_command)),
        kind => {
            let (name, kind) = (named.name, Kind::title(Some(kind)));
            return Err(Failure::usage(
                format!("{name} is a {kind}: lsmeter compare cannot compare it"),
                "give result files from lsmeter run, profile, monitor or sensitivity",
            ));
        }
    };
    if items.is_empty() {
        return Err(empty(named, what));
    }
    Ok(items)
}

pub(crate) fn empty(named: Named<'_>, what: &str) -> Failure {
    Failure::usage(
        format!("{} has no {what}", named.name),
        "measure again and select at least one measurement",
    )
}

fn same_units(base: Named<'_>, a: &[Item], new: Named<'_>, b: &[Item]) -> Result<(), Failure> {
    let units = |items: &[Item]| BTreeSet::from_iter(items.iter().map(|item| item.key.metric));
    let (old, young) = (units(a), units(b));
    let (base_name, new_name) = (base.name, new.name);
    let of = |named: Named<'_>| named.document.experiment.as_ref()?.processors;
    if let (Some(two), Some(four)) = (of(base), of(new))
        && two != four
    {
        return Err(Failure::usage(
            format!(
                "{base_name} has transfers between {two} processors, {new_name} between {four}"
            ),
            "measure both with the same --set processors=N",
        ));
    }
    if !old.is_disjoint(&young) {
        return Ok(());
    }
    let names = |units: BTreeSet<Metric>| {
        let names = units.into_iter();
        let names = names.map(|metric| format!("{metric} ({})", metric.unit()));
        names.collect::<Vec<_>>().join(", ")
    };
    let (old, young) = (names(old), names(young));
    Err(Failure::usage(
        format!("{base_name} contains {old}, but {new_name} contains {young}: they share no unit"),
        "measure both with the same --metric: instructions are not time",
    ))
}

pub(crate) fn source(named: Named<'_>, cells: usize) -> Source {
    Source {
        name: named.name.to_owned(),
        document: Kind::title(Some(named.document.kind)).to_owned(),
        tool: named.document.tool.clone(),
        started: named.document.started.clone(),
        cells: cells as u64,
    }
}

pub(crate) fn notes(side: &str, warnings: &[Warning]) -> Vec<String> {
    let note = |warning: &Warning| format!("{side}: {}: {}", warning.kind, warning.message);
    warnings.iter().map(note).collect()
}

pub(crate) fn begin(base: Source, new: Source, options: &Options) -> ComparisonDocument {
    ComparisonDocument {
        base,
        new,
        judgement: Judgement {
            alpha: options.alpha,
            tested: 0,
            trust_environment: options.trust_environment,
        },
        ..ComparisonDocument::default()
    }
}

/// Judges all pairs and applies the gate. `of_one_run`: the sides were measured in turns.
pub(crate) fn conclude(
    mut comparison: ComparisonDocument,
    pairs: &[(Item, Item)],
    documents: (&Document, &Document),
    of_one_run: bool,
    options: &Options,
) -> ComparisonDocument {
    let figures = pairs.iter();
    let figures = figures.map(|(base, new)| (&base.measured, &new.measured, new.key.metric));
    let judged = crate::judge::together(figures, options.alpha);
    let timed_elsewhere = environment::doubt(&comparison.environment, options.trust_environment);
    let tested = judged.iter().filter(|judged| judged.p.is_some()).count();
    comparison.judgement.tested = tested as u64;
    for ((base, new), judged) in pairs.iter().zip(judged) {
        let mut cell = cell(base, new, judged);
        if let Some(doubt) = timed_elsewhere.as_ref().filter(|_| cell.metric.is_timed()) {
            cell.doubts.push(doubt.clone());
        }
        let noise_known = cell.method == Method::Runs || of_one_run;
        if cell.metric.is_timed() && !noise_known && !options.trust_environment {
            cell.doubts.push(NO_AA.to_owned());
        }
        comparison.compared.push(cell);
    }
    if options.explain {
        let (explanations, more) = explain(pairs, documents);
        comparison.explanations = explanations;
        comparison.notes.extend(more);
    }
    if let Some(budget) = &options.budget {
        let gate = gate::ask(budget, &mut comparison.compared, &comparison.unmatched);
        comparison.gate = Some(gate);
    }
    comparison
}

fn cell(base: &Item, new: &Item, judged: Judged) -> ComparedCell {
    let (place, base_place) = (place(&new.key), place(&base.key));
    let mut doubts = Vec::new();
    for (side, item) in [("BASE", base), ("NEW", new)] {
        doubts.extend(item.doubts.iter().map(|doubt| format!("{side}: {doubt}")));
    }
    ComparedCell {
        base_place: (place != base_place).then_some(base_place),
        place,
        benchmark: new.key.benchmark().to_owned(),
        variant: new.key.variant().to_owned(),
        detail: new.detail.clone(),
        metric: new.key.metric,
        unit: new.key.metric.unit().to_owned(),
        base: base.measured.figure(),
        new: new.measured.figure(),
        method: judged.method,
        difference: judged.difference,
        overhead: judged.overhead,
        ci95: judged.ci95,
        effect: judged.effect,
        p: judged.p,
        p_adjusted: judged.p_adjusted,
        detectable: judged.detectable,
        verdict: judged.verdict,
        reason: judged.reason,
        doubts,
        gate: None,
    }
}
