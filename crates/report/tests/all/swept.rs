// SPDX-License-Identifier: GPL-2.0-or-later
//! Small sweeps.

use model::{
    ALL_HOOKS, Caches, Cell, Configuration, Delay, DelayModule, DepthRule, Document, Environment,
    Evidence, Key, Kind, Metric, Outcome, Prediction, RepeatedQuestion, Slope, SlopePoint, Status,
    Subject, SweepFindings, Unit, Warning, WarningKind,
};

pub const BPF: (&str, DelayModule, Caches) = ("debian:6.12", DelayModule::Bpf, Caches::Warm);
const COLD: (&str, DelayModule, Caches) = ("debian:6.12", DelayModule::Bpf, Caches::Cold);
const TUNABLE: (&str, DelayModule, Caches) = ("build:6.1", DelayModule::Tunable, Caches::Warm);

pub fn empty() -> Document {
    Document {
        sweep: Some(SweepFindings::default()),
        ..Document::new(Kind::Sensitivity, Environment::default())
    }
}

/// The slope of a measurement that has one.
pub fn slope_mut(cell: &mut Cell) -> &mut Slope {
    match &mut cell.outcome {
        Outcome::Ok {
            evidence: Evidence::Slope(slope),
        } => slope,
        other => panic!("no slope, but {other:?}"),
    }
}

/// A slope over these hooks, `excess` above its count.
pub fn slope(
    (kernel, module, caches): (&str, DelayModule, Caches),
    (benchmark, variant): (&str, &str),
    hooks: &[&str],
    counted: u32,
    excess: f64,
) -> Cell {
    let base = 4_600.0 + 350.0 * f64::from(counted);
    let slope = f64::from(counted) + excess;
    let point = |step: u32| SlopePoint {
        delay_ns: step * 10_000,
        median: (base + slope * f64::from(step * 10_000)).round(),
        n: 3,
    };
    let slope = Slope {
        slope,
        ci95: [slope - 0.000_2, slope + 0.000_2],
        intercept: base,
        unit: Unit::Instructions,
        r2: Some(0.999_999_8),
        bend: Some(0.000_1),
        residual: 1.5,
        n: 36,
        dirty: 2,
        others: 0,
        points: (0..12).map(point).collect(),
        counted: Some(f64::from(counted)),
        explanation: None,
    };
    let stack = format!("capability,{module}").parse().unwrap();
    let subject = Subject::benchmark(benchmark, variant);
    let configuration = Configuration::of_stack(stack);
    let key = Key {
        delay: Some(Delay {
            module,
            hooks: hooks.iter().map(|hook| (*hook).to_owned()).collect(),
            part: hooks.len() == 1 && hooks[0] != "all",
            caches,
        }),
        ..Key::new(kernel, &configuration, "tmpfs", subject, Metric::Slope)
    };
    Cell {
        release: format!("{}.1-amd64", kernel.rsplit(':').next().unwrap()),
        syscalls: vec![benchmark.to_owned(), "close".to_owned()],
        outcome: Evidence::Slope(slope).into(),
        ..Cell::unmeasured(key)
    }
}

/// An operation's slope over all hooks, and those of its hooks with their counts.
pub fn parted(
    place: (&str, DelayModule, Caches),
    operation: (&str, &str),
    hooks: &[(&str, u32)],
) -> Vec<Cell> {
    let all = hooks.iter().map(|(_, counted)| counted).sum();
    let mut slopes = vec![slope(place, operation, &[ALL_HOOKS], all, 0.001_1)];
    for (hook, counted) in hooks {
        slopes.push(slope(place, operation, &[hook], *counted, 0.000_4));
    }
    slopes
}

fn failed(cell: Cell, reason: &str) -> Cell {
    Cell {
        outcome: Outcome::without(Status::Failed, reason),
        ..cell
    }
}

fn rule(caches: Caches, benchmark: &str, hook: &str, [a, b]: [f64; 2]) -> DepthRule {
    DepthRule {
        kernel: BPF.0.to_owned(),
        module: BPF.1,
        caches,
        benchmark: benchmark.to_owned(),
        hook: hook.to_owned(),
        a,
        b,
        r2: Some(0.999_99),
        residual: 0.001_3,
        depths: vec![1, 2, 4, 8],
        beta1: (hook == ALL_HOOKS).then_some(411.5),
    }
}

fn prediction(lsm: Option<&str>, variant: &str, [predicted, measured]: [f64; 2]) -> Prediction {
    Prediction {
        kernel: BPF.0.to_owned(),
        benchmark: "open".to_owned(),
        variant: variant.to_owned(),
        lsm: lsm.map(str::to_owned),
        decision: 250.0,
        predicted,
        measured: lsm.map(|_| measured),
        error: lsm.map(|_| (predicted - measured) / measured),
        unknown: Vec::new(),
    }
}

fn chain(functions: &[&str]) -> Vec<String> {
    functions.iter().map(|f| (*f).to_owned()).collect()
}

pub fn document() -> Document {
    let mut document = empty();
    let slopes = &mut document.cells;
    slopes.extend(parted(
        BPF,
        ("open", "AA"),
        &[("file_open", 1), ("inode_permission", 2)],
    ));
    slopes.extend(parted(BPF, ("stat", "AA"), &[("inode_permission", 1)]));
    let mut differs = slope(BPF, ("unlink", "random"), &[ALL_HOOKS], 3, 0.5);
    slope_mut(&mut differs).explanation =
        Some("inode_permission +0.50: half of the walks fall back".to_owned());
    slope_mut(&mut differs).bend = Some(-0.021);
    slopes.push(differs);
    let mut unexplained = slope(COLD, ("open", "AA"), &[ALL_HOOKS], 4, 1.0);
    let slope_of = slope_mut(&mut unexplained);
    slope_of.ci95 = [slope_of.slope - 2e-6, slope_of.slope];
    slopes.push(unexplained);
    let why = "the guest stopped: \u{1b}[31mKernel panic";
    slopes.push(failed(
        slope(COLD, ("stat", "AA"), &[ALL_HOOKS], 1, 0.0),
        why,
    ));
    let mut both = slope(
        TUNABLE,
        ("open", "AA"),
        &["file_permission", "inode_permission"],
        2,
        0.000_4,
    );
    (slope_mut(&mut both).r2, slope_mut(&mut both).counted) = (None, None);
    slopes.push(both);
    let findings = document.sweep.get_or_insert_default();
    findings.rules = vec![
        rule(Caches::Warm, "open", ALL_HOOKS, [1.000_2, 2.0]),
        rule(Caches::Warm, "open", "inode_permission", [1.0, 1.001]),
        rule(Caches::Cold, "open", ALL_HOOKS, [1.51, 2.0]),
        rule(Caches::Warm, "rename", ALL_HOOKS, [2.0, 2.0]),
    ];
    findings.predictions = vec![
        prediction(Some("selinux"), "AA", [1_000.0, 1_250.0]),
        prediction(Some("selinux"), "AA/BB", [1_300.0, 1_310.0]),
        prediction(None, "AA", [750.0, 0.0]),
    ];
    findings.predictions[0].unknown = vec!["file_alloc_security".to_owned()];
    let walk = [
        "do_sys_openat2",
        "do_filp_open",
        "path_openat",
        "link_path_walk",
        "walk_component",
        "may_lookup",
        "inode_permission",
        "generic_permission",
        "security_inode_permission",
    ];
    findings.repeated = vec![RepeatedQuestion {
        kernel: BPF.0.to_owned(),
        benchmark: "rename".to_owned(),
        variant: "depth1".to_owned(),
        hook: "inode_permission".to_owned(),
        object: "inode:0:25:7, mask 0x1".to_owned(),
        times: 3,
        chains: vec![
            chain(&["vfs_rename", "may_delete", "security_inode_permission"]),
            chain(&walk),
            chain(&walk),
        ],
    }];
    document.warnings = vec![Warning::new(
        WarningKind::DirtyRegions,
        "2 of 38 operations",
    )];
    document
}
