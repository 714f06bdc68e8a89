// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter's worktree: `bisect/REPOSITORY/tree` in the cache, with a lock file next to it.

use std::fs;
use std::path::{Path, PathBuf};

use kernels::Error;
use kernels::files::Lock;

use crate::bisect::git::Git;
use crate::bisect::{Commit, Repository};

#[derive(Debug)]
pub struct Tree {
    repository: Repository,
    dir: PathBuf,
    _lock: Lock,
}

impl Tree {
    /// Makes the worktree below `cache`, at `first`. Calls `waiting` if another lsmeter uses it.
    pub fn open(
        repository: &Repository,
        cache: &Path,
        first: &Commit,
        waiting: &mut dyn FnMut(),
    ) -> Result<Tree, Error> {
        let dir = Tree::path(cache, repository);
        let place = dir.parent().unwrap_or(cache);
        fs::create_dir_all(place).map_err(Error::io("create", place))?;
        let tree = Tree {
            repository: repository.clone(),
            _lock: Lock::take(&place.join("lock"), waiting)?,
            dir,
        };
        tree.remove();
        let dir = tree.dir.to_string_lossy();
        // `--force` is given twice because git may still list a worktree that is gone.
        let mut arguments = vec!["worktree", "add", "--quiet", "--force", "--force"];
        // git checks out the files from inside the worktree, because settings such as filters can
        // be specific to a worktree.
        arguments.extend(["--detach", "--no-checkout", &dir, &first.hash]);
        Git(repository.dir()).read(&arguments)?;
        tree.check_out(first)?;
        Ok(tree)
    }

    pub fn path(cache: &Path, repository: &Repository) -> PathBuf {
        cache.join("bisect").join(repository.id()).join("tree")
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Unchanged files keep their times.
    pub fn check_out(&self, commit: &Commit) -> Result<(), Error> {
        let arguments = ["checkout", "--quiet", "--force", "--detach", &commit.hash];
        Git(&self.dir).read(&arguments).map(drop)
    }

    /// A killed lsmeter may have left any part of it.
    fn remove(&self) {
        let _ = fs::remove_dir_all(&self.dir);
        let dir = self.dir.to_string_lossy();
        let arguments = ["worktree", "remove", "--force", "--force", &dir];
        let _ = Git(self.repository.dir()).run(&arguments);
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.remove();
    }
}
