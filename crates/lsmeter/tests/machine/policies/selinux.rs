// SPDX-License-Identifier: GPL-2.0-or-later
//! SELinux in its three states, with both policies of lsmeter.

use model::Policy;

use super::{assert_in_force, cells, measure, steps};
use crate::common::Place;

const STACK: &str = "capability,selinux";
const DENIED: &str = "selinux: denied: open of ./selinux-denied for reading: EACCES (13)";
const ALLOWED: &str = "selinux: allowed: open of ./selinux-allowed for reading";

#[test]
fn each_state_proves_itself() {
    let states = "--policy none --policy permissive --policy enforcing --set avc_entries=1024 \
                  --rules 100";
    let run = measure(&Place::with_kernels(), "debian:6.12", STACK, states);
    let entries = "selinux: wrote 1024 to /sys/fs/selinux/avc/cache_threshold";
    assert_in_force(&run, STACK, Policy::None, &[entries]);
    assert_eq!(steps(&run, STACK, Policy::None), [entries]);
    let would = "selinux: would be denied: open of ./selinux-denied for reading";
    assert_in_force(&run, STACK, Policy::Permissive, &[would, ALLOWED]);
    let texts = [
        entries,
        "selinux: more.cil: 100 times",
        "selinux: wrote 1 to /sys/fs/selinux/enforce",
        DENIED,
        ALLOWED,
    ];
    assert_in_force(&run, STACK, Policy::Enforcing, &texts);
    // A policy adds the cost of decisions.
    let open = |policy| cells(&run, STACK, policy)[0].estimate().unwrap().median;
    assert!(open(Policy::Enforcing) > open(Policy::None));
}

#[test]
fn files_have_labels_in_turn_and_miss_a_small_cache() {
    let [small, large] = [16, 2048].map(|entries| {
        let asked = format!("--policy enforcing --set labels=100 --set avc_entries={entries}");
        let run = measure(&Place::with_kernels(), "debian:6.12", STACK, &asked);
        let texts = [
            "selinux: labels.cil: 100 times (type label00001_t)",
            "selinux: wrote lsmeter_u:object_r:label00100_t to /proc/self/attr/fscreate",
            DENIED,
            ALLOWED,
        ];
        assert_in_force(&run, STACK, Policy::Enforcing, &texts);
        run.setups[0].cache.unwrap()
    });
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
    let policy = "--policy enforcing --set selinux_policy='reference' --bench chown:other";
    let run = measure(&Place::with_kernels(), "debian:6.12", STACK, policy);
    let texts = ["selinux: wrote root:sysadm_r:sysadm_t", DENIED, ALLOWED];
    assert_in_force(&run, STACK, Policy::Enforcing, &texts);
}
