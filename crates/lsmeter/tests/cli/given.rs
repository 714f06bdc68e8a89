// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies: files that are refused before anything boots.

use crate::common::Place;

const PROOF: &str = "denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n";
const SMACK: &str = "[custom.x]\nmodule = 'smack'\nfiles = ['rules']\nlabel = 'User'\n";
const IMA: &str = "[custom.x]\nmodule = 'ima'\nfiles = ['rules']\n";
const MEASURED: &str = "measured = ['read /x']\nnot_measured = ['read /y']\n";

#[test]
fn files_that_make_no_policy_are_refused() {
    let place = Place::new();
    place.write("below/rules", "User System r\n");
    let refused = |parts: &[&str], flags: &[&str], error: &str, hint: &str| {
        place.write("below/policy.toml", parts.concat());
        let asked = ["run", "--offline", "--bench", "stat:AA"];
        let file = ["--policy-file", "below/policy.toml"];
        let asked = [&asked, &file[..], flags].concat();
        place.run(&asked).refused(2, error, Some(hint));
    };
    let smack = |rest: &str, flags: &[&str], error: &str, hint: &str| {
        refused(&[SMACK, PROOF, rest], flags, error, hint);
    };
    let label = "files_label = 'a/b'";
    smack(label, &[], "`a/b` is no label of Smack's", "255");
    let labels = "labels = { '/etc/x' = 'Other' }";
    let error = "`/etc/x` has a label, and nothing is there";
    smack(labels, &[], error, "directories above");
    let error = "no stack of what is measured has smack";
    let stack = ["--stack", "capability,selinux"];
    smack("", &stack, error, "--stack capability,smack");
    let error = "below/policy.toml, line 7, column 1: unknown field `lable`";
    smack("lable = 'x'", &[], error, "did you mean `label`?");

    refused(&[SMACK], &[], "`denied` is missing", "read /etc/shadow");
    refused(&[IMA], &[], "it has no accesses", "not_measured");
    let error = "`not_measured` is missing";
    let measured = [IMA, "measured = ['read /x']"];
    refused(&measured, &[], error, "let pass unmeasured");
    let error = "not at work in anything measured";
    let audit = ["--integrity", "audit"];
    refused(&[IMA, MEASURED], &audit, error, "--integrity ima");
    let error = "`ima_policy` is `tcb`, and the policy x is of ima";
    let tcb = ["--set", "ima_policy='tcb'", "--integrity", "ima"];
    refused(&[IMA, MEASURED], &tcb, error, "leave out one");

    let hint = "tables [custom.NAME]";
    let stacks = ["stacks = ['capability']\n", SMACK, PROOF];
    let error = "below/policy.toml: `stacks` is not a policy's";
    refused(&stacks, &[], error, hint);
    refused(&["work_dir = '/x'"], &[], "policy.toml: no policy", hint);
    let asked = ["run", "--policy-file", "missing.toml"];
    place.run(&asked).refused(2, "missing.toml", Some(hint));
    place.refuses(
        2,
        "run /dev/zero | a spec has at most 1048576
         run --policy-file /dev/zero | a spec has at most 1048576",
    );
    assert_eq!(place.names(), ["below"]);
}

/// A policy names its files from where it lies.
#[test]
fn files_of_a_policy_lie_beside_it() {
    let place = Place::new();
    place.write("rules", "");
    place.write("below/policy.toml", [SMACK, PROOF].concat());
    let asked = ["run", "--offline", "--policy-file", "below/policy.toml"];
    let error = "below/rules: No such file";
    place.run(&asked).refused(3, error, Some(""));
}
