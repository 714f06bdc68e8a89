// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's result as JUnit XML, which GitLab, Jenkins and most dashboards read.

use std::fmt::Write as _;

use model::ComparisonDocument;
use model::comparison::{ComparedCell, GateVerdict, Verdict};

use crate::group::grouped;
use crate::text::printable;

const TEXT_LIMIT: usize = 400;

/// One suite per kernel, configuration, file system and quantity; one case per cell: a failure if
/// it is worse than its limit, an error if that is undecidable, skipped if it has no limit.
pub fn junit(document: &ComparisonDocument) -> String {
    let cells = grouped(&document.compared, |cell| (cell.metric, &cell.place));
    let mut suites: Vec<(String, Vec<String>)> = cells
        .into_iter()
        .map(|((quantity, place), cells)| {
            let name = format!("{quantity}, {}", place.title());
            (name, cells.into_iter().map(case).collect())
        })
        .collect();
    let reasons = document.gate.iter().flat_map(|gate| &gate.reasons);
    let whole: Vec<String> = reasons
        .map(|reason| test(&attribute("name", "the whole"), &error(reason)))
        .collect();
    if !whole.is_empty() {
        suites.push(("the comparison".to_owned(), whole));
    }
    let all = counts(suites.iter().flat_map(|(_, cases)| cases));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lsmeter compare\"{all}>\n"
    );
    for (name, cases) in &suites {
        let (name, counts) = (attribute("name", name), counts(cases));
        let cases = cases.concat();
        let _ = writeln!(
            xml,
            "    <testsuite{name}{counts}>\n{cases}    </testsuite>"
        );
    }
    xml + "</testsuites>\n"
}

fn counts<'a>(cases: impl IntoIterator<Item = &'a String> + Clone) -> String {
    let of = |what: &str| {
        let cases = cases.clone().into_iter();
        cases.filter(|case| case.contains(what)).count().to_string()
    };
    let all = [
        ("tests", "<testcase "),
        ("skipped", "<skipped "),
        ("failures", "<failure "),
        ("errors", "<error "),
    ];
    all.map(|(key, what)| attribute(key, &of(what))).concat()
}

fn case(cell: &ComparedCell) -> String {
    let ended = match (&cell.gate, cell.verdict) {
        (Some(gate), _) => match gate.verdict {
            GateVerdict::Pass => String::new(),
            GateVerdict::Fail => ended("failure", &gate.message, &attribute("type", "worse")),
            GateVerdict::Inconclusive => error(&gate.message),
        },
        (None, Verdict::Missing) => {
            let why = cell.reason.as_deref().unwrap_or("it has no figure");
            ended("skipped", why, "")
        }
        (None, _) => ended("skipped", "it has no limit", ""),
    };
    let name = attribute("name", &cell.title());
    test(
        &(name + &attribute("classname", &cell.place.title())),
        &ended,
    )
}

fn test(attributes: &str, ended: &str) -> String {
    format!("        <testcase{attributes}>\n{ended}        </testcase>\n")
}

fn error(message: &str) -> String {
    ended("error", message, &attribute("type", "inconclusive"))
}

fn ended(how: &str, message: &str, kind: &str) -> String {
    let message = attribute("message", message);
    format!("            <{how}{message}{kind}/>\n")
}

fn attribute(key: &str, text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text, TEXT_LIMIT).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Not allowed in XML.
            '\u{fffe}' | '\u{ffff}' => {}
            other => escaped.push(other),
        }
    }
    format!(" {key}=\"{escaped}\"")
}
