// SPDX-License-Identifier: GPL-2.0-or-later
//! What nothing explains, one by one, and what explains the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use experiment::check::{CheckedHook, CheckedResidual};
use experiment::{CheckDocument, CheckVerdict};

use super::hooks::hooks;
use crate::cells::added;
use crate::format::difference;
use crate::group::dearest_first;

/// What differs for no known reason. Its text is the document's and need not be printable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// `benchmark:variant`.
    pub operation: String,
    /// The hook; of stacks `outside hooks, +selinux`.
    pub place: String,
    /// What the instruments say: calls in one operation; of stacks instructions more or fewer.
    pub figures: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.operation, self.place, self.figures)
    }
}

/// All that differs for no known reason: hooks in the order of operations, then stacks.
pub fn disagreements(document: &CheckDocument) -> impl Iterator<Item = Disagreement> {
    let hooks = hooks(document, CheckVerdict::Disagree);
    let hooks = hooks.map(|(benchmark, hook)| Disagreement {
        operation: benchmark.title(),
        place: hook.hook.clone(),
        figures: figures(hook),
    });
    let residuals = residuals(document, CheckVerdict::Disagree);
    hooks.chain(residuals.map(|residual| Disagreement {
        operation: residual.title(),
        place: residual_title(&residual.stack, &residual.baseline),
        figures: difference(residual.residual.into()),
    }))
}

/// Where two stacks must not differ: `outside hooks, +selinux`.
pub(crate) fn residual_title(stack: &[String], baseline: &[String]) -> String {
    match added(stack, baseline) {
        Some(added) => format!("outside hooks, +{}", added.join(",")),
        None => format!("outside hooks, {}", stack.join(",")),
    }
}

/// `profile 2, monitor 1, slope 2.0000, at most 3`.
fn figures(hook: &CheckedHook) -> String {
    let mut figures = Vec::new();
    if let Some(calls) = hook.profile {
        figures.push(format!("profile {calls}"));
    }
    if let Some(calls) = hook.monitor {
        figures.push(format!("monitor {calls}"));
    }
    if let Some(slope) = hook.slope {
        figures.push(format!("slope {slope:.4}"));
    }
    if let Some(calls) = hook.maximum {
        figures.push(format!("at most {calls}"));
    }
    figures.join(", ")
}

/// Known reasons, each with how many hooks of operations, and operations under a stack, differ for
/// it, those of most first.
pub(crate) fn reasons(document: &CheckDocument) -> Vec<(&str, u64)> {
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, hook) in hooks(document, CheckVerdict::Explained) {
        let why = hook.explanation.as_deref().unwrap_or_default();
        *times.entry(why).or_default() += 1;
    }
    for residual in residuals(document, CheckVerdict::Explained) {
        // Several functions of an operation may differ for one reason.
        let why = residual.functions.iter();
        let why = why.map(|of| of.explanation.as_deref().unwrap_or_default());
        for why in why.collect::<BTreeSet<&str>>() {
            *times.entry(why).or_default() += 1;
        }
    }
    let order = dearest_first(times.iter().map(|(why, n)| (*why, *n)));
    order.into_iter().map(|why| (why, times[why])).collect()
}

fn residuals(
    document: &CheckDocument,
    verdict: CheckVerdict,
) -> impl Iterator<Item = &CheckedResidual> {
    let residuals = document.residuals.iter();
    residuals.filter(move |residual| residual.verdict == verdict)
}
