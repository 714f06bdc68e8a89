// SPDX-License-Identifier: GPL-2.0-or-later
//! Audit, IMA and EVM, combined with SELinux as in the paper, and alone.

use std::fs;

use model::Policy;

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

/// On a stock kernel and, if available, on a test kernel.
#[test]
fn all_of_them_work_together_with_selinux() {
    let options = ["SECURITY_SELINUX", "AUDIT", "IMA_WRITE_POLICY", "EVM"];
    let built = Place::with_test_kernel(&options).map(|(_, kernel)| kernel);
    for kernel in [KERNEL.to_owned()].into_iter().chain(built) {
        let states = "--policy none --policy enforcing --integrity audit,ima,evm";
        let run = measure(&Place::with_kernels(), &kernel, SELINUX, states);
        assert_in_force(&run, SELINUX, Policy::None, &PROOFS);
        assert_in_force(&run, SELINUX, Policy::Enforcing, &PROOFS);
    }
}

#[test]
fn audit_has_the_requested_rules() {
    let recorded = "audit: recorded: open of ./audit-denied by user 1000, refused: ";
    let sets = [
        (
            "none",
            "audit: auditctl -l: 0 rules",
            "audit: not recorded: open of ./audit-denied by user 1000, refused",
            "audit: recorded: auditctl -t, and its call: tasks have contexts",
        ),
        (
            "never-task",
            "audit: auditctl -l: 1 rules",
            "audit: auditctl -d task,never; recorded: auditctl -t in a new task, and its call",
            "audit: auditctl -a task,never; not recorded: open of ./audit-denied by user 1000",
        ),
        (
            "one",
            "audit: auditctl -l: 1 rules",
            recorded,
            "audit: not recorded: chmod of ./audit-denied before it, refused",
        ),
        (
            "stig",
            "audit: auditctl -l: 34 rules",
            recorded,
            "audit: not recorded: the same by who has not logged in",
        ),
    ];
    let counted = sets.map(|(set, rules, one, other)| {
        let asked = format!("--integrity audit --set audit_rules='{set}'");
        let run = measure(&Place::with_kernels(), KERNEL, ALONE, &asked);
        assert_in_force(&run, ALONE, Policy::None, &[rules, one, other]);
        let mut cells = run.cells.iter();
        let open = cells.find(|cell| cell.key.benchmark() == "open");
        open.unwrap().estimate().unwrap().median
    });
    // `never_task` collects nothing, `none` collects contexts, `one` also collects names, and
    // `stig` compares 34 rules.
    let [none, never_task, one, stig] = counted;
    assert!(never_task < none && none < one && one < stig, "{counted:?}");
}

/// The kernel's built-in policies, recognised by what they measure and refuse.
#[test]
fn policies_of_the_kernel_s_own_measure_or_appraise() {
    let denied = [PROOFS[2], PROOFS[3]];
    let measured = "ima: measured: ";
    for (policy, proofs) in [
        ("tcb", &["ima: booted with ima_policy=tcb", measured][..]),
        (
            "appraise-tcb",
            &[denied[0], denied[1], "ima: not measured: "],
        ),
        ("tcb-and-appraise-tcb", &[denied[0], denied[1], measured]),
    ] {
        let asked = format!("--integrity ima --set ima_policy='{policy}'");
        let run = measure_on("ext4", &Place::with_kernels(), KERNEL, ALONE, &asked);
        assert_in_force(&run, ALONE, Policy::None, proofs);
        let mut steps = run.setups.iter().flat_map(|setup| &setup.steps);
        let refuses = steps.any(|step| step.starts_with("ima: denied"));
        assert_eq!(refuses, policy != "tcb", "{policy}: {:#?}", run.setups);
    }
    let ended = Place::with_kernels().line(
        "run --offline --kernel debian:6.12 --stack capability --fs tmpfs --integrity ima \
         --set ima_policy='tcb' --bench stat:AA",
    );
    assert!(ended.code(4).stderr.contains("leave out tmpfs"));
}

/// Without IMA and labels, ext4 sets a first attribute only on new files.
#[test]
fn evm_alone_works_on_ext4() {
    let place = Place::with_kernels();
    let run = measure_on("ext4", &place, KERNEL, ALONE, "--integrity evm");
    assert_in_force(&run, ALONE, Policy::None, &PROOFS[6..]);
}

#[test]
fn each_rule_of_ima_costs_an_open_something() {
    let rules = "--policy enforcing --integrity ima --rules 1 --rules 101";
    let run = measure(&Place::with_kernels(), KERNEL, SELINUX, rules);
    let [few, many] = [1, 101].map(|rules| {
        let mut cells = run.cells.iter();
        let open = cells
            .find(|cell| cell.key.benchmark() == "open" && cell.key.settings.rules == Some(rules));
        open.unwrap().estimate().unwrap().median
    });
    // Rules are compared one after the other.
    assert!(many > few + 500.0, "{few} {many}");
}

/// The image of debian:6.12 in a build directory whose .config has no EVM.
#[test]
fn a_kernel_without_evm_is_refused() {
    let place = Place::with_kernels();
    let listed = place.line("kernel list --json").json();
    let mut kernels = listed["kernels"].as_array().unwrap().iter();
    let stock = kernels.find(|kernel| kernel["name"].as_str().unwrap().starts_with(KERNEL));
    let file = |key: &str| fs::read(stock.unwrap()[key].as_str().unwrap()).unwrap();
    let config = String::from_utf8(file("config")).unwrap();
    let without = config.replace("CONFIG_EVM=y\n", "# CONFIG_EVM is not set\n");
    assert_ne!(config, without);
    place.write("build/.config", without);
    place.write("build/arch/x86/boot/bzImage", file("image"));
    let build = place.join("build");
    let run = measure(&place, build.to_str().unwrap(), ALONE, "--integrity evm");
    assert_unsupported(&run, ALONE, Policy::None, "CONFIG_EVM");
}
