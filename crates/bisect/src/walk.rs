// SPDX-License-Identifier: GPL-2.0-or-later
//! From two ends to the first bad commit, as `git bisect` goes.

use experiment::bisection::Commit;

use crate::git::Git;
use crate::repository::describe;
use crate::{BisectError, Tree, Verdict};

/// What a walk came to.
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
    /// The user ended it. git's state stays.
    Cancelled,
}

/// Where git stands.
enum Next {
    Test(Commit),
    First(Commit),
    OneOf(Vec<Commit>),
}

/// Walks from `good` to `bad`, which descends from it, and has `test` say what each commit is that
/// git wants to know; None ends the walk. `test` is asked once for each, and has the tree check
/// out what it must. The good end is taken to be good. Whether the bad end is bad is asked first if
/// `ends_first`; else only if no other commit is bad, which spares building it.
///
/// # Errors
/// git's, and those of `test`.
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
    begin(git, good, bad)?;
    let found = loop {
        match next(git)? {
            Next::Test(commit) => {
                let Some(verdict) = test(&commit)? else {
                    return Ok(Found::Cancelled);
                };
                bad_seen |= verdict == Verdict::Bad;
                tell(git, &commit, verdict)?;
            }
            Next::First(commit) => break Found::First(commit),
            Next::OneOf(commits) => break Found::OneOf(commits),
        }
    };
    let found = match (&found, bad_seen) {
        (Found::First(_) | Found::OneOf(_), false) => match test(bad)? {
            Some(Verdict::Bad) => found,
            Some(Verdict::Good) => Found::Nothing,
            Some(Verdict::Skipped) => Found::BadEndUntold,
            None => return Ok(Found::Cancelled),
        },
        _ => found,
    };
    end(git)?;
    Ok(found)
}

/// Begins anew. Nothing is checked out: what was measured before need not be.
fn begin(git: Git<'_>, good: &Commit, bad: &Commit) -> Result<(), BisectError> {
    end(git)?;
    git.act(&["bisect", "start", "--no-checkout", &bad.hash, &good.hash])
}

/// Forgets the state of a walk, if there is one.
fn end(git: Git<'_>) -> Result<(), BisectError> {
    git.act(&["bisect", "reset", "HEAD"])
}

fn tell(git: Git<'_>, commit: &Commit, verdict: Verdict) -> Result<(), BisectError> {
    let word = match verdict {
        Verdict::Good => "good",
        Verdict::Bad => "bad",
        Verdict::Skipped => "skip",
    };
    let arguments = ["bisect", word, &commit.hash];
    let output = git.run(&arguments)?;
    // 2: only skipped commits are left, which the log tells too.
    match output.status.code() {
        Some(0 | 2) => Ok(()),
        _ => Err(git.failed(&arguments, &output)),
    }
}

/// What git has written into its log, which is made to be read again.
fn next(git: Git<'_>) -> Result<Next, BisectError> {
    let log = git.read(&["bisect", "log"])?;
    let hashes = |marker: &str| -> Vec<String> {
        let lines = log.lines().filter_map(|line| line.strip_prefix(marker));
        let hashes = lines.filter_map(|rest| rest.split_once(']'));
        hashes.map(|(hash, _)| hash.to_owned()).collect()
    };
    if let Some(hash) = hashes("# first bad commit: [").first() {
        return Ok(Next::First(describe(git, hash)?));
    }
    let possible = hashes("# possible first bad commit: [");
    if !possible.is_empty() {
        let commits = possible.iter().map(|hash| describe(git, hash));
        return Ok(Next::OneOf(commits.collect::<Result<_, _>>()?));
    }
    let hash = git.read(&["rev-parse", "--verify", "BISECT_HEAD"])?;
    Ok(Next::Test(describe(git, &hash)?))
}
