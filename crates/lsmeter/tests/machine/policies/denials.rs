// SPDX-License-Identifier: GPL-2.0-or-later
//! Who denies first: files that single modules deny, in two orders of the modules.

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

/// A file that is opened, or refused as it should be: what that costs, and whose implementations
/// of file_open ran.
#[track_caller]
fn open<'a>(run: &'a Document, stack: &str, file: &str) -> (u64, BTreeSet<&'a str>) {
    let cell = denied_open(run, stack, Policy::Enforcing, file);
    assert_eq!(cell.status(), Status::Ok, "{cell:#?}");
    let mut hooks = cell.hooks().unwrap().iter();
    let hook = hooks.find(|hook| hook.hook == "file_open");
    let asked = hook.into_iter().flat_map(|hook| &hook.implementations);
    let modules = asked.map(|of| of.module.as_str()).collect();
    (cell.paths().unwrap().dominant.instructions, modules)
}

#[track_caller]
fn assert_lacks(cell: &Cell, why: &str) {
    assert_eq!(cell.status(), Status::Unsupported, "{cell:#?}");
    assert!(cell.reason().unwrap().contains(why), "{cell:#?}");
}

#[test]
fn who_denies_first_spares_the_others() {
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
        let told = format!("{file}: {} and {}", one.0, other.0);
        assert!(
            one.0 != other.0 && (one.0 < other.0) == first_is_less,
            "{told}"
        );
    }
    // What none denies asks both; the calls of the hook may be arranged otherwise.
    let [one, other] = [first, second].map(|stack| open(&run, stack, "allowed"));
    assert_eq!([&one.1, &other.1], [&both, &both]);
    assert!(one.0.abs_diff(other.0) < 10, "{} and {}", one.0, other.0);
    // It opens until the module is under its policy, and not from then on.
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
        assert_lacks(cell, why);
    }
    let allowed = denied_open(&run, "capability", Policy::None, "allowed");
    assert_eq!(allowed.status(), Status::Ok, "{allowed:#?}");
    let cell = denied_open(&run, "capability", Policy::None, "by-tomoyo");
    assert_lacks(cell, "tomoyo, which is to deny this file");
}

#[test]
fn what_labels_deny_is_decided_before() {
    let stack = "capability,landlock,selinux";
    let run = measure(&Place::with_kernels(), "debian:6.12", stack, DENIED);
    // file_open is never reached, though Landlock comes first.
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
fn smack_may_stand_before_tomoyo() {
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
fn nothing_is_denied_that_nobody_asked_for() {
    let place = Place::with_kernels();
    let stack = "capability,tomoyo";
    let asked = "--policy enforcing --bench denied-open";
    let run = measure(&place, "debian:6.12", stack, asked);
    let cell = denied_open(&run, stack, Policy::Enforcing, "allowed");
    assert_lacks(cell, "denials = true asks for it");
    let refused = place.line(&format!("run --stack {stack} --set denials=true"));
    let told = "`denials` is true, and no policy of what is measured is enforced";
    assert!(refused.code(2).stderr.contains(told));
}
