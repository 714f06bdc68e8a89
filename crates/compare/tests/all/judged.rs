// SPDX-License-Identifier: GPL-2.0-or-later
//! Verdicts on commits, which are compared with the good end.

use std::collections::BTreeMap;

use compare::Budget;
use compare::bisect::{Outside, Verdict, explain_outside, judge};
use model::{Document, Outcome, Status};

use crate::common::{counted, paths};

/// A run document with exact counts.
fn document() -> Document {
    let mut document = counted();
    document.cells.retain(model::Cell::is_exact);
    assert!(document.cells.len() > 1);
    document
}

/// The same document, with `by` more instructions in its first cell.
fn with_more(by: u64) -> Document {
    let mut document = document();
    add(&mut document, by);
    document
}

fn add(document: &mut Document, by: u64) {
    paths(document, 0).dominant.instructions += by;
}

fn verdict(new: &Document, limit: Option<&str>) -> (Verdict, Option<String>) {
    let limit = limit.map(|limit| Budget::of_all(limit).unwrap());
    let judged = judge(("good", &document()), ("new", new), limit.as_ref()).unwrap();
    (judged.verdict, judged.reason)
}

#[test]
fn one_instruction_more_is_bad_unless_a_limit_allows_it() {
    assert_eq!(verdict(&document(), None), (Verdict::Good, None));
    assert_eq!(verdict(&with_more(1), None), (Verdict::Bad, None));
    assert_eq!(
        verdict(&with_more(1), Some("1 instructions")).0,
        Verdict::Good
    );
    assert_eq!(
        verdict(&with_more(2), Some("1 instructions")).0,
        Verdict::Bad
    );
}

#[test]
fn what_has_no_figure_is_skipped_unless_another_cell_differs() {
    let mut lost = document();
    let last = lost.cells.len() - 1;
    lost.cells[last].outcome = Outcome::without(Status::Failed, "the kernel panicked");
    let (verdict_of_lost, reason) = verdict(&lost, None);
    assert_eq!(verdict_of_lost, Verdict::Skipped);
    assert!(reason.unwrap().contains("the kernel panicked"));
    add(&mut lost, 1);
    assert_eq!(verdict(&lost, None), (Verdict::Bad, None));
    let mut fewer = document();
    fewer.cells.truncate(last);
    assert_eq!(verdict(&fewer, None).0, Verdict::Skipped);
}

#[test]
fn functions_outside_hooks_are_named() {
    let bytes = include_bytes!("../../../model/tests/golden/comparison.json");
    let mut comparison: model::ComparisonDocument = model::Stored::parse(bytes).unwrap();
    let mut explained = model::comparison::Explanation {
        cell: 0,
        difference: 2,
        hooked: 0,
        residual: 2,
        hooks: Vec::new(),
        residual_functions: Vec::new(),
        events: Vec::new(),
        words: Vec::new(),
    };
    comparison.explanations = vec![explained.clone()];
    let cell = &comparison.compared[0];
    let key = compare::bisect::outside_key(&cell.place.configuration, &cell.title());
    let outside = |count| {
        let functions = [("may_open".to_owned(), count), ("same".to_owned(), 9)];
        Outside::from([(key.clone(), BTreeMap::from(functions))])
    };
    explain_outside(&mut comparison, &outside(5), &outside(7));
    let held = &comparison.explanations[0].residual_functions;
    assert_eq!((held.len(), held[0].difference), (1, 2));
    assert_eq!(held[0].function, "may_open");
    explained.residual_functions.clone_from(held);
    assert_eq!(comparison.explanations[0], explained);
}
