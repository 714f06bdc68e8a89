// SPDX-License-Identifier: GPL-2.0-or-later
//! A policy of TOMOYO that one boot learned and the next enforces.

use std::fs;

use experiment::{Document, Status};

use super::read;
use crate::common::Place;

const DOMAIN: &str = "<kernel> /lsmeter";
const LEARNED: &str = "open:AA,creat:random,rename:depth1,execve:agent";

const WHERE: [&str; 5] = ["--offline", "--fs", "tmpfs", "--work-dir", "/srv/www"];

fn learn(place: &Place) {
    let flags = ["--allowed", "create /srv/x", "--output", "policy", "--json"];
    let asked = [&["learn", "--bench", LEARNED], &WHERE[..], &flags].concat();
    let summary = place.run(&asked).json();
    assert_eq!(summary["domain"], DOMAIN);
    assert_eq!(summary["is_full"], false);
    let files = &summary["entries"][0];
    assert_eq!(files["kind"], "file");
    let entries = |key: &str| files[key].as_u64().unwrap();
    assert!(
        entries("learned") > 500 && entries("written") < 30,
        "{summary:#}"
    );
    assert_eq!(place.left_over(), Vec::<String>::new());
}

fn run_under_it(place: &Place) -> Document {
    let bench = format!("{LEARNED},mkdir:one");
    let stack = ["--stack", "capability,tomoyo", "-n", "8"];
    let policy = ["--tomoyo-policy", "policy", "--tomoyo-domain", DOMAIN];
    let denied = ["--denied", "read /etc/shadow", "--denied", "create /srv/y"];
    let flags = ["--allowed", "create /srv/x", "--output", "out.json"];
    let asked = [
        &["run", "--bench", &bench],
        &WHERE[..],
        &stack,
        &policy,
        &denied,
        &flags,
    ];
    place.run(&asked.concat()).code(4);
    read(&place.join("out.json"))
}

#[test]
fn what_was_learned_is_allowed_and_all_else_denied() {
    let place = Place::with_kernels();
    learn(&place);
    let run = run_under_it(&place);
    for cell in &run.cells {
        let reason = cell.reason().unwrap_or_default();
        if cell.key.benchmark() == "mkdir" {
            assert_eq!(cell.status(), Status::Failed);
            assert_eq!(reason.lines().next(), Some("mkdir: EPERM (1)"));
        } else {
            assert_eq!(cell.status(), Status::Ok, "{}: {reason}", cell.title());
        }
    }
    assert_eq!(run.cells.len(), 5);
    let policy = fs::read_to_string(place.join("policy/domain_policy.conf")).unwrap();
    for line in [
        "use_profile 3",
        r"file create /srv/www/cell/\X 0644",
        r"file rename /srv/www/cell/a\$ /srv/www/cell/b\$",
        "file create /srv/x 0600",
    ] {
        assert!(policy.lines().any(|of| of == line), "{line}: {policy}");
    }
    assert!(!policy.contains("use_profile 1"), "{policy}");
    let steps = run.setups[0].steps.join("\n");
    assert!(
        steps.contains("tomoyo: denied: creat of /srv/y: EPERM (1)"),
        "{steps}"
    );
}

/// A kernel that is built without it is refused before it boots.
#[test]
fn a_kernel_without_tomoyo_learns_nothing() {
    let place = Place::with_kernels();
    let listed = place.run(&["kernel", "list", "--json"]).json();
    let kernels = listed["kernels"].as_array().unwrap();
    let is_ours = |name: &str| name.starts_with("debian:6.12.");
    let stock = kernels
        .iter()
        .find(|of| is_ours(of["name"].as_str().unwrap()));
    let path = |key: &str| stock.unwrap()[key].as_str().unwrap().to_owned();
    let config = fs::read_to_string(path("config")).unwrap();
    let without = config.replace("CONFIG_SECURITY_TOMOYO=y", "");
    place.write("tree/.config", without);
    place.write(
        "tree/arch/x86/boot/bzImage",
        fs::read(path("image")).unwrap(),
    );
    let asked = [
        "learn", "--fs", "tmpfs", "--kernel", "tree/", "-o", "policy",
    ];
    let error = "has no TOMOYO: CONFIG_SECURITY_TOMOYO is not built in";
    place.run(&asked).refused(3, error, Some("debian:6.12"));
    assert!(!place.join("policy").exists());
}
