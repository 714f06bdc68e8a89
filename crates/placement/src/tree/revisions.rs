// SPDX-License-Identifier: GPL-2.0-or-later
//! The revisions that a range of a git repository means: releases, or the patches of a
//! series.

use std::path::Path;

use super::git;
use crate::error::PlacementError;

/// Most revisions of a range.
const MAX_REVISIONS: usize = 500;

/// A release, as its tag names it: `v6.12`, `v6.12.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Release {
    series: (u32, u32),
    /// 0 for the first.
    patch: u32,
}

fn release(tag: &str) -> Option<Release> {
    let mut numbers = tag.strip_prefix('v')?.split('.').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse::<u32>().ok()).flatten()
    });
    let series = (numbers.next()??, numbers.next()??);
    let patch = match numbers.next() {
        Some(patch) => patch?,
        None => 0,
    };
    numbers
        .next()
        .is_none()
        .then_some(Release { series, patch })
}

/// The revisions of a range `A..B`, oldest first, A and B among them. Between tags of
/// releases these are the releases (`v5.10..v7.2`; those of one series if both are of it:
/// `v6.12..v6.12.9`), else all commits on the way (first parents). Without `..` it is one
/// revision.
///
/// # Errors
/// [`PlacementError`] if git fails, an end does not exist, or the range is too long.
pub fn revisions(path: impl AsRef<Path>, range: &str) -> Result<Vec<String>, PlacementError> {
    let path = path.as_ref();
    let bad = |reason: &str| PlacementError::BadRange {
        range: range.to_owned(),
        reason: reason.to_owned(),
    };
    let Some((from, to)) = range.split_once("..") else {
        git::resolve(path, range)?;
        return Ok(vec![range.to_owned()]);
    };
    if from.is_empty() || to.is_empty() || to.starts_with('.') {
        return Err(bad("it needs two ends"));
    }
    for end in [from, to] {
        git::resolve(path, end)?;
    }
    let found = match (release(from), release(to)) {
        (Some(first), Some(last)) if first > last => {
            return Err(bad("its first end is the later one"));
        }
        (Some(first), Some(last)) => {
            let tags = lines(path, "tag", &["--list", "v*"])?;
            between(&tags, first, last)
        }
        _ => {
            let limit = format!("--max-count={}", MAX_REVISIONS + 1);
            let how = ["--reverse", "--first-parent", "--abbrev-commit"];
            let commits = format!("{from}..{to}");
            let which = [limit.as_str(), "--end-of-options", &commits];
            let commits = lines(path, "rev-list", &[how, which].concat())?;
            if commits.is_empty() {
                return Err(bad("there are no commits in it"));
            }
            [from.to_owned()].into_iter().chain(commits).collect()
        }
    };
    if found.len() > MAX_REVISIONS {
        return Err(bad("it has more than 500 revisions"));
    }
    Ok(found)
}

/// The releases from one to another; of their series only, if both are of one.
fn between(tags: &[String], first: Release, last: Release) -> Vec<String> {
    let mut found: Vec<(Release, &String)> = tags
        .iter()
        .filter_map(|tag| Some((release(tag)?, tag)))
        .filter(|(at, _)| (first..=last).contains(at))
        .filter(|(at, _)| {
            at.patch == 0 || first.series == last.series || *at == first || *at == last
        })
        .collect();
    found.sort();
    // A release could have two tags.
    found.dedup_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, tag)| tag.clone()).collect()
}

fn lines(
    path: &Path,
    what: &'static str,
    arguments: &[&str],
) -> Result<Vec<String>, PlacementError> {
    let printed = git::printed(path, what, arguments)?;
    let text = String::from_utf8_lossy(&printed);
    Ok(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_between_releases() {
        let tags = [
            "v6.1", "v6.10", "v6.2-rc1", "v6.2", "v6.2.1", "v6.10.3", "v7", "vx.1", "v7.0",
        ];
        let tags = tags.map(str::to_owned);
        let of = |first: &str, last: &str| {
            between(&tags, release(first).unwrap(), release(last).unwrap())
        };
        assert_eq!(of("v6.1", "v7.0"), ["v6.1", "v6.2", "v6.10", "v7.0"]);
        assert_eq!(of("v6.2", "v6.2.1"), ["v6.2", "v6.2.1"]);
        assert_eq!(of("v6.2.1", "v6.10.3"), ["v6.2.1", "v6.10", "v6.10.3"]);
    }

    #[test]
    fn what_is_no_release() {
        for tag in [
            "v6",
            "6.1",
            "v6.1-rc1",
            "v6.1.2.3",
            "v6..1",
            "v99999999999.1",
        ] {
            assert_eq!(release(tag), None, "{tag}");
        }
    }
}
