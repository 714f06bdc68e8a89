// SPDX-License-Identifier: GPL-2.0-or-later
//! A gate's result as a table, as KTAP (the kernel's Documentation/dev-tools/ktap.rst), which
//! `kunit.py parse` and KernelCI read, and as JUnit XML, which GitLab, Jenkins and most dashboards
//! read.

use model::ComparisonDocument;
use model::comparison::{CellGate, ComparedCell, GateVerdict, Verdict};

use crate::column::Columns;
use crate::group::grouped;
use crate::table::{Table, Tone, Value};
use crate::text::printable;

pub(super) fn table<'a>(document: &'a ComparisonDocument) -> Option<Table> {
    let gate = document.gate.as_ref()?;
    let judged = |cell: &'a ComparedCell| Some((cell, cell.gate.as_ref()?));
    let with = |verdict| {
        let cells = document.compared.iter().filter_map(judged);
        cells.filter(move |(_, gate)| gate.verdict == verdict)
    };
    let table = Columns::new()
        .left("gate", |(_, gate): (&ComparedCell, &CellGate)| {
            let tone = match gate.verdict {
                GateVerdict::Fail => Tone::Worse,
                GateVerdict::Inconclusive => Tone::Missing,
                GateVerdict::Pass => Tone::Plain,
            };
            Value::toned(word(gate.verdict), tone)
        })
        .left("benchmark", |(cell, _)| cell.title())
        .left("measured on", |(cell, _)| {
            Value::long(&cell.place.title(), 120)
        })
        .left("why", |(_, gate)| Value::long(&gate.message, 200))
        .table(
            format!("Gate: {}", word(gate.verdict)),
            with(GateVerdict::Fail).chain(with(GateVerdict::Inconclusive)),
        )
        .fixed(2)
        .legend([format!(
            "{} within their limit, {} above it, {} undecided.",
            gate.passed, gate.failed, gate.inconclusive
        )])
        .legend(gate.reasons.iter().map(|reason| printable(reason, 200)));
    Some(table)
}

pub(crate) fn word(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Pass => "passed",
        GateVerdict::Fail => "failed",
        GateVerdict::Inconclusive => "inconclusive",
    }
}

const LINE_LIMIT: usize = 300;

/// One test per compared measurement. Undecided measurements are skipped with the reason, because
/// KTAP has no other way to report them. Other reasons for failure are tests, too.
pub fn ktap(document: &ComparisonDocument) -> String {
    let reasons = document.gate.iter().flat_map(|gate| &gate.reasons);
    let reasons: Vec<&String> = reasons.collect();
    let tests = document.compared.len() + reasons.len();
    let mut out = format!("KTAP version 1\n1..{tests}\n");
    let mut numbers = 1..;
    for (cell, number) in document.compared.iter().zip(&mut numbers) {
        if let Some(why) = why(cell) {
            out += &format!("# {}\n", line(&why));
        }
        let (ended, directive) = match cell.gate.as_ref().map(|gate| gate.verdict) {
            Some(GateVerdict::Pass) => ("ok", ""),
            Some(GateVerdict::Fail) => ("not ok", ""),
            Some(GateVerdict::Inconclusive) => ("ok", " # SKIP inconclusive"),
            None => ("ok", " # SKIP no limit"),
        };
        out += &format!("{ended} {number} {}{directive}\n", name(cell));
    }
    for (reason, number) in reasons.into_iter().zip(numbers) {
        let reason = line(reason);
        out += &format!("# {reason}\nok {number} the_whole # SKIP inconclusive\n");
    }
    out
}

fn why(cell: &ComparedCell) -> Option<String> {
    let gate = cell.gate.as_ref()?;
    (gate.verdict != GateVerdict::Pass).then(|| format!("{}: {}", cell.title(), gate.message))
}

/// `instructions.open:AA/BB.debian:6.12.capability`, without blanks, at which a shell splits, and
/// `#`, which begins a directive.
fn name(cell: &ComparedCell) -> String {
    let parts = [
        cell.metric.to_string(),
        cell.title(),
        cell.place.kernel.clone(),
        cell.place.configuration.clone(),
        cell.place.filesystem.clone(),
    ];
    let parts = parts.iter().filter(|part| !part.is_empty());
    let parts: Vec<String> = parts.map(|part| part.replace(['#', ' '], "_")).collect();
    line(&parts.join("."))
}

fn line(text: &str) -> String {
    let one = text.lines().collect::<Vec<_>>().join("; ");
    printable(&one, LINE_LIMIT).replace('#', "_")
}

const TEXT_LIMIT: usize = 400;

/// One suite per kernel, configuration, file system and quantity; one case per measurement, which
/// is a failure if it is worse than its limit, an error if undecided, and skipped if it has no
/// limit.
pub fn junit(document: &ComparisonDocument) -> String {
    let cells = grouped(&document.compared, |cell| (cell.metric, &cell.place));
    let suites = cells.into_iter().map(|((quantity, place), cells)| {
        let name = format!("{quantity}, {}", place.title());
        (name, cells.into_iter().map(case).collect())
    });
    let mut suites: Vec<(String, Vec<String>)> = suites.collect();
    let reasons = document.gate.iter().flat_map(|gate| &gate.reasons);
    let whole = reasons.map(|reason| test(&attribute("name", "the whole"), &error(reason)));
    let whole: Vec<String> = whole.collect();
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
        xml += &format!("    <testsuite{name}{counts}>\n{cases}    </testsuite>\n");
    }
    xml + "</testsuites>\n"
}

fn counts<'a>(cases: impl IntoIterator<Item = &'a String> + Clone) -> String {
    let count = |what: &str| {
        let cases = cases.clone().into_iter();
        cases.filter(|case| case.contains(what)).count().to_string()
    };
    let all = [
        ("tests", "<testcase "),
        ("skipped", "<skipped "),
        ("failures", "<failure "),
        ("errors", "<error "),
    ];
    all.map(|(key, what)| attribute(key, &count(what))).concat()
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
    let class = attribute("classname", &cell.place.title());
    test(&(attribute("name", &cell.title()) + &class), &ended)
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
