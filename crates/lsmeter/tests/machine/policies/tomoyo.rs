// SPDX-License-Identifier: GPL-2.0-or-later

use model::Policy;

use super::{assert_in_force, stock};

const STACK: &str = "capability,tomoyo";

#[test]
fn a_domain_in_enforcing_mode() {
    let texts = [
        "has profile 3",
        "activated by execve of /sbin/init",
        "self_domain",
        "tomoyo: denied: open of /tomoyo-denied for reading: EPERM (1)",
        "tomoyo: allowed: creat and unlink of ./tomoyo-allowed",
    ];
    assert_in_force(stock(), STACK, Policy::Enforcing, &texts);
}

#[test]
fn a_domain_in_permissive_mode_counts() {
    let texts = [
        "has profile 2",
        "tomoyo: allowed: open of /tomoyo-denied for reading",
        "tomoyo: noticed: stat counts a violation in permissive mode",
    ];
    assert_in_force(stock(), STACK, Policy::Permissive, &texts);
}
