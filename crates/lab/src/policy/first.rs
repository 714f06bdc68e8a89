// SPDX-License-Identifier: GPL-2.0-or-later
//! The first operation after reloading a policy or relabelling files, which
//! `guest/settings/first.c` does before each operation.

use model::{Configuration, FirstAfter};

use super::apparmor::{self, FEATURES};
use super::{PolicyError, Prepared, Request, tools};

/// The number of types that are used once each: `FRESH_LABELS` in `guest/settings/labels.h`.
pub(super) const LABELS: u32 = 1024;

const KEY: &str = "first_after";

/// Changes AppArmor's set of profiles, so that a reload is not skipped.
const ANOTHER: &str = "profile lsmeter-another {\n}\n";

pub(super) fn add(
    request: &Request<'_>,
    module: &str,
    mut prepared: Prepared,
) -> Result<Prepared, PolicyError> {
    let key = match (request.configuration.settings.first_after, module) {
        (Some(FirstAfter::Load), "selinux" | "apparmor") => 1,
        (Some(FirstAfter::Relabel), "selinux") => 2,
        _ => return Ok(prepared),
    };
    prepared.keys.push((KEY, key));
    if module == "apparmor" {
        let loaded = prepared.files.iter().find(|(name, _)| name == "profile");
        let mut all = loaded.map_or(Vec::new(), |(_, bytes)| bytes.clone());
        all.extend(another(request)?);
        prepared.file("again", all);
        prepared.steps.push(format!(
            "apparmor: `again` is `profile` followed by {ANOTHER:?}"
        ));
    }
    Ok(prepared)
}

fn another(request: &Request<'_>) -> Result<Vec<u8>, PolicyError> {
    let (parser, version) = apparmor::parser()?;
    let inputs = [ANOTHER.as_bytes(), FEATURES.as_bytes(), version.as_bytes()];
    tools::cached(request.cache, "apparmor-another", &inputs, &mut |made| {
        apparmor::compile(&parser, ANOTHER, made)
    })
}

pub(super) fn labels(request: &Request<'_>) -> u32 {
    match request.configuration.settings.first_after {
        Some(FirstAfter::Relabel) => LABELS,
        _ => 0,
    }
}

/// Refuses a stack without such a module. A kernel's default stack may have none.
pub(super) fn check(configuration: &Configuration, directives: &str) -> Result<(), PolicyError> {
    let asked = configuration.settings.first_after;
    match asked {
        Some(event) if !directives.contains(KEY) => Err(PolicyError::Unsupported(format!(
            "no module in {} drops cached decisions at a {event}",
            configuration.stack
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_knows_how_many_labels_there_are() {
        let header = include_str!("../../guest/settings/labels.h");
        let defined = format!("#define FRESH_LABELS\t\t{LABELS}\n");
        assert!(header.contains(&defined), "{defined}");
    }
}
