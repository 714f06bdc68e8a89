// SPDX-License-Identifier: GPL-2.0-or-later
//! The check document and a monitor's counts: what is written is read back, and damage is
//! named.

mod common;

use common::same_as_file;
use experiment::check::{
    ApartInstruments, CheckSummary, CheckedBenchmark, CheckedHook, CheckedInstrument,
    CheckedResidual, CountedBenchmark, CountedHook, MissingInstrument,
};
use experiment::{
    AnyDocument, CheckDocument, CheckVerdict, CountsDocument, DocumentFault, DocumentKind,
    FunctionDifference, Instrument, InstrumentStatus, LeftOutFunction, SCHEMA_VERSION, Status,
    check_schema, counts_schema,
};
use proptest::prelude::*;

const HOSTILE: &str = "panic: \u{1b}[31m|not\u{202e}syncing|\n<b>";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

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
    let run = common::run();
    CheckDocument {
        schema_version: SCHEMA_VERSION,
        tool: run.tool,
        environment: Some(run.environment),
        kernel: "debian:6.12".to_owned(),
        release: "6.12.94-cloud-amd64".to_owned(),
        stack: names(&["capability"]),
        fs: "tmpfs".to_owned(),
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

fn counts() -> CountsDocument {
    let benchmark = |name: &str, status, hooks| CountedBenchmark {
        benchmark: name.to_owned(),
        variant: "AA".to_owned(),
        syscalls: names(&[name, "close"]),
        status,
        reason: (status != Status::Ok).then(|| HOSTILE.to_owned()),
        hooks,
    };
    let hook = CountedHook {
        hook: "inode_permission".to_owned(),
        calls: 1.062_5,
    };
    CountsDocument {
        schema_version: SCHEMA_VERSION,
        tool: common::run().tool,
        kernel: "debian:6.12".to_owned(),
        release: "6.12.94-cloud-amd64".to_owned(),
        stack: names(&["capability"]),
        active_lsms: names(&["lockdown", "capability"]),
        fs: "tmpfs".to_owned(),
        left_out: vec![LeftOutFunction {
            name: "file_permission".to_owned(),
            reason: "refused".to_owned(),
        }],
        counted: vec![
            benchmark("open", Status::Ok, vec![hook]),
            benchmark("stat", Status::Failed, Vec::new()),
        ],
    }
}

fn written<E: std::fmt::Debug>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn schemas_are_kept_in_docs() {
    for (file, schema) in [("check", check_schema()), ("check-counts", counts_schema())] {
        let schema = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        let path = format!("../../docs/{file}.schema.json");
        same_as_file(&path, &schema, "UPDATE_SCHEMA");
    }
}

#[test]
fn writers_keep_to_the_golden_documents() {
    let text = written(|to| document().write(to));
    same_as_file("tests/golden/check-v1.json", &text, "UPDATE_GOLDEN");
    assert_eq!(CheckDocument::read(text.as_bytes()).unwrap(), document());
    let text = written(|to| counts().write(to));
    same_as_file("tests/golden/check-counts-v1.json", &text, "UPDATE_GOLDEN");
    assert_eq!(CountsDocument::read(text.as_bytes()).unwrap(), counts());
}

#[test]
fn they_are_told_apart_and_from_others() {
    let check = written(|to| document().write(to));
    let counts = written(|to| counts().write(to));
    let kind = |text: &str| DocumentKind::of(text.as_bytes()).unwrap();
    assert_eq!(kind(&check), DocumentKind::Check);
    assert_eq!(kind(&counts), DocumentKind::Counts);
    for (text, told) in [
        (
            check,
            "a check document is made from others, and cannot be used like one",
        ),
        (
            counts,
            "a monitor's counts are of use to `lsmeter check` only",
        ),
    ] {
        let error = AnyDocument::parse(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
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
        let text = written(|to| document.write(to));
        match CheckDocument::parse(text.as_bytes()).unwrap_err().fault {
            DocumentFault::Contradiction { path, message } => format!("{path}: {message}"),
            fault => panic!("{fault}"),
        }
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

proptest! {
    #[test]
    fn damage_is_never_a_panic(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for text in [written(|to| document().write(to)), written(|to| counts().write(to))] {
            let mut bytes = text.into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = CheckDocument::parse(&bytes);
            let _ = CountsDocument::parse(&bytes);
            let _ = CheckDocument::parse(&bytes[..at]);
        }
    }
}
