// SPDX-License-Identifier: GPL-2.0-or-later
//! What differs between stacks outside of hooks.

use experiment::check::CheckedResidual;
use experiment::{Cell, CheckVerdict, Document};

use crate::subject::Subject;

/// The residuals of all further stacks of a subject's kernel, whose own stack is the
/// baseline.
pub(crate) fn residuals(differences: &Document, subject: &Subject) -> Vec<CheckedResidual> {
    let of_subject =
        |cell: &&Cell| cell.release == subject.release && cell.key.filesystem == subject.fs;
    let residuals = differences.cells.iter().filter(of_subject);
    let residuals = residuals.filter_map(residual);
    residuals
        .filter(|of| of.baseline == subject.stack)
        .collect()
}

/// None without a baseline, and if a hostile document's figures do not fit.
fn residual(cell: &Cell) -> Option<CheckedResidual> {
    let counted = cell.counted()?;
    let (own, residual) = counted.hooked.as_ref().zip(counted.residual.as_ref())?;
    let more = |own: u64, base: u64| {
        let difference = i128::from(own) - i128::from(base);
        i64::try_from(difference).ok()
    };
    let verdict = if !counted.is_comparable() {
        CheckVerdict::Alone
    } else if judge::unexplained(counted).next().is_some() {
        CheckVerdict::Disagree
    } else if residual.functions.is_empty() {
        CheckVerdict::Agree
    } else {
        CheckVerdict::Explained
    };
    Some(CheckedResidual {
        stack: cell.key.stack.clone(),
        baseline: residual.stack.clone(),
        benchmark: cell.key.benchmark().to_owned(),
        variant: cell.key.variant().to_owned(),
        difference: more(own.total, residual.path.total)?,
        explained: more(own.hooked, residual.path.hooked)?,
        residual: residual.instructions,
        functions: residual.functions.clone(),
        verdict,
    })
}
