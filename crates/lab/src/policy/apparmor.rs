// SPDX-License-Identifier: GPL-2.0-or-later
//! AppArmor: a profile for the agent, compiled by `apparmor_parser`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use model::Policy;

use super::{PolicyError, Prepared, Request, denials, tools};

const PROFILE: &str = include_str!("../../policy/apparmor/profile");
/// The mediated features. With them, the compiled profile does not depend on this machine's kernel,
/// and kernels from 5.10 on accept it.
pub(super) const FEATURES: &str = include_str!("../../policy/apparmor/features");

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    let state = request.configuration.policy;
    let rules = request.configuration.settings.rules.unwrap_or(0);
    let denials = request.configuration.settings.denials;
    let more = if denials { denials::APPARMOR } else { "" };
    let profile = request.in_work_dir(&profile(state, rules, request.root.is_some(), more));
    let (parser, version) = parser()?;
    let inputs = [profile.as_bytes(), FEATURES.as_bytes(), version.as_bytes()];
    let compiled = tools::cached(request.cache, "apparmor", &inputs, &mut |made| {
        compile(&parser, &profile, made)
    })?;
    let complain = if state == Policy::Permissive {
        ", flags=(complain)"
    } else {
        ""
    };
    Ok(Prepared {
        steps: denials::step("apparmor", "PROFILE", more)
            .into_iter()
            .chain([format!(
                "apparmor: apparmor_parser -QK -M features -o profile PROFILE ({version}; {rules} \
                 more rules{complain})"
            )])
            .collect(),
        files: vec![("profile".to_owned(), compiled)],
        ..Prepared::default()
    })
}

/// The program, and the first line of its version.
pub(super) fn parser() -> Result<(PathBuf, String), PolicyError> {
    let parser = tools::find("apparmor_parser", "apparmor")?;
    let version = tools::run(Command::new(&parser).arg("--version"))?;
    Ok((parser, version.lines().next().unwrap_or("").to_owned()))
}

pub(super) fn compile(parser: &Path, profiles: &str, made: &Path) -> Result<(), PolicyError> {
    let source = made.with_file_name("profile");
    let features = made.with_file_name("features");
    tools::write(&source, profiles.as_bytes())?;
    tools::write(&features, FEATURES.as_bytes())?;
    let mut command = Command::new(parser);
    command.arg("-QK").arg("-M").arg(&features);
    command.arg("-o").arg(made).arg(&source);
    tools::run(&mut command).map(drop)
}

const OF_PROGRAMS: &str = "  /mnt/** mix,\n  network,\n  unix,\n";

/// The profile, in complain mode if permissive, with the benchmarks' files and `more` rules.
fn profile(state: Policy, rules: u32, programs: bool, more: &str) -> String {
    let mut text = match state {
        Policy::Permissive => {
            PROFILE.replace("profile lsmeter {", "profile lsmeter flags=(complain) {")
        }
        Policy::None | Policy::Enforcing => PROFILE.to_owned(),
    };
    if programs {
        text.push_str(OF_PROGRAMS);
    }
    for rule in 0..rules {
        // The names differ in all parts, and no other rule grants this permission. Otherwise the
        // parser would merge the rules into a few states.
        let name = rule.wrapping_mul(0x9e377) & 0xfffff;
        let _ = writeln!(text, "  /mnt/cell/store-{name:05x} m,");
    }
    if state == Policy::Enforcing {
        // The access is denied in any case. A deny rule keeps it out of the log, so that it can be
        // counted. In complain mode, deny rules still deny.
        text.push_str("  deny /.lsmeter-denied rw,\n");
    }
    text.push_str(more);
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_profile_has_its_rules_and_its_mode() {
        let text = profile(Policy::Enforcing, 3, false, "");
        assert!(!text.contains("complain"));
        assert_eq!(text.matches("/store-").count(), 3);
        let names: BTreeSet<String> = profile(Policy::Enforcing, 100_000, false, "")
            .lines()
            .filter(|line| line.contains("/store-"))
            .map(str::to_owned)
            .collect();
        assert_eq!(names.len(), 100_000);
        assert!(text.contains("\n  deny ") && text.ends_with(",\n}\n"));
        let text = profile(Policy::Permissive, 0, true, "");
        assert!(text.contains("profile lsmeter flags=(complain) {\n"));
        assert!(text.contains(OF_PROGRAMS));
        assert!(
            !text.contains("\n  deny "),
            "complain mode would deny it too"
        );
    }
}
