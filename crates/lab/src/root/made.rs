// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes a root from programs of this machine, their libraries, and a tree.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::{Failure, RootSpec};

use super::MADE_S;
use super::place::{permit, set_time};
use super::tree::Tree;
use super::watch::Watch;
use crate::error::LabError;
use crate::find::find_program;

const TREE: &str = "tree";

pub(super) fn make(root: &Path, spec: &RootSpec, watch: &mut Watch<'_>) -> Result<(), LabError> {
    watch.begin("copying the programs");
    for dir in ["bin", "dev", "etc", "proc", "sys", "tmp"] {
        let dir = root.join(dir);
        fs::create_dir_all(&dir).map_err(LabError::io("create", &dir))?;
    }
    permit(&root.join("tmp"), 0o1777)?;
    let mut bring = Bring {
        root,
        done: BTreeSet::new(),
        counted: Tree::new(),
        watch,
    };
    let brought = bring.all(spec);
    brought.map_err(|error| with_packages(error, &spec.packages))?;
    settle(root)?;
    if let Some(tree) = &spec.tree {
        watch.begin("copying the tree");
        let mut copy = Copy {
            counted: Tree::new(),
            watch,
        };
        copy.directory(Path::new(tree), &root.join(TREE), 0)?;
    }
    Ok(())
}

fn settle(dir: &Path) -> Result<(), LabError> {
    for entry in fs::read_dir(dir).map_err(LabError::io("read", dir))? {
        let entry = entry.map_err(LabError::io("read", dir))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            settle(&entry.path())?;
        }
    }
    set_time(dir, MADE_S)
}

/// Sets the link's time: the guest's clock starts after the newest one in the root.
fn make_link(to: &Path, at: &Path, mtime_s: i64) -> Result<(), LabError> {
    symlink(to, at).map_err(LabError::io("create", at))?;
    set_time(at, mtime_s)
}

/// Copies files of this machine to the same paths in the root.
struct Bring<'a, 'b> {
    root: &'a Path,
    done: BTreeSet<PathBuf>,
    counted: Tree,
    watch: &'a mut Watch<'b>,
}

impl Bring<'_, '_> {
    fn all(&mut self, spec: &RootSpec) -> Result<(), LabError> {
        for program in &spec.programs {
            let path = find(program)?;
            self.with_libraries(&path)?;
            // The program keeps its name in PATH, even if that is a link.
            if let Some(name) = path.file_name() {
                let link = self.root.join("bin").join(name);
                if fs::symlink_metadata(&link).is_err() {
                    make_link(&path, &link, MADE_S)?;
                }
            }
        }
        spec.files
            .iter()
            .try_for_each(|pattern| self.fitting(pattern))
    }

    /// Matching files and directories, with the libraries of programs among them.
    fn fitting(&mut self, pattern: &str) -> Result<(), LabError> {
        let refuse = |what: String| {
            let hint = "give an absolute path or pattern, for example /usr/lib/python3*";
            LabError::from(Failure::usage(what, hint))
        };
        if !pattern.starts_with('/') {
            return Err(refuse(format!("{pattern} does not begin with /")));
        }
        let paths = glob::glob(pattern).map_err(|error| refuse(format!("{pattern}: {error}")))?;
        let mut found = false;
        for path in paths {
            found = true;
            self.tree(&path.map_err(|error| refuse(error.to_string()))?, 0)?;
        }
        if found || pattern.contains(['*', '?', '[']) {
            return Ok(());
        }
        Err(refuse(format!("{pattern} is not on this machine")))
    }

    fn tree(&mut self, path: &Path, depth: usize) -> Result<(), LabError> {
        self.counted.check_depth(path, depth)?;
        let found = fs::metadata(path).map_err(LabError::io("read", path))?;
        if !found.is_dir() {
            return self.with_libraries(path);
        }
        let entries = fs::read_dir(path).map_err(LabError::io("read", path))?;
        let entries = entries.map(|entry| Ok(entry?.path()));
        let entries: io::Result<BTreeSet<PathBuf>> = entries.collect();
        for entry in entries.map_err(LabError::io("read", path))? {
            // Skip dangling links and links to directories, which may contain this one.
            let kind = fs::metadata(&entry).map(|found| found.file_type());
            let is_link = fs::symlink_metadata(&entry).is_ok_and(|found| found.is_symlink());
            if kind.is_ok_and(|kind| kind.is_file() || (kind.is_dir() && !is_link)) {
                self.tree(&entry, depth + 1)?;
            }
        }
        Ok(())
    }

    fn with_libraries(&mut self, path: &Path) -> Result<(), LabError> {
        let mut magic = [0; 4];
        let mut file = File::open(path).map_err(LabError::io("read", path))?;
        if file.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF" {
            for library in libraries(path)? {
                self.file(&library)?;
            }
        }
        self.file(path)
    }

    fn file(&mut self, path: &Path) -> Result<(), LabError> {
        let real = fs::canonicalize(path).map_err(LabError::io("find", path))?;
        for source in [path, &real] {
            if !self.done.insert(source.to_owned()) {
                continue;
            }
            let inside = self.root.join(source.strip_prefix("/").unwrap_or(source));
            if let Some(parent) = inside.parent() {
                fs::create_dir_all(parent).map_err(LabError::io("create", parent))?;
            }
            if fs::symlink_metadata(&inside).is_ok() {
                continue;
            }
            let bytes = fs::metadata(&real)
                .map_err(LabError::io("read", &real))?
                .len();
            self.counted.admit(source, 1, bytes)?;
            self.watch.went_on(1, bytes)?;
            copy_file(&real, &inside)?;
        }
        Ok(())
    }
}

fn with_packages(error: LabError, packages: &[String]) -> LabError {
    if packages.is_empty() || matches!(error, LabError::Interrupted) {
        return error;
    }
    let hint = format!("sudo apt-get install {}", packages.join(" "));
    Failure::environment(error.to_string(), hint).into()
}

fn find(program: &str) -> Result<PathBuf, LabError> {
    let found = if program.contains('/') {
        Some(PathBuf::from(program)).filter(|path| path.is_file())
    } else {
        find_program(program)
    };
    let found = found.ok_or_else(|| {
        Failure::environment(
            format!("{program} is not on this machine"),
            "install it, or use --root with a root that has it",
        )
    })?;
    std::path::absolute(&found).map_err(LabError::io("find", &found))
}

/// A program's libraries by ldd(1); none for static programs and scripts.
pub(crate) fn libraries(program: &Path) -> Result<Vec<PathBuf>, LabError> {
    let output = Command::new("ldd")
        .arg(program)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .map_err(|error| {
            Failure::environment(
                format!("cannot run ldd: {error}"),
                "install the package libc-bin",
            )
        })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.lines().filter_map(|line| {
        let line = line.split(" (").next().unwrap_or(line);
        let path = line.rsplit(" => ").next().unwrap_or(line).trim();
        path.starts_with('/').then(|| PathBuf::from(path))
    });
    Ok(words.collect())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), LabError> {
    fs::copy(from, to).map_err(LabError::io("copy", from))?;
    let found = fs::metadata(from).map_err(LabError::io("read", from))?;
    set_time(to, found.mtime())
}

/// Copies a directory. Adds up its files first, so that a root above the limits is not copied.
struct Copy<'a, 'b> {
    counted: Tree,
    watch: &'a mut Watch<'b>,
}

impl Copy<'_, '_> {
    fn directory(&mut self, from: &Path, to: &Path, depth: usize) -> Result<(), LabError> {
        self.counted.check_depth(from, depth)?;
        fs::create_dir_all(to).map_err(LabError::io("create", to))?;
        for entry in fs::read_dir(from).map_err(LabError::io("read", from))? {
            let entry = entry.map_err(LabError::io("read", from))?;
            let (path, target) = (entry.path(), to.join(entry.file_name()));
            let kind = entry.file_type().map_err(LabError::io("read", &path))?;
            let found = entry.metadata().map_err(LabError::io("read", &path))?;
            let bytes = if kind.is_file() { found.len() } else { 0 };
            self.counted.admit(&path, 1, bytes)?;
            self.watch.went_on(1, bytes)?;
            if kind.is_dir() {
                self.directory(&path, &target, depth + 1)?;
            } else if kind.is_symlink() {
                let link = fs::read_link(&path).map_err(LabError::io("read", &path))?;
                make_link(&link, &target, found.mtime())?;
            } else if kind.is_file() {
                copy_file(&path, &target)?;
            }
        }
        let found = fs::metadata(from).map_err(LabError::io("read", from))?;
        set_time(to, found.mtime())
    }
}
