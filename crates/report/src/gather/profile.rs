// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of profiles.

use experiment::{Profile, ProfileDocument, Status};

use super::Draft;
use super::hooks::{self, Operation};
use super::run::operation;
use crate::group::grouped;
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// For each kernel, file system and configuration.
pub(super) fn drafts(document: &ProfileDocument) -> Vec<Draft> {
    // Of one path among many the hooks say little.
    let ok = |profile: &&Profile| profile.status == Status::Ok && profile.is_stable();
    let titled: Vec<(String, &Profile)> = document
        .profiles
        .iter()
        .filter(ok)
        .map(|profile| (title(profile), profile))
        .collect();
    let groups = grouped(&titled, |(title, profile)| {
        (
            profile.kernel.as_str(),
            profile.filesystem.as_str(),
            title.as_str(),
        )
    });
    let mut drafts = Vec::new();
    for ((kernel, filesystem, stack), profiles) in groups {
        let operations: Vec<Operation<'_>> = profiles
            .iter()
            .map(|(_, profile)| Operation {
                title: operation(&profile.benchmark, &profile.variant),
                total: profile.total,
                hooks: &profile.hooks,
            })
            .collect();
        let place = format!(
            "{}, {}",
            printable(kernel, TEXT_LIMIT),
            printable(filesystem, TEXT_LIMIT)
        );
        let subjects = [kernel.to_owned(), filesystem.to_owned()];
        drafts.extend(hooks::drafts(&operations, &place, stack, &subjects));
    }
    drafts
}

fn title(profile: &Profile) -> String {
    experiment::configuration_title(
        &profile.stack.join(","),
        &profile.integrity,
        profile.policy,
        &profile.tuning,
    )
}
