// SPDX-License-Identifier: GPL-2.0-or-later
//! The recipe of docs/custom-policies.md: one boot learns a TOMOYO policy, the next enforces it.

use std::fs;

use model::Status;

use crate::common::Place;
use crate::vm::Vm;

const DOCS: &str = include_str!("../../../../../docs/custom-policies.md");
const BENCH: &str = "open:AA,creat:random,rename:depth1";

/// State of TOMOYO after the boot of a system with tomoyo-tools.
const BOOTED: &str = "
set -e
cd /sys/kernel/security/tomoyo
printf 'PROFILE_VERSION=20150505\\n0-CONFIG={ mode=disabled }\\n' >profile
printf '/usr/sbin/tomoyo-loadpolicy\\n/usr/sbin/tomoyo-setprofile\\n' >manager
ln -s /bin/true /sbin/tomoyo-init
/sbin/init || true
cd
";

#[test]
fn a_learned_policy_is_enforced() {
    let place = Place::with_kernels();
    if !testing::has_program("tomoyo-savepolicy", "tomoyo-tools") {
        return;
    }
    let (_, recipe) = DOCS.split_once("#!/bin/sh -e\n").unwrap();
    let (recipe, _) = recipe.split_once("```").unwrap();
    let recipe = recipe.replace("suite", &format!("--bench {BENCH} -n 3"));
    let vm = Vm::new("debian:6.12")
        .lsm("capability,tomoyo")
        .program("/usr/sbin/tomoyo-loadpolicy")
        .program("/usr/sbin/tomoyo-setprofile")
        .program("/usr/sbin/tomoyo-savepolicy");
    let learned = vm.run(&format!("{BOOTED}{recipe}\ncp policy/* /out"));
    let learned = learned.status(0);
    for name in ["profile", "exception_policy", "domain_policy"] {
        let name = format!("{name}.conf");
        place.write(&format!("policy/{name}"), learned.file(&name));
    }
    let policy = fs::read_to_string(place.join("policy/domain_policy.conf")).unwrap();
    assert!(
        policy.contains(r"file create /srv/www/cell/\X 0644"),
        "{policy}"
    );

    let bench = format!("{BENCH},mkdir:one");
    let (_, custom) = DOCS.split_once("```toml\n# learned.toml\n").unwrap();
    let (custom, _) = custom.split_once("```").unwrap();
    place.write("learned.toml", custom);
    let line = format!(
        "run --fs tmpfs --stack capability,tomoyo --offline --bench {bench} -n 8 \
         --policy-file learned.toml -o out.json"
    );
    place.line(&line).code(4);
    let run = place.document("out.json");
    assert_eq!(run.cells.len(), 4);
    for cell in &run.cells {
        let reason = cell.reason().unwrap_or_default();
        if cell.key.benchmark() == "mkdir" {
            assert_eq!(cell.status(), Status::Failed);
            assert_eq!(reason.lines().next(), Some("mkdir: EPERM (1)"));
        } else {
            assert_eq!(cell.status(), Status::Ok, "{}: {reason}", cell.title());
        }
    }
}
