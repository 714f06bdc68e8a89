// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies of the user's own: what flags cannot say, before anything boots.

use crate::common::Place;

const PROOF: [&str; 4] = [
    "--denied",
    "read /etc/shadow",
    "--allowed",
    "read /etc/hosts",
];

#[test]
fn flags_that_make_no_policy_are_refused() {
    let place = Place::new();
    place.write("rules", "User System r\n");
    let refused = |flags: &[&str], error: &str, hint: &str| {
        let asked = [&["run", "--offline", "--bench", "stat:AA"], flags].concat();
        place.run(&asked).refused(2, error, Some(hint));
    };
    let smack = |rest: &[&'static str]| {
        let label = ["--smack-policy", "rules", "--smack-label", "User"];
        [&label, &PROOF[..], rest].concat()
    };
    refused(
        &smack(&["--smack-files-label", "a/b"]),
        "`a/b` is no label of Smack's",
        "255",
    );
    refused(
        &smack(&["--smack-path-label", "/etc/shadow"]),
        "`/etc/shadow` gives no path a label",
        "=System::Shadow",
    );
    refused(
        &smack(&["--smack-path-label", "/etc/x=Other"]),
        "`/etc/x` has a label, and nothing is there",
        "directories above",
    );
    refused(
        &smack(&["--stack", "capability,selinux"]),
        "no stack of what is measured has smack",
        "--stack capability,smack",
    );
    refused(
        &["--smack-policy", "rules", "--smack-label", "User"],
        "`denied` is missing",
        "read /etc/shadow",
    );
    let ima = ["--ima-rules", "rules"];
    let measured = ["--measured", "read /x", "--not-measured", "read /y"];
    refused(&ima, "it has no accesses", "not_measured");
    refused(
        &[&ima[..], &["--measured", "read /x"]].concat(),
        "`not_measured` is missing",
        "let pass unmeasured",
    );
    refused(
        &[&ima[..], &["--measured", "smack: read /x"]].concat(),
        "--measured is of smack",
        "ima",
    );
    refused(
        &[&ima[..], &measured, &["--integrity", "audit"]].concat(),
        "not at work in anything measured",
        "--integrity ima",
    );
    // Which flags belong together, clap says.
    for alone in [
        &["--smack-policy", "rules"][..],
        &["--smack-label", "User"],
        &["--measured", "read /x"],
        &[&ima[..], &measured, &["--ima-policy", "tcb"]].concat(),
    ] {
        let asked = [&["run", "--offline"], alone].concat();
        place.run(&asked).code(2);
    }
    assert_eq!(place.names(), ["rules"]);
}
