// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents as large as the preset `paper` makes them. The figures are made up: they
//! only have to be drawn.

use std::fs::File;
use std::path::{Path, PathBuf};

use experiment::{
    Cell, Counts, Experiment, HookCost, Implementation, Metric, PathCount, Run, Status, preset,
};

const BENCHMARKS: [(&str, &[&str]); 6] = [
    (
        "open",
        &[
            "AA",
            "AA/BB",
            "AA/BB/CC",
            "AA/BB/CC/DD",
            "hardlink",
            "symlink",
        ],
    ),
    (
        "stat",
        &["AA", "AA/BB", "AA/BB/CC", "AA/BB/CC/DD", "missing"],
    ),
    ("rename", &["depth1", "depth2", "depth3"]),
    ("mkdir", &["one"]),
    ("read", &["0KB", "1KB", "2KB", "4KB"]),
    ("unlink", &["random"]),
];

/// A run of the preset on `kernel` alone.
fn run(kernel: &str) -> Run {
    let golden = include_bytes!("../../../experiment/tests/golden/v1.json");
    let mut run = Run::parse(golden).unwrap();
    let toml = preset("paper").unwrap().spec().unwrap();
    let mut experiment: Experiment = toml.resolve().unwrap();
    experiment.kernels = vec![kernel.to_owned()];
    for configuration in &mut experiment.configurations {
        configuration.kernel = None;
    }
    run.experiment = experiment;
    run.setups.clear();
    run.warnings.clear();
    run.cells.clear();
    for configuration in &run.experiment.configurations {
        for (benchmark, variants) in BENCHMARKS {
            for (at, variant) in variants.iter().enumerate() {
                let key = experiment::CellKey {
                    kernel: kernel.to_owned(),
                    stack: configuration.stack.names(),
                    integrity: configuration.integrity.clone(),
                    policy: configuration.policy,
                    tuning: configuration.tuning,
                    filesystem: "ext4".to_owned(),
                    benchmark: benchmark.to_owned(),
                    variant: (*variant).to_owned(),
                    metric: Metric::Instructions,
                };
                run.cells.push(measured(Cell::unmeasured(key), at as u64));
            }
        }
    }
    run
}

fn measured(mut cell: Cell, depth: u64) -> Cell {
    // What Linux does with stacks in which capability is not first.
    if cell.stack.last().is_some_and(|last| last == "capability") && cell.stack.len() > 1 {
        cell.reason = Some("the kernel did not honour the order".to_owned());
        return cell;
    }
    let modules = cell.stack.len() as u64 + cell.integrity.len() as u64;
    let own = 40 + 60 * modules;
    let calls = depth + 2;
    let instructions = 3_000 + 400 * depth + calls * own;
    let modal = PathCount {
        instructions,
        rep_iterations: 0,
        windows: 40,
    };
    cell.hooks = Some(
        ["inode_permission", "file_open", "inode_getattr"]
            .into_iter()
            .zip([calls - 1, 1, 0])
            .filter(|(_, calls)| *calls > 0)
            .map(|(hook, calls)| hook_cost(hook, calls, own))
            .collect(),
    );
    cell.counts = Some(Counts {
        modal,
        paths: Vec::new(),
        windows: 41,
        dirty: 0,
        path_hash: None,
    });
    let value = Some(instructions as f64);
    (cell.n, cell.median, cell.mean) = (Some(41), value, value);
    (cell.min, cell.max, cell.stddev) = (value, value, Some(0.0));
    cell.status = Status::Ok;
    cell.reason = None;
    cell
}

fn hook_cost(hook: &str, calls: u64, own: u64) -> HookCost {
    HookCost {
        hook: hook.to_owned(),
        function: format!("security_{hook}"),
        calls,
        inclusive: calls * own,
        exclusive: calls * 20,
        dispatch: calls * 20,
        outermost: calls * own,
        implementations: vec![Implementation {
            module: "selinux".to_owned(),
            function: format!("selinux_{hook}"),
            calls,
            inclusive: calls * (own - 20),
        }],
        called_by: Vec::new(),
    }
}

pub fn write(path: &Path, kernel: &str) {
    run(kernel).write(File::create(path).unwrap()).unwrap();
}

/// A document whose every text would be a script if it could.
pub fn hostile(path: &Path) -> PathBuf {
    let evil = "</script><script>alert(1)</script><img src=https://lsmeter.invalid/x \
                onerror=alert(2)>\" onload=\"alert(3)";
    let mut run = run(evil);
    for cell in &mut run.cells {
        cell.variant += evil;
        cell.release = evil.to_owned();
        for hook in cell.hooks.iter_mut().flatten() {
            hook.hook += evil;
            hook.function += evil;
        }
    }
    run.environment.cpu = evil.to_owned();
    run.write(File::create(path).unwrap()).unwrap();
    path.to_owned()
}
