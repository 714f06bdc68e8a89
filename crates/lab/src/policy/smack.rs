// SPDX-License-Identifier: GPL-2.0-or-later
//! Smack: rules for `load2`.

use std::fmt::Write as _;

use model::Policy;

use super::{PolicyError, Prepared, Request, denials, tools};

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    check_state(request)?;
    let rules = request.configuration.settings.rules.unwrap_or(0);
    Ok(Prepared {
        steps: vec![format!(
            "smack: lsmeter has rwxatl access to lsmeter-work; {rules} more rules for lsmeter, \
             each with its own object"
        )],
        keys: denials::key(request).into_iter().collect(),
        files: vec![("rules".to_owned(), text(rules).into_bytes())],
        ..Prepared::default()
    })
}

pub(super) fn check_state(request: &Request<'_>) -> Result<(), PolicyError> {
    tools::need(request, "Smack", "CONFIG_SECURITY_SMACK")?;
    if request.configuration.policy == Policy::Permissive
        && tools::option(request, "CONFIG_SECURITY_SMACK_BRINGUP").is_some_and(|v| v != "y")
    {
        return Err(PolicyError::Unsupported(
            "Smack is permissive only in bring-up mode, which this kernel does not have \
             (CONFIG_SECURITY_SMACK_BRINGUP)"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The kernel finds the rule that was written last first (`smk_set_access()` adds at the head), so
/// the deciding rule is written first.
fn text(rules: u32) -> String {
    let mut text = String::from("lsmeter lsmeter-work rwxatl\n");
    for rule in 0..rules {
        let _ = writeln!(text, "lsmeter store-{rule:06} r");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_that_decides_is_the_last_to_be_found() {
        let text = text(2);
        assert_eq!(
            text,
            "lsmeter lsmeter-work rwxatl\nlsmeter store-000000 r\nlsmeter store-000001 r\n"
        );
    }
}
