// SPDX-License-Identifier: GPL-2.0-or-later
//! Permissive custom policies, which log what they would deny.

use model::Status;

use super::{
    BINARY, DEBIAN, EXPERIMENT, assert_measured, assert_refused, assert_steps, custom, ended, run,
    write_sources,
};
use crate::common::Place;

const PERMISSIVE: &str = r#"
stacks = ["capability", "capability,tomoyo", "capability,landlock", "capability,bpf"]
policies = ["permissive"]
filesystem = "tmpfs"
benchmarks = ["stat:AA", "creat"]
samples = 8
work_dir = "/srv/www"

"#;

#[test]
fn permissive_policies_log_denials_or_are_unsupported() {
    let place = Place::with_kernels();
    write_sources(&place);
    let policies = ["box", "server", "guard"].map(|name| custom(EXPERIMENT, name));
    place.write("permissive.toml", [PERMISSIVE, &policies.concat()].concat());
    let line = "run permissive.toml --offline -o out.json";
    place.line(line).code(0);
    let run = place.document("out.json");
    assert_measured(&run, "server");
    assert_steps(
        &run,
        "server",
        "profile 3 with mode=permissive in place of mode=enforcing
         tomoyo: allowed: open of /srv/x for writing
         tomoyo: noticed: its count of what it let pass went up",
    );
    for (name, why) in [
        ("box", "Landlock has no permissive state: "),
        ("guard", "bpf has no permissive state: "),
    ] {
        for (_, status, reason) in ended(&run, name).0 {
            assert_eq!(status, Status::Unsupported, "{name}");
            assert!(reason.contains(why), "{name}: {reason}");
        }
    }
}

/// Debian's policy neither allows its users to read passwords nor logs that they try.
#[test]
fn hidden_denials_are_an_error() {
    if !testing::has_file(BINARY, "selinux-policy-default") {
        return;
    }
    let place = Place::with_kernels();
    let (before, _) = DEBIAN.split_once("[custom").unwrap();
    let before = before.replace("\"enforcing\", ", "");
    let user = custom(DEBIAN, "user").replace("write /etc/shadow", "read /etc/shadow");
    place.write("hidden.toml", before + &user);
    let why = "no avc record of `read /etc/shadow`: a dontaudit rule hides the record";
    assert_refused(&run(&place, "hidden.toml"), "user", why);
}
