// SPDX-License-Identifier: GPL-2.0-or-later
//! The result pages print what the result files next to them contain. `make results` writes them.

use std::path::Path;
use std::process::Command;

#[test]
fn result_pages_are_fresh() {
    let refresh = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/refresh");
    let ended = Command::new(refresh)
        .args([env!("CARGO_BIN_EXE_lsmeter"), "--check"])
        .output()
        .unwrap();
    assert!(ended.status.success(), "{ended:?}");
}
