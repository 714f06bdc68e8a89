// SPDX-License-Identifier: GPL-2.0-or-later
//! The run document: what is written is read back, and damage is named.

use crate::common::{self, contradiction, golden, written};
use experiment::{
    Architecture, Document, Estimate, Evidence, Kind, Metric, OtherMetric, Status, Timed,
    WarningKind, Word,
};
use proptest::prelude::*;

fn parse(text: &str) -> Result<Document, experiment::DocumentError> {
    Document::parse_as(Kind::Run, text.as_bytes())
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::keeps_to_golden("v", &common::run());
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
    // The modal path speaks for a cell, whatever the median of all windows is.
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
fn a_newer_writer_of_the_first_schema_is_read() {
    let run = Document::parse(&golden("v1-newer-keys")).unwrap();
    assert_eq!(run.cells.len(), 1);
    let (_, counted, path) = run.hooked().next().unwrap();
    assert_eq!(path.hooks[0].calls, 3);
    let modal = counted.paths.as_ref().unwrap().modal;
    assert_eq!(
        (path.total, path.windows),
        (modal.instructions, modal.windows)
    );
    assert_eq!(run.warnings[0].kind, WarningKind::Other);
    assert_eq!(run.warnings[0].message, "sunspots");
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
        .replacen("\"missing_cells\"", "\"sunspots\"", 1);
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
    assert!(message("{\"schema_version\": 1} x").contains("trailing characters"));
    assert!(message("{\"schema_version\": 1, \"cells\": []}").contains("missing field"));
    assert!(message("{\"schema_version\": 2, \"kind\": \"run\"}").contains("missing field"));
    assert!(message(&"[".repeat(100_000)).contains("ends in the middle"));
    let deep = format!("{{\"schema_version\": {}", "[".repeat(100_000));
    assert!(message(&deep).contains("recursion limit"));
}

/// Both versions name the place in the document as it is written.
#[test]
fn wrong_values_are_named_with_their_place() {
    let broken = |version: &str, from: &str, to: &str| {
        let golden = String::from_utf8(golden(version)).unwrap();
        assert!(golden.contains(from), "{from}");
        let error = parse(&golden.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(!error.contains('\u{1b}'), "{error}");
        error
    };
    let median = ("\"median\":4979.0", "\"median\":\"x\\u001b[31m\"");
    let error = broken("v1", median.0, median.1);
    let place = "run document: at cells[0].median (line 12): invalid type";
    assert!(error.starts_with(place), "{error}");
    let error = broken("v2", median.0, median.1);
    let place = "run document: at cells[0].evidence.counted.estimate.median (line ";
    assert!(error.starts_with(place), "{error}");
    let metric = (
        "\"metric\":\"instructions\"",
        "\"metric\":\"\\u001bjoules\"",
    );
    let error = broken("v1", metric.0, metric.1);
    assert!(error.contains("cells[0].metric"), "{error}");
    let error = broken("v2", metric.0, metric.1);
    assert!(error.contains("cells[0].key.metric"), "{error}");
    let error = broken("v1", "\"unit\":\"instructions\"", "\"unit\":\"ns\"");
    assert_eq!(
        error,
        "run document: at cells[0]: the metric is instructions, the unit ns"
    );
    let error = broken("v1", "\"n\":64,", "");
    assert!(error.ends_with("n or median is missing"), "{error}");
    let error = broken("v2", metric.0, "\"metric\":\"time\"");
    let message = "run document: at cells[0]: the evidence is not of the metric time";
    assert_eq!(error, message);
    let error = broken("v2", "\"status\":\"ok\"", "\"status\":\"failed\"");
    assert!(
        error.contains("the status is failed, but there is evidence"),
        "{error}"
    );
    for version in ["v1", "v2"] {
        let error = broken(version, "\"min\":4979.0", "\"min\":4980.0");
        assert_eq!(
            error,
            "run document: at cells[0]: the median lies outside min and max"
        );
        let error = broken(version, "\"baseline\":0", "\"baseline\":3");
        assert_eq!(
            error,
            "run document: at experiment.baseline: 3, but there are 3 configurations"
        );
        let error = broken(version, "\"cells\":[8,10,12]", "\"cells\":[8,99]");
        assert_eq!(error, "run document: at warnings[0]: there is no cell 99");
        let error = broken(version, "{\"stack\":\"capability\"", "{\"stack\":\"CAP\"");
        assert!(
            error.contains("experiment.configurations[0].stack"),
            "{error}"
        );
    }
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

#[test]
fn a_document_with_stacks_for_configurations_is_read() {
    let run = Document::parse(&golden("v1-stacks")).unwrap();
    let experiment = run.experiment.unwrap();
    let titles: Vec<String> = experiment
        .configurations
        .iter()
        .map(|c| c.title())
        .collect();
    assert_eq!(
        titles,
        ["capability", "capability,selinux", "capability,apparmor"]
    );
    assert_eq!(experiment.baseline, 0);
}
