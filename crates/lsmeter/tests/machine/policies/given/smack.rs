// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom Smack rules.

use model::Status;

use super::{assert_measured, assert_refused, assert_steps, ended, run};
use crate::common::Place;

/// Each policy takes one boot.
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
fn custom_labels_and_rules_are_enforced_or_refused() {
    let Some((place, kernel)) = Place::with_test_kernel(&["SECURITY_SMACK"]) else {
        return;
    };
    place.write(
        "smack/accesses",
        "# a site\nUser User::Home rwxatl\nUser System::Shadow r\n",
    );
    // Later rules replace earlier ones.
    place.write(
        "smack/accesses.d/more",
        "User Log rwx w\nUser System::Shadow - r\n",
    );
    place.write("smack/cipso", "System 1 2\n");
    place.write("reader", "Reader User::Home rx\n");
    place.write("smack.toml", EXPERIMENT.replace("KERNEL", &kernel));
    let run = run(&place, "smack.toml");
    assert_measured(&run, "user");
    assert_measured(&run, "own");
    assert_steps(
        &run,
        "user",
        "smack: 3 rules from smack
         skipped files without rules: 1 files (cipso)
         security.SMACK64=Log on /srv/log
         security.SMACK64=User::Home and SMACK64TRANSMUTE=TRUE on the working directory
         wrote User to /proc/self/attr/current; dropped CAP_MAC_OVERRIDE
         smack: denied: open of /etc/shadow for reading: EACCES
         smack: denied: creat of /etc/x: EACCES
         smack: denied: open of /srv/log for writing: EACCES
         smack: allowed: execve of /usr/bin/x",
    );
    // A reader's file is created beforehand; the reader may not create one.
    for (benchmark, status, reason) in ended(&run, "reader").0 {
        if benchmark != "creat" {
            assert_eq!(status, Status::Ok, "{benchmark}: {reason}");
            continue;
        }
        assert_eq!(status, Status::Failed, "{benchmark}");
        let texts = ["EACCES", "lsm=SMACK", "subject=\"Reader\""];
        assert!(texts.iter().all(|text| reason.contains(text)), "{reason}");
    }
    let why = "smack does not enforce: open of /etc/hosts for reading was allowed";
    assert_refused(&run, "lax", why);
    let why = "smack: open of /srv/x for reading must pass, and gave EACCES";
    assert_refused(&run, "strict", why);
}
