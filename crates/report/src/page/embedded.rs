// SPDX-License-Identifier: GPL-2.0-or-later
//! Style and scripts of every page, and the policy that allows nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(super) const STYLE: &str = include_str!("page.css");

/// In order: tables, drawings, calls, maps. They only communicate by events: a map sends which cell
/// it opened (`lsmeter-cell`), calls what they drew (`lsmeter-drawn`).
pub(super) const SCRIPTS: [&str; 4] = [
    include_str!("table.js"),
    include_str!("figure.js"),
    include_str!("calls.js"),
    include_str!("front.js"),
];

/// Content-Security-Policy: only these scripts, nothing remote, no `eval`.
pub(super) fn policy() -> String {
    let mut policy = "default-src 'none'; base-uri 'none'; form-action 'none'; \
                      style-src 'unsafe-inline'; script-src"
        .to_owned();
    for script in SCRIPTS {
        let hash = STANDARD.encode(Sha256::digest(script));
        policy += &format!(" 'sha256-{hash}'");
    }
    policy
}
