// SPDX-License-Identifier: GPL-2.0-or-later
//! The run document: what is written is read back, and damage is named.

mod common;

use common::same_as_file;
use diagnostics::Fault;
use experiment::{DocumentFault, Metric, Run, Status, WarningKind, history_schema, run_schema};
use proptest::prelude::*;

fn written(run: &Run) -> Vec<u8> {
    let mut bytes = Vec::new();
    run.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn schema_is_kept_in_docs() {
    let schema = serde_json::to_string_pretty(&run_schema()).unwrap() + "\n";
    same_as_file("../../docs/run.schema.json", &schema, "UPDATE_SCHEMA");
}

#[test]
fn schema_of_histories_is_kept_in_docs() {
    let schema = serde_json::to_string_pretty(&history_schema()).unwrap() + "\n";
    same_as_file("../../docs/history.schema.json", &schema, "UPDATE_SCHEMA");
}

#[test]
fn schema_names_the_documents_keys() {
    let schema = run_schema();
    let document: serde_json::Value = serde_json::from_slice(&written(&common::run())).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for key in document.as_object().unwrap().keys() {
        assert!(properties.contains_key(key), "{key}");
    }
    let cell = schema["$defs"]["Cell"]["properties"].as_object().unwrap();
    for key in document["cells"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|c| c.as_object().unwrap().keys())
    {
        assert!(cell.contains_key(key), "{key}");
    }
}

#[test]
fn writer_keeps_to_the_golden_document() {
    let text = String::from_utf8(written(&common::run())).unwrap();
    same_as_file("tests/golden/v1.json", &text, "UPDATE_GOLDEN");
}

#[test]
fn golden_document_is_read_back() {
    let run = Run::read(&include_bytes!("golden/v1.json")[..]).unwrap();
    assert_eq!(run, common::run());
    let open = &run.cells[0];
    assert_eq!(
        (open.title().as_str(), open.headline()),
        ("open:AA/BB", Some(4979.0))
    );
    // The modal path speaks for a cell, whatever the median of all windows is.
    assert_eq!(run.cells[1].headline(), Some(3317.0));
    assert_eq!(run.cells[6].headline(), None);
    assert_eq!(run.cells[8].headline(), run.cells[8].median);
    assert_eq!(run.cells[8].metric, Metric::Time);
    assert_eq!(run.cells[6].status, Status::Unsupported);
}

#[test]
fn a_newer_writer_of_the_same_schema_is_read() {
    let run = Run::read(&include_bytes!("golden/v1-newer-keys.json")[..]).unwrap();
    assert_eq!(run.cells.len(), 1);
    assert_eq!(run.cells[0].hooks.as_ref().unwrap()[0].calls, 3);
    assert_eq!(run.warnings[0].kind, WarningKind::Other);
    assert_eq!(run.warnings[0].message, "sunspots");
}

#[test]
fn a_newer_schema_is_refused() {
    let error = Run::read(&include_bytes!("golden/v7.json")[..]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "written by a newer lsmeter (schema 7; this one reads up to 1)"
    );
    assert!(error.hint().is_some());
}

#[test]
fn what_is_no_document_is_named() {
    let message = |text: &str| Run::read(text.as_bytes()).unwrap_err().to_string();
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
    assert!(message("{\"schema_version\": 1}").contains("missing field"));
    assert!(message(&"[".repeat(100_000)).contains("ends in the middle"));
    let deep = format!("{{\"schema_version\": {}", "[".repeat(100_000));
    assert!(message(&deep).contains("recursion limit"));
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let golden = String::from_utf8(written(&common::run())).unwrap();
    let broken = |from: &str, to: &str| {
        assert!(golden.contains(from), "{from}");
        Run::parse(golden.replacen(from, to, 1).as_bytes())
            .unwrap_err()
            .to_string()
    };
    let error = broken("\"median\":4979.0", "\"median\":\"x\\u001b[31m\"");
    assert!(
        error.starts_with("run document: at cells[0].median (line 12): invalid type"),
        "{error}"
    );
    assert!(!error.contains('\u{1b}'));
    let error = broken(
        "\"metric\":\"instructions\",\"unit\"",
        "\"metric\":\"\\u001bjoules\",\"unit\"",
    );
    assert!(
        error.contains("cells[0].metric") && !error.contains('\u{1b}'),
        "{error}"
    );
    let error = broken("\"unit\":\"instructions\"", "\"unit\":\"ns\"");
    assert_eq!(
        error,
        "run document: at cells[0]: the metric is instructions, the unit ns"
    );
    let error = broken("\"min\":4979.0", "\"min\":4980.0");
    assert_eq!(
        error,
        "run document: at cells[0]: the median lies outside min and max"
    );
    let error = broken("\"n\":64,", "");
    assert!(error.ends_with("n or median is missing"), "{error}");
    let error = broken("\"baseline\":0", "\"baseline\":3");
    assert_eq!(
        error,
        "run document: at experiment.baseline: 3, but there are 3 configurations"
    );
    let error = broken("\"cells\":[8,10,12]", "\"cells\":[8,99]");
    assert_eq!(error, "run document: at warnings[0]: there is no cell 99");
    let error = broken("{\"stack\":\"capability\"", "{\"stack\":\"CAP\"");
    assert!(
        error.contains("experiment.configurations[0].stack"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_truncation_is_called_one(cut in 0.0f64..1.0) {
        let bytes = written(&common::run());
        let length = ((bytes.len() - 2) as f64 * cut) as usize;
        let fault = Run::parse(&bytes[..length]).map_err(|error| error.fault);
        match fault {
            Err(DocumentFault::Truncated { .. } | DocumentFault::Empty) => {}
            other => prop_assert!(false, "{length}: {other:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Run::parse(&bytes);
    }

    #[test]
    fn any_changed_byte_is_read_or_refused(at in 0.0f64..1.0, byte: u8) {
        let mut bytes = written(&common::run());
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] = byte;
        if let Ok(run) = Run::parse(&bytes) {
            // What was accepted can be written and read again.
            prop_assert_eq!(Run::parse(&written(&run)).unwrap(), run);
        }
    }

    #[test]
    fn figures_come_back_exactly(median in 0.0f64..1e15, spread in 0.0f64..1e3) {
        let mut run = common::run();
        let cell = &mut run.cells[8];
        cell.measured(&stats::Summary::of(&[median, median + spread, median + spread / 3.0]).unwrap());
        prop_assert_eq!(Run::parse(&written(&run)).unwrap(), run);
    }
}

#[test]
fn a_document_with_stacks_for_configurations_is_read() {
    let run = Run::parse(include_bytes!("golden/v1-stacks.json")).unwrap();
    let titles: Vec<String> = run
        .experiment
        .configurations
        .iter()
        .map(|c| c.title())
        .collect();
    assert_eq!(
        titles,
        ["capability", "capability,selinux", "capability,apparmor"]
    );
    assert_eq!(run.experiment.baseline, 0);
}
