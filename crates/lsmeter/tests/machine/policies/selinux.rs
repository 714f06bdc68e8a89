// SPDX-License-Identifier: GPL-2.0-or-later
//! SELinux in its three states, with both policies.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use model::Policy;

use super::{assert_in_force, assert_unsupported, cells, measure, steps};
use crate::common::{Ended, Place};

const STACK: &str = "capability,selinux";
const DENIED: &str = "selinux: denied: open of ./selinux-denied for reading: EACCES (13)";
const ALLOWED: &str = "selinux: allowed: open of ./selinux-allowed for reading";

#[test]
fn each_state_proves_itself() {
    let states = [
        "--policy",
        "none",
        "--policy",
        "permissive",
        "--policy",
        "enforcing",
        "--set",
        "avc_entries=1024",
        "--rules",
        "100",
    ];
    let run = measure(&Place::with_kernels(), "debian:6.12", &[STACK], &states);
    let entries = "selinux: wrote 1024 to /sys/fs/selinux/avc/cache_threshold";
    assert_in_force(&run, STACK, Policy::None, &[entries]);
    assert_eq!(steps(&run, STACK, Policy::None), [entries]);
    let texts = [
        "selinux: would be denied: open of ./selinux-denied for reading",
        ALLOWED,
    ];
    assert_in_force(&run, STACK, Policy::Permissive, &texts);
    let texts = [
        entries,
        "selinux: more.cil: 100 times",
        "selinux: wrote 1 to /sys/fs/selinux/enforce",
        DENIED,
        ALLOWED,
    ];
    assert_in_force(&run, STACK, Policy::Enforcing, &texts);
    // Decisions cost something where there is a policy to decide by.
    let open = |policy| cells(&run, STACK, policy)[0].estimate().unwrap().median;
    assert!(open(Policy::Enforcing) > open(Policy::None));
}

#[test]
fn files_have_labels_in_turn_and_miss_a_small_cache() {
    let opened = |entries: u32| {
        let entries = format!("avc_entries={entries}");
        let asked = [
            "--policy",
            "enforcing",
            "--set",
            "labels=100",
            "--set",
            &entries,
        ];
        let run = measure(&Place::with_kernels(), "debian:6.12", &[STACK], &asked);
        let texts = [
            "selinux: labels.cil: 100 times (type label00001_t)",
            "selinux: wrote lsmeter_u:object_r:label00100_t to /proc/self/attr/fscreate",
            DENIED,
            ALLOWED,
        ];
        assert_in_force(&run, STACK, Policy::Enforcing, &texts);
        run.setups[0].cache.unwrap()
    };
    let (small, large) = (opened(16), opened(2048));
    assert_eq!((small.opens, large.opens, large.misses), (100, 100, 0));
    assert_eq!(small.lookups, large.lookups);
    assert!(small.misses >= 84, "{small:?}");
}

#[test]
fn the_reference_policy_confines_an_administrator() {
    if !(testing::has_file("/usr/share/selinux/default", "selinux-policy-default")
        && testing::has_program("secilc", "secilc"))
    {
        return;
    }
    let policy = [
        "--policy",
        "enforcing",
        "--set",
        "selinux_policy='reference'",
        "--bench",
        "chown:other",
    ];
    let run = measure(&Place::with_kernels(), "debian:6.12", &[STACK], &policy);
    let texts = ["selinux: wrote root:sysadm_r:sysadm_t", DENIED, ALLOWED];
    assert_in_force(&run, STACK, Policy::Enforcing, &texts);
}

#[test]
fn a_policy_that_does_not_compile_is_told_of() {
    let place = Place::with_kernels();
    // A compiler that refuses, ahead of the real one.
    let compiler = place.write("bin/secilc", "#!/bin/sh\necho no such class >&2\nexit 1\n");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = [
        "run",
        "--offline",
        "--kernel",
        "debian:6.12",
        "--stack",
        STACK,
        "--policy",
        "enforcing",
        "--bench",
        "getppid",
        "--fs",
        "tmpfs",
        "--output",
        "out.json",
    ];
    let mut command = place.command(&arguments);
    let own = compiler.parent().unwrap().display();
    command.env("PATH", format!("{own}:{}", std::env::var("PATH").unwrap()));
    let ended = Ended::of(&arguments, command.output().unwrap());
    ended.refused(3, "secilc: exit status: 1", Some("secilc by hand"));
    assert!(!place.join("out.json").exists());
}

/// A build directory with the image of debian:6.12, said to be built without `option`.
pub fn built_without(place: &Place, option: &str) -> PathBuf {
    let listed = place.run(&["kernel", "list", "--json"]).json();
    let kernels = listed["kernels"].as_array().unwrap();
    let stock = kernels
        .iter()
        .find(|kernel| kernel["name"].as_str().unwrap().starts_with("debian:6.12"));
    let file = |key: &str| fs::read(stock.unwrap()[key].as_str().unwrap()).unwrap();
    let config = String::from_utf8(file("config")).unwrap();
    let set = format!("{option}=y\n");
    assert!(config.contains(&set), "{option}");
    let unset = format!("# {option} is not set\n");
    place.write("build/.config", config.replace(&set, &unset));
    place.write("build/arch/x86/boot/bzImage", file("image"));
    place.join("build")
}

#[test]
fn a_kernel_without_selinux_is_told_of() {
    let place = Place::with_kernels();
    let build = built_without(&place, "CONFIG_SECURITY_SELINUX");
    let enforcing = ["--policy", "enforcing"];
    let run = measure(&place, build.to_str().unwrap(), &[STACK], &enforcing);
    assert_unsupported(&run, STACK, Policy::Enforcing, "CONFIG_SECURITY_SELINUX");
}
