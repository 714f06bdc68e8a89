// SPDX-License-Identifier: GPL-2.0-or-later
//! Audit, IMA and EVM, as the paper combines them with SELinux, and alone.

use model::Policy;

use super::selinux::built_without;
use super::{assert_in_force, assert_unsupported, measure, measure_on};
use crate::common::Place;

const SELINUX: &str = "capability,selinux";
const ALONE: &str = "capability";
const KERNEL: &str = "debian:6.12";

const PROOFS: [&str; 8] = [
    "audit: recorded: open of ./audit-denied by user 1000, refused: ",
    "audit: not recorded: open of ./audit-allowed",
    "ima: denied: open of ./ima-wrong, ",
    "ima: denied: open of ./ima-missing, ",
    "ima: allowed: open of ./ima-right, ",
    "ima: measured: ",
    "evm: denied: chmod of /lsmeter-evm/forged, ",
    "evm: allowed: chmod of ./evm-right, ",
];

fn prove_all(kernel: &str) {
    let states = [
        "--policy",
        "none",
        "--policy",
        "enforcing",
        "--integrity",
        "audit,ima,evm",
    ];
    let run = measure(&Place::with_kernels(), kernel, &[SELINUX], &states);
    assert_in_force(&run, SELINUX, Policy::None, &PROOFS);
    assert_in_force(&run, SELINUX, Policy::Enforcing, &PROOFS);
}

#[test]
fn all_of_them_work_together_with_selinux() {
    prove_all(KERNEL);
}

#[test]
fn so_they_do_on_a_kernel_built_here() {
    let options = ["SECURITY_SELINUX", "AUDIT", "IMA_WRITE_POLICY", "EVM"];
    if let Some((_, kernel)) = Place::with_test_kernel(&options) {
        prove_all(&kernel);
    }
}

#[test]
fn audit_has_the_rules_that_are_asked_for() {
    let sets: [(&str, &[&str]); 4] = [
        (
            "none",
            &[
                "audit: auditctl -l: 0 rules",
                "audit: not recorded: open of ./audit-denied by user 1000, refused",
                "audit: recorded: auditctl -t, and its call: tasks have contexts",
            ],
        ),
        (
            "never-task",
            &[
                "audit: auditctl -l: 1 rules",
                "audit: auditctl -d task,never; recorded: auditctl -t in a new task, and its call",
                "audit: auditctl -a task,never; not recorded: open of ./audit-denied by user 1000",
            ],
        ),
        (
            "one",
            &[
                "audit: auditctl -l: 1 rules",
                "audit: recorded: open of ./audit-denied by user 1000, refused: ",
                "audit: not recorded: chmod of ./audit-denied before it, refused",
            ],
        ),
        (
            "stig",
            &[
                "audit: auditctl -l: 34 rules",
                "audit: recorded: open of ./audit-denied by user 1000, refused: ",
                "audit: not recorded: the same by who has not logged in",
            ],
        ),
    ];
    let counted = sets.map(|(set, proofs)| {
        let set = format!("audit_rules='{set}'");
        let asked = ["--integrity", "audit", "--set", &set];
        let run = measure(&Place::with_kernels(), KERNEL, &[ALONE], &asked);
        assert_in_force(&run, ALONE, Policy::None, proofs);
        let open = run.cells.iter().find(|c| c.key.benchmark() == "open");
        open.and_then(|cell| Some(cell.estimate()?.median))
            .unwrap_or_else(|| panic!("{:#?}", run.cells))
    });
    // Nothing is collected, then contexts are, then names are, then 34 rules are compared.
    let [none, never_task, one, stig] = counted;
    assert!(never_task < none && none < one && one < stig, "{counted:?}");
}

/// The kernel's own policies, which it tells of by what it measures and refuses.
#[test]
fn policies_of_the_kernel_s_own_measure_or_appraise() {
    let denied = [
        "ima: denied: open of ./ima-wrong, ",
        "ima: denied: open of ./ima-missing, ",
    ];
    let measured = "ima: measured: ";
    let policies: [(&str, &[&str]); 3] = [
        ("tcb", &["ima: booted with ima_policy=tcb", measured]),
        (
            "appraise-tcb",
            &[denied[0], denied[1], "ima: not measured: "],
        ),
        ("tcb-and-appraise-tcb", &[denied[0], denied[1], measured]),
    ];
    for (policy, proofs) in policies {
        let set = format!("ima_policy='{policy}'");
        let asked = ["--integrity", "ima", "--set", &set];
        let run = measure_on("ext4", &Place::with_kernels(), KERNEL, &[ALONE], &asked);
        assert_in_force(&run, ALONE, Policy::None, proofs);
        let steps = run.setups.iter().flat_map(|setup| &setup.steps);
        let refuses = steps.clone().any(|step| step.starts_with("ima: denied"));
        assert_eq!(refuses, policy != "tcb", "{policy}: {:#?}", run.setups);
    }
    // They leave out tmpfs.
    let asked = [
        "run",
        "--offline",
        "--kernel",
        KERNEL,
        "--stack",
        ALONE,
        "--fs",
        "tmpfs",
    ];
    let asked = [
        &asked[..],
        &[
            "--integrity",
            "ima",
            "--set",
            "ima_policy='tcb'",
            "--bench",
            "stat:AA",
        ],
    ];
    let ended = Place::with_kernels().run(&asked.concat()).code(4);
    assert!(ended.stderr.contains("leave out tmpfs"), "{ended:#?}");
}

/// Without IMA and labels, ext4 lets only what is new have its first attribute.
#[test]
fn evm_alone_works_on_ext4() {
    let place = Place::with_kernels();
    let evm = ["--integrity", "evm"];
    let run = measure_on("ext4", &place, KERNEL, &[ALONE], &evm);
    assert_in_force(&run, ALONE, Policy::None, &PROOFS[6..]);
}

#[test]
fn each_rule_of_ima_costs_an_open_something() {
    let rules = [
        "--policy",
        "enforcing",
        "--integrity",
        "ima",
        "--rules",
        "1",
        "--rules",
        "101",
    ];
    let run = measure(&Place::with_kernels(), KERNEL, &[SELINUX], &rules);
    let open = |rules: u32| {
        let cell = run
            .cells
            .iter()
            .find(|cell| cell.key.benchmark() == "open" && cell.key.settings.rules == Some(rules));
        cell.and_then(|cell| Some(cell.estimate()?.median))
            .unwrap_or_else(|| panic!("{:#?}", run.cells))
    };
    // They are compared one after the other, each by several instructions.
    assert!(open(101) > open(1) + 500.0, "{} {}", open(1), open(101));
}

#[test]
fn a_kernel_without_evm_is_told_of() {
    let place = Place::with_kernels();
    let build = built_without(&place, "CONFIG_EVM");
    let evm = ["--integrity", "evm"];
    let run = measure(&place, build.to_str().unwrap(), &[ALONE], &evm);
    assert_unsupported(&run, ALONE, Policy::None, "CONFIG_EVM");
}
