// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter coverage` of real kernels.
//!
//! Needs QEMU and the kernels debian:6.1 and debian:6.12 in the cache of whoever runs the tests.

use std::fs;

use model::coverage::{CoveredHook, CoveredImplementation, Need};
use model::{Document, Kind, Status};

use crate::common::Place;

fn hook<'a>(document: &'a Document, name: &str) -> &'a CoveredHook {
    let hooks = document.coverage.iter().flat_map(|of| &of.hooks);
    let found = hooks.into_iter().find(|of| of.hook == name);
    found.unwrap_or_else(|| panic!("no hook {name}"))
}

fn function<'a>(document: &'a Document, of: &str, name: &str) -> &'a CoveredImplementation {
    let mut functions = hook(document, of).implementations.iter();
    let found = functions.find(|of| of.function == name);
    found.unwrap_or_else(|| panic!("{name} is not registered for {of}"))
}

/// What three benchmarks call under one module, without a policy and with one; then what that
/// document says once more, and less than is asked for.
#[test]
fn some_benchmarks_call_some_hooks() {
    let place = Place::with_kernels();
    let asked = [
        "coverage",
        "--offline",
        "-q",
        "--kernel",
        "debian:6.12",
        "--stack",
        "capability,selinux",
        "--bench",
        "open,socketpair,getppid",
        "-n",
        "8",
        "-o",
        "c.json",
    ];
    let table = place.run(&asked).code(0).stdout;
    let document = Document::parse(&fs::read(place.join("c.json")).unwrap()).unwrap();
    assert_eq!(document.kind, Kind::Coverage);
    let mut cells = document.cells.iter();
    assert!(cells.all(|cell| cell.status() == Status::Ok), "{table}");
    assert_eq!(document.cells.len(), 6);

    let findings = document.coverage.as_ref().unwrap();
    assert!(findings.implementations_known && findings.hooks.len() > 200);
    assert!(findings.share.called > 5 && findings.share.called < 60);
    let open = hook(&document, "file_open");
    assert_eq!(open.calls(), Some((1, 1)));
    assert_eq!(open.called_by.len(), 1);
    let ran = function(&document, "file_open", "selinux_file_open")
        .ran
        .unwrap();
    assert!(ran.least > 0.0 && ran.operations == 2, "{ran:?}");
    // Registered, and its module in no stack.
    assert!(
        function(&document, "file_open", "apparmor_file_open")
            .ran
            .is_none()
    );
    assert!(!hook(&document, "settime").is_called());
    let reason = hook(&document, "ib_pkey_access").reason.as_ref().unwrap();
    assert_eq!(reason.needs, Need::Hardware);

    let again = place.run(&["coverage", "c.json"]).code(0).stdout;
    assert_eq!(table, again);
    let gate = place
        .run(&["coverage", "c.json", "--at-least", "90"])
        .code(1);
    assert!(
        gate.stderr.contains("coverage: less than 90 %"),
        "{}",
        gate.stderr
    );
}

/// A map is freed by a work queue after its file was closed. The benchmark before it, which leaves
/// nothing, and the one after it are not taken for it.
#[test]
fn hooks_are_called_after_operations() {
    let place = Place::with_kernels();
    let asked = [
        "coverage",
        "--offline",
        "-q",
        "--kernel",
        "debian:6.12",
        "--stack",
        "capability,selinux",
        "--policy",
        "none",
        "--variants",
        "all",
        "--bench",
        "getppid,bpf:map-create,getpgid",
        "-n",
        "8",
        "--json",
    ];
    let told = place.run(&asked).code(0).stdout;
    let document = Document::parse(told.as_bytes()).unwrap();
    let freed = hook(&document, "bpf_map_free");
    let [earlier] = &freed.called_after[..] else {
        panic!("{:?}", freed.called_after);
    };
    assert_eq!(
        (earlier.title(), earlier.calls_each()),
        ("bpf:map-create".to_owned(), 1.0)
    );
    assert_eq!(hook(&document, "bpf_map_create").called_by.len(), 1);
    assert_eq!(document.coverage.unwrap().share.called_later, 1);
}

/// A kernel that calls modules from lists, not by static calls, tells as much.
#[test]
fn lists_of_modules_are_read_too() {
    let place = Place::with_kernels();
    let asked = [
        "coverage",
        "--offline",
        "-q",
        "--kernel",
        "debian:6.1",
        "--stack",
        "capability,apparmor",
        "--policy",
        "none",
        "--bench",
        "open",
        "-n",
        "8",
        "--json",
    ];
    let told = place.run(&asked).code(0).stdout;
    let document = Document::parse(told.as_bytes()).unwrap();
    assert!(document.coverage.as_ref().unwrap().implementations_known);
    assert!(
        function(&document, "file_open", "apparmor_file_open")
            .ran
            .is_some()
    );
    assert!(
        function(&document, "inode_rename", "selinux_inode_rename")
            .ran
            .is_none()
    );
    // Before 6.8 the kernel calls IMA beside the framework.
    assert!(
        document
            .coverage
            .unwrap()
            .beside
            .iter()
            .any(|of| of == "ima_file_check")
    );
}
