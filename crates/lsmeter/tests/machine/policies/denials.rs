// SPDX-License-Identifier: GPL-2.0-or-later
//! The first module that denies: files denied by single modules, in two orders of the modules.

use std::collections::BTreeSet;

use model::{Cell, Document, Policy, Status};

use super::{assert_in_force, cells, measure, steps};
use crate::common::Place;

const DENIED: &str = "--policy enforcing --set denials=true --bench denied-open --variants all \
                      --with-hooks";

fn denied_open<'a>(run: &'a Document, stack: &str, policy: Policy, file: &str) -> &'a Cell {
    let mut cells = cells(run, stack, policy).into_iter();
    let title = format!("denied-open:{file}");
    cells.find(|cell| cell.title() == title).unwrap()
}

/// Instructions of an open, allowed or refused as expected, and the modules that ran in file_open.
#[track_caller]
fn open<'a>(run: &'a Document, stack: &str, file: &str) -> (u64, BTreeSet<&'a str>) {
    let cell = denied_open(run, stack, Policy::Enforcing, file);
    assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
    let mut hooks = cell.hooks().unwrap().iter();
    let hook = hooks.find(|hook| hook.hook == "file_open");
    let asked = hook.into_iter().flat_map(|hook| &hook.implementations);
    let modules = asked
        .map(|implementation| implementation.module.as_str())
        .collect();
    (cell.paths().unwrap().dominant.instructions, modules)
}

#[track_caller]
fn assert_missing(cell: &Cell, why: &str) {
    assert_eq!(cell.status(), Status::Unsupported, "{cell:#?}");
    assert!(cell.reason().unwrap().contains(why), "{cell:#?}");
}

#[test]
fn modules_after_a_denial_are_not_called() {
    let [first, second] = ["capability,apparmor,tomoyo", "capability,tomoyo,apparmor"];
    let stacks = format!("capability {first} {second}");
    let run = measure(&Place::with_kernels(), "debian:6.12", &stacks, DENIED);
    let both = BTreeSet::from(["apparmor", "tomoyo"]);
    let [apparmor, tomoyo] = ["apparmor", "tomoyo"].map(|module| BTreeSet::from([module]));
    for (file, in_first, in_second) in [
        ("by-apparmor", &apparmor, &both),
        ("by-tomoyo", &both, &tomoyo),
        ("by-apparmor-tomoyo", &apparmor, &tomoyo),
    ] {
        let [one, other] = [first, second].map(|stack| open(&run, stack, file));
        assert_eq!([&one.1, &other.1], [in_first, in_second], "{file}");
        let first_is_less = file != "by-tomoyo";
        let costs = format!("{file}: {} and {}", one.0, other.0);
        assert!(
            one.0 != other.0 && (one.0 < other.0) == first_is_less,
            "{costs}"
        );
    }
    // Both modules run if none denies. The order of the calls may change the code.
    let [one, other] = [first, second].map(|stack| open(&run, stack, "allowed"));
    assert_eq!([&one.1, &other.1], [&both, &both]);
    assert!(one.0.abs_diff(other.0) < 10, "{} and {}", one.0, other.0);
    // Opens succeed until the policy is in force.
    for stack in [first, second] {
        let steps = steps(&run, stack, Policy::Enforcing);
        let at = |text: &str| {
            let at = steps.iter().position(|step| step.contains(text));
            at.unwrap_or_else(|| panic!("{text}: {steps:#?}"))
        };
        let allowed = at("denials: allowed without a policy: open of each for reading");
        let opened = "denied from now on: open of /denials/granted";
        let apparmor = at(&format!("apparmor: {opened}/a--- for reading: EACCES (13)"));
        let tomoyo = at(&format!("tomoyo: {opened}/-t-- for reading: EPERM (1)"));
        assert!(allowed < apparmor && allowed < tomoyo, "{steps:#?}");
        let cell = denied_open(&run, stack, Policy::Enforcing, "by-landlock");
        let why = "landlock, which is to deny this file, has no policy here";
        assert_missing(cell, why);
    }
    let allowed = denied_open(&run, "capability", Policy::None, "allowed");
    assert_eq!(allowed.status(), Status::Ok, "{allowed:#?}");
    let cell = denied_open(&run, "capability", Policy::None, "by-tomoyo");
    assert_missing(cell, "tomoyo, which is to deny this file");
}

#[test]
fn labels_deny_before_file_open() {
    let stack = "capability,landlock,selinux";
    let run = measure(&Place::with_kernels(), "debian:6.12", stack, DENIED);
    // file_open is not reached, although Landlock is first.
    assert_eq!(open(&run, stack, "by-selinux").1, BTreeSet::new());
    let landlock = open(&run, stack, "by-landlock").1;
    assert_eq!(landlock, BTreeSet::from(["landlock"]));
    let steps = steps(&run, stack, Policy::Enforcing);
    for text in [
        "selinux: denied from now on: open of /denials/granted/--s- for reading: EACCES (13)",
        "landlock: denied from now on: open of /denials/refused/---- for reading: EACCES (13)",
    ] {
        assert!(steps.iter().any(|step| step == text), "{text}: {steps:#?}");
    }
}

#[test]
fn smack_can_precede_tomoyo() {
    let options = ["SECURITY_SMACK", "SECURITY_TOMOYO"];
    let Some((place, kernel)) = Place::with_test_kernel(&options) else {
        return;
    };
    let stack = "capability,smack,tomoyo";
    let asked = "--policy enforcing --set denials=true --bench denied-open:by-smack \
                 --bench denied-open:by-tomoyo";
    let run = measure(&place, &kernel, stack, asked);
    let texts = [
        "smack: denied from now on: open of /denials/granted/---m for reading: EACCES (13)",
        "tomoyo: denied from now on: open of /denials/granted/-t-- for reading: EPERM (1)",
    ];
    assert_in_force(&run, stack, Policy::Enforcing, &texts);
}

#[test]
fn nothing_is_denied_without_the_setting() {
    let place = Place::with_kernels();
    let stack = "capability,tomoyo";
    let asked = "--policy enforcing --bench denied-open";
    let run = measure(&place, "debian:6.12", stack, asked);
    let cell = denied_open(&run, stack, Policy::Enforcing, "allowed");
    assert_missing(cell, "set denials = true");
    let refused = place.line(&format!("run --stack {stack} --set denials=true"));
    let error = "`denials` needs an enforced policy, but the experiment has none";
    assert!(refused.code(2).stderr.contains(error));
}
