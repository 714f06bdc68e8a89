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
        "{run}/label.toml | invalid Smack label `a/b` | 255
         {run}/labels.toml | `/etc/x` has a label, but no access uses it | directories above
         {run}/smack.toml --stack capability,selinux
         | no stack has smack with a policy | --stack capability,smack
         {run}/typo.toml | below/typo.toml, line 7, column 1: unknown key `lable` | `label`?
         {run}/no-proof.toml | needs `denied` | read /etc/shadow
         {run}/no-accesses.toml | needs accesses to test it with | not_measured
         {run}/half.toml | needs `not_measured` | must be unmeasured
         {run}/ima.toml --integrity audit | not active in any configuration | --integrity ima
         {run}/ima.toml --set ima_policy=\"'tcb'\" --integrity ima
         | `ima_policy` is `tcb`, but the policy x is also for ima | leave out one
         {run}/stacks.toml | unknown key `stacks` in a policy file | tables [custom.NAME]
         {run}/none.toml | none.toml: the file defines no policy | tables [custom.NAME]
         run --policy-file missing.toml | missing.toml | tables [custom.NAME]
         run /dev/zero | at most 1048576
         run --policy-file /dev/zero | at most 1048576"
    );
    place.refuses(2, &table);
    assert_eq!(place.names(), ["below"]);
}

#[test]
fn files_of_a_policy_are_relative_to_it() {
    let place = Place::new();
    place.write("rules", "");
    place.write("below/policy.toml", [SMACK, PROOF].concat());
    let asked = ["run", "--offline", "--policy-file", "below/policy.toml"];
    let error = "below/rules: No such file";
    place.run(&asked).refused(3, error, Some(""));
}
