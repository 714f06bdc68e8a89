// SPDX-License-Identifier: GPL-2.0-or-later
//! What is made of cells, a kernel's hooks and facts.

use std::collections::{BTreeMap, BTreeSet};

use coverage::{CoverageError, Facts, Inputs, KernelHooks, Reached, cover, reached};
use model::coverage::{CoverageFindings, CoveredHook, Need, StaleReason};
use model::{
    Architecture, Cell, Counted, Estimate, Evidence, HookCost, HookedPath, Implementation, Key,
    LaterHook, Metric, Outcome, PlacementDocument, Policy, Stored as _, Subject, Suite, Tuning,
    placement::Count,
};
use proptest::prelude::*;
use stats::Summary;

const FACTS: &str = "
[[fact]]
hooks = ['settime', 'file_open', 'gone']
needs = 'benchmark'
why = 'clock_settime(2).'
code = 'kernel/time/time.c'
[[fact]]
hooks = ['inode_xattr_skipcap']
needs = 'variant'
why = 'setxattr:other calls it.'
code = 'fs/xattr.c'
[[fact]]
hooks = ['tun_dev_open']
needs = 'module'
option = 'CONFIG_TUN'
why = 'tun.'
code = 'drivers/net/tun.c'
";

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn kernel() -> KernelHooks {
    let function = |module: &str, function: &str| (module.to_owned(), function.to_owned());
    KernelHooks {
        name: "k".to_owned(),
        release: "6.12".to_owned(),
        hooks: names(&[
            "file_open",
            "inode_xattr_skipcap",
            "settime",
            "tun_dev_open",
            "odd",
        ]),
        implementations: Some(BTreeMap::from([
            (
                "file_open".to_owned(),
                BTreeSet::from([
                    function("selinux", "selinux_file_open"),
                    function("apparmor", "apparmor_file_open"),
                ]),
            ),
            (
                "inode_xattr_skipcap".to_owned(),
                BTreeSet::from([function("smack", "smack_inode_xattr_skipcap")]),
            ),
        ])),
        options: BTreeMap::from([("CONFIG_TUN".to_owned(), String::new())]),
    }
}

/// A hook that was called, and what ran for it: module, function, calls, instructions.
fn hook(hook: &str, calls: u64, ran: &[(&str, &str, u64, u64)]) -> HookCost {
    let ran = ran
        .iter()
        .map(|&(module, function, calls, inclusive)| Implementation {
            module: module.to_owned(),
            function: function.to_owned(),
            calls,
            inclusive,
            events: None,
        });
    HookCost {
        hook: hook.to_owned(),
        function: format!("security_{hook}"),
        calls,
        implementations: ran.collect(),
        ..HookCost::default()
    }
}

fn cell(kernel: &str, benchmark: &str, module: &str, hooks: Vec<HookCost>) -> Cell {
    let mut cell = Cell::unmeasured(Key {
        architecture: Architecture::default(),
        kernel: kernel.to_owned(),
        stack: vec!["capability".to_owned(), module.to_owned()],
        integrity: Vec::new(),
        policy: Policy::None,
        tuning: Tuning::default(),
        filesystem: "ext4".to_owned(),
        subject: Subject::benchmark(benchmark, "v"),
        delay: None,
        metric: Metric::Instructions,
    });
    cell.outcome = Outcome::Ok {
        evidence: Evidence::Counted(Box::new(Counted {
            hooked: Some(HookedPath {
                total: 0,
                rep_iterations: None,
                windows: 1,
                hooked: 0,
                hooks,
                system_calls: BTreeMap::new(),
                events: None,
                irqs_off: None,
            }),
            ..Counted::default()
        })),
    };
    cell
}

fn covered(kernel: &KernelHooks, cells: &[Cell], reached: Option<&Reached>) -> CoverageFindings {
    cover(&Inputs {
        kernel,
        cells,
        facts: &Facts::parse(FACTS).unwrap(),
        reached,
        suites: &BTreeMap::from([("open".to_owned(), Suite::Paper)]),
        lacking: &["smack".to_owned()],
    })
    .unwrap()
}

fn of<'a>(findings: &'a CoverageFindings, name: &str) -> &'a CoveredHook {
    findings.hooks.iter().find(|of| of.hook == name).unwrap()
}

fn cells() -> Vec<Cell> {
    let selinux = [("selinux", "selinux_file_open", 2, 50)];
    vec![
        cell("k", "open", "selinux", vec![hook("file_open", 2, &selinux)]),
        cell("k", "open", "landlock", vec![hook("file_open", 1, &[])]),
        cell(
            "k",
            "setxattr",
            "smack",
            vec![
                hook(
                    "inode_setxattr",
                    1,
                    &[("smack", "smack_inode_xattr_skipcap.isra.0", 1, 9)],
                ),
                hook("file_open", 1, &[("selinux", "selinux_file_open", 1, 20)]),
            ],
        ),
        cell("other", "open", "selinux", vec![hook("settime", 1, &[])]),
        Cell::unmeasured(cell("k", "creat", "selinux", Vec::new()).key),
    ]
}

#[test]
fn hooks_are_called_or_have_a_reason() {
    let reached = Reached::from([
        ("settime".to_owned(), names(&["clock_settime"])),
        ("file_open".to_owned(), names(&["open"])),
    ]);
    let findings = covered(&kernel(), &cells(), Some(&reached));
    let open = of(&findings, "file_open");
    assert_eq!(open.calls(), Some((1, 2)));
    let by: Vec<(String, Option<Suite>, u64, u64)> = open
        .called_by
        .iter()
        .map(|by| (by.title(), by.suite, by.least, by.most))
        .collect();
    assert_eq!(
        by,
        [
            ("open:v".to_owned(), Some(Suite::Paper), 1, 2),
            ("setxattr:v".to_owned(), None, 1, 1),
        ]
    );
    let [apparmor, selinux] = &open.implementations[..] else {
        panic!("{:?}", open.implementations);
    };
    assert_eq!(apparmor.ran, None);
    let ran = selinux.ran.unwrap();
    assert_eq!((ran.least, ran.most, ran.operations), (20.0, 25.0, 2));
    // A called hook needs no system calls by source.
    assert!(open.system_calls.is_empty() && open.reason.is_none());
    // It has no function of its own, and runs in another hook's, which is none of this kernel's.
    let skipcap = of(&findings, "inode_xattr_skipcap");
    assert_eq!(skipcap.calls(), Some((0, 0)));
    assert!(skipcap.implementations[0].ran.is_some());
    assert_eq!(findings.beside, ["inode_setxattr"]);
    let settime = of(&findings, "settime");
    assert_eq!(settime.reason.as_ref().unwrap().needs, Need::Benchmark);
    assert_eq!(settime.system_calls, ["clock_settime"]);
    let tun = of(&findings, "tun_dev_open").reason.as_ref().unwrap();
    assert_eq!(tun.needs, Need::Configuration);
    assert_eq!(of(&findings, "odd").reason, None);
}

#[test]
fn programs_call_hooks_as_benchmarks_do() {
    let mut program = cell("k", "open", "landlock", vec![hook("settime", 7, &[])]);
    program.key.subject = Subject::Workload {
        workload: "landlock-tests".to_owned(),
        root: "0".repeat(64),
    };
    let mut again = program.clone();
    again.outcome = cell("k", "open", "selinux", vec![hook("settime", 9, &[])]).outcome;
    let alone = covered(&kernel(), &[program.clone(), again.clone()], None);
    let settime = of(&alone, "settime");
    let [by] = &settime.called_by[..] else {
        panic!("{:?}", settime.called_by);
    };
    let told = (by.title(), by.suite, by.least, by.most);
    assert_eq!(told, ("landlock-tests".to_owned(), None, 7, 9));
    // The share is of the same hooks as that of benchmarks, and both can stand in one.
    let benchmarks = covered(&kernel(), &cells(), None).share;
    assert_eq!(alone.share.within_reach, benchmarks.within_reach);
    let both = covered(&kernel(), &[cells(), vec![program, again]].concat(), None);
    assert_eq!(both.share.called, benchmarks.called + 1);
}

#[test]
fn a_program_named_as_a_benchmark_is_none() {
    let mut benchmark = cell("k", "open", "selinux", vec![hook("file_open", 1, &[])]);
    benchmark.key.subject = Subject::benchmark("open", "");
    let mut program = cell("k", "open", "selinux", vec![hook("file_open", 5, &[])]);
    program.key.subject = Subject::Workload {
        workload: "open".to_owned(),
        root: "0".repeat(64),
    };
    let findings = covered(&kernel(), &[program, benchmark], None);
    let by = &of(&findings, "file_open").called_by;
    let told: Vec<(Option<Suite>, u64)> = by.iter().map(|by| (by.suite, by.most)).collect();
    assert_eq!(told, [(Some(Suite::Paper), 1), (None, 5)]);
}

#[test]
fn what_is_called_after_operations_is_called() {
    let left = |benchmark: &str, later: &[(&str, u64)]| {
        let mut cell = cell("k", benchmark, "selinux", Vec::new());
        let later = later.iter().map(|&(hook, calls)| LaterHook {
            hook: hook.to_owned(),
            calls,
        });
        let Outcome::Ok {
            evidence: Evidence::Counted(counted),
        } = &mut cell.outcome
        else {
            panic!("it was not counted");
        };
        counted.later = later.collect();
        let samples = [1.0; 8];
        let summary = Summary::of(&samples).unwrap();
        counted.estimate = Some(Estimate::from(&summary));
        cell
    };
    let mut cells = cells();
    // Less often than each second operation: what ran before may have left it.
    cells.push(left(
        "open",
        &[("odd", 4), ("settime", 3), ("file_open", 8)],
    ));
    cells.push(left("stat", &[("odd", 1)]));
    let findings = covered(&kernel(), &cells, None);
    let odd = of(&findings, "odd");
    assert!(odd.is_called() && odd.calls().is_none() && odd.reason.is_none());
    let [earlier] = &odd.called_after[..] else {
        panic!("{:?}", odd.called_after);
    };
    assert_eq!(
        (earlier.title(), earlier.calls_each()),
        ("open:v".to_owned(), 0.5)
    );
    assert_eq!(odd.suites().collect::<Vec<Suite>>(), [Suite::Paper]);
    assert!(!of(&findings, "settime").is_called());
    // It is called by operations, too, and that says more.
    assert!(of(&findings, "file_open").called_after.is_empty());
    let share = findings.share;
    assert_eq!((share.called, share.called_later), (3, 1));
}

#[test]
fn the_share_leaves_out_what_is_out_of_reach() {
    let findings = covered(&kernel(), &cells(), None);
    let share = findings.share;
    assert_eq!((share.hooks, share.called), (5, 2));
    assert_eq!((share.within_reach, share.unexplained), (4, 1));
    assert_eq!(share.percent(), Some(50.0));
    assert_eq!(findings.lacking, ["smack"]);
}

#[test]
fn reasons_that_do_not_fit_are_told() {
    // That a variant calls a hook is no reason that could not fit.
    let findings = covered(&kernel(), &cells(), None);
    let stale = |hook: &str, called| StaleReason {
        hook: hook.to_owned(),
        called,
    };
    assert_eq!(
        findings.stale,
        [stale("file_open", true), stale("gone", false)]
    );
}

#[test]
fn a_kernel_that_does_not_tell_has_the_functions_that_ran() {
    let silent = KernelHooks {
        implementations: None,
        ..kernel()
    };
    let findings = covered(&silent, &cells(), None);
    assert!(!findings.implementations_known);
    assert_eq!(of(&findings, "file_open").implementations.len(), 1);
    assert!(!of(&findings, "inode_xattr_skipcap").is_called());
}

#[test]
fn cells_of_other_kernels_and_without_hooks_are_none() {
    let kernel = kernel();
    let cells = &cells()[3..];
    let facts = Facts::default();
    let told = cover(&Inputs {
        kernel: &kernel,
        cells,
        facts: &facts,
        reached: None,
        suites: &BTreeMap::new(),
        lacking: &[],
    });
    let name = kernel.name.clone();
    assert_eq!(told, Err(CoverageError::Nothing { kernel: name }));
}

fn any_cells() -> impl Strategy<Value = Vec<Cell>> {
    const KNOWN: [&str; 4] = ["file_open", "settime", "odd", "elsewhere"];
    const FUNCTIONS: [&str; 3] = ["selinux_file_open", "smack_inode_xattr_skipcap", "x.part.0"];
    let cost = (
        prop::sample::select(&KNOWN[..]),
        0..4_u64,
        prop::sample::select(&FUNCTIONS[..]),
        0..3_u64,
        0..100_u64,
    );
    let costs = prop::collection::vec(cost, 0..4);
    let one = (prop::sample::select(&["open", "stat"][..]), costs);
    let one = one.prop_map(|(benchmark, costs)| {
        let hooks = costs.into_iter().map(|(name, calls, function, ran, cost)| {
            hook(name, calls, &[("selinux", function, ran, cost)])
        });
        cell("k", benchmark, "selinux", hooks.collect())
    });
    prop::collection::vec(one, 1..6)
}

proptest! {
    #[test]
    fn each_hook_of_the_kernel_is_there_once(cells in any_cells()) {
        let kernel = kernel();
        let findings = covered(&kernel, &cells, None);
        let hooks: Vec<&str> = findings.hooks.iter().map(|of| of.hook.as_str()).collect();
        prop_assert_eq!(hooks, Vec::from_iter(kernel.hooks.iter().map(String::as_str)));
        let share = findings.share;
        prop_assert!(share.called <= share.within_reach && share.within_reach <= share.hooks);
        for hook in &findings.hooks {
            prop_assert!(!(hook.is_called() && hook.reason.is_some()));
            prop_assert!(hook.called_by.iter().all(|by| by.least <= by.most));
            prop_assert!(!findings.beside.contains(&hook.hook));
        }
    }

    #[test]
    fn the_order_of_cells_says_nothing(cells in any_cells()) {
        let turned: Vec<Cell> = cells.iter().rev().cloned().collect();
        let kernel = kernel();
        prop_assert_eq!(covered(&kernel, &cells, None), covered(&kernel, &turned, None));
    }

    #[test]
    fn more_cells_take_no_hook_away(cells in any_cells(), more in any_cells()) {
        let kernel = kernel();
        let called = |cells: &[Cell]| -> BTreeSet<String> {
            let findings = covered(&kernel, cells, None);
            let hooks = findings.hooks.into_iter().filter(CoveredHook::is_called);
            hooks.map(|of| of.hook).collect()
        };
        let all = [&cells[..], &more].concat();
        prop_assert!(called(&cells).is_subset(&called(&all)));
    }
}

const PLACEMENT: &[u8] = include_bytes!("../../model/tests/golden/placement.json");

#[test]
fn system_calls_are_those_that_call_a_hook_themselves() {
    let placement = PlacementDocument::parse(PLACEMENT).unwrap();
    let reached = reached(&placement);
    let mut some = false;
    for call in &placement.syscalls {
        for hook in &call.hooks {
            let calls = &reached[&hook.hook];
            assert!(!calls.is_empty());
            if hook.max != Count::ZERO {
                some = true;
                assert!(calls.contains(&call.syscall), "{}", hook.hook);
            }
        }
    }
    assert!(some);
}
