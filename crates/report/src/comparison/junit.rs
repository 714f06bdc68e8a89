// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's word as JUnit XML: what GitLab, Jenkins and most dashboards read.

use std::io::Write;

use model::ComparisonDocument;
use model::comparison::{ComparedCell, GateVerdict, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::group::grouped;
use crate::text::printable;

const TEXT_LIMIT: usize = 400;

/// JUnit could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write JUnit: {0}")]
pub struct JunitError(#[from] quick_junit::SerializeError);

/// One suite for each kernel, configuration, file system and quantity, one case for each
/// cell: a failure if it is worse than its limit, an error if that cannot be told, skipped
/// if it has no limit.
pub fn junit(document: &ComparisonDocument, writer: impl Write) -> Result<(), JunitError> {
    let mut report = Report::new("lsmeter compare");
    let cells = grouped(&document.compared, |cell| (cell.metric, &cell.place));
    for ((quantity, place), cells) in cells {
        let name = format!("{quantity}, {}", place.title());
        let mut suite = TestSuite::new(printable(&name, TEXT_LIMIT));
        suite.add_test_cases(cells.into_iter().map(case));
        report.add_test_suite(suite);
    }
    let reasons = document.gate.iter().flat_map(|gate| &gate.reasons);
    let whole: Vec<TestCase> = reasons
        .map(|reason| {
            let status = not(NonSuccessKind::Error, reason);
            TestCase::new("the whole", status)
        })
        .collect();
    if !whole.is_empty() {
        let mut suite = TestSuite::new("the comparison");
        suite.add_test_cases(whole);
        report.add_test_suite(suite);
    }
    Ok(report.serialize(writer)?)
}

fn case(cell: &ComparedCell) -> TestCase {
    let status = match (&cell.gate, cell.verdict) {
        (Some(gate), _) => match gate.verdict {
            GateVerdict::Pass => TestCaseStatus::success(),
            GateVerdict::Fail => not(NonSuccessKind::Failure, &gate.message),
            GateVerdict::Inconclusive => not(NonSuccessKind::Error, &gate.message),
        },
        (None, verdict) => {
            let mut status = TestCaseStatus::skipped();
            let why = match verdict {
                Verdict::Missing => cell.reason.as_deref().unwrap_or("it has no figure"),
                _ => "it has no limit",
            };
            status.set_message(printable(why, TEXT_LIMIT));
            status
        }
    };
    let mut case = TestCase::new(printable(&cell.title(), TEXT_LIMIT), status);
    case.set_classname(printable(&cell.place.title(), TEXT_LIMIT));
    case
}

fn not(kind: NonSuccessKind, message: &str) -> TestCaseStatus {
    let kind_word = match kind {
        NonSuccessKind::Failure => "worse",
        NonSuccessKind::Error => "inconclusive",
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(kind_word);
    status.set_message(printable(message, TEXT_LIMIT));
    status
}
