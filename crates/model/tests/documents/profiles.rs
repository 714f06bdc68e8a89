// SPDX-License-Identifier: GPL-2.0-or-later
//! The profile document: what is written is read back, and damage is named.

use crate::common::{self, contradiction, golden, names, written};
use model::{
    Cell, Counted, Document, Evidence, Experiment, Fault, FunctionDifference, HookCost, HookedPath,
    Implementation, Key, Kind, Metric, Outcome, PathCall, PathCount, PathTree, Paths, Residual,
    Status, Subject, Warning, WarningKind,
};
use proptest::prelude::*;
use proptest::sample::SizeRange;

fn hook(hook: &str, figures: [u64; 5], behind: &[(&str, &str, u64, u64)]) -> HookCost {
    let [calls, inclusive, exclusive, dispatch, outermost] = figures;
    HookCost {
        events: None,
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
                events: None,
                module: module.to_owned(),
                function: function.to_owned(),
                calls,
                inclusive,
            })
            .collect(),
    }
}

fn path(total: u64, regions: u64, hooks: Vec<HookCost>) -> HookedPath {
    HookedPath {
        irqs_off: None,
        system_calls: std::collections::BTreeMap::new(),
        events: None,
        total,
        rep_iterations: None,
        regions,
        hooked: hooks.iter().map(|hook| hook.outermost).sum(),
        hooks,
    }
}

/// What is told of an operation one of whose paths through the kernel has this many
/// instructions and these hooks, 64 measured regions in all.
fn counted(total: u64, regions: u64, hooks: Vec<HookCost>) -> Counted {
    Counted {
        paths: Some(Paths {
            dominant: PathCount {
                instructions: total,
                rep_iterations: 4324,
                regions,
            },
            others: Vec::new(),
            regions: 64,
            dirty: 0,
            path_hash: None,
        }),
        hooked: Some(HookedPath {
            system_calls: std::collections::BTreeMap::new(),
            rep_iterations: Some(4324),
            ..path(total, regions, hooks)
        }),
        ..Counted::default()
    }
}

fn profile(benchmark: &str, variant: &str, stack: &[&str], outcome: Outcome) -> Cell {
    let key = Key {
        subject: Subject::benchmark(benchmark, variant),
        ..common::key(&stack.join(","), "", "", Metric::Instructions)
    };
    Cell {
        release: "6.1.0-56-cloud-amd64".to_owned(),
        active_lsms: names(&[&["lockdown"], stack].concat()),
        syscalls: names(&[benchmark, "close"]),
        outcome,
        ..Cell::unmeasured(key)
    }
}

/// A profile alone, one compared with a residual, one that failed with hostile text.
fn document() -> Document {
    let hooks = vec![
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
    let stack = ["capability", "selinux"];
    let alone = counted(6567, 64, hooks.clone());
    let mut compared = counted(6567, 40, hooks);
    compared.paths.as_mut().unwrap().dirty = 3;
    let functions = [
        ("memset", 9, Some("a larger security blob")),
        ("kfree", -2, None),
    ];
    let functions = functions.map(|(function, difference, explanation)| FunctionDifference {
        function: function.to_owned(),
        difference,
        explanation: explanation.map(str::to_owned),
    });
    compared.residual = Some(Residual {
        stack: names(&["capability"]),
        path: path(
            5550,
            60,
            vec![hook("inode_permission", [2, 30, 30, 30, 30], &[])],
        ),
        regions: 64,
        instructions: 7,
        functions: functions.into(),
    });
    let panic = "panic: \u{1b}[31m|not\u{202e}syncing|\n<b>";
    Document {
        cells: vec![
            profile("open", "AA", &stack, Evidence::from(alone).into()),
            profile("open", "AA/BB", &stack, Evidence::from(compared).into()),
            profile(
                "fsetxattr",
                "",
                &["default"],
                Outcome::without(Status::Failed, panic),
            ),
        ],
        warnings: vec![Warning::new(
            WarningKind::MissingMeasurements,
            "1 of 3 cells failed",
        )],
        kernel_hooks: [(
            "debian:6.1".to_owned(),
            names(&[
                "file_alloc_security",
                "inode_permission",
                "quota_on",
                "task_free",
            ]),
        )]
        .into(),
        ..common::document(Kind::Profile, common::environment())
    }
}

fn parse(text: &str) -> Result<Document, model::DocumentError> {
    Document::parse_as(Kind::Profile, text.as_bytes())
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::keeps_to_golden("profile", &document());
}

#[test]
fn profiles_tell_their_paths() {
    let document = document();
    let [(open, alone, path), (_, compared, _)] = document.hooked().collect::<Vec<_>>()[..] else {
        panic!("{document:#?}")
    };
    assert_eq!((open.title().as_str(), path.hooked), ("open:AA", 1040));
    assert_eq!(open.headline(), Some(6567.0));
    assert!(alone.is_comparable());
    assert_eq!((compared.regions(), compared.dirty()), (64, 3));
    // Of 64 measured regions two thirds are 43, on both sides.
    for (own, base, expected) in [(43, 43, true), (42, 43, false), (43, 42, false)] {
        let mut counted = compared.clone();
        counted.hooked.as_mut().unwrap().regions = own;
        counted.residual.as_mut().unwrap().path.regions = base;
        assert_eq!(counted.is_comparable(), expected, "{own} and {base}");
    }
    assert_eq!(document.cells[2].title(), "fsetxattr");
}

#[test]
fn a_profile_may_say_what_was_asked_for_and_when() {
    let run = common::run();
    let asked = Document {
        started: run.started,
        finished: run.finished,
        experiment: run.experiment,
        ..document()
    };
    let read = parse(&written(&asked)).unwrap();
    assert_eq!(read, asked);
    let base = read.baseline_of(&read.cells[0].key).unwrap();
    assert_eq!(base.stack, ["capability"]);
    assert_eq!(document().baseline_of(&read.cells[0].key), None);
    let rounds = |experiment: Experiment| experiment.rounds;
    assert_eq!(read.experiment.map(rounds), Some(3));
}

#[test]
fn unknown_keys_and_kinds_of_warnings_are_read() {
    let newer = String::from_utf8(golden("profile")).unwrap();
    let newer = newer.replacen(
        "\"warnings\": [\n{",
        "\"moon\": [1],\n\"warnings\": [\n{",
        1,
    );
    let kind = newer.rfind("\"kind\":\"").unwrap();
    let newer =
        newer[..kind].to_owned() + &newer[kind..].replacen("\"kind\":\"", "\"kind\":\"new-", 1);
    let read = parse(&newer).unwrap();
    assert_eq!(read.cells, document().cells);
    assert_eq!(read.warnings.last().unwrap().kind, WarningKind::Other);
}

#[test]
fn what_is_no_document_is_named() {
    let refused = |text: &str| {
        let error = parse(text).unwrap_err();
        (error.to_string(), error.hint().unwrap_or_default())
    };
    let ended = "it was not written to its end; profile again".to_owned();
    let wrote = "give a document that `lsmeter profile --output FILE` wrote".to_owned();
    assert_eq!(
        refused(""),
        ("profile document: empty".to_owned(), ended.clone())
    );
    let no_version = "no profile document: it has no schema_version".to_owned();
    assert_eq!(refused("{}"), (no_version, wrote));
    assert_eq!(
        refused("hook,calls\n").0,
        "profile document: not JSON at line 1, column 1: expected value"
    );
    assert_eq!(
        refused("{\"schema_version\": 7, \"profiles\": {}}"),
        (
            "written by another lsmeter (schema version 7; this one reads 3)".to_owned(),
            "use the lsmeter that wrote it".to_owned()
        )
    );
    assert_eq!(refused(&"[".repeat(100_000)).1, ended);
}

/// What contradicts itself, and the message.
const CONTRADICTIONS: [[&str; 3]; 9] = [
    [
        "\"stack\":[\"capability\",\"selinux\"]",
        "\"stack\":[]",
        "[0]: the stack is empty",
    ],
    [
        "\"hooked\":1040",
        "\"hooked\":1041",
        "[0]: 1041 instructions are in hooks, which sum up to 1040",
    ],
    [
        "\"total\":6567",
        "\"total\":1039",
        "[0]: 1040 of 1039 instructions are in hooks",
    ],
    [
        "\"dispatch\":110",
        "\"dispatch\":141",
        "[0]: security_file_alloc_security: dispatch is 141, inclusive 140",
    ],
    [
        "\"regions\":64,\"hooked\"",
        "\"regions\":65,\"hooked\"",
        "[0]: 65 of 64 measured regions took the ",
    ],
    [
        "\"hooked\":30",
        "\"hooked\":31",
        "[1]: in the baseline 31 instructions are in hooks, which sum up to 30",
    ],
    [
        "\"instructions\":7",
        "\"instructions\":-7",
        "[1]: the residual is -7, but outside hooks the totals differ by 7",
    ],
    [
        "\"difference\":9",
        "\"difference\":8",
        "[1]: the residual is 7, its functions sum up to 6",
    ],
    [
        "\"warnings\": [\n{",
        "\"warnings\": [\n{\"measurements\":[0,3],",
        "warnings[0]: there is no cell 3",
    ],
];

#[test]
fn contradictions_are_named_with_their_place() {
    let golden = String::from_utf8(golden("profile")).unwrap();
    for [from, to, message] in CONTRADICTIONS {
        assert!(golden.contains(from), "{from}");
        let error = contradiction(parse(&golden.replacen(from, to, 1)));
        let list = if message.starts_with('[') {
            "measurements"
        } else {
            ""
        };
        let expected = format!("profile document: at {list}{message}");
        assert!(error.starts_with(&expected), "{error}");
    }
    let mut unhooked = document();
    of(&mut unhooked, 1).hooked = None;
    let error = contradiction(parse(&written(&unhooked)));
    assert_eq!(
        error,
        "profile document: at measurements[1]: a residual without hooks"
    );
}

#[test]
fn wrong_values_are_named_with_their_place() {
    let place = "measurements[0].evidence.counted.hooked.hooks[0].calls";
    let golden = String::from_utf8(golden("profile")).unwrap();
    for to in ["\"calls\":\"x\\u001b[31m\",", "\"calls\":-1,"] {
        let broken = golden.replacen("\"calls\":1,", to, 1);
        let error = parse(&broken).unwrap_err().to_string();
        let place = format!("profile document: at {place} (line ");
        assert!(error.starts_with(&place), "{error}");
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}

/// What was counted in a cell.
fn of(document: &mut Document, cell: usize) -> &mut Counted {
    document.cells[cell].counted_mut().unwrap()
}

/// All calls of a path whose instructions are 6,567, as the first cell has them.
fn tree() -> PathTree {
    PathTree {
        functions: names(&["do_syscall_64", "security_inode_permission"]),
        nodes: vec![
            PathCall::from((0, 0, 0, 0)),
            PathCall::from((0, 0, 1, 5667)),
            PathCall::from((1, 1, 2, 900)),
        ],
        hooks: vec![2, 2],
    }
}

#[test]
fn a_path_may_keep_its_calls() {
    let mut document = document();
    of(&mut document, 0).tree = Some(tree());
    let text = written(&document);
    let compact: String = text.split_whitespace().collect();
    assert!(compact.contains(r#""nodes":[[0,0,0,0],[0,0,1,5667],[1,1,2,900]]"#));
    let read = parse(&text).unwrap();
    let kept = read.cells[0].counted().unwrap().tree.as_ref().unwrap();
    assert_eq!(*kept, tree());
    assert_eq!(kept.function(&kept.nodes[2]), "security_inode_permission");
    assert_eq!(kept.function(&PathCall::from((0, 9, 1, 1))), "");
}

#[test]
fn calls_that_no_path_has_are_refused() {
    type Change = fn(&mut PathTree);
    let wrong: [(Change, &str); 7] = [
        (|of| of.nodes.clear(), "its tree of calls has no root"),
        (|of| of.nodes[0].caller = 1, "its tree of calls has no root"),
        (
            |of| of.nodes[1].caller = 1,
            "call 1 (do_syscall_64) of its tree is of nobody",
        ),
        (
            |of| of.nodes[2].function = 7,
            "call 2 () of its tree is of nobody",
        ),
        (|of| of.hooks[1] = 3, "hook 3 is not in its tree of calls"),
        (
            |of| of.nodes[2].instructions = u64::MAX,
            "the calls of a path of 6567 instructions sum up to 18446744073709557282 of them",
        ),
        (
            |of| of.hooks = vec![0; PathTree::HOOKS_LIMIT + 1],
            "its tree of calls is too large",
        ),
    ];
    for (change, expected) in wrong {
        let (mut document, mut tree) = (document(), tree());
        change(&mut tree);
        of(&mut document, 0).tree = Some(tree);
        let error = contradiction(parse(&written(&document)));
        assert_eq!(
            error,
            format!("profile document: at measurements[0]: {expected}")
        );
    }
    let mut document = document();
    let unhooked = of(&mut document, 0);
    unhooked.tree = Some(tree());
    unhooked.hooked = None;
    let error = contradiction(parse(&written(&document)));
    assert!(error.ends_with("a tree of calls without hooks"), "{error}");
}

/// Sums of a hostile document go beyond every figure's type.
#[test]
fn figures_at_their_limits_are_read_or_refused() {
    let mut document = document();
    let compared = of(&mut document, 1);
    let path = compared.hooked.as_mut().unwrap();
    for hook in &mut path.hooks {
        hook.inclusive = u64::MAX;
        hook.outermost = u64::MAX;
    }
    let residual = compared.residual.as_mut().unwrap();
    residual.instructions = i64::MIN;
    for function in &mut residual.functions {
        function.difference = i64::MIN;
    }
    assert!(parse(&written(&document)).is_err());
    let path = of(&mut document, 1).hooked.as_mut().unwrap();
    path.total = u64::MAX;
    path.hooked = u64::MAX;
    path.hooks.truncate(1);
    assert!(parse(&written(&document)).is_err());
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

fn profiles() -> impl Strategy<Value = Cell> {
    let baseline = proptest::option::of((hooks(0..3), any::<u32>()));
    let names = ("\\PC{0,6}", "\\PC{0,6}", any::<u8>());
    (names, hooks(0..4), any::<u32>(), baseline).prop_map(
        |((benchmark, variant, dirty), hooks, outside, baseline)| {
            let with = |outside: u32, regions, hooks| {
                let path = path(0, regions, hooks);
                HookedPath {
                    system_calls: std::collections::BTreeMap::new(),
                    total: path.hooked + u64::from(outside),
                    ..path
                }
            };
            let own = with(outside, 64, hooks);
            let mut told = counted(own.total, 64, own.hooks);
            told.paths.as_mut().unwrap().dirty = u64::from(dirty);
            told.residual = baseline.map(|(hooks, base_outside)| {
                let instructions = i64::from(outside) - i64::from(base_outside);
                let function = FunctionDifference {
                    function: variant.clone(),
                    difference: instructions,
                    explanation: (dirty > 99).then(|| benchmark.clone()),
                };
                Residual {
                    stack: common::names(&["capability"]),
                    path: with(base_outside, 1, hooks),
                    regions: 1,
                    instructions,
                    functions: Vec::from_iter((instructions != 0).then_some(function)),
                }
            });
            let outcome = Evidence::from(told).into();
            profile(&benchmark, &variant, &["capability", "tomoyo"], outcome)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(cells in proptest::collection::vec(profiles(), 0..4)) {
        let document = Document { cells, ..document() };
        let text = written(&document);
        prop_assert_eq!(&parse(&text).unwrap(), &document);
        prop_assert_eq!(written(&document), text);
    }
}
