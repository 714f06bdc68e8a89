// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter profile` with real boots. SLOW: some minutes.
//!
//! Needs QEMU and the kernels debian:6.1 and debian:6.12 in the cache of whoever runs
//! the tests (`lsmeter kernel fetch debian:6.1 debian:6.12`); nothing is fetched here.

mod architectures;
mod counts;
mod events;
mod outputs;
mod tables;

use std::fs;
use std::path::Path;

use crate::common::{Place, Running, children, runs, signal, wait_for};
use model::{Architecture, Cell, Counted, Document, HookedPath, Residual, Status};
use rustix::process::Signal;

fn read(path: &Path) -> Document {
    Document::read(fs::File::open(path).unwrap()).unwrap()
}

/// What was counted of an operation, and its path through the kernel.
#[track_caller]
fn counted(cell: &Cell) -> (&Counted, &HookedPath) {
    let counted = cell.counted().unwrap_or_else(|| panic!("{cell:#?}"));
    (counted, counted.hooked.as_ref().unwrap())
}

/// How it differs from the baseline.
#[track_caller]
fn residual(cell: &Cell) -> &Residual {
    let residual = counted(cell).0.residual.as_ref();
    residual.unwrap_or_else(|| panic!("{cell:#?}"))
}

/// What must hold of the figures of one operation.
#[track_caller]
fn assert_sums(title: &str, path: &HookedPath) {
    let HookedPath {
        total,
        hooked,
        ref hooks,
        ..
    } = *path;
    let sum: u64 = hooks.iter().map(|hook| hook.outermost).sum();
    assert_eq!(sum, hooked, "{title}");
    assert!(hooked < total, "{title}: {hooked} of {total}");
    for hook in hooks {
        let behind: u64 = hook.implementations.iter().map(|i| i.inclusive).sum();
        assert!(hook.calls > 0, "{title}: {hook:#?}");
        assert!(hook.exclusive <= hook.inclusive, "{title}: {hook:#?}");
        assert!(hook.outermost <= hook.inclusive, "{title}: {hook:#?}");
        assert!(
            hook.inclusive - hook.dispatch <= behind,
            "{title}: {hook:#?}"
        );
        for one in &hook.implementations {
            assert!(one.inclusive <= hook.inclusive, "{title}: {hook:#?}");
        }
        // A module cannot cost what none of its functions does.
        assert_eq!(
            behind == 0,
            hook.inclusive == hook.dispatch,
            "{title}: {hook:#?}"
        );
    }
}

#[track_caller]
fn assert_fits_schema(document: &Path) {
    let document = fs::read_to_string(document).unwrap();
    crate::common::schema::assert_fits(&serde_json::from_str(&document).unwrap());
}

const SELINUX: &[&str] = &[
    "--offline",
    "--kernel",
    "debian:6.12",
    "--fs",
    "tmpfs",
    "--stack",
    "capability,selinux",
];

/// Few benchmarks call few of the kernel's hooks; the saved file gives the same tables.
#[test]
fn hooks_that_operations_call() {
    let place = Place::with_kernel("debian:6.12");
    let asked = "profile --offline -q --kernel debian:6.12 --stack capability,selinux -n 8 \
                 --bench open:AA,socketpair,getppid --view coverage --format markdown -o c.json";
    let tables = place
        .run(&Vec::from_iter(asked.split_whitespace()))
        .code(0)
        .stdout;
    assert!(read(&place.join("c.json")).kernel_hooks["debian:6.12"].len() > 200);
    for row in [
        "| file\\_open | 1 | 1 | open:AA |",
        "| ib\\_pkey\\_access | hardware |",
    ] {
        assert!(tables.contains(row), "{row}: {tables}");
    }
    let asked = ["report", "--coverage", "c.json", "--format", "markdown"];
    assert_eq!(place.run(&asked).code(0).stdout, tables);
}

/// A kernel tree's list names the hooks, and no others are looked for. What the others
/// cost is then found outside hooks: a residual, which a check does not let pass.
#[test]
fn a_hook_that_is_not_known_is_a_residual() {
    let place = Place::with_kernel("debian:6.12");
    place.write(
        "hooks.h",
        "LSM_HOOK(int, 0, file_open, struct file *file)\n\
         LSM_HOOK(int, 0, inode_permission, struct inode *inode, int mask)\n",
    );
    let rest = [
        "--hook-definitions=hooks.h",
        "--bench=open:AA",
        "--baseline=capability",
        "--json",
        "--check",
    ];
    let asked = [&["profile"], SELINUX, &rest].concat();
    let ended = place.run(&asked).code(1);
    let document = Document::parse(ended.stdout.as_bytes()).unwrap();
    let [cell] = &document.cells[..] else {
        panic!("{document:#?}")
    };
    let (of_cell, path) = counted(cell);
    assert_sums("open:AA", path);
    // Whatever modules are called beside the framework's functions is there as well.
    let of_framework = path.hooks.iter().filter_map(|hook| {
        let of_framework = hook.function.starts_with("security_");
        of_framework.then_some(hook.hook.as_str())
    });
    let of_framework: Vec<&str> = of_framework.collect();
    assert_eq!(of_framework, ["file_open", "inode_permission"]);

    let base = &residual(cell).path;
    let outside = [path.total - path.hooked, base.total - base.hooked];
    let residual = residual(cell).instructions;
    assert!(residual > 0 && of_cell.is_comparable(), "{cell:#?}");
    assert_eq!(residual.unsigned_abs(), outside[0] - outside[1]);
    let told = format!("residual: open:AA under capability,selinux on debian:6.12: {residual:+}");
    assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    let function = "selinux_file_alloc_security +";
    assert!(ended.stderr.contains(function), "{}", ended.stderr);
}

/// IPE is in 6.12 and not in 6.1.
#[test]
fn a_stack_that_the_kernel_does_not_honour_fails_alone() {
    let place = Place::with_kernel("debian:6.1");
    let stacks = [
        "--stack",
        "capability,ipe",
        "--baseline",
        "capability",
        "--check",
    ];
    let rest = ["--bench", "stat:AA", "--output", "out.json"];
    let common = [
        "profile",
        "--offline",
        "--kernel",
        "debian:6.1",
        "--kernel",
        "debian:6.12",
        "--fs",
        "tmpfs",
    ];
    let ended = place.run(&[&common[..], &stacks, &rest].concat()).code(4);
    let reason = "did not honour the stack";
    assert!(ended.stdout.contains(reason), "{ended:#?}");
    assert_fits_schema(&place.join("out.json"));
    let document = read(&place.join("out.json"));
    let [cell, other] = &document.cells[..] else {
        panic!("{document:#?}")
    };
    assert_eq!(other.status(), Status::Ok);
    // There is no figure of what failed.
    assert_eq!((cell.status(), cell.evidence()), (Status::Failed, None));
    assert!(cell.reason().unwrap().contains(reason));
}

#[test]
fn an_interrupted_profile_leaves_its_journal() {
    let place = Place::with_kernel("debian:6.12");
    let asked = [&["profile", "--output", "out.json"], SELINUX, outputs::SOME].concat();
    let running = Running::start(&place, &asked);
    // QEMU is first asked for its version, with nothing to interrupt yet.
    let boots = |machine: &u32| {
        let words = fs::read(format!("/proc/{machine}/cmdline")).unwrap_or_default();
        let mut words = words.split(|byte| *byte == 0);
        words.any(|word| word == b"-append")
    };
    let machines = wait_for("machine", || {
        let mut machines = children(running.pid());
        machines.retain(boots);
        (!machines.is_empty()).then_some(machines)
    });
    signal(running.pid(), Signal::INT);
    let ended = running.wait().code(4);
    let told = "interrupted: finished boots are saved in out.json.journal";
    assert!(ended.stderr.contains(told), "{ended:#?}");
    assert_eq!(ended.stdout, "");
    for machine in machines {
        wait_for("end of QEMU", || (!runs(machine)).then_some(()));
    }
    assert_eq!(place.names(), ["out.json.journal"]);
    assert_eq!(place.left_over(), Vec::<String>::new());
}
