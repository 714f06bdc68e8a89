// SPDX-License-Identifier: GPL-2.0-or-later

use model::Policy;

use super::{assert_in_force, assert_unsupported, built};

const STACK: &str = "capability,smack";

#[test]
fn labels_and_rules_decide() {
    let Some(run) = built() else { return };
    let texts = [
        "/sys/fs/smackfs/load2",
        "SMACK64TRANSMUTE=TRUE on the working directory",
        "dropped CAP_MAC_OVERRIDE",
        "smack: denied: open of /smack/denied for reading: EACCES (13)",
        "smack: allowed: creat and unlink of ./smack-allowed",
    ];
    assert_in_force(run, STACK, Policy::Enforcing, &texts);
    // lsmeter's own recipe is without CONFIG_SECURITY_SMACK_BRINGUP.
    assert_unsupported(run, STACK, Policy::Permissive, "SMACK_BRINGUP");
}
