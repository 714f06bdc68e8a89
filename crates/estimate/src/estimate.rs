// SPDX-License-Identifier: GPL-2.0-or-later
//! Estimates nanoseconds from weights and counts.

use model::estimate::{EstimateDocument, EstimatedCell, EstimatedHook, Nanoseconds, Weights};
use model::{Events, Failure, HookCost, Tool, Warning, WarningKind};

use crate::counts::{Counted, Counts, Did, version};
use crate::fit::unit;
use crate::terms::{Difference, LONG_REP, Terms};
use crate::times::{Times, meeting};

/// Differences beyond this multiple of the largest fitted one are not estimated.
const REACH: f64 = 2.0;

/// Estimates the time that each operation adds to the baseline; `times` has measured values.
pub fn estimate(
    weights: &Weights,
    counts: &Counts,
    times: Option<&Times>,
) -> Result<EstimateDocument, Failure> {
    let names: Vec<&str> = weights
        .terms
        .iter()
        .map(|term| term.event.as_str())
        .collect();
    let terms = Terms::named(&names)?;
    let cell = |counted: &Counted| {
        let more = counted.more(&terms);
        let (estimate, refused) = match refused(weights, &more, counted) {
            Some(why) => (None, Some(why)),
            None => (Some(of_sum(weights, &more.x)), None),
        };
        let measured = times.and_then(|times| times.added.get(&meeting(&counted.key)));
        EstimatedCell {
            key: counted.key.clone(),
            baseline: counted.baseline.clone(),
            instructions: signed(counted.own.instructions, counted.base.instructions),
            hooks: match &refused {
                Some(_) => Vec::new(),
                None => hooks(weights, &terms, &counted.own, &counted.base),
            },
            estimate,
            refused,
            measured: measured.map(|added| added.with_interval()),
        }
    };
    Ok(EstimateDocument {
        tool: Tool::default(),
        weights: weights.clone(),
        cells: counts.cells.iter().map(cell).collect(),
        warnings: warnings(weights),
    })
}

fn signed(own: u64, base: u64) -> i64 {
    own.wrapping_sub(base).cast_signed()
}

fn refused(weights: &Weights, more: &Difference, counted: &Counted) -> Option<String> {
    if counted.mixed {
        return Some("no single path represents the operation".to_owned());
    }
    if counted.older && weights.terms.iter().any(|term| term.event == LONG_REP) {
        return Some(
            "an old lsmeter counted it without long REP instructions: count it again".to_owned(),
        );
    }
    if let Some((what, number)) = more.unknown {
        return Some(format!("{what} differ by {number:+}, but have no weight"));
    }
    let mut terms = weights.terms.iter().zip(&more.x);
    let (term, x) = terms.find(|(term, x)| x.abs() > REACH * term.most)?;
    Some(format!(
        "{} differ by {x:+}, but the weights were fitted to differences of at most {}",
        term.event, term.most
    ))
}

fn of_sum(weights: &Weights, x: &[f64]) -> Nanoseconds {
    let parts = weights.terms.iter().zip(x);
    let ns: f64 = parts.map(|(term, x)| term.ns * x).sum();
    let nothing = x.iter().all(|x| *x == 0.0);
    let off = if nothing {
        0.0
    } else {
        weights.error.q95 * unit(ns)
    };
    Nanoseconds {
        ns,
        ci95: [ns - off, ns + off],
    }
}

/// Hooks that differ, the largest additions first.
fn hooks(weights: &Weights, terms: &Terms, own: &Did, base: &Did) -> Vec<EstimatedHook> {
    let nothing = HookCost::default();
    let lines = base.events.instruction_lines;
    let found = |hooks: &[HookCost], wanted: &HookCost| {
        let mut hooks = hooks.iter();
        hooks
            .find(|hook| (&hook.hook, &hook.function) == (&wanted.hook, &wanted.function))
            .cloned()
    };
    let did = |hook: &HookCost| (hook.inclusive, hook.events.unwrap_or_default());
    let gone = base
        .hooks
        .iter()
        .filter(|hook| found(&own.hooks, hook).is_none());
    let all = own
        .hooks
        .iter()
        .map(|hook| (hook.clone(), found(&base.hooks, hook)));
    let all = all.chain(gone.map(|hook| (nothing.clone(), Some(hook.clone()))));
    let mut hooks: Vec<EstimatedHook> = all
        .filter_map(|(own, base)| {
            let name = base.as_ref().map_or(&own.hook, |base| &base.hook).clone();
            let ((instructions, events), (base_instructions, base_events)) =
                (did(&own), base.as_ref().map_or((0, Events::default()), did));
            let more = terms.difference(
                (instructions, &events),
                (base_instructions, &base_events),
                lines,
            );
            let instructions = signed(instructions, base_instructions);
            let differs = more.x.iter().any(|x| *x != 0.0);
            differs.then(|| EstimatedHook {
                hook: name,
                instructions,
                estimate: of_sum(weights, &more.x),
            })
        })
        .collect();
    hooks.sort_by(|a, b| b.estimate.ns.total_cmp(&a.estimate.ns));
    hooks
}

fn warnings(weights: &Weights) -> Vec<Warning> {
    let [timed, counted] = &weights.releases;
    let mut warnings = Vec::new();
    if version(timed) != version(counted) {
        warnings.push(Warning::new(
            WarningKind::Other,
            format!("times are from {timed}, but counts from {counted}: the code may differ"),
        ));
    }
    warnings
}
