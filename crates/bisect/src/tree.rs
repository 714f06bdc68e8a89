// SPDX-License-Identifier: GPL-2.0-or-later
//! A worktree of lsmeter's own.
//!
//! ```text
//! bisect/REPOSITORY/lock      held while it is walked in
//! bisect/REPOSITORY/tree      the worktree that lsmeter builds from
//! bisect/REPOSITORY/built     the one in which a command of the user's builds
//! bisect/REPOSITORY/measured/ what was measured of commits (see `kept`)
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use experiment::bisection::Commit;
use kernels::files::Lock;

use crate::git::Git;
use crate::{BisectError, Repository};

/// How a tree is used: what is built inside must not be where lsmeter builds from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is read only; objects are elsewhere.
    Source,
    BuiltIn,
}

/// A worktree in lsmeter's cache, which is this process's as long as it lives.
#[derive(Debug)]
pub struct Tree {
    place: PathBuf,
    dir: PathBuf,
    _lock: Lock,
}

impl Tree {
    /// Opens the worktree of `repository` below `cache`, and makes it, of `first`, if there is
    /// none. `waiting` is called if another lsmeter is walking in it.
    pub fn open(
        repository: &Repository,
        cache: &Path,
        tree: Use,
        first: &Commit,
        waiting: &mut dyn FnMut(),
    ) -> Result<Tree, BisectError> {
        let place = cache.join("bisect").join(repository.id());
        fs::create_dir_all(&place).map_err(BisectError::io("create", &place))?;
        let lock = Lock::take(&place.join("lock"), waiting)?;
        let dir = Tree::path(cache, repository, tree);
        let tree = Tree {
            place,
            dir,
            _lock: lock,
        };
        if !tree.is_of(repository) {
            tree.make(repository, first)?;
        }
        Ok(tree)
    }

    /// Where the worktree of `repository` is, or would be.
    #[must_use]
    pub fn path(cache: &Path, repository: &Repository, tree: Use) -> PathBuf {
        cache.join("bisect").join(repository.id()).join(match tree {
            Use::Source => "tree",
            Use::BuiltIn => "built",
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The directory of all that is kept of the repository.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Has it the files of `commit`. Those that are the same in both keep their times.
    pub fn check_out(&self, commit: &Commit) -> Result<(), BisectError> {
        let arguments = ["checkout", "--quiet", "--force", "--detach", &commit.hash];
        Git(&self.dir).act(&arguments)
    }

    pub(crate) fn git(&self) -> Git<'_> {
        Git(&self.dir)
    }

    /// A repository that was moved or made anew has left a worktree that is none.
    fn is_of(&self, repository: &Repository) -> bool {
        self.dir.join(".git").exists()
            && Repository::open(&self.dir).is_ok_and(|of| of.common() == repository.common())
    }

    fn make(&self, repository: &Repository, first: &Commit) -> Result<(), BisectError> {
        if self.dir.exists() {
            fs::remove_dir_all(&self.dir).map_err(BisectError::io("remove", &self.dir))?;
        }
        let git = Git(repository.dir());
        let dir = self.dir.to_string_lossy();
        // Twice: also where git still knows of one that is gone.
        let mut arguments = vec!["worktree", "add", "--quiet", "--force", "--force"];
        // It is filled by a git that runs there: a repository can have settings, such as filters,
        // for one worktree only.
        arguments.extend(["--detach", "--no-checkout", &dir, &first.hash]);
        git.act(&arguments)?;
        self.check_out(first)
    }
}
