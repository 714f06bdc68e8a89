// SPDX-License-Identifier: GPL-2.0-or-later
//! What differs between stacks outside of hooks.

use experiment::check::CheckedResidual;
use experiment::{CheckVerdict, Profile, ProfileDocument, Status};

use crate::subject::Subject;

/// The residuals of all further stacks of a subject's kernel, whose own stack is the
/// baseline.
pub(crate) fn residuals(differences: &ProfileDocument, subject: &Subject) -> Vec<CheckedResidual> {
    let of_subject = |profile: &&Profile| {
        let baseline = profile.baseline.as_ref();
        profile.status == Status::Ok
            && profile.release == subject.release
            && profile.filesystem == subject.fs
            && baseline.is_some_and(|base| base.stack == subject.stack)
    };
    let profiles = differences.profiles.iter().filter(of_subject);
    profiles.filter_map(residual).collect()
}

/// None if a hostile document's figures do not fit.
fn residual(profile: &Profile) -> Option<CheckedResidual> {
    let base = profile.baseline.as_ref()?;
    let more = |own: u64, base: u64| {
        let difference = i128::from(own) - i128::from(base);
        i64::try_from(difference).ok()
    };
    let verdict = if !profile.is_stable() {
        CheckVerdict::Alone
    } else if profile.is_unexplained() {
        CheckVerdict::Disagree
    } else if profile.residual_functions.is_empty() {
        CheckVerdict::Agree
    } else {
        CheckVerdict::Explained
    };
    Some(CheckedResidual {
        stack: profile.stack.clone(),
        baseline: base.stack.clone(),
        benchmark: profile.benchmark.clone(),
        variant: profile.variant.clone(),
        difference: more(profile.total, base.total)?,
        explained: more(profile.hooked, base.hooked)?,
        residual: profile.residual?,
        functions: profile.residual_functions.clone(),
        verdict,
    })
}
