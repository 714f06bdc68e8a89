// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom TOMOYO policies: the files of tomoyo-savepolicy(8), and the benchmarks' domain.

use model::{CustomPolicy, Policy};

use super::super::tomoyo::leave_for;
use super::super::{PolicyError, Prepared, Request, tools};
use super::{GivenFile, files, prepared, start};

/// Each file, and whether it is required.
const FILES: [(&str, bool); 3] = [
    ("profile", true),
    ("exception_policy", false),
    ("domain_policy", true),
];
/// Replaces a missing file, because the kernel does not accept an empty one.
const NOTHING: &str = "\n";

pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &CustomPolicy,
) -> Result<Prepared, PolicyError> {
    let sources = files(of)?;
    let mut prepared = prepared(of);
    let mut how = "unchanged".to_owned();
    let domain = of.domain.as_deref().unwrap_or_default();
    for (name, is_needed) in FILES {
        let text = text(&sources, name)?;
        if text.is_none() && is_needed {
            return Err(tools::failed(
                format!("no {name}.conf in {}", of.files.join(", ")),
                "name TOMOYO's policy directory, such as /etc/tomoyo/policy/current, or its files",
            ));
        }
        let mut text = text.unwrap_or(NOTHING).to_owned();
        if name == "domain_policy" {
            text += &leave(of, &text)?;
            text += &{ of.starts_in.as_deref() }.map_or(String::new(), leave_for);
        }
        if name == "profile" && request.configuration.policy == Policy::Permissive {
            let domains = self::text(&sources, "domain_policy")?.unwrap_or_default();
            let profile = profile_of(domain, domains);
            text = permissive(&text, profile);
            how = format!("profile {profile} with mode=permissive in place of mode=enforcing");
        }
        prepared.file(name, text);
    }
    prepared.file("domain", format!("{domain}\n"));
    start(request, &mut prepared, domain, of.starts_in.as_deref());
    prepared.steps.push(format!(
        "tomoyo: {}, {how}; <kernel> has profile 0 and may move into {domain}",
        of.files.join(" ")
    ));
    Ok(prepared)
}

fn text<'a>(sources: &'a [GivenFile], name: &str) -> Result<Option<&'a str>, PolicyError> {
    let found = sources.iter().find(|file| {
        let stem = file.name.file_stem();
        stem.is_some_and(|stem| stem == name)
    });
    let Some(file) = found else {
        return Ok(None);
    };
    let text = std::str::from_utf8(&file.bytes).map(|text| text.trim_end_matches('\0'));
    let text = text.map_err(|_| {
        tools::failed(
            format!("{} is not a text file", file.name.display()),
            "give the files that tomoyo-savepolicy writes",
        )
    })?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// Lets the agent change from the kernel's domain, where nothing is denied, into another.
fn leave(of: &CustomPolicy, policy: &str) -> Result<String, PolicyError> {
    let domains: Vec<&str> = policy
        .lines()
        .filter(|line| line.starts_with("<kernel>"))
        .collect();
    let Some(domain) = &of.domain else {
        return Err(tools::failed(
            format!(
                "the policy in {} needs `domain`, the domain in which benchmarks run",
                of.files.join(", ")
            ),
            format!("set `domain`; {}", tools::suggestion("", &domains)),
        ));
    };
    if !domains.contains(&domain.as_str()) {
        return Err(tools::failed(
            format!("no domain {domain} in {}", of.files.join(", ")),
            tools::suggestion(domain, &domains),
        ));
    }
    Ok(format!("\n{}", leave_for(domain)))
}

fn profile_of(domain: &str, policy: &str) -> u8 {
    let mut profile = 0;
    let mut is_of_it = false;
    for line in policy.lines().map(str::trim) {
        if line.starts_with('<') {
            is_of_it = line == domain;
        } else if let Some(number) = line.strip_prefix("use_profile ").filter(|_| is_of_it) {
            profile = number.trim().parse().unwrap_or(profile);
        }
    }
    profile
}

/// The profiles, with this one permissive instead of enforcing, in `CONFIG` and `CONFIG::…`.
fn permissive(profiles: &str, number: u8) -> String {
    let prefix = format!("{number}-CONFIG");
    let mut text = String::with_capacity(profiles.len() + 64);
    for line in profiles.lines() {
        let rest = line.trim_start();
        // A namespace may precede it.
        let rest = rest.strip_prefix("<kernel> ").unwrap_or(rest);
        let is_of_it = rest.strip_prefix(&prefix);
        if is_of_it.is_some_and(|rest| rest.starts_with(['=', ':'])) {
            text += &line.replace("mode=enforcing", "mode=permissive");
        } else {
            text += line;
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(domain: Option<&str>) -> CustomPolicy {
        CustomPolicy {
            files: vec!["current".to_owned()],
            domain: domain.map(str::to_owned),
            ..CustomPolicy::default()
        }
    }

    #[test]
    fn a_domain_is_one_of_the_policy_s() {
        let policy = "<kernel>\nuse_profile 3\n\n<kernel> /usr/sbin/web\nuse_profile 3\n";
        let leave = |domain| super::leave(&of(domain), policy);
        let more = leave(Some("<kernel> /usr/sbin/web")).unwrap();
        assert!(more.contains("<kernel>\nuse_profile 0\n"));
        assert!(more.ends_with("manual_domain_transition <kernel> /usr/sbin/web\n"));
        assert!(leave(None).is_err());
        assert!(leave(Some("<kernel> /usr/sbin/wed")).is_err());
    }

    #[test]
    fn the_profile_of_a_domain_is_made_permissive() {
        let policy = "<kernel>\nuse_profile 0\n\n<kernel> /usr/sbin/web\nuse_profile 2\n\
                      use_profile 3\nfile read /a\n\n<kernel> /b\nuse_profile 1\n";
        assert_eq!(profile_of("<kernel> /usr/sbin/web", policy), 3);
        assert_eq!(profile_of("<kernel> /b", policy), 1);
        assert_eq!(profile_of("<kernel> /none", policy), 0);
        let profiles = "PROFILE_VERSION=20150505\n3-COMMENT=mode=enforcing\n\
                        3-CONFIG={ mode=enforcing grant_log=no }\n\
                        <kernel> 3-CONFIG::file::read={ mode=enforcing }\n\
                        3-CONFIG::network={ mode=learning }\n\
                        30-CONFIG={ mode=enforcing }\n2-CONFIG={ mode=enforcing }\n";
        let expected = profiles
            .replace(
                "\n3-CONFIG={ mode=enforcing",
                "\n3-CONFIG={ mode=permissive",
            )
            .replace("read={ mode=enforcing", "read={ mode=permissive");
        assert_eq!(permissive(profiles, 3), expected);
    }

    #[test]
    fn files_are_found_by_their_names() {
        let file = |name: &str, text: &str| GivenFile {
            name: name.into(),
            bytes: text.as_bytes().to_vec(),
        };
        let sources = [
            file("profile.conf", "0-CONFIG={}\n"),
            file("domain_policy", "\n"),
        ];
        assert_eq!(text(&sources, "profile"), Ok(Some("0-CONFIG={}\n")));
        assert_eq!(text(&sources, "domain_policy"), Ok(None), "empty");
        assert_eq!(text(&sources, "exception_policy"), Ok(None));
        let wrong = GivenFile {
            name: "profile".into(),
            bytes: vec![0xff],
        };
        assert!(text(&[wrong], "profile").is_err());
    }
}
