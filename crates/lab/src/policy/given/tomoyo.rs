// SPDX-License-Identifier: GPL-2.0-or-later
//! A policy of TOMOYO of the user's own: the files that tomoyo-savepolicy(8) writes, and the domain
//! that benchmarks are moved into.

use experiment::{GivenPolicy, Policy, nearest};

use super::super::tomoyo::leave_for;
use super::super::{PolicyError, Prepared, Request, tools};
use super::{GivenFile, files, prepared};

/// Each file, and whether there is none without it.
const FILES: [(&str, bool); 3] = [
    ("profile", true),
    ("exception_policy", false),
    ("domain_policy", true),
];
/// For a file that a policy lacks: the kernel takes no empty one.
const NOTHING: &str = "\n";
/// Names of domains that an error lists.
const LISTED: usize = 8;

/// The three files as they are, and leave for the agent to move into the domain.
pub(in super::super) fn prepare(
    request: &Request<'_>,
    of: &GivenPolicy,
) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "TOMOYO")?;
    tools::need(request, "TOMOYO", "CONFIG_SECURITY_TOMOYO")?;
    if request.configuration.policy == Policy::Permissive {
        return Err(PolicyError::Unsupported(
            "whether a domain of TOMOYO's is permissive, its own profile says".to_owned(),
        ));
    }
    let sources = files(of)?;
    let mut prepared = prepared(of);
    for (name, is_needed) in FILES {
        let text = text(&sources, name)?;
        if text.is_none() && is_needed {
            return Err(tools::failed(
                format!("no {name}.conf is in {}", of.files.join(", ")),
                "name a directory of TOMOYO's, such as /etc/tomoyo/policy/current, or its files",
            ));
        }
        let mut text = text.unwrap_or(NOTHING).to_owned();
        if name == "domain_policy" {
            text += &leave(of, &text)?;
        }
        prepared.files.push((name.to_owned(), text.into_bytes()));
    }
    let domain = of.domain.as_deref().unwrap_or_default();
    prepared
        .files
        .push(("domain".to_owned(), format!("{domain}\n").into_bytes()));
    prepared.steps.push(format!(
        "tomoyo: {} as it is; <kernel> has profile 0 and may move into {domain}",
        of.files.join(" ")
    ));
    Ok(prepared)
}

/// A file by its name, with `.conf` or without.
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
            format!("{} is no text", file.name.display()),
            "give what tomoyo-savepolicy writes",
        )
    })?;
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// What the agent needs to get from the kernel's domain, in which nothing is denied, into another.
fn leave(of: &GivenPolicy, policy: &str) -> Result<String, PolicyError> {
    let domains: Vec<&str> = policy
        .lines()
        .filter(|line| line.starts_with("<kernel>"))
        .collect();
    let listed = || {
        let some: Vec<&str> = domains.iter().take(LISTED).copied().collect();
        format!("there are {}", some.join(", "))
    };
    let Some(domain) = &of.domain else {
        return Err(tools::failed(
            format!(
                "which domain of {} do benchmarks run in?",
                of.files.join(", ")
            ),
            format!("name it (`domain`, --tomoyo-domain); {}", listed()),
        ));
    };
    if !domains.contains(&domain.as_str()) {
        let near = nearest(domain, domains.iter().copied());
        let near = near.map_or_else(listed, |near| format!("did you mean {near}?"));
        return Err(tools::failed(
            format!("no domain {domain} is in {}", of.files.join(", ")),
            near,
        ));
    }
    Ok(format!("\n{}", leave_for(domain)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(domain: Option<&str>) -> GivenPolicy {
        GivenPolicy {
            files: vec!["current".to_owned()],
            domain: domain.map(str::to_owned),
            ..GivenPolicy::default()
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
