// SPDX-License-Identifier: GPL-2.0-or-later
//! SafeSetID: allowed changes of user IDs.

use std::fmt::Write as _;

use super::{PolicyError, Prepared, Request, tools};

const OTHERS: u32 = 100_000;

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    if !tools::is_enforcing(request, "SafeSetID", tools::NEVER_PERMISSIVE)? {
        return Ok(Prepared::default());
    }
    tools::need(request, "SafeSetID", "CONFIG_SECURITY_SAFESETID")?;
    let rules = request.configuration.settings.rules.unwrap_or(0);
    Ok(Prepared {
        steps: vec![format!(
            "safesetid: 1000:1001, 1001:1001 and {rules} rules of other users"
        )],
        files: vec![("policy".to_owned(), text(rules).into_bytes())],
        ..Prepared::default()
    })
}

/// Each target user needs a rule of its own: else the kernel reports an insecure policy
/// (`verify_ruleset()`).
fn text(rules: u32) -> String {
    let mut text = String::from("1000:1001\n1001:1001\n");
    for user in OTHERS..OTHERS + rules {
        let _ = writeln!(text, "{user}:{user}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_be_become_has_a_rule() {
        let text = text(10_000);
        let pairs: Vec<(&str, &str)> = text.lines().map(|l| l.split_once(':').unwrap()).collect();
        assert_eq!(pairs.len(), 10_002);
        let from: std::collections::HashSet<&str> = pairs.iter().map(|(from, _)| *from).collect();
        assert!(pairs.iter().all(|(_, to)| from.contains(to)));
    }
}
