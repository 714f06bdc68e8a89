// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the sources of kernels, and detects changes in them.

use super::make::output;
use crate::error::Error;
use crate::{files, git};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

const PACKAGE: &str = "linux-source-";
/// Present in every kernel tree of any architecture.
const MARKS: [&str; 4] = ["Makefile", "Kconfig", "scripts/kconfig", "init/main.c"];

fn marks() -> impl Iterator<Item = String> {
    let own = format!("{}Kconfig", crate::arch::native().source.directory);
    MARKS.map(str::to_owned).into_iter().chain([own])
}

/// Files left by a build in the tree itself; with them, make refuses to build elsewhere.
const LEFTOVERS: [&str; 3] = [".config", "include/config", "include/generated"];

fn leftovers() -> impl Iterator<Item = String> {
    let own = crate::arch::ALL.iter();
    let own = own.map(|arch| format!("{}generated", arch.source.include));
    LEFTOVERS.map(str::to_owned).into_iter().chain(own)
}

const HINT: &str = "give a package such as linux-source-6.12, or the directory of a kernel source \
                    tree";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Package(String),
    Tree(PathBuf),
}

impl FromStr for Source {
    type Err = Error;

    /// `linux-source-VERSION` is a package, anything else a path.
    fn from_str(text: &str) -> Result<Source, Error> {
        let bad = |reason: &str| {
            let shown: String = text.chars().take(200).collect();
            Error::usage(format!("`{shown}` is not a kernel source: {reason}"), HINT)
        };
        if text.is_empty() || text.contains('\0') {
            return Err(bad("empty, or not a path"));
        }
        let Some(version) = text.strip_prefix(PACKAGE).filter(|_| !text.contains('/')) else {
            return Ok(Source::Tree(PathBuf::from(text)));
        };
        let allowed = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase() || b".+-".contains(&b);
        if version.len() > 40
            || !version.starts_with(|c: char| c.is_ascii_digit())
            || !version.bytes().all(allowed)
        {
            return Err(bad("expected a package such as linux-source-6.12"));
        }
        Ok(Source::Package(text.to_owned()))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub dir: PathBuf,
    pub identity: String,
    pub version: Option<String>,
    /// Changes whenever a file is written, even with the same content.
    pub stamp: String,
}

impl Tree {
    pub fn has_changed(&self) -> Result<bool, Error> {
        Ok(stamp(&self.dir)? != self.stamp)
    }
}

/// A user's tree. [`Error::Unsupported`] if something was built in it.
pub(super) fn tree(path: &Path) -> Result<Tree, Error> {
    let dir = files::find(path, "directory", HINT)?;
    check(&dir, path)?;
    if let Some(left) = leftovers().find(|left| dir.join(left).exists()) {
        return Err(Error::Unsupported {
            what: path.display().to_string(),
            reason: format!("the source tree contains build output ({left})"),
            hint: Some(format!(
                "run `make -C {} mrproper` (keep a copy of .config, which it removes)",
                path.display()
            )),
        });
    }
    // The stamp is taken before anything is read, so every change affects the stamp or the key.
    let stamp = stamp(&dir)?;
    let identity = git_identity(&dir).unwrap_or_else(|| stamp.clone());
    Ok(Tree {
        dir,
        identity,
        version: None,
        stamp,
    })
}

pub(super) fn check(dir: &Path, name: &Path) -> Result<(), Error> {
    let missing = marks().find(|mark| !dir.join(mark).exists());
    match missing {
        None => Ok(()),
        Some(mark) => Err(Error::usage(
            format!("{}: not a kernel source tree (no {mark})", name.display()),
            "give the top directory of a kernel source tree, or a package such as \
             linux-source-6.12",
        )),
    }
}

/// Commit and changes. `None` if git does not know all files.
fn git_identity(dir: &Path) -> Option<String> {
    let head = output(&mut git(dir, &["rev-parse", "--show-toplevel", "HEAD"])?)?;
    let (top, head) = head.trim().split_once('\n')?;
    if Path::new(top).canonicalize().ok()? != dir {
        return None;
    }
    let mut diff = vec!["diff", "HEAD", "-z", "--name-only", "--no-renames"];
    diff.extend(["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]);
    let mut changed = git_names(dir, &diff)?;
    // The diff leaves out files that git ignores on request (assume-unchanged, skip-worktree).
    let tracked = git_names(dir, &["ls-files", "-z", "-v"])?;
    let unseen = tracked.iter().filter(|line| !line.starts_with(b"H "));
    changed.extend(unseen.filter_map(|line| Some(line.get(2..)?.to_vec())));
    changed.extend(git_names(dir, &OTHERS)?);
    Some(format!(
        "git {head} {}",
        times(dir, changed.iter().map(Vec::as_slice))
    ))
}

/// Untracked files not ignored by the tree itself; files that the user ignores may be built.
const OTHERS: [&str; 4] = [
    "ls-files",
    "-z",
    "--others",
    "--exclude-per-directory=.gitignore",
];

/// Names, sizes and times of the source files.
pub(super) fn stamp(dir: &Path) -> Result<String, Error> {
    let names = || {
        Some(
            [
                git_names(dir, &["ls-files", "-z"])?,
                git_names(dir, &OTHERS)?,
            ]
            .concat(),
        )
    };
    let Some(names) = names() else {
        return listing(dir);
    };
    Ok(format!(
        "files {}",
        times(dir, names.iter().map(Vec::as_slice))
    ))
}

fn git(dir: &Path, arguments: &[&str]) -> Option<Command> {
    if !dir.join(".git").exists() {
        return None;
    }
    let mut command = git::command(dir).ok()?;
    command.args(arguments).stderr(Stdio::null());
    Some(command)
}

fn git_names(dir: &Path, arguments: &[&str]) -> Option<Vec<Vec<u8>>> {
    let output = git(dir, arguments)?.output().ok()?;
    let names = output.stdout.split(|&b| b == 0);
    let names = names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec);
    output.status.success().then(|| names.collect())
}

/// A digest of the files' names, sizes and times; for missing files, only of the names.
fn times<'a>(dir: &Path, names: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for name in names {
        hash.update([name, b"\0"].concat());
        if let Ok(metadata) = fs::symlink_metadata(dir.join(OsStr::from_bytes(name))) {
            hash.update(describe(&metadata));
        }
    }
    files::digest(&hash.finalize())
}

/// Files of git and editors are not source.
fn listing(dir: &Path) -> Result<String, Error> {
    let paths = files::walk(dir)?;
    let names = paths.iter().filter(|path| path.is_file());
    let names = names.filter_map(|path| path.strip_prefix(dir).ok());
    let names = names.map(|path| path.as_os_str().as_bytes());
    let names = names.filter(|name| !name.starts_with(b"."));
    Ok(format!("files {}", times(dir, names)))
}

fn describe(metadata: &Metadata) -> String {
    format!(
        "{} {}.{:09} {:o}\n",
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.mode()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    fn kernel() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for mark in marks() {
            put(dir.path(), &mark, &mark);
        }
        dir
    }

    #[test]
    fn packages_and_paths() {
        let package = |text: &str| Source::Package(text.into());
        let parse = |text: &str| text.parse::<Source>().unwrap();
        assert_eq!(parse("linux-source-6.12"), package("linux-source-6.12"));
        assert_eq!(
            parse("./linux-source-6.12"),
            Source::Tree("./linux-source-6.12".into())
        );
        assert_eq!(parse("linux"), Source::Tree("linux".into()));
        for bad in [
            "",
            "linux-source-",
            "linux-source-x",
            "linux-source-6.1=2",
            "a\0b",
        ] {
            assert!(bad.parse::<Source>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_tree_that_is_no_kernel() {
        let dir = kernel();
        fs::remove_dir_all(dir.path().join("arch")).unwrap();
        let error = tree(dir.path()).unwrap_err();
        let expected = format!("no {}Kconfig", crate::arch::native().source.directory);
        assert!(error.to_string().contains(&expected), "{error}");
    }

    #[test]
    fn the_identity_follows_the_files() {
        let dir = kernel();
        let identity = || tree(dir.path()).unwrap().identity;
        let first = identity();
        assert_eq!(identity(), first);
        fs::write(dir.path().join("init/main.c"), "int changed;").unwrap();
        let second = identity();
        assert_ne!(second, first);
        fs::write(dir.path().join("new.c"), "").unwrap();
        assert_ne!(identity(), second);
    }

    #[test]
    fn the_identity_follows_git() {
        let dir = kernel();
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.arg("-C").arg(dir.path()).args(arguments);
            command.env("GIT_CONFIG_GLOBAL", "/dev/null");
            command.output().is_ok_and(|output| output.status.success())
        };
        let author = ["-c", "user.name=x", "-c", "user.email=x@x.example"];
        let commit = [&author[..], &["commit", "-a", "-m", "x"]].concat();
        assert!(git(&["init"]) && git(&["add", "."]) && git(&commit));
        let identity = || tree(dir.path()).unwrap().identity;
        let clean = identity();
        assert!(clean.starts_with("git "), "{clean}");
        fs::write(dir.path().join("init/main.c"), "edited").unwrap();
        let dirty = identity();
        assert_ne!(dirty, clean);
        fs::write(dir.path().join("new.c"), "").unwrap();
        assert_ne!(identity(), dirty);
        fs::remove_file(dir.path().join("new.c")).unwrap();
        fs::write(dir.path().join("init/main.c"), "init/main.c").unwrap();
        assert_eq!(identity(), clean);

        // Files that git ignores are also built.
        fs::write(dir.path().join(".git/info/exclude"), "own.c\n").unwrap();
        fs::write(dir.path().join("own.c"), "").unwrap();
        let with_own = identity();
        assert_ne!(with_own, clean);
        fs::remove_file(dir.path().join("own.c")).unwrap();
        assert!(git(&["update-index", "--assume-unchanged", "init/main.c"]));
        let unseen = identity();
        fs::write(dir.path().join("init/main.c"), "unseen").unwrap();
        assert_ne!(identity(), unseen);
        // Programs that the repository names are not run.
        let canary = dir.path().join(".git/canary");
        let filter = format!("touch {}; cat", canary.display());
        assert!(git(&[
            "update-index",
            "--no-assume-unchanged",
            "init/main.c"
        ]));
        assert!(git(&["config", "filter.x.clean", &filter]));
        fs::write(dir.path().join(".gitattributes"), "*.c filter=x\n").unwrap();
        assert!(identity().starts_with("git "));
        assert!(!canary.exists());
        // git's files may be elsewhere; they do not describe this tree then.
        let elsewhere = kernel();
        let elsewhere = elsewhere.path().to_str().unwrap();
        assert!(git(&["config", "core.worktree", elsewhere]));
        assert!(identity().starts_with("files "));
    }
}
