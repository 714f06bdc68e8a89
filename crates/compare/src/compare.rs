// SPDX-License-Identifier: GPL-2.0-or-later
//! From two documents to one comparison.

use std::collections::BTreeSet;

use experiment::comparison::{
    Axis, ComparedCell, Correction, EnvironmentDifference, Judgement, Method, Source,
    UnmatchedCell, Verdict,
};
use experiment::{AaReport, ComparisonDocument, Document, Kind, Metric, Tool, Warning};
use stats::RatioBootstrap;

use crate::budget::Budget;
use crate::environment;
use crate::error::CompareError;
use crate::explain::explain;
use crate::gate;
use crate::item::{Item, place};
use crate::judge::{ALPHA, Judged, judge};
use crate::pair::{Paired, pair};
use crate::{cells, recordings};

/// Why a gate does not trust times of two runs of which nothing more is known: what p is made
/// of, samples and rounds, lies within the runs, and what drifts in between is not in it.
const NO_AA: &str = "what two runs differ by without a change is not known: lsmeter run --aa";

/// How documents are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A difference is real if its corrected p is at most this: above 0, below 1.
    pub alpha: f64,
    /// How p values are corrected for the number of cells.
    pub correction: Correction,
    /// Differences of the environment say nothing.
    pub trust_environment: bool,
    /// How much worse cells may be; None: there is no gate.
    pub budget: Option<Budget>,
    /// Tell which hooks hold the differences.
    pub explain: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            alpha: ALPHA,
            correction: Correction::default(),
            trust_environment: false,
            budget: None,
            explain: false,
        }
    }
}

/// A document, and what the user calls it.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Its name: a file's.
    pub name: &'a str,
    /// What was in it.
    pub document: &'a Document,
}

/// What a comparison is made of, before figures are judged.
pub(crate) struct Matter {
    pub(crate) base: Source,
    pub(crate) new: Source,
    pub(crate) across: Option<Axis>,
    pub(crate) pairs: Vec<(Item, Item)>,
    pub(crate) unmatched: Vec<UnmatchedCell>,
    pub(crate) matched_by: Vec<String>,
    pub(crate) environment: Vec<EnvironmentDifference>,
    pub(crate) aa: Option<AaReport>,
    pub(crate) notes: Vec<String>,
}

/// Compares NEW with BASE, cell by cell.
///
/// # Errors
/// [`CompareError`] if they are of different kinds, hold nothing, or no common unit.
pub fn compare(
    base: Named<'_>,
    new: Named<'_>,
    options: &Options,
) -> Result<ComparisonDocument, CompareError> {
    let (old, young) = (base.document.kind, new.document.kind);
    if old != young {
        return Err(CompareError::Kinds {
            base: base.name.to_owned(),
            base_kind: old,
            new: new.name.to_owned(),
            new_kind: young,
        });
    }
    let by_command = recordings::are_of_commands(base.document, new.document);
    let (a, b) = (items(base, by_command)?, items(new, by_command)?);
    same_units(base, &a, new, &b)?;
    let sources = (source(base, a.len()), source(new, b.len()));
    let Paired {
        pairs,
        unmatched,
        matched_by,
    } = pair(a, b);
    let mut notes = notes("BASE", &base.document.warnings);
    notes.extend(self::notes("NEW", &new.document.warnings));
    let matter = Matter {
        base: sources.0,
        new: sources.1,
        across: None,
        pairs,
        unmatched,
        matched_by,
        environment: environment::differences(base.document, new.document),
        // What is known of false alarms: of NEW, or else of BASE.
        aa: new.document.aa.clone().or_else(|| base.document.aa.clone()),
        notes,
    };
    Ok(conclude(matter, (base.document, new.document), options))
}

fn items(of: Named<'_>, by_command: bool) -> Result<Vec<Item>, CompareError> {
    let what = match of.document.kind {
        Kind::Run => "cells",
        Kind::Profile => "profiles",
        Kind::Sensitivity => "slopes",
        Kind::Recording => "calls",
        kind => {
            let name = of.name.to_owned();
            return Err(CompareError::NotMeasured { name, kind });
        }
    };
    let items = match of.document.kind {
        Kind::Recording => recordings::items(of.document, by_command),
        _ => cells::items(of.document),
    };
    if items.is_empty() {
        return Err(CompareError::Empty {
            name: of.name.to_owned(),
            what,
        });
    }
    Ok(items)
}

fn same_units(base: Named<'_>, a: &[Item], new: Named<'_>, b: &[Item]) -> Result<(), CompareError> {
    let units =
        |items: &[Item]| -> BTreeSet<Metric> { items.iter().map(|item| item.key.metric).collect() };
    let (old, young) = (units(a), units(b));
    if !old.is_disjoint(&young) {
        return Ok(());
    }
    let said = |units: BTreeSet<Metric>| {
        let said: Vec<String> = units
            .into_iter()
            .map(|metric| format!("{metric} ({})", metric.unit()))
            .collect();
        said.join(", ")
    };
    Err(CompareError::Units {
        base: base.name.to_owned(),
        base_units: said(old),
        new: new.name.to_owned(),
        new_units: said(young),
    })
}

pub(crate) fn source(of: Named<'_>, cells: usize) -> Source {
    Source {
        name: of.name.to_owned(),
        document: Kind::title(Some(of.document.kind)).to_owned(),
        tool: of.document.tool.clone(),
        started: of.document.started.clone(),
        cells: cells as u64,
    }
}

pub(crate) fn notes(side: &str, warnings: &[Warning]) -> Vec<String> {
    let note = |warning: &Warning| format!("{side}: {}: {}", warning.kind, warning.message);
    warnings.iter().map(note).collect()
}

/// Judges all pairs, and asks the gate.
pub(crate) fn conclude(
    mut matter: Matter,
    documents: (&Document, &Document),
    options: &Options,
) -> ComparisonDocument {
    let mut bootstrap = RatioBootstrap::new();
    let judged: Vec<Judged> = (matter.pairs.iter())
        .map(|(base, new)| {
            let (old, young) = (&base.measured, &new.measured);
            judge(old, young, new.key.metric, &mut bootstrap)
        })
        .collect();
    let adjusted = adjust(&judged, options.correction);
    let tested = adjusted.iter().flatten().count();
    let timed_elsewhere = environment::doubt(&matter.environment, options.trust_environment);
    let mut compared = Vec::with_capacity(judged.len());
    for (((base, new), judged), adjusted) in matter.pairs.iter().zip(judged).zip(adjusted) {
        let mut cell = cell(base, new, judged);
        cell.p_adjusted = adjusted;
        decide(&mut cell, options, tested);
        if let Some(doubt) = timed_elsewhere.as_ref().filter(|_| cell.metric.is_timed()) {
            cell.doubts.push(doubt.clone());
        }
        let noise_known = cell.method == Method::Runs || matter.across.is_some();
        if cell.metric.is_timed() && !noise_known && !options.trust_environment {
            cell.doubts.push(NO_AA.to_owned());
        }
        compared.push(cell);
    }
    let explanations = if options.explain {
        let (explanations, mut more) = explain(&matter.pairs, documents);
        matter.notes.append(&mut more);
        explanations
    } else {
        Vec::new()
    };
    let gate = options
        .budget
        .as_ref()
        .map(|budget| gate::ask(budget, &mut compared, &matter.unmatched));
    ComparisonDocument {
        tool: Tool::this(),
        base: matter.base,
        new: matter.new,
        across: matter.across,
        judgement: Judgement {
            alpha: options.alpha,
            correction: options.correction,
            tested: tested as u64,
            trust_environment: options.trust_environment,
        },
        matched_by: matter.matched_by,
        environment: matter.environment,
        aa: matter.aa,
        compared,
        unmatched: matter.unmatched,
        explanations,
        gate,
        notes: matter.notes,
    }
}

/// Corrected p values of those that have any.
pub(crate) fn adjust(judged: &[Judged], correction: Correction) -> Vec<Option<f64>> {
    let p: Vec<f64> = judged.iter().filter_map(|judged| judged.p).collect();
    let adjusted = match correction {
        Correction::Holm => stats::holm(&p),
        Correction::Bh => stats::benjamini_hochberg(&p),
        Correction::None => p,
    };
    let mut adjusted = adjusted.into_iter();
    (judged.iter())
        .map(|judged| judged.p.and_then(|_| adjusted.next()))
        .collect()
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
        p_adjusted: None,
        // Corrected later, with what all cells say.
        detectable: judged.spread.map(|spread| spread.detectable(ALPHA)),
        verdict: Verdict::Missing,
        reason: judged.reason,
        doubts,
        gate: None,
    }
}

/// Is the difference real?
fn decide(cell: &mut ComparedCell, options: &Options, tested: usize) {
    let (Some(base), Some(new)) = (cell.base.value, cell.new.value) else {
        return;
    };
    let worse = match cell.metric.direction() {
        stats::Direction::LowerIsBetter => new > base,
        stats::Direction::HigherIsBetter => new < base,
    };
    let real = if worse {
        Verdict::Worse
    } else {
        Verdict::Better
    };
    cell.verdict = match cell.method {
        Method::Exact if new == base => Verdict::Same,
        Method::Exact => real,
        Method::None => Verdict::Unclear,
        Method::Samples | Method::Rounds | Method::Runs | Method::Intervals => {
            cell.reason = noise(cell, options, tested);
            if cell.reason.is_none() {
                real
            } else {
                Verdict::Unclear
            }
        }
    };
}

/// Why a difference may be noise; None if it is not.
fn noise(cell: &ComparedCell, options: &Options, tested: usize) -> Option<String> {
    let p = cell.p_adjusted?;
    if p > options.alpha {
        let corrected = match options.correction {
            Correction::None => String::new(),
            _ if tested < 2 => String::new(),
            _ => format!(", corrected for {tested} cells"),
        };
        return Some(format!("p = {p:.2}{corrected}"));
    }
    let [low, high] = cell.ci95?;
    (low <= 0.0 && high >= 0.0).then(|| "the medians' interval holds 0".to_owned())
}
