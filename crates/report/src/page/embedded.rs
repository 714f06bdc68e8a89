// SPDX-License-Identifier: GPL-2.0-or-later
//! What every page carries: its style and its scripts, and the policy that lets nothing
//! else run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(super) const STYLE: &str = include_str!("page.css");

/// Tables first, then drawings, calls and maps of overheads. None needs another: a map tells which
/// cell it opened (`lsmeter-cell`), calls what they have drawn (`lsmeter-drawn`).
pub(super) const SCRIPTS: [&str; 4] = [
    include_str!("table.js"),
    include_str!("figure.js"),
    include_str!("calls.js"),
    include_str!("front.js"),
];

/// A Content-Security-Policy: these scripts, and nothing from anywhere. No `eval`.
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
