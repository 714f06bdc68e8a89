// SPDX-License-Identifier: GPL-2.0-or-later
//! Rules of Smack of the user's own.

use model::Status;

use super::{assert_refused, assert_steps, ended, run};
use crate::common::Place;

/// Each policy has a boot of its own.
const EXPERIMENT: &str = r#"
kernels = ["KERNEL"]
stacks = ["capability", "capability,smack"]
filesystem = "tmpfs"
benchmarks = ["stat:AA", "creat", "chmod:depth1"]
samples = 8
work_dir = "/home/user"

[custom.user]
module = "smack"
files = ["smack"]
label = "User"
files_label = "User::Home"
labels = { "/etc/shadow" = "System::Shadow", "/srv/log" = "Log" }
denied = ["read /etc/shadow", "create /etc/x", "write /srv/log"]
allowed = ["read /srv/log", "read /etc/hosts", "execute /usr/bin/x"]
[custom.own]
module = "smack"
files = ["smack/accesses"]
label = "User"
labels = { "/etc/shadow" = "Other" }
denied = ["read /etc/shadow"]
allowed = ["read /etc/hosts"]
[custom.reader]
module = "smack"
files = ["reader"]
label = "Reader"
files_label = "User::Home"
denied = ["write /etc/hosts"]
allowed = ["read /etc/hosts"]
[custom.lax]
module = "smack"
files = ["smack"]
label = "User"
denied = ["read /etc/hosts"]
allowed = ["read /srv/x"]
[custom.strict]
module = "smack"
files = ["smack"]
label = "User"
labels = { "/etc/shadow" = "Other", "/srv/x" = "Other" }
denied = ["read /etc/shadow"]
allowed = ["read /srv/x"]
"#;

#[test]
fn labels_and_rules_of_ones_own_decide_or_nothing_is_measured() {
    let Some((place, kernel)) = Place::with_test_kernel(&["SECURITY_SMACK"]) else {
        return;
    };
    place.write(
        "smack/accesses",
        "# a site\nUser User::Home rwxatl\nUser System::Shadow r\n",
    );
    // What comes later changes what came before.
    place.write(
        "smack/accesses.d/more",
        "User Log rwx w\nUser System::Shadow - r\n",
    );
    place.write("smack/cipso", "System 1 2\n");
    place.write("reader", "Reader User::Home rx\n");
    place.write("smack.toml", EXPERIMENT.replace("KERNEL", &kernel));
    let run = run(&place, "smack.toml");
    for name in ["user", "own"] {
        for (benchmark, status, reason) in ended(&run, name).0 {
            assert_eq!(status, Status::Ok, "{name}: {benchmark}: {reason}");
        }
    }
    assert_steps(
        &run,
        "user",
        &[
            "smack: 3 rules of smack",
            "left out, since they hold no rules: 1 files (cipso)",
            "security.SMACK64=Log on /srv/log",
            "security.SMACK64=User::Home and SMACK64TRANSMUTE=TRUE on the working directory",
            "wrote User to /proc/self/attr/current; dropped CAP_MAC_OVERRIDE",
            "smack: denied: open of /etc/shadow for reading: EACCES",
            "smack: denied: creat of /etc/x: EACCES",
            "smack: denied: open of /srv/log for writing: EACCES",
            "smack: allowed: execve of /usr/bin/x",
        ],
    );
    // Who may only read has its file made before, and may make none itself.
    let (cells, _) = ended(&run, "reader");
    for (benchmark, status, reason) in cells {
        let is_denied = benchmark == "creat";
        let expected = if is_denied {
            Status::Failed
        } else {
            Status::Ok
        };
        assert_eq!(status, expected, "{benchmark}: {reason}");
        let told = ["EACCES", "lsm=SMACK", "subject=\"Reader\""];
        assert!(
            !is_denied || told.iter().all(|text| reason.contains(text)),
            "{reason}"
        );
    }
    assert_refused(
        &run,
        "lax",
        "smack does not enforce: open of /etc/hosts for reading was allowed",
    );
    assert_refused(
        &run,
        "strict",
        "smack: open of /srv/x for reading must pass, and gave EACCES",
    );
}

#[test]
fn what_are_no_rules_is_refused_before_a_boot() {
    let place = Place::with_kernels();
    place.write("none/cipso", "System 1 2\n");
    place.write("noise", [0xff; 64]);
    place.write("word", "User System r\nUser System\n");
    place.write("right", "User System rz\n");
    place.write("long", format!("{} System r\n", "x".repeat(256)));
    for (rules, error) in [
        ("none", "no rules are in none"),
        ("noise", "noise: it is no text"),
        ("word", "word: line 2: `User System` is no rule"),
        ("right", "right: line 1: `rz` is no access"),
        ("long", "is no label"),
        ("nothing", "No such file"),
    ] {
        let policy = format!(
            "[custom.x]\nmodule = 'smack'\nlabel = 'User'\nfiles = ['{rules}']\n\
             denied = ['read /etc/shadow']\nallowed = ['read /etc/hosts']\n"
        );
        place.write("policy.toml", policy);
        let asked = ["run", "--offline", "--policy-file", "policy.toml"];
        place.run(&asked).refused(3, error, Some(""));
    }
}
