// SPDX-License-Identifier: GPL-2.0-or-later
//! Where commits are.

use std::path::{Path, PathBuf};

use diagnostics::{Failure, printable};
use experiment::bisection::Commit;
use sha2::{Digest, Sha256};

use crate::BisectError;
use crate::git::{Git, said};

/// Longest part of a directory's name that a repository is called by.
const NAME_LIMIT: usize = 24;

#[derive(Debug, Clone)]
pub struct Repository {
    dir: PathBuf,
    /// The directory that its worktrees share.
    common: PathBuf,
}

impl Repository {
    /// The repository of which `dir` is a worktree, or which it is.
    pub fn open(dir: &Path) -> Result<Repository, BisectError> {
        let hint = "give the directory of a git repository with --repo";
        if !dir.is_dir() {
            let what = format!("there is no directory {}", dir.display());
            return Err(Failure::usage(what, hint).into());
        }
        let arguments = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let output = Git(dir).run(&arguments)?;
        if !output.status.success() {
            let what = format!("{} is no git repository: {}", dir.display(), said(&output));
            return Err(Failure::usage(what, hint).into());
        }
        let common = String::from_utf8_lossy(&output.stdout);
        let common = PathBuf::from(common.trim_end_matches('\n'));
        Ok(Repository {
            dir: dir.to_path_buf(),
            common: common.canonicalize().unwrap_or(common),
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory that its worktrees share.
    pub(crate) fn common(&self) -> &Path {
        &self.common
    }

    /// A name that tells it from other repositories of this machine, for files.
    #[must_use]
    pub fn id(&self) -> String {
        let git = self.common.file_name().is_some_and(|name| name == ".git");
        let named = if git {
            self.common.parent()
        } else {
            Some(&*self.common)
        };
        let name = named.and_then(Path::file_name).unwrap_or_default();
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "_.".contains(c) {
                c
            } else {
                '-'
            }
        };
        let name: String = name
            .to_string_lossy()
            .chars()
            .take(NAME_LIMIT)
            .map(plain)
            .collect();
        let name = name.trim_start_matches(['-', '.', '_']);
        let hash = Sha256::digest(self.common.as_os_str().as_encoded_bytes());
        let hash: String = hash.iter().take(4).map(|b| format!("{b:02x}")).collect();
        if name.is_empty() {
            hash
        } else {
            format!("{name}-{hash}")
        }
    }

    pub fn commit(&self, revision: &str) -> Result<Commit, BisectError> {
        let unknown = || {
            Failure::usage(
                format!(
                    "`{}` names no commit of {}",
                    printable(revision, 100),
                    self.dir.display()
                ),
                "give a tag, a branch or a commit, as `git log` has them",
            )
        };
        if revision.is_empty() || revision.starts_with('-') {
            return Err(unknown().into());
        }
        let peeled = format!("{revision}^{{commit}}");
        let output = Git(&self.dir).run(&["rev-parse", "--verify", "--quiet", &peeled])?;
        if !output.status.success() {
            return Err(unknown().into());
        }
        let hash = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        describe(Git(&self.dir), &hash)
    }

    /// How many commits come after `good`, up to `bad`.
    pub fn range(&self, good: &Commit, bad: &Commit) -> Result<u64, BisectError> {
        let git = Git(&self.dir);
        let refused = |what, hint| Err(BisectError::from(Failure::usage(what, hint)));
        if good.hash == bad.hash {
            let what = format!("both ends are commit {}", good.short);
            return refused(
                what,
                "give a commit before the change with --good".to_owned(),
            );
        }
        let ancestor = ["merge-base", "--is-ancestor", &good.hash, &bad.hash];
        let output = git.run(&ancestor)?;
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                let (good, bad) = (&good.short, &bad.short);
                let what = format!("{bad} does not come after {good}");
                let base = git.read(&["merge-base", good, bad]);
                let hint = match base {
                    Ok(base)
                        if base.starts_with(good.as_str()) || base.starts_with(bad.as_str()) =>
                    {
                        "exchange them: --good is the earlier one".to_owned()
                    }
                    Ok(base) => format!(
                        "give a common ancestor with --good, such as {}",
                        base.chars().take(12).collect::<String>()
                    ),
                    Err(_) => "give two commits of one history".to_owned(),
                };
                return refused(what, hint);
            }
            _ => return Err(git.failed(&ancestor, &output)),
        }
        let range = format!("{}..{}", good.hash, bad.hash);
        let count = git.read(&["rev-list", "--count", &range])?;
        Ok(count.parse().unwrap_or_default())
    }

    /// The parents of a commit, the first one first.
    pub fn parents(&self, commit: &Commit) -> Result<Vec<String>, BisectError> {
        let line = Git(&self.dir).read(&["rev-list", "--parents", "-n", "1", &commit.hash])?;
        Ok(line.split(' ').skip(1).map(str::to_owned).collect())
    }
}

pub(crate) fn describe(git: Git<'_>, hash: &str) -> Result<Commit, BisectError> {
    let format = "--format=%H%x00%h%x00%an <%ae>%x00%aI%x00%s";
    let arguments = ["show", "--no-patch", "--no-show-signature", format, hash];
    let text = git.read(&arguments)?;
    let mut parts = text.split('\0').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    Ok(Commit {
        hash: next(),
        short: next(),
        author: next(),
        date: next(),
        subject: next(),
    })
}
