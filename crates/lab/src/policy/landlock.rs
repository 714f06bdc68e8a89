// SPDX-License-Identifier: GPL-2.0-or-later
//! Landlock: the agent makes its rulesets from two numbers.

use super::{PolicyError, Prepared, Request, denials, given, tools};

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    let why = "what a ruleset handles and does not allow is denied";
    if !tools::is_enforcing(request, "Landlock", why)? {
        return Ok(Prepared::default());
    }
    if let Some(of) = given::of(request, "landlock") {
        return given::landlock(request, of);
    }
    tools::need(request, "Landlock", "CONFIG_SECURITY_LANDLOCK")?;
    let settings = &request.configuration.settings;
    let keys = [("layers", settings.layers), ("rules", settings.rules)];
    Ok(Prepared {
        keys: keys
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .chain(denials::key(request))
            .collect(),
        ..Prepared::default()
    })
}
