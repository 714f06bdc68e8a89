// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden search of a history, as tables, rows and sentences.

use experiment::bisection::{StepFigure, StepVerdict};
use experiment::comparison::Explanation;
use experiment::{BisectionDocument, FunctionDifference, Metric, Stored as _};
use report::{
    Layout, bisection_lines, bisection_records, bisection_report, change_line, csv, step_figures,
    terminal,
};

fn golden() -> BisectionDocument {
    let golden = include_bytes!("../../experiment/tests/golden/bisection.json");
    BisectionDocument::parse(golden).unwrap()
}

fn lines(document: &BisectionDocument) -> String {
    bisection_lines(document).join("\n")
}

#[test]
fn what_was_found() {
    let document = golden();
    insta::assert_snapshot!("lines", lines(&document));
    let report = bisection_report(&document);
    insta::assert_snapshot!("tables", terminal(&report, &Layout::default()));
    let mut rows = Vec::new();
    csv(bisection_records(&document), &mut rows).unwrap();
    insta::assert_snapshot!("csv", String::from_utf8(rows).unwrap());
    assert_eq!(document.builds(), 4);
}

#[test]
fn what_was_not_found() {
    let mut document = golden();
    let first = document.first_bad.take().unwrap();
    document.comparison = None;
    let nothing = "nothing to find: dc30bda has the counts of 79aa8ae";
    assert_eq!(lines(&document), nothing);
    document.candidates = vec![first, document.bad.clone()];
    insta::assert_snapshot!("candidates", lines(&document));
    let step = &mut document.steps[1];
    step.verdict = StepVerdict::Skipped;
    step.figures.clear();
    step.reason = Some("it does not\u{1b}[31m compile".to_owned());
    let mut rows = Vec::new();
    csv(bisection_records(&document), &mut rows).unwrap();
    let rows = String::from_utf8(rows).unwrap();
    assert_eq!(rows.lines().count(), 1 + document.steps.len());
    let shown = terminal(&bisection_report(&document), &Layout::default());
    assert!(!shown.contains("\u{1b}[31m compile"), "{shown}");
}

#[test]
fn what_is_outside_hooks_is_named() {
    let mut document = golden();
    let comparison = document.comparison.as_mut().unwrap();
    comparison.explanations = vec![Explanation {
        cell: 0,
        difference: 6,
        hooked: 0,
        residual: 6,
        hooks: Vec::new(),
        residual_functions: vec![FunctionDifference {
            function: "may_open".to_owned(),
            difference: 6,
            explanation: None,
        }],
        events: Vec::new(),
    }];
    assert!(lines(&document).ends_with("(+6, +0.1 %): outside hooks +6 (may_open +6)"));
}

#[test]
fn changes_in_a_line() {
    let document = golden();
    let mut comparison = document.comparison.unwrap();
    insta::assert_snapshot!(change_line(&comparison), @"1 cell: 1 worse; most: open:AA under capability,selinux: 5,563 to 5,569 (+6, +0.1 %)");
    comparison.compared.clear();
    assert_eq!(change_line(&comparison), "no change in 0 cells");
}

#[test]
fn many_figures_are_counted() {
    let figure = |number: u32| StepFigure {
        configuration: "capability".to_owned(),
        operation: format!("open:{number}"),
        metric: Metric::Instructions,
        value: Some(f64::from(number)),
    };
    let few: Vec<StepFigure> = (1..3).map(figure).collect();
    assert_eq!(step_figures(&few, &few), "open:1 1, open:2 2");
    let base: Vec<StepFigure> = (1..9).map(figure).collect();
    assert_eq!(step_figures(&base, &base), "8 counts");
    let mut other = base.clone();
    other[0].value = None;
    assert_eq!(step_figures(&other, &base), "8 counts, 1 differ");
    other[0].configuration = "selinux".to_owned();
    assert_eq!(
        step_figures(&other[..2], &base),
        "open:1 under selinux -, open:2 under capability 2"
    );
}
