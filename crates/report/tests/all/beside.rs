// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs beside what others published: a small one, and odd ones.

use crate::hooked::{implementation, path};
use model::{
    Cell, Configuration, Counted, Document, Estimate, Evidence, HookCost, HookedPath, Integrity,
    Key, Metric, Outcome, PathCount, Paths, Status, Subject, Timed,
};
use proptest::prelude::*;
use published::{Figure, Verdict, beside, published};
use report::published::beside_report;
use report::{Layout, markdown, terminal};

fn empty() -> Document {
    let mut run = Document::parse(include_bytes!("../../../model/tests/golden/run.json")).unwrap();
    run.cells.clear();
    run.warnings.clear();
    run
}

fn cell(kernel: &str, stack: &str, title: &str, metric: Metric, value: f64) -> Cell {
    let (benchmark, variant) = title.split_once(':').unwrap();
    let key = Key {
        stack: stack.split(',').map(str::to_owned).collect(),
        ..Key::new(
            kernel,
            &Configuration::of_stack("none".parse().unwrap()),
            "ext4",
            Subject::benchmark(benchmark, variant),
            metric,
        )
    };
    let estimate = Estimate {
        n: 64,
        median: value,
        mean: None,
        stddev: None,
        min: None,
        max: None,
        ci95: Some([value * 0.99, value * 1.01]),
        samples: None,
    };
    let evidence = if metric.is_counted() {
        let paths = Paths {
            dominant: PathCount {
                instructions: value as u64,
                rep_iterations: 0,
                regions: 64,
            },
            others: Vec::new(),
            regions: 64,
            dirty: 0,
            path_hash: None,
        };
        Evidence::from(Counted {
            estimate: Some(estimate),
            paths: Some(paths),
            ..Counted::default()
        })
    } else {
        Evidence::Timed(Timed::of(estimate))
    };
    Cell {
        release: format!("6.12.117-{}", kernel.rsplit(':').next().unwrap()),
        active_lsms: key.stack.clone(),
        outcome: evidence.into(),
        ..Cell::unmeasured(key)
    }
}

/// With these system calls and hooks on its path.
fn with_hooks(mut cell: Cell, system_calls: &[&str], hooks: Vec<HookCost>) -> Cell {
    let system_calls = system_calls
        .iter()
        .map(|call| ((*call).to_owned(), 1))
        .collect();
    if let Some(counted) = cell.counted_mut() {
        counted.hooked = Some(HookedPath {
            system_calls,
            ..path(hooks)
        });
    }
    cell
}

fn counted(kernel: &str, stack: &str, title: &str, value: f64) -> Cell {
    cell(kernel, stack, title, Metric::Instructions, value)
}

fn hook(name: &str, calls: u64, module: &str) -> HookCost {
    HookCost {
        hook: name.to_owned(),
        calls,
        implementations: vec![implementation(module, name, calls, 0)],
        ..HookCost::default()
    }
}

/// A kernel without LSMs, and one with them in several configurations.
fn small() -> Document {
    let mut run = empty();
    for (title, none, capability, selinux) in [
        ("open:AA", 4_612.0, 4_912.0, 6_126.0),
        ("stat:AA", 3_570.0, 3_668.0, 4_257.0),
        ("creat:random", 20_000.0, 19_000.0, 23_000.0),
        ("read:4KB", 1_000.0, 1_060.0, 1_130.0),
        ("mkdir:one", 9_000.0, 9_090.0, 9_900.0),
        ("unlink:random", 15_000.0, 15_600.0, 17_000.0),
        ("chmod:depth1", 5_000.0, 5_100.0, 5_900.0),
    ] {
        run.cells.push(counted("build:dac", "none", title, none));
        run.cells
            .push(counted("build:all", "capability", title, capability));
        run.cells
            .push(counted("build:all", "capability,selinux", title, selinux));
    }
    let mut audit = counted("build:all", "capability,selinux", "open:AA", 6_500.0);
    audit.key.integrity = vec![Integrity::Audit];
    run.cells.push(audit);
    let mut open = counted("build:all", "capability,smack", "open:AA", 6_000.0);
    open = with_hooks(
        open,
        &["open", "close"],
        vec![
            hook("inode_permission", 2, "smack"),
            hook("file_open", 1, "smack"),
            hook("file_alloc_security", 1, "smack"),
        ],
    );
    run.cells.push(open);
    let mut read = counted("build:all", "capability,smack", "read:4KB", 1_200.0);
    read = with_hooks(read, &["read"], vec![hook("file_permission", 1, "smack")]);
    run.cells.push(read);
    run
}

fn figure(id: &str) -> &'static Figure {
    published().iter().find(|figure| figure.id == id).unwrap()
}

#[test]
fn verdicts() {
    for (ours, theirs, verdict) in [
        (0.0, 0.0, Verdict::Agrees),
        (0.0049, 0.0, Verdict::Agrees),
        (-0.006, 0.0, Verdict::Differs),
        (0.0825, 0.075, Verdict::Agrees),
        (0.0675, 0.075, Verdict::Agrees),
        (0.083, 0.075, Verdict::Differs),
        (-0.22, -0.2, Verdict::Agrees),
        (-0.2, 0.2, Verdict::Differs),
        (0.0, 0.05, Verdict::Differs),
    ] {
        assert_eq!(Verdict::of(ours, theirs), verdict, "{ours} {theirs}");
    }
}

#[test]
fn small_run_in_a_terminal() {
    let report = beside_report(&beside(&small()));
    insta::assert_snapshot!(terminal(&report, &Layout::default()));
}

#[test]
fn the_published_configuration_goes_before_what_stands_in() {
    let run = small();
    let beside = beside(&run);
    let open = |id: &str| {
        let mut all = beside.comparisons.iter();
        all.find(|c| c.figure.id == id).unwrap()
    };
    let selinux = open("paper:table1.current-selinux.open");
    assert_eq!(selinux.tested, "capability,selinux +audit");
    assert_eq!(selinux.baseline.as_deref(), Some("none on build:dac"));
    assert!(selinux.stands_in.is_empty());
    let stat = open("paper:table1.current-selinux.stat");
    assert_eq!(stat.tested, "capability,selinux");
    assert_eq!(stat.stands_in, ["without audit's rules"]);
}

#[test]
fn a_throughput_is_compared_with_what_operations_take() {
    let beside = beside(&small());
    let mut all = beside.comparisons.iter();
    let read = all.find(|c| c.figure.id == "paper:table1.current-lsm.read");
    let read = read.unwrap();
    let expected = 1.0 - 1_000.0 / 1_060.0;
    assert!((read.ours - expected).abs() < 1e-12, "{}", read.ours);
    assert_eq!(read.verdict, Verdict::Agrees);
}

#[test]
fn throughput_cells_answer_throughputs_only() {
    let mut run = empty();
    for (kernel, stack, rate) in [("a", "none", 2e6), ("b", "capability", 1.9e6)] {
        run.cells
            .push(cell(kernel, stack, "read:4KB", Metric::Throughput, rate));
    }
    let beside = beside(&run);
    let ids = beside.comparisons.iter().map(|c| c.figure.id.as_str());
    let reads = [
        "paper:table1.current-lsm.read",
        "paper:table1.lsm-2002.read",
    ];
    assert_eq!(ids.collect::<Vec<_>>(), reads);
    assert!((beside.comparisons[0].ours - 0.05).abs() < 1e-12);
    assert!(
        beside.caution.is_some(),
        "the golden run's emulator has no KVM"
    );
}

#[test]
fn what_may_be_chance_is_marked() {
    let mut run = empty();
    for (kernel, stack, ns) in [("a", "none", 1_000.0), ("b", "capability", 1_010.0)] {
        run.cells
            .push(cell(kernel, stack, "open:AA", Metric::Time, ns));
    }
    let beside = beside(&run);
    assert!(beside.comparisons.iter().all(|c| c.unclear));
    let text = terminal(&beside_report(&beside), &Layout::default());
    assert!(
        text.contains("~") && !text.contains("1.0 %") && text.contains("may be chance"),
        "{text}"
    );
}

#[test]
fn a_baseline_on_another_kernel_must_be_the_only_one() {
    let mut run = empty();
    run.cells
        .push(counted("build:new", "capability", "open:AA", 1_100.0));
    run.cells
        .push(counted("build:dac", "none", "open:AA", 1_000.0));
    run.cells
        .push(counted("build:old-dac", "none", "open:AA", 900.0));
    assert!(
        beside(&run).comparisons.is_empty(),
        "which of the two is meant?"
    );
    run.cells[2].release = "5.10.0-old".to_owned();
    let beside = beside(&run);
    assert!(!beside.comparisons.is_empty());
    let mut all = beside.comparisons.iter();
    assert!(all.all(|c| (c.ours - 0.1).abs() < 1e-12));
}

#[test]
fn a_median_is_of_half_of_the_tests_at_least() {
    let mut run = empty();
    let tests = &figure("paper:figure7.median.smack-capability").ours;
    assert_eq!(tests.len(), 14);
    let median = |run: &Document| {
        let comparisons = beside(run).comparisons;
        let mut of_all = comparisons.into_iter();
        of_all.find(|c| c.figure.id == "paper:figure7.median.smack-capability")
    };
    for (index, operation) in tests.iter().enumerate().take(7) {
        assert!(median(&run).is_none(), "{index}");
        let title = operation.to_string();
        let tested = 110.0 + 10.0 * index as f64;
        run.cells.push(counted("a", "none", &title, 100.0));
        run.cells
            .push(counted("a", "smack,capability", &title, tested));
    }
    let median = median(&run).unwrap();
    assert_eq!(median.benchmark, "median of 7 of 14");
    assert!((median.ours - 0.4).abs() < 1e-12);
    assert_eq!(median.verdict, Verdict::Differs);
}

#[test]
fn counts_need_hooks() {
    let comparisons = beside(&small()).comparisons;
    let of = |id: &str| comparisons.iter().find(|c| c.figure.id == id);
    let slope = of("paper:table6.open.AA").unwrap();
    assert_eq!((slope.ours, slope.verdict), (2.0, Verdict::Agrees));
    assert!(
        of("paper:table6.stat.AA").is_none(),
        "its cells carry no hooks"
    );
    let most = of("paper:table7.open.inode_permission.smack").unwrap();
    assert_eq!(
        (most.bounds, most.verdict),
        ([None, Some(6.0)], Verdict::Agrees)
    );
    let zero = of("paper:table7.read.file_permission.smack").unwrap();
    assert_eq!(
        (zero.ours, zero.theirs, zero.verdict),
        (1.0, 0.0, Verdict::Differs)
    );
    assert!(zero.explanations.iter().any(|e| e.id == "not-implemented"));
    let window = of("paper:table3.system-calls.read").unwrap();
    assert_eq!((window.ours, window.verdict), (1.0, Verdict::Differs));
    assert!(window.explanations.iter().any(|e| e.id == "window"));
}

#[test]
fn what_agrees_needs_no_explanation() {
    for comparison in beside(&small()).comparisons {
        let agrees = comparison.verdict == Verdict::Agrees;
        let explained = !comparison.explanations.is_empty();
        assert!(!(agrees && explained), "{}", comparison.figure.id);
    }
}

#[test]
fn nothing_to_compare_is_said() {
    let report = beside_report(&beside(&empty()));
    assert!(report.tables.is_empty());
    assert!(
        report.warnings[0].contains("stack none"),
        "{:?}",
        report.warnings
    );
}

fn odd_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-1.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::MIN_POSITIVE),
        Just(f64::MAX),
        1.0..1e6f64,
    ]
}

fn odd_cell() -> impl Strategy<Value = Cell> {
    let kernel = prop_oneof![Just("a"), Just("b"), Just("=\u{1b}[31m")];
    let stack = prop_oneof![
        Just("none"),
        Just("capability"),
        Just("capability,selinux"),
        Just("smack,capability"),
        Just(",")
    ];
    let title = prop_oneof![
        Just("open:AA"),
        Just("read:4KB"),
        Just("mkdir:one"),
        Just("lmbench-read:1B"),
        Just("lmbench-write:1B"),
        Just("\u{202e}:|")
    ];
    let metric = prop::sample::select(Metric::MEASURABLE);
    let status = prop::sample::select(Status::ALL);
    let calls = prop_oneof![Just(0), Just(u64::MAX), 0..5u64];
    (
        kernel,
        stack,
        title,
        metric,
        status,
        odd_value(),
        calls,
        any::<[bool; 4]>(),
        ".{0,8}",
    )
        .prop_map(
            |(kernel, stack, title, metric, status, value, calls, has, release)| {
                let mut cell = cell(kernel, stack, title, metric, value);
                cell.release = release;
                if has[2] {
                    let names = ["inode_permission", "file_permission"];
                    let hooks = names.map(|name| hook(name, calls / 100, "selinux"));
                    cell = with_hooks(cell, &[], hooks.into());
                }
                if let Some(counted) = cell.counted_mut() {
                    counted.paths = counted.paths.take().filter(|_| !has[0]);
                    counted.estimate = counted.estimate.take().filter(|_| !has[1]);
                }
                if status != Status::Ok {
                    cell.outcome = Outcome::without(status, "why");
                }
                if has[3] {
                    cell.key.integrity = vec![Integrity::Evm, Integrity::Audit, Integrity::Audit];
                }
                cell
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn odd_runs_are_compared_or_not_but_never_panic(
        cells in prop::collection::vec(odd_cell(), 0..40)
    ) {
        let mut run = empty();
        run.cells = cells;
        let beside = beside(&run);
        for comparison in &beside.comparisons {
            prop_assert!(comparison.ours.is_finite() && comparison.theirs.is_finite());
        }
        let report = beside_report(&beside);
        let text = terminal(&report, &Layout { width: Some(80), colour: false });
        let harmful = ['\u{1b}', '\u{202e}'];
        prop_assert!(!text.contains(harmful));
        markdown(&report);
    }

    #[test]
    fn signs_do_not_change_verdicts(ours in -2.0..5.0f64, theirs in -2.0..5.0f64) {
        let verdict = Verdict::of(ours, theirs);
        prop_assert_eq!(verdict, Verdict::of(-ours, -theirs));
        prop_assert_eq!(Verdict::of(theirs, theirs), Verdict::Agrees);
    }
}
