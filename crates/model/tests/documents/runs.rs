// SPDX-License-Identifier: GPL-2.0-or-later
//! The run document: what is written is read back, and damage is named.

use crate::common::{self, contradiction, golden, written};
use model::{
    Architecture, Document, Estimate, Evidence, Kind, Metric, OtherMetric, Status, Timed,
    WarningKind, Word,
};
use proptest::prelude::*;

fn parse(text: &str) -> Result<Document, model::DocumentError> {
    Document::parse_as(Kind::Run, text.as_bytes())
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::keeps_to_golden("run", &common::run());
}

#[test]
fn lines_are_cells() {
    let text = written(&common::run());
    let cells = text.lines().filter(|line| line.starts_with("{\"key\":"));
    assert_eq!(cells.count(), common::run().cells.len());
}

#[test]
fn figures_speak_for_their_cells() {
    let run = common::run();
    let open = &run.cells[0];
    assert_eq!(
        (open.title().as_str(), open.headline()),
        ("open:AA/BB", Some(4979.0))
    );
    assert_eq!(open.key.architecture, Architecture::X86_64);
    // The dominant path speaks for a cell, whatever the median of all measured regions is.
    assert_eq!(run.cells[1].headline(), Some(3317.0));
    assert_eq!(run.cells[6].headline(), None);
    let median = run.cells[8].estimate().map(|estimate| estimate.median);
    assert_eq!(run.cells[8].headline(), median);
    assert_eq!(run.cells[8].key.metric, Metric::Time);
    assert_eq!(run.cells[6].status(), Status::Unsupported);
    assert_eq!(
        run.cells[6].reason(),
        Some("user.* attributes: Operation not supported (95)")
    );
}

#[test]
fn a_newer_writer_of_the_same_schema_is_read() {
    let text = written(&common::run());
    let newer = text
        .replacen("{\n", "{\n\"mood\": {\"deep\":[1,2]},\n", 1)
        .replacen(
            "{\"key\":{",
            "{\"joules\":0.5,\"key\":{\"moon\":\"full\",",
            1,
        )
        .replacen("\"missing_measurements\"", "\"sunspots\"", 1);
    let read = parse(&newer).unwrap();
    assert_eq!(read.cells, common::run().cells);
    assert_eq!(read.warnings[1].kind, WarningKind::Other);
}

/// An instrument that this lsmeter has never heard of.
#[test]
fn a_metric_says_itself_what_it_means() {
    let mut run = common::run();
    let word = |text| Word::new(text).unwrap();
    run.cells[8].key.metric = Metric::Other(OtherMetric {
        name: word("energy"),
        unit: word("nJ"),
        higher_is_better: false,
        exact: false,
    });
    let read = parse(&written(&run)).unwrap();
    assert_eq!(read, run);
    assert_eq!(read.cells[8].key.metric.unit(), "nJ");
}

#[test]
fn what_is_no_document_is_named() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(message(""), "run document: empty");
    assert_eq!(message(" \n"), "run document: empty");
    assert_eq!(message("{}"), "no run document: it has no schema_version");
    assert_eq!(
        message("{\"schema_version\": \"1\"}"),
        "no run document: its schema_version is no positive number"
    );
    assert_eq!(
        message("{\"schema_version\": 0}"),
        "no run document: its schema_version is no positive number"
    );
    assert_eq!(message("[1]"), "no run document: it is JSON, but no object");
    assert_eq!(
        message("benchmark,stack\n"),
        "run document: not JSON at line 1, column 1: expected value"
    );
    assert!(message("{\"schema_version\": 3} x").contains("trailing characters"));
    assert!(message("{\"schema_version\": 3, \"kind\": \"run\"}").contains("missing field"));
    assert!(message(&"[".repeat(100_000)).contains("ends in the middle"));
    let deep = format!("{{\"schema_version\": {}", "[".repeat(100_000));
    assert!(message(&deep).contains("recursion limit"));
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let broken = |from: &str, to: &str| {
        let golden = String::from_utf8(golden("run")).unwrap();
        assert!(golden.contains(from), "{from}");
        let error = parse(&golden.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
        error
    };
    let median = ("\"median\":4979.0", "\"median\":\"x\\u001b[31m\"");
    let error = broken(median.0, median.1);
    let place = "run document: at measurements[0].evidence.counted.estimate.median (line ";
    assert!(error.starts_with(place), "{error}");
    let metric = (
        "\"metric\":\"instructions\"",
        "\"metric\":\"\\u001bjoules\"",
    );
    let error = broken(metric.0, metric.1);
    assert!(error.contains("measurements[0].key.metric"), "{error}");
    let error = broken(metric.0, "\"metric\":\"time\"");
    let message = "run document: at measurements[0]: the evidence is not of the metric time";
    assert_eq!(error, message);
    let error = broken("\"status\":\"ok\"", "\"status\":\"failed\"");
    assert!(
        error.contains("the status is failed, but there is evidence"),
        "{error}"
    );
    let error = broken("\"min\":4979.0", "\"min\":4980.0");
    assert_eq!(
        error,
        "run document: at measurements[0]: the median lies outside min and max"
    );
    let error = broken("\"baseline\":0", "\"baseline\":3");
    assert_eq!(
        error,
        "run document: at experiment.baseline: 3, but there are 3 configurations"
    );
    let error = broken("\"measurements\":[8,10,12]", "\"measurements\":[8,99]");
    assert_eq!(error, "run document: at warnings[0]: there is no cell 99");
    let error = broken("{\"stack\":\"capability\"", "{\"stack\":\"CAP\"");
    assert!(
        error.contains("experiment.configurations[0].stack"),
        "{error}"
    );
}

#[test]
fn a_run_without_its_experiment_is_refused() {
    let mut run = common::run();
    run.experiment = None;
    assert_eq!(
        contradiction(parse(&written(&run))),
        "run document: at the top: it has no experiment"
    );
}

proptest! {
    #[test]
    fn figures_come_back_exactly(median in 0.0f64..1e15, spread in 0.0f64..1e3) {
        let mut run = common::run();
        let samples = [median, median + spread, median + spread / 3.0];
        let estimate = Estimate::from(&stats::Summary::of(&samples).unwrap());
        run.cells[8].outcome = Evidence::Timed(Timed::of(estimate)).into();
        prop_assert_eq!(parse(&written(&run)).unwrap(), run);
    }
}
