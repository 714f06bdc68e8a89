// SPDX-License-Identifier: GPL-2.0-or-later
//! What every page carries: its style and its scripts, and the policy that lets nothing
//! else run.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

pub(super) const STYLE: &str = include_str!("page.css");

/// In the order in which they need each other. See `vendor/README.md`.
pub(super) const SCRIPTS: [&str; 4] = [
    include_str!("../../vendor/vega.min.js"),
    include_str!("../../vendor/vega-lite.min.js"),
    include_str!("../../vendor/vega-interpreter.min.js"),
    include_str!("page.js"),
];

/// A Content-Security-Policy: these scripts, and nothing from anywhere. No `eval`: Vega's
/// expressions are interpreted.
pub(super) fn policy() -> String {
    let mut policy = "default-src 'none'; base-uri 'none'; form-action 'none'; \
                      img-src data: blob:; style-src 'unsafe-inline'; script-src"
        .to_owned();
    for script in SCRIPTS {
        let hash = STANDARD.encode(Sha256::digest(script));
        policy += &format!(" 'sha256-{hash}'");
    }
    policy
}
