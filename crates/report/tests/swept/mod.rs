// SPDX-License-Identifier: GPL-2.0-or-later
//! Small sweeps.

use experiment::{
    ALL_HOOKS, Caches, Clock, DelayModule, DepthRule, Environment, Prediction, RepeatedQuestion,
    SCHEMA_VERSION, SensitivityDocument, Slope, SlopePoint, Status, Tool, Unit, Warning,
    WarningKind,
};

pub const BPF: (&str, DelayModule, Caches) = ("debian:6.12", DelayModule::Bpf, Caches::Warm);
const COLD: (&str, DelayModule, Caches) = ("debian:6.12", DelayModule::Bpf, Caches::Cold);
const TUNABLE: (&str, DelayModule, Caches) = ("build:6.1", DelayModule::Tunable, Caches::Warm);

pub fn empty() -> SensitivityDocument {
    SensitivityDocument {
        schema_version: SCHEMA_VERSION,
        tool: Tool {
            name: "lsmeter".to_owned(),
            version: "0.1.0".to_owned(),
        },
        environment: Environment {
            os: "Debian GNU/Linux 12".to_owned(),
            host_kernel: "6.1.0".to_owned(),
            cpu: "some".to_owned(),
            cores: 2,
            kvm: false,
            clock: Clock::Deterministic,
            qemu: None,
            host_lsms: Vec::new(),
        },
        setups: Vec::new(),
        slopes: Vec::new(),
        rules: Vec::new(),
        predictions: Vec::new(),
        repeated: Vec::new(),
        warnings: Vec::new(),
    }
}

/// A slope over these hooks that is `excess` beyond its count.
pub fn slope(
    (kernel, module, caches): (&str, DelayModule, Caches),
    (benchmark, variant): (&str, &str),
    hooks: &[&str],
    counted: u32,
    excess: f64,
) -> Slope {
    let base = 4_600.0 + 350.0 * f64::from(counted);
    let slope = f64::from(counted) + excess;
    let point = |step: u32| SlopePoint {
        delay_ns: step * 10_000,
        median: (base + slope * f64::from(step * 10_000)).round(),
        n: 3,
    };
    Slope {
        kernel: kernel.to_owned(),
        release: format!("{}.1-amd64", kernel.rsplit(':').next().unwrap()),
        module,
        stack: vec!["capability".to_owned(), module.to_string()],
        hooks: hooks.iter().map(|hook| (*hook).to_owned()).collect(),
        part: hooks.len() == 1 && hooks[0] != "all",
        filesystem: "tmpfs".to_owned(),
        caches,
        benchmark: benchmark.to_owned(),
        variant: variant.to_owned(),
        syscalls: vec![benchmark.to_owned(), "close".to_owned()],
        status: Status::Ok,
        reason: None,
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
    }
}

/// An operation's slope over all hooks, and those of its hooks with their counts.
fn parted(
    place: (&str, DelayModule, Caches),
    operation: (&str, &str),
    hooks: &[(&str, u32)],
) -> Vec<Slope> {
    let all = hooks.iter().map(|(_, counted)| counted).sum();
    let mut slopes = vec![slope(place, operation, &[ALL_HOOKS], all, 0.001_1)];
    for (hook, counted) in hooks {
        slopes.push(slope(place, operation, &[hook], *counted, 0.000_4));
    }
    slopes
}

fn failed(mut slope: Slope, reason: &str) -> Slope {
    slope.status = Status::Failed;
    slope.reason = Some(reason.to_owned());
    slope.points.clear();
    (slope.slope, slope.intercept, slope.n) = (0.0, 0.0, 0);
    slope
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

pub fn document() -> SensitivityDocument {
    let mut document = empty();
    let slopes = &mut document.slopes;
    slopes.extend(parted(
        BPF,
        ("open", "AA"),
        &[("file_open", 1), ("inode_permission", 2)],
    ));
    slopes.extend(parted(BPF, ("stat", "AA"), &[("inode_permission", 1)]));
    let mut differs = slope(BPF, ("unlink", "random"), &[ALL_HOOKS], 3, 0.5);
    differs.explanation = Some("inode_permission +0.50: half of the walks fall back".to_owned());
    differs.bend = Some(-0.021);
    slopes.push(differs);
    let mut unexplained = slope(COLD, ("open", "AA"), &[ALL_HOOKS], 4, 1.0);
    unexplained.ci95 = [unexplained.slope - 2e-6, unexplained.slope];
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
    (both.r2, both.counted) = (None, None);
    slopes.push(both);
    document.rules = vec![
        rule(Caches::Warm, "open", ALL_HOOKS, [1.000_2, 2.0]),
        rule(Caches::Warm, "open", "inode_permission", [1.0, 1.001]),
        rule(Caches::Cold, "open", ALL_HOOKS, [1.51, 2.0]),
        rule(Caches::Warm, "rename", ALL_HOOKS, [2.0, 2.0]),
    ];
    document.predictions = vec![
        prediction(Some("selinux"), "AA", [1_000.0, 1_250.0]),
        prediction(Some("selinux"), "AA/BB", [1_300.0, 1_310.0]),
        prediction(None, "AA", [750.0, 0.0]),
    ];
    document.predictions[0].unknown = vec!["file_alloc_security".to_owned()];
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
    document.repeated = vec![RepeatedQuestion {
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
        WarningKind::DirtyWindows,
        "2 of 38 operations",
    )];
    document
}

/// The twelve paths of the paper's Table 6, and two more operations.
pub fn table6() -> SensitivityDocument {
    let mut document = empty();
    let paths = [
        ("AA", 1),
        ("AA/BB", 2),
        ("AA/BB/CC/DD", 4),
        ("AA/BB/CC/DD/EE/FF/GG/HH", 8),
        ("AA/../HH", 3),
        ("XX/YY/../../AA/BB/../../HH", 9),
    ];
    for place in [BPF, TUNABLE] {
        for (path, walked) in paths {
            let hooks = [("file_open", 1), ("inode_permission", walked + 1)];
            let open = parted(place, ("open", path), &hooks);
            document.slopes.extend(open);
        }
        for (path, walked) in paths {
            let hooks = [("inode_getattr", 1), ("inode_permission", walked)];
            let stat = parted(place, ("stat", path), &hooks);
            document.slopes.extend(stat);
        }
        let read = parted(place, ("read", "4KB"), &[("file_permission", 1)]);
        document.slopes.extend(read);
    }
    document
}
