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
    let smack = [SMACK, PROOF].concat();
    for (name, text) in [
        ("label", [&smack, "files_label = 'a/b'"].concat()),
        (
            "labels",
            [&smack, "labels = { '/etc/x' = 'Other' }"].concat(),
        ),
        ("typo", [&smack, "lable = 'x'"].concat()),
        ("smack", smack.clone()),
        ("no-proof", SMACK.to_owned()),
        ("no-accesses", IMA.to_owned()),
        ("half", [IMA, "measured = ['read /x']"].concat()),
        ("ima", [IMA, MEASURED].concat()),
        ("stacks", ["stacks = ['capability']\n", &smack].concat()),
        ("none", "work_dir = '/x'".to_owned()),
    ] {
        place.write(&format!("below/{name}.toml"), text);
    }
    let run = "run --offline --bench stat:AA --policy-file below";
    let table = format!(
        "{run}/label.toml | `a/b` is no label of Smack's | 255
         {run}/labels.toml | `/etc/x` has a label, and nothing is there | directories above
         {run}/smack.toml --stack capability,selinux
         | no stack of what is measured has smack | --stack capability,smack
         {run}/typo.toml | below/typo.toml, line 7, column 1: unknown field `lable` | `label`?
         {run}/no-proof.toml | `denied` is missing | read /etc/shadow
         {run}/no-accesses.toml | it has no accesses | not_measured
         {run}/half.toml | `not_measured` is missing | let pass unmeasured
         {run}/ima.toml --integrity audit | not at work in anything measured | --integrity ima
         {run}/ima.toml --set ima_policy=\"'tcb'\" --integrity ima
         | `ima_policy` is `tcb`, and the policy x is of ima | leave out one
         {run}/stacks.toml | below/stacks.toml: `stacks` is not a policy's | tables [custom.NAME]
         {run}/none.toml | none.toml: no policy | tables [custom.NAME]
         run --policy-file missing.toml | missing.toml | tables [custom.NAME]
         run /dev/zero | a spec has at most 1048576
         run --policy-file /dev/zero | a spec has at most 1048576"
    );
    place.refuses(2, &table);
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
