// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the first bad commit between two commits, in the same order as `git bisect`.

use std::collections::BTreeSet;

use crate::bisect::git::Git;
use crate::bisect::repository::describe;
use crate::bisect::{Commit, Tree, Verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// All commits before it are good.
    First(Commit),
    OneOf(Vec<Commit>),
    Nothing,
    Cancelled,
}

/// Walks from `good` to its descendant `bad`. `test` judges each chosen commit once; if it returns
/// None, the walk ends. `bad` itself is tested only if no other commit is bad, which saves a build.
///
/// `git bisect` would write refs, and git 2.39 then runs the repository's hooks despite
/// `core.hooksPath`.
pub fn walk<E: From<kernels::Error>>(
    tree: &Tree,
    good: &Commit,
    bad: &Commit,
    test: &mut dyn FnMut(&Commit) -> Result<Option<Verdict>, E>,
) -> Result<Found, E> {
    let git = Git(tree.dir());
    let mut goods = vec![format!("^{}", good.hash)];
    let (mut first, mut is_tested) = (bad.clone(), false);
    let mut skipped = BTreeSet::new();
    loop {
        let all = match skipped.is_empty() {
            true => "--bisect",
            false => "--bisect-all",
        };
        let mut arguments = vec!["rev-list", all, &first.hash];
        arguments.extend(goods.iter().map(String::as_str));
        // In order of preference; the bad commit is last.
        let listed = git.read(&arguments)?;
        let hashes = listed.lines().filter_map(|line| line.split(' ').next());
        let (unknown, left): (Vec<&str>, Vec<&str>) = hashes
            .filter(|hash| *hash != first.hash)
            .partition(|hash| skipped.contains(*hash));
        let next = if !left.is_empty() {
            // Neighbours of a skipped commit often fail as well.
            describe(git, left[left.len() * (skipped.len() % 4) / 8])?
        } else if !is_tested {
            bad.clone()
        } else if unknown.is_empty() {
            return Ok(Found::First(first));
        } else {
            let unknown = unknown.into_iter().map(|hash| describe(git, hash));
            let commits = unknown.chain([Ok(first)]).collect::<Result<_, _>>()?;
            return Ok(Found::OneOf(commits));
        };
        let is_end = next.hash == first.hash;
        match test(&next)? {
            None => return Ok(Found::Cancelled),
            Some(Verdict::Good) if is_end => return Ok(Found::Nothing),
            Some(Verdict::Skipped) if is_end => return Ok(Found::OneOf(vec![next])),
            Some(Verdict::Good) => goods.push(format!("^{}", next.hash)),
            Some(Verdict::Bad) => (first, is_tested) = (next, true),
            Some(Verdict::Skipped) => drop(skipped.insert(next.hash)),
        }
    }
}
