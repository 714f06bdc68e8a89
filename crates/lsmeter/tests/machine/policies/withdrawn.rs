// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies that decided, and were then taken back.

use model::{Document, Policy};

use super::{assert_in_force, assert_unsupported, cells, measure, steps};
use crate::common::Place;

const WITHDRAWN: [&str; 2] = ["--set", "policies=['none','withdrawn']"];

/// First denied, then taken back, then allowed.
#[track_caller]
fn assert_withdrawn(run: &Document, stack: &str, denied: &str, taken_back: &str, allowed: &str) {
    assert_in_force(run, stack, Policy::Withdrawn, &[]);
    let steps = steps(run, stack, Policy::Withdrawn);
    let at = |text: &str| {
        let at = steps.iter().position(|step| step.contains(text));
        at.unwrap_or_else(|| panic!("{text}: {steps:#?}"))
    };
    assert!(at(denied) < at(taken_back) && at(taken_back) < at(allowed));
}

fn open(run: &Document, stack: &str, policy: Policy) -> f64 {
    cells(run, stack, policy)[0].estimate().unwrap().median
}

#[test]
fn what_was_denied_is_allowed_once_the_policy_is_withdrawn() {
    let [selinux, apparmor, tomoyo] = ["selinux", "apparmor", "tomoyo"].map(|module| {
        let stack = format!("capability,{module}");
        let place = Place::with_kernels();
        let run = measure(&place, "debian:6.12", &[&stack], &WITHDRAWN);
        (stack, run)
    });
    assert_withdrawn(
        &selinux.1,
        &selinux.0,
        "selinux: denied: open of ./selinux-denied for reading: EACCES (13)",
        "selinux: who is not under the policy wrote 0 to /sys/fs/selinux/enforce",
        "selinux: allowed: open of ./selinux-denied for reading, with the same label",
    );
    assert_withdrawn(
        &apparmor.1,
        &apparmor.0,
        "apparmor: denied: open of /apparmor-denied for reading: EACCES (13)",
        "apparmor: who is not under the policy wrote lsmeter to ",
        "apparmor: allowed: open of /apparmor-denied for reading, once withdrawn",
    );
    assert_withdrawn(
        &tomoyo.1,
        &tomoyo.0,
        "tomoyo: denied: open of /tomoyo-denied for reading: EPERM (1)",
        "tomoyo: who is not under the policy wrote select <kernel> /lsmeter, use_profile 0",
        "tomoyo: allowed: open of /tomoyo-denied for reading, once withdrawn",
    );
    // AppArmor is then as if there had been none; the others still look something up.
    let [none, withdrawn] = [Policy::None, Policy::Withdrawn];
    let more = |(stack, run): &(String, Document)| {
        let more = open(run, stack, withdrawn) - open(run, stack, none);
        (0.0..200.0).contains(&more).then_some(more)
    };
    assert_eq!(more(&apparmor), Some(0.0));
    assert!(more(&selinux).is_some_and(|more| more > 0.0));
    assert!(more(&tomoyo).is_some_and(|more| more > 0.0));
}

#[test]
fn smack_is_without_its_rules_and_labels() {
    let Some((place, kernel)) = Place::with_test_kernel(&["SECURITY_SMACK"]) else {
        return;
    };
    let stack = "capability,smack";
    let run = measure(&place, &kernel, &[stack], &WITHDRAWN);
    assert_withdrawn(
        &run,
        stack,
        "smack: denied: open of /smack/denied for reading: EACCES (13)",
        "smack: who is not under the policy wrote lsmeter to /sys/fs/smackfs/revoke-subject",
        "smack: allowed: open of /smack/denied for reading, once withdrawn",
    );
}

#[test]
fn a_landlock_ruleset_stays() {
    let stack = "capability,landlock";
    let asked = ["--set", "policies=['withdrawn']"];
    let run = measure(&Place::with_kernels(), "debian:6.12", &[stack], &asked);
    let why = "the policy of landlock cannot be taken back once it decides";
    assert_unsupported(&run, stack, Policy::Withdrawn, why);
}
