// SPDX-License-Identifier: GPL-2.0-or-later
//! TOMOYO: profiles, exceptions and the agent's domain, as text.

use std::fmt::Write as _;

use model::Policy;

use super::{PolicyError, Prepared, Request, denials};

/// Profile number = mode: 0 (disabled), 2 (permissive), 3 (enforcing).
const PROFILE: &str = include_str!("../../policy/tomoyo/profile");
const EXCEPTIONS: &str = include_str!("../../policy/tomoyo/exception_policy");
const DOMAIN: &str = include_str!("../../policy/tomoyo/domain_policy");

const EXCEPTIONS_OF_PROGRAMS: &str = include_str!("../../policy/tomoyo/exception_policy.programs");
const DOMAIN_OF_PROGRAMS: &str = include_str!("../../policy/tomoyo/domain_policy.programs");

/// The kernel walks all rules to add one, so more would take minutes.
const RULES_LIMIT: u32 = 20_000;

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    let profile = match request.configuration.policy {
        Policy::Permissive => 2,
        Policy::None | Policy::Enforcing => 3,
    };
    let rules = request.configuration.settings.rules.unwrap_or(0);
    if rules > RULES_LIMIT {
        return Err(PolicyError::Unsupported(format!(
            "TOMOYO gets at most {RULES_LIMIT} additional rules: it walks all of them to add one"
        )));
    }
    let mut steps = vec![format!(
        "tomoyo: the domain <kernel> /lsmeter has profile {profile} and {rules} rules before \
         those that it needs"
    )];
    let mut profiles = PROFILE.to_owned();
    let mut exceptions = request.in_work_dir(&exceptions(request.root.is_some()));
    if request.configuration.settings.denials {
        profiles = denials::tomoyo_profiles(&profiles);
        let more = denials::TOMOYO;
        steps.extend(denials::step("tomoyo", "exception_policy", more));
        steps.push("tomoyo: profile has reject_log=no".to_owned());
        exceptions += more;
    }
    let file = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    Ok(Prepared {
        steps,
        files: vec![
            file("profile", &profiles),
            file("exception_policy", &exceptions),
            file(
                "domain_policy",
                &request.in_work_dir(&domains(profile, rules, request.root.is_some())),
            ),
        ],
        ..Prepared::default()
    })
}

/// Entries are tried in file order, so those that never match come first.
fn domains(profile: u32, rules: u32, programs: bool) -> String {
    let domain = "<kernel> /lsmeter";
    let leave = leave_for(domain);
    let mut text = format!("{leave}\n{domain}\nuse_profile {profile}\nuse_group 0\n");
    for rule in 0..rules {
        let _ = writeln!(text, "file read/write/getattr /mnt/cell/store-{rule:06}");
    }
    text + DOMAIN + if programs { DOMAIN_OF_PROGRAMS } else { "" }
}

/// Lets the kernel's domain, where nothing is denied, change into `domain`.
pub(super) fn leave_for(domain: &str) -> String {
    format!("<kernel>\nuse_profile 0\nuse_group 0\ntask manual_domain_transition {domain}\n")
}

fn exceptions(programs: bool) -> String {
    EXCEPTIONS.to_owned() + if programs { EXCEPTIONS_OF_PROGRAMS } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_never_match_come_before_those_that_do() {
        let text = domains(3, 2, false);
        let at = |part: &str| text.find(part).unwrap();
        assert!(at("use_profile 3") < at("store-000000"));
        assert!(at("store-000001") < at("@WORK"));
        assert_eq!(text.matches("store-").count(), 2);
    }

    #[test]
    fn programs_may_do_more_than_benchmarks_by_rules_of_their_own() {
        let [benchmarks, programs] = [false, true].map(|programs| domains(3, 0, programs));
        assert_eq!(programs.strip_prefix(&benchmarks), Some(DOMAIN_OF_PROGRAMS));
        assert_eq!(exceptions(false), EXCEPTIONS);
        assert!(exceptions(true).starts_with(EXCEPTIONS));
    }
}
