// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents as large as the preset `paper` makes them. The figures are made up: they
//! only have to be drawn.

use std::fs::File;
use std::path::{Path, PathBuf};

use model::{
    Cell, Counted, Document, Estimate, Evidence, Experiment, HookCost, HookedPath, Implementation,
    Key, Metric, Outcome, PathCall, PathCount, PathTree, Paths, Status, Subject, preset,
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
fn run(kernel: &str) -> Document {
    let golden = include_bytes!("../../../model/tests/golden/run.json");
    let mut run = Document::parse(golden).unwrap();
    let toml = preset("paper").unwrap().spec().unwrap();
    let mut experiment: Experiment = toml.resolve().unwrap();
    experiment.kernels = vec![kernel.to_owned()];
    for configuration in &mut experiment.configurations {
        configuration.kernel = None;
    }
    run.setups.clear();
    run.warnings.clear();
    run.cells.clear();
    for configuration in &experiment.configurations {
        for (benchmark, variants) in BENCHMARKS {
            for (at, variant) in variants.iter().enumerate() {
                let subject = Subject::benchmark(benchmark, *variant);
                let metric = Metric::Instructions;
                let key = Key::new(kernel, configuration, "ext4", subject, metric);
                let cell = Cell::unmeasured(key);
                run.cells.push(Cell {
                    outcome: measured(&cell.key, at as u64),
                    ..cell
                });
            }
        }
    }
    run.experiment = Some(experiment);
    run
}

fn measured(key: &Key, depth: u64) -> Outcome {
    // What Linux does with stacks in which capability is not first.
    if key.stack.last().is_some_and(|last| last == "capability") && key.stack.len() > 1 {
        return Outcome::without(Status::Failed, "the kernel did not honour the order");
    }
    let modules = key.stack.len() as u64 + key.integrity.len() as u64;
    let own = 40 + 60 * modules;
    let calls = depth + 2;
    let instructions = 3_000 + 400 * depth + calls * own;
    let dominant = PathCount {
        instructions,
        rep_iterations: 0,
        regions: 40,
    };
    let hooks: Vec<HookCost> = ["inode_permission", "file_open", "inode_getattr"]
        .into_iter()
        .zip([calls - 1, 1, 0])
        .filter(|(_, calls)| *calls > 0)
        .map(|(hook, calls)| hook_cost(hook, calls, own))
        .collect();
    let value = instructions as f64;
    Evidence::from(Counted {
        estimate: Some(Estimate {
            n: 41,
            median: value,
            mean: Some(value),
            stddev: Some(0.0),
            min: Some(value),
            max: Some(value),
            ci95: None,
            samples: None,
        }),
        hooked: Some(HookedPath {
            system_calls: std::collections::BTreeMap::new(),
            events: None,
            total: instructions,
            rep_iterations: Some(0),
            regions: dominant.regions,
            hooked: hooks.iter().map(|hook| hook.outermost).sum(),
            hooks,
            irqs_off: None,
        }),
        paths: Some(Paths {
            dominant,
            others: Vec::new(),
            regions: 41,
            dirty: 0,
            path_hash: None,
        }),
        ..Counted::default()
    })
    .into()
}

fn hook_cost(hook: &str, calls: u64, own: u64) -> HookCost {
    HookCost {
        events: None,
        hook: hook.to_owned(),
        function: format!("security_{hook}"),
        calls,
        inclusive: calls * own,
        exclusive: calls * 20,
        dispatch: calls * 20,
        outermost: calls * own,
        implementations: vec![Implementation {
            events: None,
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

/// What SELinux's part of each call of `inode_permission` takes more after [`regressed`].
pub const INJECTED: u64 = 6;

/// The same run after a patch that made `selinux_inode_permission` longer, as if it had been measured
/// again: each call takes [`INJECTED`] instructions more, in the function, in the hook and in the
/// operation. Returns how many of its cells have such calls.
///
/// # Panics
/// If a call comes from inside another hook, whose figures would have to follow.
pub fn regressed(run: &mut Document) -> usize {
    let mut changed = 0;
    for cell in &mut run.cells {
        let Some(counted) = cell.counted_mut() else {
            continue;
        };
        let Some(path) = &mut counted.hooked else {
            continue;
        };
        let mut more = 0;
        for hook in &mut path.hooks {
            let own = hook.implementations.iter_mut();
            for own in own.filter(|own| own.function == "selinux_inode_permission") {
                assert_eq!(hook.outermost, hook.inclusive, "nested: {}", hook.hook);
                let added = INJECTED * own.calls;
                own.inclusive += added;
                hook.inclusive += added;
                hook.outermost += added;
                path.hooked += added;
                path.total += added;
                more += added;
            }
        }
        changed += usize::from(more > 0);
        if let Some(tree) = &mut counted.tree {
            let is_patched = |name: &String| name == "selinux_inode_permission";
            let patched = tree.functions.iter().position(is_patched);
            let nodes = tree.nodes.iter_mut().skip(1);
            for node in nodes.filter(|node| patched == Some(node.function as usize)) {
                node.instructions += INJECTED * node.calls;
            }
        }
        if let Some(paths) = &mut counted.paths {
            let others = paths.others.iter_mut();
            for path in others.chain([&mut paths.dominant]) {
                path.instructions += more;
            }
        }
        if let Some(estimate) = &mut counted.estimate {
            let more = more as f64;
            estimate.median += more;
            let rest = [&mut estimate.mean, &mut estimate.min, &mut estimate.max];
            for value in rest.into_iter().flatten() {
                *value += more;
            }
            for end in estimate.ci95.iter_mut().flatten() {
                *end += more;
            }
        }
    }
    changed
}

/// A document whose every text would be a script if it could.
pub fn hostile(path: &Path) -> PathBuf {
    let evil = "</script><script>alert(1)</script><img src=https://lsmeter.invalid/x \
                onerror=alert(2)>\" onload=\"alert(3)";
    let mut run = run(evil);
    for cell in &mut run.cells {
        if let Subject::Benchmark { variant, .. } = &mut cell.key.subject {
            *variant += evil;
        }
        cell.release = evil.to_owned();
        let Some(counted) = cell.counted_mut() else {
            continue;
        };
        let Some(path) = &mut counted.hooked else {
            continue;
        };
        let mut tree = PathTree {
            nodes: vec![PathCall {
                instructions: path.total - path.hooked,
                ..PathCall::default()
            }],
            ..PathTree::default()
        };
        for hook in &mut path.hooks {
            hook.hook += evil;
            hook.function += evil;
            tree.hooks.push(tree.nodes.len() as u32);
            tree.nodes.push(PathCall {
                caller: 0,
                function: tree.functions.len() as u32,
                calls: hook.calls,
                instructions: hook.outermost,
            });
            tree.functions.push(hook.function.clone());
        }
        counted.tree = Some(tree);
    }
    run.environment.cpu = evil.to_owned();
    run.write(File::create(path).unwrap()).unwrap();
    path.to_owned()
}
