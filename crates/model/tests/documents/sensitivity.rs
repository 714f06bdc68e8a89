// SPDX-License-Identifier: GPL-2.0-or-later
//! The sensitivity document: what is written is read back, and damage is named.

use crate::common::{self, contradiction, golden, names, written};
use model::{
    ALL_HOOKS, Caches, Cell, Delay, DelayModule, DepthRule, Document, Evidence, Key, Kind, Metric,
    Outcome, Prediction, RepeatedQuestion, Slope, SlopePoint, Status, Subject, SweepFindings, Unit,
    Warning, WarningKind,
};
use proptest::prelude::*;

fn slope() -> Slope {
    let point = |step: u32| SlopePoint {
        delay_ns: step * 10_000,
        median: 4_979.0 + f64::from(step) * 30_000.0,
        n: 3,
    };
    Slope {
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

fn cell(benchmark: &str, variant: &str, hooks: &[&str], outcome: impl Into<Outcome>) -> Cell {
    let key = Key {
        kernel: "debian:6.12".to_owned(),
        stack: names(&["capability", "bpf"]),
        subject: Subject::benchmark(benchmark, variant),
        delay: Some(Delay {
            module: DelayModule::Bpf,
            hooks: names(hooks),
            part: hooks.len() == 1 && hooks[0] != ALL_HOOKS,
            caches: Caches::Warm,
        }),
        ..common::key("", "", "", Metric::Slope)
    };
    Cell {
        release: "6.12.94-cloud-amd64".to_owned(),
        syscalls: names(&[benchmark, "close"]),
        outcome: outcome.into(),
        ..Cell::unmeasured(key)
    }
}

/// Slopes of both modules and states of the caches, one that failed with hostile text,
/// and one of everything else.
fn document() -> Document {
    let open = |hooks: &[&str], slope| cell("open", "AA/BB", hooks, Evidence::Slope(slope));
    let part = Slope {
        r2: None,
        bend: None,
        counted: None,
        ..slope()
    };
    let cold = Slope {
        counted: Some(4.0),
        explanation: Some("inode_permission -1.00: the walk starts anew".to_owned()),
        ..slope()
    };
    let mut cold = open(&["file_permission", "inode_permission"], cold);
    let delay = cold.key.delay.as_mut().unwrap();
    (delay.module, delay.caches) = (DelayModule::Tunable, Caches::Cold);
    let panic = "panic: \u{1b}[31m|not\u{202e}syncing|\n<b>";
    let failed = Outcome::without(Status::Failed, panic);
    let findings = SweepFindings {
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
    };
    Document {
        cells: vec![
            open(&[ALL_HOOKS], slope()),
            open(&["inode_permission"], part),
            cold,
            cell("fsetxattr", "", &[ALL_HOOKS], failed),
        ],
        sweep: Some(findings),
        warnings: vec![Warning {
            cells: vec![2],
            ..Warning::new(WarningKind::ChecksDiffer, "1 slope is not what was counted")
        }],
        ..common::document(Kind::Sensitivity, common::environment())
    }
}

fn parse(text: &str) -> Result<Document, model::DocumentError> {
    Document::parse_as(Kind::Sensitivity, text.as_bytes())
}

fn of(document: &mut Document, cell: usize) -> &mut Slope {
    match &mut document.cells[cell].outcome {
        Outcome::Ok {
            evidence: Evidence::Slope(slope),
        } => slope,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::keeps_to_golden("sensitivity", &document());
}

#[test]
fn slopes_tell_what_they_are_over() {
    let document = document();
    let [(whole, of_whole, _), (_, of_part, part), (_, of_cold, cold)] =
        document.slopes().collect::<Vec<_>>()[..]
    else {
        panic!("{document:#?}")
    };
    assert_eq!(whole.title(), "open:AA/BB");
    assert_eq!(whole.headline(), Some(3.000_4));
    let wholes = [of_whole, of_part, of_cold].map(Delay::is_whole);
    assert_eq!(wholes, [true, false, true]);
    assert_eq!(cold.difference(), Some(3.000_4 - 4.0));
    assert!(cold.differs());
    assert_eq!(part.difference(), None, "nothing was counted");
    assert_eq!(document.cells[3].title(), "fsetxattr");
    assert_eq!(document.cells[3].headline(), None);
}

#[test]
fn a_writer_that_knows_more_or_less_is_read() {
    let golden = String::from_utf8(golden("sensitivity")).unwrap();
    let newer = golden
        .replacen("\"tool\":", "\"weather\": \"fine\",\n\"tool\":", 1)
        .replacen("\"release\":", "\"pressure\":[1013],\"release\":", 1)
        .replacen("\"checks_differ\"", "\"sunspots\"", 1);
    let read = parse(&newer).unwrap();
    assert_eq!(read.cells, document().cells);
    assert_eq!(read.warnings[0].kind, WarningKind::Other);
    // What a sweep alone does not make may be missing.
    let mut value: serde_json::Value = serde_json::from_str(&golden).unwrap();
    for key in ["sweep", "warnings"] {
        value.as_object_mut().unwrap().remove(key);
    }
    let read = parse(&value.to_string()).unwrap();
    assert_eq!(read.cells, document().cells);
    assert_eq!(*read.findings(), SweepFindings::default());
    let mut alone = document();
    alone.sweep = None;
    let read = parse(&written(&alone)).unwrap();
    assert_eq!(read, alone);
    assert!(read.findings().rules.is_empty());
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let golden = String::from_utf8(golden("sensitivity")).unwrap();
    for (from, to, place) in [
        (
            "\"per_operation\":3.0004",
            "\"per_operation\":1e999",
            "not JSON at line ",
        ),
        (
            "\"per_operation\":3.0004",
            "\"per_operation\":null",
            "measurements[0].evidence.checks.per_operation",
        ),
        (
            "\"module\":\"bpf\"",
            "\"module\":\"ebpf\"",
            "measurements[0].key",
        ),
        (
            "\"caches\":\"warm\"",
            "\"caches\":\"hot\"",
            "measurements[0].key",
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
        assert!(golden.contains(from), "{from}");
        let error = parse(&golden.replacen(from, to, 1))
            .unwrap_err()
            .to_string();
        assert!(error.contains(place), "{to}: {error}");
    }
    let broken = |from, to| contradiction(parse(&golden.replacen(from, to, 1)));
    assert_eq!(
        broken("\"n\":12,", "\"n\":13,"),
        "sensitivity document: at measurements[0]: n is 13, its points hold 12"
    );
    assert_eq!(
        broken("\"measurements\":[2]", "\"measurements\":[4]"),
        "sensitivity document: at warnings[0]: there is no cell 4"
    );
    let mut document = document();
    of(&mut document, 1).points.clear();
    let error = contradiction(parse(&written(&document)));
    assert!(
        error.ends_with("measurements[1]: a slope without points"),
        "{error}"
    );
    document.cells[1].key.delay = None;
    let error = contradiction(parse(&written(&document)));
    assert!(
        error.ends_with("measurements[1]: a slope without a delay"),
        "{error}"
    );
}

/// Sums of a hostile document go beyond every figure's type.
#[test]
fn figures_at_their_limits_are_read_or_refused() {
    let mut document = document();
    let slope = of(&mut document, 0);
    for point in &mut slope.points {
        point.n = u64::MAX;
    }
    slope.n = u64::MAX;
    assert!(parse(&written(&document)).is_err());
}

fn figures() -> impl Strategy<Value = f64> {
    prop_oneof![Just(f64::MAX), Just(-0.0), -1e6f64..1e6, any::<f64>()]
        .prop_filter("JSON has finite numbers only", |figure| figure.is_finite())
}

fn slopes() -> impl Strategy<Value = Cell> {
    let points = proptest::collection::vec((any::<u32>(), figures(), any::<u32>()), 1..5);
    let words = ("\\PC{0,6}", "\\PC{0,6}", any::<bool>());
    (words, points, [figures(), figures(), figures(), figures()]).prop_map(
        |((benchmark, hook, odd), points, [a, b, c, d])| {
            let mut slope = slope();
            (slope.slope, slope.ci95, slope.intercept) = (a, [b, c], d);
            slope.counted = odd.then_some(a);
            slope.explanation = odd.then(|| hook.clone());
            slope.points = points
                .into_iter()
                .map(|(delay_ns, median, n)| SlopePoint {
                    delay_ns,
                    median,
                    n: n.into(),
                })
                .collect();
            slope.n = slope.points.iter().map(|point| point.n).sum();
            cell(&benchmark, "AA", &[&hook], Evidence::Slope(slope))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(cells in proptest::collection::vec(slopes(), 0..4)) {
        let warnings = Vec::new();
        let document = Document { cells, warnings, ..document() };
        let text = written(&document);
        prop_assert_eq!(&parse(&text).unwrap(), &document);
        prop_assert_eq!(written(&document), text);
    }
}
