// SPDX-License-Identifier: GPL-2.0-or-later
//! What is found in the cells of a coverage.

use crate::common::golden;
use model::coverage::{CostOfCalls, CoverageFindings, CoverageShare};
use model::{Document, DocumentError};

fn document() -> Document {
    Document::parse(&golden("coverage")).unwrap()
}

/// Reads a document whose findings were spoilt.
fn spoilt(spoil: impl FnOnce(&mut CoverageFindings)) -> Result<Document, DocumentError> {
    let mut document = document();
    spoil(document.coverage.as_mut().unwrap());
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    Document::parse(&bytes)
}

#[track_caller]
fn refused(spoil: impl FnOnce(&mut CoverageFindings)) -> String {
    spoilt(spoil).unwrap_err().to_string()
}

#[test]
fn shares_are_of_what_is_within_reach() {
    let findings = document().coverage.unwrap();
    let share = findings.share;
    assert_eq!(CoverageShare::of(&findings.hooks), share);
    assert_eq!((share.hooks, share.called), (14, 4));
    assert_eq!((share.within_reach, share.unexplained), (11, 2));
    assert_eq!(share.percent().map(f64::round), Some(36.0));
    assert_eq!(CoverageShare::default().percent(), None);
}

#[test]
fn findings_that_contradict_themselves_are_refused() {
    assert!(spoilt(|_| {}).is_ok());
    let called = |of: &CoverageFindings| of.hooks.iter().position(|hook| hook.is_called()).unwrap();
    let message = refused(|of| of.share.called += 1);
    assert_eq!(
        message,
        "coverage document: at coverage: the share is not that of its hooks"
    );
    let message = refused(|of| of.hooks[1].hook = of.hooks[0].hook.clone());
    assert!(message.ends_with("is there twice"), "{message}");
    let message = refused(|of| {
        let at = called(of);
        of.hooks[at].called_by[0].least = u64::MAX;
    });
    assert!(
        message.ends_with("more often at least than at most"),
        "{message}"
    );
    let message = refused(|of| {
        let at = called(of);
        let reasons = of.hooks.iter().find_map(|hook| hook.reason.clone());
        of.hooks[at].reason = reasons;
    });
    assert!(message.ends_with("has a reason why not"), "{message}");
    let message = refused(|of| {
        let at = called(of);
        of.hooks[at].implementations[0].ran = Some(CostOfCalls {
            least: 2.0,
            most: 1.0,
            operations: 1,
        });
    });
    assert!(message.contains("the costs of"), "{message}");
}

#[test]
fn a_coverage_without_findings_is_refused() {
    let mut document = document();
    document.coverage = None;
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    let error = Document::parse(&bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "coverage document: at the top: it has no coverage"
    );
}
