// SPDX-License-Identifier: GPL-2.0-or-later
//! The profile document: what is written is read back, and damage is named.

mod common;

use common::same_as_file;
use diagnostics::Fault;
use experiment::{
    BaselineProfile, DocumentFault, FunctionDifference, HookCost, Implementation, Profile,
    ProfileDocument, Run, SCHEMA_VERSION, Status, Warning, WarningKind, profile_schema,
};
use proptest::prelude::*;
use proptest::sample::SizeRange;

fn hook(hook: &str, figures: [u64; 5], behind: &[(&str, &str, u64, u64)]) -> HookCost {
    let [calls, inclusive, exclusive, dispatch, outermost] = figures;
    HookCost {
        called_by: Vec::new(),
        hook: hook.to_owned(),
        function: format!("security_{hook}"),
        calls,
        inclusive,
        exclusive,
        dispatch,
        outermost,
        implementations: behind
            .iter()
            .map(|&(module, function, calls, inclusive)| Implementation {
                module: module.to_owned(),
                function: function.to_owned(),
                calls,
                inclusive,
            })
            .collect(),
    }
}

fn profile(benchmark: &str, variant: &str, stack: &[&str]) -> Profile {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Profile {
        kernel: "debian:6.1".to_owned(),
        release: "6.1.0-56-cloud-amd64".to_owned(),
        stack: names(stack),
        integrity: Vec::new(),
        policy: experiment::Policy::None,
        tuning: experiment::Tuning::default(),
        active_lsms: names(&[&["lockdown"], stack].concat()),
        filesystem: "tmpfs".to_owned(),
        benchmark: benchmark.to_owned(),
        variant: variant.to_owned(),
        syscalls: names(&[benchmark, "close"]),
        status: Status::Ok,
        reason: None,
        total: 0,
        rep_iterations: 0,
        hooked: 0,
        hooks: Vec::new(),
        baseline: None,
        residual: None,
        residual_functions: Vec::new(),
        windows: 64,
        path_windows: 64,
        dirty: 0,
    }
}

/// A profile alone, one compared with a residual, one that failed with hostile text.
fn document() -> ProfileDocument {
    let mut open = profile("open", "AA", &["capability", "selinux"]);
    open.total = 6567;
    open.rep_iterations = 4324;
    open.hooks = vec![
        hook(
            "file_alloc_security",
            [1, 140, 44, 110, 140],
            &[("selinux", "selinux_file_alloc_security", 1, 30)],
        ),
        hook(
            "inode_permission",
            [2, 900, 60, 60, 900],
            &[("selinux", "selinux_inode_permission", 2, 840)],
        ),
    ];
    open.hooked = 1040;

    let mut compared = open.clone();
    compared.variant = "AA/BB".to_owned();
    compared.baseline = Some(BaselineProfile {
        stack: vec!["capability".to_owned()],
        total: 5550,
        hooked: 30,
        hooks: vec![hook("inode_permission", [2, 30, 30, 30, 30], &[])],
        path_windows: 60,
        windows: 64,
    });
    compared.residual = Some(7);
    compared.residual_functions = [
        ("memset", 9, Some("a larger security blob")),
        ("kfree", -2, None),
    ]
    .map(|(function, difference, explanation)| FunctionDifference {
        function: function.to_owned(),
        difference,
        explanation: explanation.map(str::to_owned),
    })
    .into();
    compared.path_windows = 40;
    compared.dirty = 3;

    let mut failed = profile("fsetxattr", "", &["default"]);
    failed.status = Status::Failed;
    failed.reason = Some("panic: \u{1b}[31m|not\u{202e}syncing|\n<b>".to_owned());
    failed.windows = 0;
    failed.path_windows = 0;

    let run = common::run();
    ProfileDocument {
        schema_version: SCHEMA_VERSION,
        tool: run.tool,
        environment: run.environment,
        profiles: vec![open, compared, failed],
        warnings: vec![Warning::new(
            WarningKind::MissingCells,
            "1 of 3 cells failed",
        )],
    }
}

fn written(document: &ProfileDocument) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn schema_is_kept_in_docs() {
    let schema = serde_json::to_string_pretty(&profile_schema()).unwrap() + "\n";
    same_as_file("../../docs/profile.schema.json", &schema, "UPDATE_SCHEMA");
}

#[test]
fn schema_names_the_documents_keys() {
    let schema = profile_schema();
    let document: serde_json::Value = serde_json::from_slice(&written(&document())).unwrap();
    let top = schema["properties"].as_object().unwrap();
    let known = |name: &str| schema["$defs"][name]["properties"].as_object().unwrap();
    let all_known = |value: &serde_json::Value, known: &serde_json::Map<_, _>| {
        for key in value.as_object().unwrap().keys() {
            assert!(known.contains_key(key), "{key}");
        }
    };
    all_known(&document, top);
    for profile in document["profiles"].as_array().unwrap() {
        all_known(profile, known("Profile"));
        for hook in profile["hooks"].as_array().unwrap() {
            all_known(hook, known("HookCost"));
        }
    }
    all_known(
        &document["profiles"][1]["baseline"],
        known("BaselineProfile"),
    );
}

#[test]
fn writer_keeps_to_the_golden_document() {
    let text = String::from_utf8(written(&document())).unwrap();
    same_as_file("tests/golden/profile-v1.json", &text, "UPDATE_GOLDEN");
}

#[test]
fn golden_document_is_read_back() {
    let read = ProfileDocument::read(&include_bytes!("golden/profile-v1.json")[..]).unwrap();
    assert_eq!(read, document());
    let [open, compared, failed] = &read.profiles[..] else {
        panic!("{read:#?}")
    };
    assert_eq!((open.title().as_str(), open.is_stable()), ("open:AA", true));
    assert!(!open.is_unexplained());
    assert!(compared.is_unexplained(), "kfree -2");
    assert_eq!(failed.title(), "fsetxattr");
}

#[test]
fn lines_are_profiles() {
    let text = String::from_utf8(written(&document())).unwrap();
    let of_profiles = text
        .lines()
        .filter(|line| line.starts_with("{\"kernel\":"))
        .count();
    assert_eq!(of_profiles, 3);
    let mut empty = document();
    empty.profiles.clear();
    empty.warnings.clear();
    assert_eq!(ProfileDocument::parse(&written(&empty)).unwrap(), empty);
}

#[test]
fn a_newer_writer_of_the_same_schema_is_read() {
    let newer = include_bytes!("golden/profile-v1-newer-keys.json");
    let read = ProfileDocument::read(&newer[..]).unwrap();
    assert_eq!(read.profiles[0].hooks[0].calls, 2);
    assert_eq!(read.warnings[0].kind, WarningKind::Other);
}

#[test]
fn what_is_no_document_is_named() {
    let refused = |text: &str| {
        let error = ProfileDocument::parse(text.as_bytes()).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default())
    };
    let ended = "it was not written to its end; profile again".to_owned();
    let wrote = "give a document that `lsmeter profile --output FILE` wrote".to_owned();
    assert_eq!(
        refused(""),
        ("profile document: empty".to_owned(), ended.clone())
    );
    assert_eq!(
        refused("{}"),
        (
            "no profile document: it has no schema_version".to_owned(),
            wrote.clone()
        )
    );
    assert_eq!(
        refused("[1]"),
        (
            "no profile document: it is JSON, but no object".to_owned(),
            wrote
        )
    );
    assert_eq!(
        refused("hook,calls\n").0,
        "profile document: not JSON at line 1, column 1: expected value"
    );
    assert_eq!(
        refused("{\"schema_version\": 7, \"profiles\": {}}"),
        (
            "written by a newer lsmeter (schema 7; this one reads up to 1)".to_owned(),
            "use the lsmeter that wrote it, or a later one".to_owned()
        )
    );
    assert_eq!(refused(&"[".repeat(100_000)).1, ended);
    let deep = format!("{{\"schema_version\": {}", "[".repeat(100_000));
    assert!(refused(&deep).0.contains("recursion limit"));
}

#[test]
fn one_document_is_not_taken_for_the_other() {
    let mut run = Vec::new();
    common::run().write(&mut run).unwrap();
    let error = ProfileDocument::parse(&run).unwrap_err().to_string();
    assert!(
        error.starts_with("profile document: at the top") && error.contains("`profiles`"),
        "{error}"
    );
    let error = Run::parse(&written(&document())).unwrap_err().to_string();
    assert!(
        error.starts_with("run document: at the top") && error.contains("missing field"),
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
    assert_eq!(error.hint(), None);
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let golden = String::from_utf8(written(&document())).unwrap();
    let broken = |from: &str, to: &str| {
        assert!(golden.contains(from), "{from}");
        let broken = golden.replacen(from, to, 1);
        let error = ProfileDocument::parse(broken.as_bytes()).unwrap_err();
        error.to_string()
    };
    let error = broken("\"calls\":1,", "\"calls\":\"x\\u001b[31m\",");
    assert!(
        error.starts_with("profile document: at profiles[0].hooks[0].calls (line 6): invalid type"),
        "{error}"
    );
    assert!(!error.contains('\u{1b}'), "{error}");
    let error = broken("\"calls\":1,", "\"calls\":-1,");
    assert!(error.contains("profiles[0].hooks[0].calls"), "{error}");
    for (from, to, message) in [
        (
            "\"stack\":[\"capability\",\"selinux\"]",
            "\"stack\":[]",
            "profiles[0]: the stack is empty",
        ),
        (
            "\"hooked\":1040",
            "\"hooked\":1041",
            "profiles[0]: 1041 instructions are in hooks, which sum up to 1040",
        ),
        (
            "\"total\":6567",
            "\"total\":1039",
            "profiles[0]: 1040 of 1039 instructions are in hooks",
        ),
        (
            "\"dispatch\":110",
            "\"dispatch\":141",
            "profiles[0]: security_file_alloc_security: dispatch is 141, inclusive 140",
        ),
        (
            "\"path_windows\":64",
            "\"path_windows\":65",
            "profiles[0]: 65 of 64 windows took the path",
        ),
        (
            "\"hooked\":30",
            "\"hooked\":31",
            "profiles[1]: in the baseline 31 instructions are in hooks, which sum up to 30",
        ),
        (
            "\"residual\":7",
            "\"residual\":-7",
            "profiles[1]: the residual is -7, but outside hooks the totals differ by 7",
        ),
        (
            "\"residual\":7,",
            "",
            "profiles[1]: a baseline without a residual",
        ),
        (
            "\"difference\":9",
            "\"difference\":8",
            "profiles[1]: the residual is 7, its functions sum up to 6",
        ),
    ] {
        assert_eq!(broken(from, to), format!("profile document: at {message}"));
    }
    let mut document = document();
    document.warnings[0].cells = vec![0, 3];
    let error = ProfileDocument::parse(&written(&document)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "profile document: at warnings[0]: there is no profile 3"
    );
    document.warnings.clear();
    document.profiles[0].residual = Some(0);
    let error = ProfileDocument::parse(&written(&document)).unwrap_err();
    assert!(error.to_string().ends_with("a residual without a baseline"));
}

/// Sums of a hostile document go beyond every figure's type.
#[test]
fn figures_at_their_limits_are_read_or_refused() {
    let mut document = document();
    let compared = &mut document.profiles[1];
    for hook in &mut compared.hooks {
        hook.inclusive = u64::MAX;
        hook.outermost = u64::MAX;
    }
    compared.residual = Some(i64::MIN);
    compared.residual_functions[0].difference = i64::MIN;
    compared.residual_functions[1].difference = i64::MIN;
    assert!(ProfileDocument::parse(&written(&document)).is_err());
    document.profiles[1].total = u64::MAX;
    document.profiles[1].hooked = u64::MAX;
    document.profiles[1].hooks.truncate(1);
    assert!(ProfileDocument::parse(&written(&document)).is_err());
}

/// Hooks whose figures fit together; below 2^32, so that their sums fit too.
fn hooks(count: impl Into<SizeRange>) -> impl Strategy<Value = Vec<HookCost>> {
    let one = (
        "\\PC{0,8}",
        any::<u32>(),
        any::<u32>(),
        [0.0f64..=1.0, 0.0..=1.0, 0.0..=1.0],
        proptest::collection::vec(
            ("[a-z]{1,8}", "\\PC{0,12}", any::<u64>(), any::<u64>()),
            0..3,
        ),
    )
        .prop_map(|(name, calls, inclusive, parts, behind)| {
            let part = |at: usize| (f64::from(inclusive) * parts[at]) as u64;
            let figures = [
                u64::from(calls),
                u64::from(inclusive),
                part(0),
                part(1),
                part(2),
            ];
            let behind: Vec<(&str, &str, u64, u64)> = behind
                .iter()
                .map(|(module, function, calls, inclusive)| {
                    (module.as_str(), function.as_str(), *calls, *inclusive)
                })
                .collect();
            hook(&name, figures, &behind)
        });
    proptest::collection::vec(one, count)
}

fn hooked(hooks: &[HookCost]) -> u64 {
    hooks.iter().map(|hook| hook.outermost).sum()
}

fn profiles() -> impl Strategy<Value = Profile> {
    let baseline = proptest::option::of((hooks(0..3), any::<u32>()));
    let names = ("\\PC{0,6}", "\\PC{0,6}", any::<u8>());
    (names, hooks(0..4), any::<u32>(), baseline).prop_map(
        |((benchmark, variant, dirty), hooks, outside, baseline)| {
            let mut profile = profile(&benchmark, &variant, &["capability", "tomoyo"]);
            profile.hooked = hooked(&hooks);
            profile.total = profile.hooked + u64::from(outside);
            profile.hooks = hooks;
            profile.dirty = u64::from(dirty);
            if let Some((hooks, base_outside)) = baseline {
                let difference = i64::from(outside) - i64::from(base_outside);
                profile.residual = Some(difference);
                if difference != 0 {
                    profile.residual_functions = vec![FunctionDifference {
                        function: variant.clone(),
                        difference,
                        explanation: (dirty > 99).then_some(benchmark),
                    }];
                }
                profile.baseline = Some(BaselineProfile {
                    stack: vec!["capability".to_owned()],
                    total: hooked(&hooks) + u64::from(base_outside),
                    hooked: hooked(&hooks),
                    hooks,
                    path_windows: 1,
                    windows: 1,
                });
            }
            profile
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(profiles in proptest::collection::vec(profiles(), 0..4)) {
        let document = ProfileDocument { profiles, ..document() };
        let bytes = written(&document);
        prop_assert_eq!(&ProfileDocument::read(&bytes[..]).unwrap(), &document);
        prop_assert_eq!(written(&document), bytes);
    }

    #[test]
    fn any_truncation_is_called_one(cut in 0.0f64..1.0) {
        let bytes = written(&document());
        let length = ((bytes.len() - 2) as f64 * cut) as usize;
        match ProfileDocument::parse(&bytes[..length]).map_err(|error| error.fault) {
            Err(DocumentFault::Truncated { .. } | DocumentFault::Empty) => {}
            other => prop_assert!(false, "{length}: {other:?}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = ProfileDocument::parse(&bytes);
    }

    #[test]
    fn any_changed_byte_is_read_or_refused(at in 0.0f64..1.0, byte: u8) {
        let mut bytes = written(&document());
        let at = (bytes.len() as f64 * at) as usize;
        bytes[at] = byte;
        if let Ok(document) = ProfileDocument::parse(&bytes) {
            prop_assert_eq!(ProfileDocument::parse(&written(&document)).unwrap(), document);
        }
    }
}
