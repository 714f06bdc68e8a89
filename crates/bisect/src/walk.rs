// SPDX-License-Identifier: GPL-2.0-or-later
//! From two ends to the first bad commit, in the order in which `git bisect` goes.

use std::collections::BTreeSet;

use experiment::bisection::Commit;

use crate::git::Git;
use crate::repository::describe;
use crate::{BisectError, Tree, Verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// The first bad commit: it is bad, and all that it comes after are good.
    First(Commit),
    /// One of these is; those between them could not be told.
    OneOf(Vec<Commit>),
    /// No commit is bad: the ends do not differ.
    Nothing,
    /// The bad end itself cannot be told.
    BadEndUntold,
    Cancelled,
}

/// What is known. `git bisect` would keep it in the repository, and git 2.39 runs the repository's
/// hooks when it does so, whatever `core.hooksPath` is.
struct Known {
    good: Vec<String>,
    bad: String,
    skipped: BTreeSet<String>,
}

enum Next {
    Test(Commit),
    First(Commit),
    OneOf(Vec<Commit>),
}

/// Walks from `good` to `bad`, which descends from it, and has `test` say what each commit is that
/// git wants to know; None ends the walk. `test` is asked once for each, and has the tree check
/// out what it must. The good end is taken to be good. Whether the bad end is bad is asked first if
/// `ends_first`; else only if no other commit is bad, which spares building it.
pub fn walk<E: From<BisectError>>(
    tree: &Tree,
    good: &Commit,
    bad: &Commit,
    ends_first: bool,
    test: &mut dyn FnMut(&Commit) -> Result<Option<Verdict>, E>,
) -> Result<Found, E> {
    let git = tree.git();
    let mut bad_seen = false;
    if ends_first {
        match test(bad)? {
            Some(Verdict::Bad) => bad_seen = true,
            Some(Verdict::Good) => return Ok(Found::Nothing),
            Some(Verdict::Skipped) => return Ok(Found::BadEndUntold),
            None => return Ok(Found::Cancelled),
        }
    }
    let mut known = Known {
        good: vec![good.hash.clone()],
        bad: bad.hash.clone(),
        skipped: BTreeSet::new(),
    };
    let found = loop {
        match known.next(git)? {
            Next::Test(commit) => {
                let Some(verdict) = test(&commit)? else {
                    return Ok(Found::Cancelled);
                };
                bad_seen |= verdict == Verdict::Bad;
                match verdict {
                    Verdict::Good => known.good.push(commit.hash),
                    Verdict::Bad => known.bad = commit.hash,
                    Verdict::Skipped => drop(known.skipped.insert(commit.hash)),
                }
            }
            Next::First(commit) => break Found::First(commit),
            Next::OneOf(commits) => break Found::OneOf(commits),
        }
    };
    Ok(match (&found, bad_seen) {
        (Found::First(_) | Found::OneOf(_), false) => match test(bad)? {
            Some(Verdict::Bad) => found,
            Some(Verdict::Good) => Found::Nothing,
            Some(Verdict::Skipped) => Found::BadEndUntold,
            None => return Ok(Found::Cancelled),
        },
        _ => found,
    })
}

impl Known {
    /// The commit that halves the rest best, as `git bisect` chooses it.
    fn next(&self, git: Git<'_>) -> Result<Next, BisectError> {
        let all = match self.skipped.is_empty() {
            true => "--bisect",
            false => "--bisect-all",
        };
        let good = self.good.iter().map(|hash| format!("^{hash}"));
        let good: Vec<String> = good.collect();
        let mut arguments = vec!["rev-list", all, &self.bad];
        arguments.extend(good.iter().map(String::as_str));
        // The best ones first, and the bad one last.
        let listed = git.read(&arguments)?;
        let listed = listed.lines().filter_map(|line| line.split(' ').next());
        let (skipped, left): (Vec<&str>, Vec<&str>) = listed
            .filter(|hash| *hash != self.bad)
            .partition(|hash| self.skipped.contains(*hash));
        if !left.is_empty() {
            // Neighbours of a commit that does not build often do not build either.
            let away = left.len() * (self.skipped.len() % 4) / 8;
            return Ok(Next::Test(describe(git, left[away])?));
        }
        let first = describe(git, &self.bad)?;
        if skipped.is_empty() {
            return Ok(Next::First(first));
        }
        let skipped = skipped.into_iter().map(|hash| describe(git, hash));
        let commits = skipped.chain([Ok(first)]).collect::<Result<_, _>>()?;
        Ok(Next::OneOf(commits))
    }
}
