// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies deny, allow, and let the suite run: `lsmeter run --policy`. SLOW: a minute.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests
//! (`lsmeter kernel fetch debian:6.12`), and for modules that no stock kernel has one of
//! `make test-kernels`; nothing is fetched or built here. Modules share runs, so that there are
//! few boots.

mod apparmor;
mod denials;
mod first;
mod given;
mod integrity;
mod landlock;
mod learned;
mod loadpin;
mod lockdown;
mod memory;
mod programs;
mod safesetid;
mod selinux;
mod smack;
mod tomoyo;

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::common::Place;
use model::{Cell, Document, Policy, Status};

fn read(path: &Path) -> Document {
    Document::read(fs::File::open(path).unwrap()).unwrap()
}

fn measure(place: &Place, kernel: &str, stacks: &[&str], rest: &[&str]) -> Document {
    measure_on("tmpfs", place, kernel, stacks, rest)
}

fn measure_on(fs: &str, place: &Place, kernel: &str, stacks: &[&str], rest: &[&str]) -> Document {
    let mut asked = vec!["run", "--offline", "--fs", fs, "--kernel", kernel];
    for stack in stacks {
        asked.extend(["--stack", stack]);
    }
    asked.extend(["--bench", "open:AA", "--bench", "execve", "-n", "8"]);
    asked.extend(["--output", "out.json"]);
    asked.extend(rest);
    let ended = place.run(&asked);
    assert_eq!(place.left_over(), Vec::<String>::new());
    let run = read(&place.join("out.json"));
    // Cells that the kernel cannot do are no failure, but nothing else is nothing.
    let measured = run.cells.iter().any(|cell| cell.status() == Status::Ok);
    ended.code(if measured { 0 } else { 4 });
    run
}

const STATES: [&str; 4] = ["--policy", "permissive", "--policy", "enforcing"];

/// Modules of stock kernels, with and without a permissive state.
fn stock() -> &'static Document {
    static RUN: OnceLock<Document> = OnceLock::new();
    RUN.get_or_init(|| {
        let stacks = [
            "capability,apparmor",
            "capability,tomoyo",
            "capability,landlock",
            "lockdown,capability",
        ];
        measure(&Place::with_kernels(), "debian:6.12", &stacks, &STATES)
    })
}

/// Modules that no stock kernel has; None, recorded as skipped, without a kernel for tests.
fn built() -> Option<&'static Document> {
    static RUN: OnceLock<Document> = OnceLock::new();
    let (place, kernel) = Place::with_test_kernel(&[
        "SECURITY_SMACK",
        "SECURITY_SAFESETID",
        "SECURITY_LOADPIN",
        "SECURITY_IPE",
    ])?;
    Some(RUN.get_or_init(|| {
        let stacks = [
            "capability,smack",
            "capability,safesetid",
            "capability,loadpin",
            "capability,ipe",
        ];
        measure(&place, &kernel, &stacks, &STATES)
    }))
}

/// How the policies of this stack came into force.
fn steps<'a>(run: &'a Document, stack: &str, policy: Policy) -> &'a [String] {
    let mut found = run.setups.iter().filter(|setup| {
        setup.configuration.stack.as_str() == stack && setup.configuration.policy == policy
    });
    let setup = found
        .next()
        .unwrap_or_else(|| panic!("no {stack} {policy}: {:#?}", run.cells));
    &setup.steps
}

fn cells<'a>(run: &'a Document, stack: &str, policy: Policy) -> Vec<&'a Cell> {
    let is_of = |cell: &&Cell| cell.key.stack.join(",") == stack && cell.key.policy == policy;
    let cells: Vec<&Cell> = run.cells.iter().filter(is_of).collect();
    assert!(!cells.is_empty(), "{stack} {policy}");
    cells
}

/// All its cells are measured, and its steps hold a line with each of these texts.
#[track_caller]
fn assert_in_force(run: &Document, stack: &str, policy: Policy, texts: &[&str]) {
    for cell in cells(run, stack, policy) {
        assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
    }
    let steps = steps(run, stack, policy);
    for text in texts {
        assert!(
            steps.iter().any(|step| step.contains(text)),
            "{text}: {steps:#?}"
        );
    }
}

/// The state is refused, with a reason that holds this text.
#[track_caller]
fn assert_unsupported(run: &Document, stack: &str, policy: Policy, reason: &str) {
    for cell in cells(run, stack, policy) {
        assert_eq!(cell.status(), Status::Unsupported, "{cell:#?}");
        let told = cell.reason().unwrap();
        assert!(told.contains(reason), "{told}");
    }
}

#[test]
fn a_kernel_without_the_modules_says_so() {
    let place = Place::with_kernels();
    let stacks = [
        "capability,smack",
        "capability,safesetid",
        "capability,loadpin",
    ];
    let enforcing = ["--policy", "enforcing"];
    let run = measure(&place, "debian:6.12", &stacks, &enforcing);
    for (stack, option) in stacks.iter().zip([
        "CONFIG_SECURITY_SMACK",
        "CONFIG_SECURITY_SAFESETID",
        "CONFIG_SECURITY_LOADPIN",
    ]) {
        assert_unsupported(&run, stack, Policy::Enforcing, option);
    }
    assert!(run.setups.is_empty());
}
