// SPDX-License-Identifier: GPL-2.0-or-later
//! LoadPin, and IPE, which cannot be given a policy.

use model::Policy;

use super::{assert_in_force, assert_unsupported, built};

const STACK: &str = "capability,loadpin";

#[test]
fn modules_come_from_the_pinned_file_system() {
    let Some(run) = built() else { return };
    let texts = [
        "loadpin.enforce=1",
        "loadpin: denied: finit_module of a file on another tmpfs: EPERM (1)",
        "loadpin: allowed: finit_module of /loadpin-allowed",
    ];
    assert_in_force(run, STACK, Policy::Enforcing, &texts);
    let texts = [
        "loadpin.enforce=0",
        "loadpin: allowed: finit_module of a file on another tmpfs",
        "loadpin: logged: LoadPin: pinning-ignored",
    ];
    assert_in_force(run, STACK, Policy::Permissive, &texts);
}

#[test]
fn ipe_takes_no_policy_from_outside() {
    let Some(run) = built() else { return };
    for policy in [Policy::Permissive, Policy::Enforcing] {
        assert_unsupported(run, "capability,ipe", policy, "CONFIG_IPE_BOOT_POLICY");
    }
}
