// SPDX-License-Identifier: GPL-2.0-or-later

use std::os::unix::fs::PermissionsExt;

use model::Policy;

use super::{assert_in_force, stock};
use crate::common::Place;

const STACK: &str = "capability,apparmor";

#[test]
fn a_profile_confines_the_agent() {
    let texts = [
        "apparmor_parser -QK",
        "/sys/kernel/security/apparmor/.replace",
        "changeprofile lsmeter",
        "apparmor: denied: open of /apparmor-denied for reading: EACCES (13)",
        "apparmor: allowed: creat and unlink of ./apparmor-allowed",
    ];
    assert_in_force(stock(), STACK, Policy::Enforcing, &texts);
}

#[test]
fn complain_mode_lets_pass_and_logs() {
    let texts = [
        "flags=(complain)",
        "apparmor: allowed: open of /apparmor-denied for reading",
        "apparmor: logged: apparmor=\"ALLOWED\"",
    ];
    assert_in_force(stock(), STACK, Policy::Permissive, &texts);
}

#[test]
fn a_profile_that_does_not_compile_is_told() {
    let place = Place::with_kernels();
    let parser = place.write(
        "bin/apparmor_parser",
        "#!/bin/sh\ncase $1 in --version) echo AppArmor parser version 0;; \
         *) echo 'syntax error, unexpected TOK_OPEN, line 7' >&2; exit 1;; esac\n",
    );
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&parser, executable).unwrap();
    let asked = [
        "run",
        "--offline",
        "--kernel",
        "debian:6.12",
        "--fs",
        "tmpfs",
        "--stack",
        STACK,
        "--policy",
        "enforcing",
        "--bench",
        "getppid",
        "--quiet",
        "--output",
        "out.json",
    ];
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = place.command(&asked);
    command.env("PATH", format!("{}:{path}", place.join("bin").display()));
    let ended = crate::common::Ended::of(&asked, command.output().unwrap());
    assert!(
        ended.stderr.contains("unexpected TOK_OPEN, line 7"),
        "{ended:#?}"
    );
    ended.refused(3, "apparmor_parser", Some("by hand"));
    assert!(!place.join("out.json").exists());
    assert!(!place.join("out.json.journal").exists());
}
