// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files derived from a real run: another kernel, a patched kernel, and hostile text.

use std::fs::File;
use std::path::{Path, PathBuf};

use model::{Document, PathCall, PathTree, Subject};

/// Some operations of the suite's run, with the name `kernel`.
fn run(kernel: &str) -> Document {
    let mut run = Document::parse(&testing::unpack(super::SUITE)).unwrap();
    let some = ["open", "stat", "rename", "mkdir", "read", "unlink"];
    run.cells
        .retain(|cell| some.contains(&cell.key.benchmark()));
    for cell in &mut run.cells {
        cell.key.kernel = kernel.to_owned();
    }
    run.experiment.as_mut().unwrap().kernels = vec![kernel.to_owned()];
    run.kernel_digests.clear();
    run.warnings.clear();
    run
}

pub fn write(path: &Path, kernel: &str) {
    run(kernel).write(File::create(path).unwrap()).unwrap();
}

/// Instructions that [`regressed`] adds to each call of `selinux_inode_permission`.
pub const INJECTED: u64 = 6;

/// Adds [`INJECTED`] instructions to each call of `selinux_inode_permission`, in the function, the hook
/// and the operation, as a patch would. Returns the number of measurements with such calls.
///
/// # Panics
/// If a call comes from inside another hook, whose figures would change too.
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

/// Writes a result file whose texts try to run scripts.
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
