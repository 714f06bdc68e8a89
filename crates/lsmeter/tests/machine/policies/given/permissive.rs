// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies of the user's own that deny nothing, and are seen to notice what they would.

use model::Status;

use super::{assert_measured, assert_steps, custom, ended, write_sources};
use crate::common::Place;

const EXPERIMENT: &str = r#"
stacks = ["capability", "capability,tomoyo", "capability,landlock", "capability,bpf"]
policies = ["permissive"]
filesystem = "tmpfs"
benchmarks = ["stat:AA", "creat"]
samples = 8
work_dir = "/srv/www"

"#;

#[test]
fn who_can_be_permissive_notices_and_others_say_that_they_cannot() {
    let place = Place::with_kernels();
    write_sources(&place);
    let policies = ["box", "server", "guard"].map(custom);
    place.write("permissive.toml", [EXPERIMENT, &policies.concat()].concat());
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
