// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter profile` with real boots. SLOW: some minutes.
//!
//! Needs QEMU and the kernels debian:6.1 and debian:6.12.

mod architectures;
mod counts;
mod events;
mod outputs;

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Place;
use model::{Architecture, Cell, Counted, Document, HookedPath, Residual};

/// Counts of an operation, and its dominant path.
#[track_caller]
fn counted(cell: &Cell) -> (&Counted, &HookedPath) {
    let counted = cell.counted().unwrap_or_else(|| panic!("{cell:#?}"));
    (counted, counted.hooked.as_ref().unwrap())
}

/// The difference from the baseline.
#[track_caller]
fn residual(cell: &Cell) -> &Residual {
    let residual = counted(cell).0.residual.as_ref();
    residual.unwrap_or_else(|| panic!("{cell:#?}"))
}

/// Asserts that the figures of an operation add up.
#[track_caller]
fn assert_sums(title: &str, path: &HookedPath) {
    let (total, hooked) = (path.total, path.hooked);
    let sum: u64 = path.hooks.iter().map(|hook| hook.outermost).sum();
    assert_eq!(sum, hooked, "{title}");
    assert!(hooked < total, "{title}: {hooked} of {total}");
    for hook in &path.hooks {
        let implementations = hook.implementations.iter().map(|own| own.inclusive);
        let behind: u64 = implementations.clone().sum();
        let holds = hook.calls > 0
            && hook.exclusive <= hook.inclusive
            && hook.outermost <= hook.inclusive
            && hook.inclusive - hook.dispatch <= behind
            && implementations.max().unwrap_or(0) <= hook.inclusive
            // A module's cost is the cost of its functions.
            && (behind == 0) == (hook.inclusive == hook.dispatch);
        assert!(holds, "{title}: {hook:#?}");
    }
}

#[track_caller]
fn assert_fits_schema(document: &Path) {
    let document = fs::read_to_string(document).unwrap();
    crate::common::schema::assert_fits(&serde_json::from_str(&document).unwrap());
}

const SELINUX: &str = "--offline --kernel debian:6.12 --fs tmpfs --stack capability,selinux";

/// `lsmeter report --coverage` prints the same tables from the saved file.
#[test]
fn hooks_that_operations_call() {
    let place = Place::with_kernel("debian:6.12");
    let asked = "profile --offline -q --kernel debian:6.12 --stack capability,selinux -n 8 \
                 --bench open:AA,socketpair,getppid --view coverage --format markdown -o c.json";
    let tables = place.line(asked).code(0).stdout;
    assert!(place.document("c.json").kernel_hooks["debian:6.12"].len() > 200);
    for row in [
        "| file\\_open | 1 | 1 | open:AA |",
        "| ib\\_pkey\\_access | hardware |",
    ] {
        assert!(tables.contains(row), "{row}: {tables}");
    }
    let saved = place.line("report --coverage c.json --format markdown");
    assert_eq!(saved.code(0).stdout, tables);
}

/// On overlayfs, hooks are called again on the layers below; the sources agree. A file to
/// copy up has not been looked up before, which the success path does not include.
#[test]
fn hooks_of_layered_files_are_in_the_sources() {
    let place = Place::with_kernel("debian:6.12");
    let sources = place.cache().join("lsmeter/sources");
    let found = fs::read_dir(&sources).into_iter().flatten().flatten();
    let mut found = found.map(|entry| entry.path());
    let is_6_12 = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("linux-source-6.12_"))
    };
    let Some(tree) = found.find(is_6_12) else {
        let why = "the source of linux-source-6.12 is not in the cache";
        testing::skip(why, "make test-kernels");
        return;
    };
    for (fs, benchmarks, expected) in [
        (
            "ext4",
            "overlay:*",
            "overlay:open,overlay:ext4,backing_file_free,1,1,,exact",
        ),
        (
            "tmpfs",
            "overlay:*",
            "overlay:creat,overlay:tmpfs,inode_create,2,2,,exact",
        ),
        (
            "overlay",
            "open:AA,stat:AA/BB,mmap",
            "open:AA,overlay,inode_permission,5,5,,exact",
        ),
    ] {
        let profile = format!(
            "profile --offline -q --kernel debian:6.12 --stack capability,selinux --fs {fs} \
             --bench {benchmarks} -o measured.json"
        );
        place.line(&profile).code(0);
        let agree = format!(
            "placement {} --agree measured.json --format csv",
            tree.display()
        );
        // Exit status 1: a measured hook is not in the static set.
        let csv = place.line(&agree).code(0).stdout;
        assert!(csv.lines().any(|line| line == expected), "{csv}");
        // The first component of `overlay:open` is below the mount.
        let outside = format!("overlay:open,overlay:{fs},inode_permission,6,7,,over");
        let known = |line: &str| {
            line.ends_with(",exact") || line.starts_with("overlay:copy-up,") || line == outside
        };
        let other: Vec<_> = csv.lines().skip(1).filter(|line| !known(line)).collect();
        assert!(other.is_empty(), "{other:#?}");
    }
}

/// With hook definitions from a kernel tree, the cost of other hooks is outside all hooks: a residual,
/// with which --check fails.
#[test]
fn an_unknown_hook_is_a_residual() {
    let place = Place::with_kernel("debian:6.12");
    place.write(
        "hooks.h",
        "LSM_HOOK(int, 0, file_open, struct file *file)\n\
         LSM_HOOK(int, 0, inode_permission, struct inode *inode, int mask)\n",
    );
    let line = format!(
        "profile {SELINUX} --hook-definitions=hooks.h --bench=open:AA --baseline=capability \
         --json --check"
    );
    let ended = place.line(&line).code(1);
    let document = Document::parse(ended.stdout.as_bytes()).unwrap();
    let [cell] = &document.cells[..] else {
        panic!("{document:#?}")
    };
    let (of_cell, path) = counted(cell);
    assert_sums("open:AA", path);
    // Calls of modules from outside the framework's functions are included.
    let hooks = path.hooks.iter();
    let of_framework = hooks.filter(|hook| hook.function.starts_with("security_"));
    let of_framework: Vec<&str> = of_framework.map(|hook| &*hook.hook).collect();
    assert_eq!(of_framework, ["file_open", "inode_permission"]);

    let base = &residual(cell).path;
    let outside = [path.total - path.hooked, base.total - base.hooked];
    let residual = residual(cell).instructions;
    assert!(residual > 0 && of_cell.is_comparable(), "{cell:#?}");
    assert_eq!(residual.unsigned_abs(), outside[0] - outside[1]);
    let line = format!("residual: open:AA under capability,selinux on debian:6.12: {residual:+}");
    assert!(ended.stderr.contains(&line), "{}", ended.stderr);
    let function = "selinux_file_alloc_security +";
    assert!(ended.stderr.contains(function), "{}", ended.stderr);
}
