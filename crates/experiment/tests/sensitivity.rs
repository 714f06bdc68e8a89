// SPDX-License-Identifier: GPL-2.0-or-later
//! The sensitivity document: what is written is read back, and damage is named.

mod common;

use common::same_as_file;
use diagnostics::Fault;
use experiment::{
    ALL_HOOKS, Caches, DelayModule, DepthRule, DocumentFault, Prediction, ProfileDocument,
    RepeatedQuestion, Run, SCHEMA_VERSION, SensitivityDocument, Slope, SlopePoint, Status, Unit,
    Warning, WarningKind, sensitivity_schema,
};
use proptest::prelude::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn slope(benchmark: &str, variant: &str, hooks: &[&str]) -> Slope {
    let point = |step: u32| SlopePoint {
        delay_ns: step * 10_000,
        median: 4_979.0 + f64::from(step) * 30_000.0,
        n: 3,
    };
    Slope {
        kernel: "debian:6.12".to_owned(),
        release: "6.12.94-cloud-amd64".to_owned(),
        module: DelayModule::Bpf,
        stack: names(&["capability", "bpf"]),
        hooks: names(hooks),
        part: hooks.len() == 1 && hooks[0] != "all",
        filesystem: "tmpfs".to_owned(),
        caches: Caches::Warm,
        benchmark: benchmark.to_owned(),
        variant: variant.to_owned(),
        syscalls: names(&[benchmark, "close"]),
        status: Status::Ok,
        reason: None,
        slope: 3.000_4,
        ci95: [3.000_2, 3.000_6],
        intercept: 4_979.5,
        unit: Unit::Instructions,
        r2: Some(0.999_999_75),
        bend: Some(-0.000_125),
        residual: 0.5,
        n: 12,
        dirty: 1,
        others: 0,
        points: (0..4).map(point).collect(),
        counted: Some(3.0),
        explanation: None,
    }
}

/// Slopes of both modules and states of the caches, one that failed with hostile text,
/// and one of everything else.
fn document() -> SensitivityDocument {
    let whole = slope("open", "AA/BB", &[ALL_HOOKS]);
    let mut part = slope("open", "AA/BB", &["inode_permission"]);
    (part.r2, part.bend, part.counted) = (None, None, None);
    let mut cold = slope("open", "AA/BB", &["file_permission", "inode_permission"]);
    cold.module = DelayModule::Tunable;
    cold.caches = Caches::Cold;
    cold.counted = Some(4.0);
    cold.explanation = Some("inode_permission -1.00: the walk starts anew".to_owned());
    let mut failed = slope("fsetxattr", "", &[ALL_HOOKS]);
    failed.status = Status::Failed;
    failed.reason = Some("panic: \u{1b}[31m|not\u{202e}syncing|\n<b>".to_owned());
    (failed.slope, failed.ci95, failed.intercept) = (0.0, [0.0, 0.0], 0.0);
    (failed.r2, failed.bend, failed.counted) = (None, None, None);
    (failed.n, failed.residual) = (0, 0.0);
    failed.points.clear();

    let run = common::run();
    SensitivityDocument {
        schema_version: SCHEMA_VERSION,
        tool: run.tool,
        environment: run.environment,
        setups: Vec::new(),
        slopes: vec![whole, part, cold, failed],
        rules: vec![DepthRule {
            kernel: "debian:6.12".to_owned(),
            module: DelayModule::Bpf,
            caches: Caches::Warm,
            benchmark: "open".to_owned(),
            hook: ALL_HOOKS.to_owned(),
            a: 1.000_1,
            b: 0.999_9,
            r2: Some(0.999_999),
            residual: 0.000_3,
            depths: vec![1, 2, 4, 8],
            beta1: Some(411.25),
        }],
        predictions: vec![Prediction {
            kernel: "debian:6.12".to_owned(),
            benchmark: "open".to_owned(),
            variant: "AA/BB".to_owned(),
            lsm: Some("selinux".to_owned()),
            decision: 250.5,
            predicted: 751.5,
            measured: Some(1_002.0),
            error: Some(-0.25),
            unknown: names(&["file_alloc_security"]),
        }],
        repeated: vec![RepeatedQuestion {
            kernel: "debian:6.12".to_owned(),
            benchmark: "rename".to_owned(),
            variant: "depth1".to_owned(),
            hook: "inode_permission".to_owned(),
            object: "inode:0:25:7".to_owned(),
            times: 2,
            chains: vec![names(&["filename_lookup", "may_lookup"]); 2],
        }],
        warnings: vec![Warning {
            cells: vec![2],
            ..Warning::new(WarningKind::SlopeDiffers, "1 slope is not what was counted")
        }],
    }
}

fn written(document: &SensitivityDocument) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn schema_is_kept_in_docs() {
    let schema = serde_json::to_string_pretty(&sensitivity_schema()).unwrap() + "\n";
    same_as_file(
        "../../docs/sensitivity.schema.json",
        &schema,
        "UPDATE_SCHEMA",
    );
}

#[test]
fn schema_names_the_documents_keys() {
    let schema = sensitivity_schema();
    let document: serde_json::Value = serde_json::from_slice(&written(&document())).unwrap();
    let all_known = |value: &serde_json::Value, known: &serde_json::Value| {
        for key in value.as_object().unwrap().keys() {
            assert!(known.get(key).is_some(), "{key}");
        }
    };
    all_known(&document, &schema["properties"]);
    for (list, name) in [
        ("slopes", "Slope"),
        ("rules", "DepthRule"),
        ("predictions", "Prediction"),
        ("repeated", "RepeatedQuestion"),
    ] {
        let values = document[list].as_array().unwrap();
        assert!(!values.is_empty(), "{list}");
        for value in values {
            all_known(value, &schema["$defs"][name]["properties"]);
        }
    }
    let point = &document["slopes"][0]["points"][0];
    all_known(point, &schema["$defs"]["SlopePoint"]["properties"]);
}

#[test]
fn writer_keeps_to_the_golden_document() {
    let text = String::from_utf8(written(&document())).unwrap();
    same_as_file("tests/golden/sensitivity-v1.json", &text, "UPDATE_GOLDEN");
}

#[test]
fn golden_document_is_read_back() {
    let golden = &include_bytes!("golden/sensitivity-v1.json")[..];
    let read = SensitivityDocument::read(golden).unwrap();
    assert_eq!(read, document());
    let [whole, part, cold, failed] = &read.slopes[..] else {
        panic!("{read:#?}")
    };
    assert_eq!(whole.title(), "open:AA/BB");
    assert_eq!(failed.title(), "fsetxattr");
    assert_eq!(
        [whole, part, cold].map(Slope::is_whole),
        [true, false, true]
    );
    assert_eq!(cold.difference(), Some(3.000_4 - 4.0));
    assert_eq!(part.difference(), None, "nothing was counted");
    assert_eq!(failed.difference(), None);
}

#[test]
fn lines_are_slopes() {
    let text = String::from_utf8(written(&document())).unwrap();
    let of = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(of("{\"kernel\":\"debian:6.12\",\"release\":"), 4);
    let mut empty = document();
    empty.slopes.clear();
    empty.rules.clear();
    empty.predictions.clear();
    empty.repeated.clear();
    empty.warnings.clear();
    assert_eq!(SensitivityDocument::parse(&written(&empty)).unwrap(), empty);
}

#[test]
fn a_writer_that_knows_more_or_less_is_read() {
    let golden = String::from_utf8(written(&document())).unwrap();
    let newer = golden
        .replacen("\"tool\":", "\"weather\": \"fine\",\n\"tool\":", 1)
        .replacen("\"release\":", "\"pressure\":[1013],\"release\":", 1)
        .replacen("\"slope_differs\"", "\"sunspots\"", 1);
    let read = SensitivityDocument::parse(newer.as_bytes()).unwrap();
    assert_eq!(read.slopes, document().slopes);
    assert_eq!(read.warnings[0].kind, WarningKind::Other);
    // What a sweep alone does not make may be missing.
    let mut value: serde_json::Value = serde_json::from_str(&golden).unwrap();
    for key in ["rules", "predictions", "repeated", "warnings"] {
        value.as_object_mut().unwrap().remove(key);
    }
    let read = SensitivityDocument::parse(value.to_string().as_bytes()).unwrap();
    assert_eq!(read.slopes, document().slopes);
    assert!(read.rules.is_empty() && read.repeated.is_empty());
}

#[test]
fn what_is_no_document_is_named() {
    let refused = |text: &str| {
        let error = SensitivityDocument::parse(text.as_bytes()).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default())
    };
    let ended = "it was not written to its end; sweep again".to_owned();
    let wrote = "give a document that `lsmeter sensitivity --output FILE` wrote".to_owned();
    assert_eq!(
        refused(""),
        ("sensitivity document: empty".to_owned(), ended.clone())
    );
    assert_eq!(
        refused("{}"),
        (
            "no sensitivity document: it has no schema_version".to_owned(),
            wrote
        )
    );
    assert_eq!(
        refused("hook,slope\n").0,
        "sensitivity document: not JSON at line 1, column 1: expected value"
    );
    assert_eq!(
        refused("{\"schema_version\": 7, \"slopes\": {}}").0,
        "written by a newer lsmeter (schema 7; this one reads up to 1)"
    );
    assert_eq!(refused(&"[".repeat(100_000)).1, ended);
}

#[test]
fn one_document_is_not_taken_for_another() {
    let bytes = written(&document());
    assert!(Run::parse(&bytes).is_err());
    assert!(ProfileDocument::parse(&bytes).is_err());
    let mut run = Vec::new();
    common::run().write(&mut run).unwrap();
    let error = SensitivityDocument::parse(&run).unwrap_err().to_string();
    assert!(
        error.starts_with("sensitivity document: at the top") && error.contains("`slopes`"),
        "{error}"
    );
}

#[test]
fn a_writer_that_fails_is_the_cause() {
    use std::error::Error;
    let mut full = [0u8; 100];
    let error = document().write(&mut full[..]).unwrap_err();
    assert!(matches!(error.fault, DocumentFault::Io(_)), "{error:?}");
    let cause = error.source().unwrap();
    assert!(cause.downcast_ref::<std::io::Error>().is_some());
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let golden = String::from_utf8(written(&document())).unwrap();
    let broken = |from: &str, to: &str| {
        assert!(golden.contains(from), "{from}");
        let broken = golden.replacen(from, to, 1);
        let error = SensitivityDocument::parse(broken.as_bytes()).unwrap_err();
        error.to_string()
    };
    let error = broken("\"slope\":3.0004", "\"slope\":\"x\\u001b[31m\"");
    assert!(
        error.starts_with("sensitivity document: at slopes[0].slope (line 6): invalid type"),
        "{error}"
    );
    assert!(!error.contains('\u{1b}'), "{error}");
    for (from, to, place) in [
        ("\"slope\":3.0004", "\"slope\":1e999", "not JSON at line 6"),
        ("\"slope\":3.0004", "\"slope\":null", "slopes[0].slope"),
        (
            "\"module\":\"bpf\"",
            "\"module\":\"ebpf\"",
            "slopes[0].module",
        ),
        (
            "\"caches\":\"warm\"",
            "\"caches\":\"hot\"",
            "slopes[0].caches",
        ),
        (
            "\"delay_ns\":10000",
            "\"delay_ns\":-1",
            "points[1].delay_ns",
        ),
        (
            "\"delay_ns\":10000",
            "\"delay_ns\":5e9",
            "points[1].delay_ns",
        ),
        ("\"depths\":[1,", "\"depths\":[-1,", "rules[0].depths[0]"),
        ("\"times\":2", "\"times\":2.5", "repeated[0].times"),
        ("\"decision\":250.5,", "", "predictions[0]"),
    ] {
        let error = broken(from, to);
        assert!(error.contains(place), "{to}: {error}");
    }
    assert_eq!(
        broken("\"n\":12,", "\"n\":13,"),
        "sensitivity document: at slopes[0]: n is 13, its points hold 12"
    );
    assert_eq!(
        broken("\"cells\":[2]", "\"cells\":[4]"),
        "sensitivity document: at warnings[0]: there is no slope 4"
    );
    let mut document = document();
    document.slopes[1].points.clear();
    let error = SensitivityDocument::parse(&written(&document)).unwrap_err();
    let message = error.to_string();
    assert!(
        message.ends_with("slopes[1]: a slope without points"),
        "{message}"
    );
}

/// Sums of a hostile document go beyond every figure's type.
#[test]
fn figures_at_their_limits_are_read_or_refused() {
    let mut document = document();
    for point in &mut document.slopes[0].points {
        point.n = u64::MAX;
    }
    document.slopes[0].n = u64::MAX;
    assert!(SensitivityDocument::parse(&written(&document)).is_err());
}

fn figures() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::MAX), Just(-0.0), -1e6f64..1e6, any::<f64>()]
        .prop_filter("JSON has finite numbers only", |figure| figure.is_finite())
}

fn slopes() -> impl Strategy<Value = Slope> {
    let points = proptest::collection::vec((any::<u32>(), figures(), any::<u32>()), 1..5);
    let words = ("\\PC{0,6}", "\\PC{0,6}", any::<bool>());
    (words, points, [figures(), figures(), figures(), figures()]).prop_map(
        |((benchmark, hook, odd), points, [a, b, c, d])| {
            let mut slope = slope(&benchmark, "AA", &[&hook]);
            (slope.slope, slope.ci95, slope.intercept) = (a, [b, c], d);
            slope.counted = odd.then_some(a);
            slope.explanation = odd.then_some(hook);
            slope.points = points
                .into_iter()
                .map(|(delay_ns, median, n)| SlopePoint {
                    delay_ns,
                    median,
                    n: n.into(),
                })
                .collect();
            slope.n = slope.points.iter().map(|point| point.n).sum();
            slope
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(slopes in proptest::collection::vec(slopes(), 0..4)) {
        let warnings = Vec::new();
        let document = SensitivityDocument { slopes, warnings, ..document() };
        let bytes = written(&document);
        prop_assert_eq!(&SensitivityDocument::read(&bytes[..]).unwrap(), &document);
        prop_assert_eq!(written(&document), bytes);
    }

    #[test]
    fn any_truncation_is_called_one(cut in 0.0f64..1.0) {
        let bytes = written(&document());
        let length = ((bytes.len() - 2) as f64 * cut) as usize;
        match SensitivityDocument::parse(&bytes[..length]).map_err(|error| error.fault) {
            Err(DocumentFault::Truncated { .. } | DocumentFault::Empty) => {}
            other => prop_assert!(false, "{length}: {other:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = SensitivityDocument::parse(&bytes);
    }

    #[test]
    fn any_changed_byte_is_read_or_refused(at in 0.0f64..1.0, byte: u8) {
        let mut bytes = written(&document());
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] = byte;
        if let Ok(document) = SensitivityDocument::parse(&bytes) {
            prop_assert_eq!(SensitivityDocument::parse(&written(&document)).unwrap(), document);
        }
    }
}
