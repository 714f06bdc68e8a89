// SPDX-License-Identifier: GPL-2.0-or-later

use model::Policy;

use super::{assert_in_force, assert_unsupported, built};

const STACK: &str = "capability,safesetid";

#[test]
fn a_transition_that_is_not_listed_is_fatal() {
    let Some(run) = built() else { return };
    let texts = [
        "safesetid: denied: setresuid from 1000 to 1002: SIGKILL",
        "safesetid: allowed: setresuid from 1000 to 1001",
    ];
    assert_in_force(run, STACK, Policy::Enforcing, &texts);
    assert_unsupported(run, STACK, Policy::Permissive, "no permissive state");
}
