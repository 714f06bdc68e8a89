// SPDX-License-Identifier: GPL-2.0-or-later
//! The comparison document: what is written is read back, and damage is named.

use crate::common::{self, contradiction, stored, written};
use model::comparison::{
    Axis, CallerChange, CellGate, ComparedCell, Correction, EnvironmentDifference, Explanation,
    Figure, Gate, GateVerdict, HookChange, ImplementationChange, Judgement, Limit, Method, Place,
    Side, Source, UnmatchedCell, Verdict,
};
use model::{
    AaMetric, AaReport, ComparisonDocument, Document, DocumentFault, FunctionDifference, Metric,
    Status, Stored,
};

fn place(configuration: &str) -> Place {
    Place {
        kernel: "debian:6.1".to_owned(),
        configuration: configuration.to_owned(),
        filesystem: "tmpfs".to_owned(),
    }
}

fn figure(value: Option<f64>) -> Figure {
    Figure {
        status: if value.is_some() {
            Status::Ok
        } else {
            Status::Failed
        },
        value,
        n: value.map(|_| 64),
        rounds: None,
        ci95: None,
        reason: value.is_none().then(|| "panic: \u{1b}[31m<b>".to_owned()),
    }
}

fn cell(benchmark: &str, metric: Metric, base: Option<f64>, new: Option<f64>) -> ComparedCell {
    let both = base.zip(new);
    ComparedCell {
        place: place("capability,selinux"),
        base_place: None,
        benchmark: benchmark.to_owned(),
        variant: "AA/BB".to_owned(),
        detail: String::new(),
        metric,
        unit: metric.unit().to_owned(),
        base: figure(base),
        new: figure(new),
        method: if both.is_some() {
            Method::Exact
        } else {
            Method::None
        },
        difference: both.map(|(a, b)| b - a),
        overhead: both.map(|(a, b)| (b - a) / a),
        ci95: both.map(|(a, b)| [(b - a) / a; 2]),
        effect: None,
        p: None,
        p_adjusted: None,
        detectable: None,
        verdict: match both {
            Some((a, b)) if a < b => Verdict::Worse,
            Some(_) => Verdict::Same,
            None => Verdict::Missing,
        },
        reason: None,
        doubts: Vec::new(),
        gate: None,
    }
}

fn explanation() -> Explanation {
    Explanation {
        events: Vec::new(),
        cell: 0,
        difference: 8,
        hooked: 5,
        residual: 3,
        hooks: vec![HookChange {
            events: Vec::new(),
            hook: "inode_permission".to_owned(),
            function: "security_inode_permission".to_owned(),
            base_calls: 2,
            new_calls: 3,
            difference: 5,
            dispatch: 1,
            implementations: vec![ImplementationChange {
                module: "selinux".to_owned(),
                function: "selinux_inode_permission".to_owned(),
                base_calls: 2,
                new_calls: 3,
                difference: 4,
            }],
            callers: vec![CallerChange {
                function: "inode_permission".to_owned(),
                base_calls: 2,
                new_calls: 3,
            }],
        }],
        residual_functions: vec![FunctionDifference {
            function: "may_open".to_owned(),
            difference: 3,
            explanation: None,
        }],
    }
}

/// Every verdict and every part.
fn document() -> ComparisonDocument {
    let mut worse = cell("open", Metric::Instructions, Some(4979.0), Some(4987.0));
    worse.gate = Some(CellGate {
        limit: Limit::Overhead(0.001),
        verdict: GateVerdict::Fail,
        message: "worse by +0.16 %, more than 0.1 %".to_owned(),
    });
    let mut unclear = cell("read", Metric::Time, Some(400.0), Some(404.0));
    unclear.method = Method::Rounds;
    unclear.base.rounds = Some(6);
    unclear.base.ci95 = Some([398.0, 402.0]);
    unclear.base_place = Some(place("capability"));
    unclear.ci95 = Some([-0.01, 0.03]);
    unclear.effect = Some(0.2);
    (unclear.p, unclear.p_adjusted) = (Some(0.25), Some(0.5));
    unclear.detectable = Some(0.04);
    unclear.verdict = Verdict::Unclear;
    unclear.reason = Some("p = 0.50, corrected for 2 cells".to_owned());
    unclear.doubts = vec!["NEW: throttling".to_owned()];
    unclear.gate = Some(CellGate {
        limit: Limit::Difference(2.0),
        verdict: GateVerdict::Inconclusive,
        message: "NEW: throttling".to_owned(),
    });
    let source = |name: &str| Source {
        name: name.to_owned(),
        document: "run document".to_owned(),
        tool: common::tool(),
        started: Some("2026-02-28T10:00:00Z".to_owned()),
        cells: 4,
    };
    ComparisonDocument {
        tool: common::tool(),
        base: source("a.json"),
        new: source("b.json"),
        across: Some(Axis::Stack),
        judgement: Judgement {
            alpha: 0.05,
            correction: Correction::Holm,
            tested: 2,
            trust_environment: false,
        },
        matched_by: vec!["kernel".to_owned()],
        environment: vec![EnvironmentDifference {
            key: "cpu".to_owned(),
            base: "one".to_owned(),
            new: "other".to_owned(),
        }],
        aa: Some(aa()),
        compared: vec![
            worse,
            unclear,
            cell("stat", Metric::Instructions, Some(3317.0), Some(3317.0)),
            cell("fsetxattr", Metric::Instructions, Some(1.0), None),
        ],
        unmatched: vec![UnmatchedCell {
            side: Side::Base,
            place: place("capability"),
            benchmark: "dup".to_owned(),
            detail: String::new(),
            metric: Metric::Slope,
        }],
        explanations: vec![explanation()],
        gate: Some(Gate {
            verdict: GateVerdict::Fail,
            failed: 1,
            inconclusive: 1,
            passed: 0,
            reasons: vec!["1 cells of BASE are not in NEW".to_owned()],
        }),
        notes: vec!["NEW: throttling: it was hot".to_owned()],
    }
}

fn aa() -> AaReport {
    AaReport {
        runs: 3,
        alpha: 0.05,
        correction: Correction::Holm,
        metrics: vec![AaMetric {
            metric: Metric::Time,
            pairs: 3,
            alarmed_pairs: 0,
            cells: 30,
            alarms: 0,
            alarms_uncorrected: 1,
            rate: 0.0,
            rate_at_most: 0.095,
            largest: 0.012,
            detectable: 0.02,
        }],
        layouts: Vec::new(),
    }
}

fn refused(document: &ComparisonDocument) -> String {
    contradiction(ComparisonDocument::parse(stored(document).as_bytes()))
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::stored_keeps_to_golden("comparison", &document());
    let document = document();
    assert_eq!(document.compared[0].title(), "open:AA/BB");
    assert_eq!(document.count(Verdict::Unclear), 1);
}

#[test]
fn what_aa_runs_found_is_part_of_a_run() {
    let mut run = common::run();
    run.aa = Some(aa());
    assert_eq!(Document::parse(written(&run).as_bytes()).unwrap(), run);
    run.aa.as_mut().unwrap().metrics[0].alarms = 31;
    assert_eq!(
        contradiction(Document::parse(written(&run).as_bytes())),
        "run document: at aa: time: more alarms than comparisons"
    );
}

#[test]
fn contradictions_are_refused() {
    let mut wrong = document();
    wrong.compared[3].verdict = Verdict::Worse;
    assert_eq!(
        refused(&wrong),
        "comparison document: at compared[3]: the verdict is worse"
    );
    let mut wrong = document();
    wrong.compared[1].p = Some(1.5);
    assert_eq!(
        refused(&wrong),
        "comparison document: at compared[1]: p is not between 0 and 1"
    );
    let mut wrong = document();
    wrong.explanations[0].residual = 4;
    assert_eq!(
        refused(&wrong),
        "comparison document: at explanations[0]: its parts sum up to 9, not 8"
    );
    let mut wrong = document();
    wrong.explanations[0].cell = 4;
    assert_eq!(
        refused(&wrong),
        "comparison document: at explanations[0]: there is no cell 4"
    );
    let text = stored(&document());
    let newer = text.replacen("\"schema_version\": 3", "\"schema_version\": 7", 1);
    let error = ComparisonDocument::parse(newer.as_bytes()).unwrap_err();
    assert!(matches!(
        error.fault,
        DocumentFault::OtherVersion { found: 7 }
    ));
}
