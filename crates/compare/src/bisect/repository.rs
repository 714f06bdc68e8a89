// SPDX-License-Identifier: GPL-2.0-or-later
//! A git repository and its commits.

use std::path::{Path, PathBuf};

use kernels::Error;
use model::printable;
use sha2::{Digest, Sha256};

use crate::bisect::git::{Git, error_line};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub hash: String,
    pub short: String,
    pub author: String,
    /// RFC 3339
    pub date: String,
    pub subject: String,
}

#[derive(Debug, Clone)]
pub struct Repository {
    dir: PathBuf,
    /// The git directory shared by all worktrees.
    common: PathBuf,
}

impl Repository {
    /// The repository at `dir`, which may be a worktree.
    pub fn open(dir: &Path) -> Result<Repository, Error> {
        let hint = "give the directory of a git repository with --repo";
        if !dir.is_dir() {
            let what = format!("there is no directory {}", dir.display());
            return Err(Error::usage(what, hint));
        }
        let arguments = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let output = Git(dir).run(&arguments)?;
        if !output.status.success() {
            let what = format!(
                "{} is not a git repository: {}",
                dir.display(),
                error_line(&output)
            );
            return Err(Error::usage(what, hint));
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

    /// A name for its files that is unique on this machine.
    pub fn id(&self) -> String {
        let hash = Sha256::digest(self.common.as_os_str().as_encoded_bytes());
        hash.iter().take(6).map(|b| format!("{b:02x}")).collect()
    }

    pub fn commit(&self, revision: &str) -> Result<Commit, Error> {
        if !revision.is_empty() && !revision.starts_with('-') {
            let peeled = format!("{revision}^{{commit}}");
            let output = Git(&self.dir).run(&["rev-parse", "--verify", "--quiet", &peeled])?;
            if output.status.success() {
                let hash = String::from_utf8_lossy(&output.stdout);
                return describe(Git(&self.dir), hash.trim());
            }
        }
        let (revision, dir) = (printable(revision, 100), self.dir.display());
        let what = format!("`{revision}` is not a commit in {dir}");
        let hint = "give a tag, a branch or a commit that `git log` shows";
        Err(Error::usage(what, hint))
    }

    pub fn range(&self, good: &Commit, bad: &Commit) -> Result<u64, Error> {
        let git = Git(&self.dir);
        let refused = |what: String, hint: &str| Err(Error::usage(what, hint));
        if good.hash == bad.hash {
            let what = format!("--good and --bad are both commit {}", good.short);
            return refused(what, "set --good to a commit before the change");
        }
        let ancestor = ["merge-base", "--is-ancestor", &good.hash, &bad.hash];
        let output = git.run(&ancestor)?;
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                let what = format!("{} is not a descendant of {}", bad.short, good.short);
                let hint =
                    "swap --good and --bad, or set --good to a common ancestor (`git merge-base`)";
                return refused(what, hint);
            }
            _ => return Err(git.failed(&ancestor, &output)),
        }
        let range = format!("{}..{}", good.hash, bad.hash);
        let count = git.read(&["rev-list", "--count", &range])?;
        Ok(count.parse().unwrap_or_default())
    }

    pub fn parents(&self, commit: &Commit) -> Result<Vec<String>, Error> {
        let line = Git(&self.dir).read(&["rev-list", "--parents", "-n", "1", &commit.hash])?;
        Ok(line.split(' ').skip(1).map(str::to_owned).collect())
    }
}

pub(crate) fn describe(git: Git<'_>, hash: &str) -> Result<Commit, Error> {
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
