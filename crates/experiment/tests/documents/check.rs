// SPDX-License-Identifier: GPL-2.0-or-later
//! The check document and a monitor's counts: what is written is read back, and damage is
//! named.

use std::collections::BTreeMap;

use crate::common::{self, contradiction, names, stored};
use experiment::check::{
    ApartInstruments, CheckSummary, CheckedBenchmark, CheckedHook, CheckedInstrument,
    CheckedResidual, MissingInstrument,
};
use experiment::{
    Cell, CheckDocument, CheckVerdict, Document, Environment, Evidence, FunctionDifference,
    HookCalls, Instrument, InstrumentStatus, Key, Kind, LeftOutFunction, Metric, Outcome, Status,
    Stored, Subject,
};

const HOSTILE: &str = "panic: \u{1b}[31m|not\u{202e}syncing|\n<b>";

fn hook(hook: &str, profile: u64, monitor: f64) -> CheckedHook {
    CheckedHook {
        hook: hook.to_owned(),
        profile: Some(profile),
        monitor: Some(monitor),
        slope: None,
        nominal: Some(profile),
        maximum: None,
        verdict: CheckVerdict::Agree,
        apart: Vec::new(),
        explanation: None,
    }
}

fn apart(mut hook: CheckedHook, explained: bool) -> CheckedHook {
    hook.apart.push(ApartInstruments {
        first: Instrument::Profile,
        second: Instrument::Monitor,
        explained,
    });
    hook.verdict = match explained {
        true => CheckVerdict::Explained,
        false => CheckVerdict::Disagree,
    };
    hook.explanation = explained.then(|| "It is undone by the same system call.".to_owned());
    hook
}

fn residual(residual: i64, verdict: CheckVerdict) -> CheckedResidual {
    CheckedResidual {
        stack: names(&["capability", "selinux"]),
        baseline: names(&["capability"]),
        benchmark: "open".to_owned(),
        variant: "AA".to_owned(),
        difference: 120 + residual,
        explained: 120,
        residual,
        functions: (residual != 0)
            .then(|| FunctionDifference {
                function: "inode_init_always".to_owned(),
                difference: residual,
                explanation: None,
            })
            .into_iter()
            .collect(),
        verdict,
    }
}

/// Every verdict, and text of a hostile guest.
fn document() -> CheckDocument {
    let instrument = |instrument, status, reason: Option<&str>| CheckedInstrument {
        instrument,
        status,
        reason: reason.map(str::to_owned),
        blind: Vec::new(),
    };
    let mut used = instrument(Instrument::Monitor, InstrumentStatus::Used, None);
    used.blind = names(&["file_permission"]);
    let mut alone = hook("file_permission", 1, 0.0);
    (alone.monitor, alone.verdict) = (None, CheckVerdict::Alone);
    let mut all = hook("all", 2, 2.0);
    (all.slope, all.nominal) = (Some(2.000_1), None);
    let benchmarks = vec![
        CheckedBenchmark {
            benchmark: "chown".to_owned(),
            variant: "same".to_owned(),
            hooks: vec![
                apart(hook("inode_setattr", 1, 2.0), true),
                apart(hook("path_chown", 1, 0.0), false),
                alone,
                all,
            ],
            missing: Vec::new(),
        },
        CheckedBenchmark {
            benchmark: "open".to_owned(),
            variant: "AA".to_owned(),
            hooks: vec![hook("inode_permission", 1, 1.0)],
            missing: vec![MissingInstrument {
                instrument: Instrument::Sensitivity,
                failed: true,
                reason: HOSTILE.to_owned(),
            }],
        },
    ];
    let residuals = vec![
        residual(0, CheckVerdict::Agree),
        residual(12, CheckVerdict::Disagree),
    ];
    CheckDocument {
        tool: common::tool(),
        environment: Some(common::environment()),
        kernel: "debian:6.12".to_owned(),
        release: "6.12.94-cloud-amd64".to_owned(),
        stack: names(&["capability"]),
        filesystem: "tmpfs".to_owned(),
        instruments: vec![
            instrument(Instrument::Profile, InstrumentStatus::Used, None),
            used,
            instrument(
                Instrument::Sensitivity,
                InstrumentStatus::Unavailable,
                Some("the kernel has no bpf"),
            ),
            instrument(Instrument::Placement, InstrumentStatus::Skipped, None),
        ],
        summary: CheckSummary::of(&benchmarks, &residuals),
        benchmarks,
        residuals,
        unused_facts: names(&["freed later"]),
    }
}

/// A benchmark that a monitor counted, and one that failed.
fn counts() -> Document {
    let cell = |benchmark: &str, outcome: Outcome| Cell {
        release: "6.12.94-cloud-amd64".to_owned(),
        active_lsms: names(&["lockdown", "capability"]),
        syscalls: names(&[benchmark, "close"]),
        outcome,
        ..Cell::unmeasured(Key {
            kernel: "debian:6.12".to_owned(),
            subject: Subject::benchmark(benchmark, "AA"),
            ..common::key("capability", "", "", Metric::Calls)
        })
    };
    let hooks = BTreeMap::from([("inode_permission".to_owned(), 1.062_5)]);
    Document {
        left_out: vec![LeftOutFunction {
            name: "file_permission".to_owned(),
            reason: "refused".to_owned(),
        }],
        cells: vec![
            cell("open", Evidence::HookCalls(HookCalls { hooks }).into()),
            cell("stat", Outcome::without(Status::Failed, HOSTILE)),
        ],
        ..common::document(Kind::Counts, Environment::unknown())
    }
}

#[test]
fn writers_keep_to_the_golden_documents() {
    common::stored_keeps_to_golden("check-v", &document());
    common::keeps_to_golden("check-counts-v", &counts());
}

#[test]
fn counts_are_no_single_figure() {
    let counts = counts();
    let open = &counts.cells[0];
    assert_eq!(
        open.hook_calls().unwrap().hooks["inode_permission"],
        1.062_5
    );
    assert_eq!((open.headline(), open.estimate()), (None, None));
}

#[test]
fn verdicts_are_counted_and_each_pair_by_itself() {
    let summary = document().summary;
    let hooks = summary.hooks;
    assert_eq!(
        [hooks.agree, hooks.explained, hooks.disagree, hooks.alone],
        [2, 1, 1, 1]
    );
    let pair = |first, second| {
        let mut pairs = summary.pairs.iter();
        let pair = pairs.find(|pair| (pair.first, pair.second) == (first, second));
        pair.map(|pair| [pair.compared, pair.agree, pair.explained, pair.disagree])
    };
    assert_eq!(
        pair(Instrument::Profile, Instrument::Monitor),
        Some([4, 2, 1, 1])
    );
    assert_eq!(
        pair(Instrument::Monitor, Instrument::Sensitivity),
        Some([1, 1, 0, 0])
    );
    // Without a bound there is nothing to exceed.
    assert_eq!(pair(Instrument::Profile, Instrument::Placement), None);
    assert_eq!((summary.nominal, summary.nominal_same), (4, 4));
}

#[test]
fn contradictions_are_refused() {
    let refused = |spoil: &dyn Fn(&mut CheckDocument)| {
        let mut document = document();
        spoil(&mut document);
        let error = contradiction(CheckDocument::parse(stored(&document).as_bytes()));
        error.replacen("check document: at ", "", 1)
    };
    let text = refused(&|d| d.benchmarks[0].hooks[1].verdict = CheckVerdict::Agree);
    assert_eq!(
        text,
        "benchmarks[0]: path_chown: the verdict agree is not what its pairs say"
    );
    let text = refused(&|d| d.benchmarks[0].hooks[0].monitor = None);
    assert!(
        text.ends_with("do not agree, but one of them tells nothing"),
        "{text}"
    );
    let text = refused(&|d| d.residuals[1].explained += 1);
    assert_eq!(
        text,
        "residuals[1]: the difference is not the sum of its parts"
    );
    let text = refused(&|d| d.summary.hooks.disagree = 0);
    assert_eq!(
        text,
        "summary: it is not what the hooks and residuals sum up to"
    );
}
