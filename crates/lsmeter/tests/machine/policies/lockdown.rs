// SPDX-License-Identifier: GPL-2.0-or-later

use model::Policy;

use super::{assert_in_force, assert_unsupported, stock};

const STACK: &str = "lockdown,capability";

#[test]
fn ports_are_locked() {
    let texts = [
        "lockdown: wrote integrity to /sys/kernel/security/lockdown",
        "lockdown: denied: ioperm(0x80, 1, 1): EPERM (1)",
        "lockdown: allowed: ioperm(0x80, 1, 0)",
    ];
    assert_in_force(stock(), STACK, Policy::Enforcing, &texts);
    assert_unsupported(stock(), STACK, Policy::Permissive, "no permissive state");
}
