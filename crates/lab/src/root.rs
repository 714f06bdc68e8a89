// SPDX-License-Identifier: GPL-2.0-or-later
//! The root that whole programs run in: a directory of the user's, or programs of this
//! machine with the libraries that they name.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use diagnostics::Failure;
use experiment::{Programs, RootSpec};
use sha2::{Digest as _, Sha256};

use crate::error::LabError;
use crate::find::find_program;
use crate::scratch::scratch;

/// Most files of a root, and bytes in them: it lies in a guest's memory.
const FILES_LIMIT: u64 = 1_000_000;
const BYTES_LIMIT: u64 = 8 << 30;
/// Deepest directory.
const DEPTH_LIMIT: usize = 256;
const DIGEST_DIGITS: usize = 16;
/// Where `tree` lies in the root.
const TREE: &str = "tree";
/// When directories were made that are no copies, in seconds since 1970: any, but always the same.
const MADE_S: u64 = 1_700_000_000;

/// A root on this machine's disk.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    /// Bytes of its files.
    pub bytes: u64,
    /// Files, directories and links.
    pub files: u64,
    /// The newest change of any of its files, in seconds since 1970.
    pub newest_s: i64,
    /// What it holds (names, modes, contents), as hexadecimal digits.
    pub digest: String,
    /// What it was made in.
    _scratch: Option<tempfile::TempDir>,
}

impl Root {
    /// The root that programs are to run in, looked at, and made if it has to be.
    ///
    /// # Errors
    /// [`LabError::Environment`] if something is not there, or is more than a guest can hold.
    pub fn prepare(spec: &RootSpec) -> Result<Root, LabError> {
        let mut made_in = None;
        let path = match &spec.path {
            Some(path) => PathBuf::from(path),
            None => {
                let dir = scratch().map_err(LabError::io("create", &std::env::temp_dir()))?;
                let root = dir.path().join("root");
                make(&root, spec)?;
                made_in = Some(dir);
                root
            }
        };
        let mut scan = Scan::default();
        let found = fs::metadata(&path).map_err(LabError::io("read", &path))?;
        if !found.is_dir() {
            return Err(Failure::environment(
                format!("{} is no directory", path.display()),
                "a root is a directory that holds /bin, /lib and so on",
            )
            .into());
        }
        scan.directory(&path, Path::new(""), 0)?;
        let digest = scan.hash.finalize();
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Root {
            path,
            bytes: scan.bytes,
            files: scan.files,
            newest_s: scan.newest_s,
            digest: digest[..DIGEST_DIGITS].to_owned(),
            _scratch: made_in,
        })
    }

    /// The root of an experiment's programs, if it has any, whose digest becomes part of it.
    ///
    /// # Errors
    /// As [`Root::prepare`].
    pub fn of(programs: Option<&mut Programs>) -> Result<Option<Root>, LabError> {
        let Some(programs) = programs else {
            return Ok(None);
        };
        let root = Root::prepare(&programs.root)?;
        programs.digest.clone_from(&root.digest);
        Ok(Some(root))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size of a file system that holds it, in KiB: a quarter and 128 MiB more, for what programs
    /// write and for the file system's own.
    #[must_use]
    pub fn device_kib(&self) -> u64 {
        let data = self.bytes / 1024 + 4 * self.files;
        (data + data / 4 + (128 << 10)).next_multiple_of(1 << 10)
    }
}

#[derive(Default)]
struct Scan {
    hash: Sha256,
    bytes: u64,
    files: u64,
    newest_s: i64,
}

impl Scan {
    fn directory(&mut self, path: &Path, name: &Path, depth: usize) -> Result<(), LabError> {
        if depth > DEPTH_LIMIT {
            return Err(too_much(
                path,
                &format!("is more than {DEPTH_LIMIT} directories deep"),
            ));
        }
        let entries = fs::read_dir(path).map_err(LabError::io("read", path))?;
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.map_err(LabError::io("read", path))?.file_name());
            self.files += 1;
            self.admit(path, 0)?;
        }
        names.sort();
        for file in names {
            let (path, name) = (path.join(&file), name.join(&file));
            self.file(&path, &name, depth)?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, name: &Path, depth: usize) -> Result<(), LabError> {
        let found = fs::symlink_metadata(path).map_err(LabError::io("read", path))?;
        self.newest_s = self.newest_s.max(found.mtime());
        self.take(name.as_os_str().as_bytes());
        self.take(&found.mode().to_le_bytes());
        let kind = found.file_type();
        if kind.is_dir() {
            return self.directory(path, name, depth + 1);
        }
        if kind.is_symlink() {
            let target = fs::read_link(path).map_err(LabError::io("read", path))?;
            self.take(target.as_os_str().as_bytes());
        } else if kind.is_file() {
            self.content(path)?;
        } else {
            self.take(&found.rdev().to_le_bytes());
        }
        Ok(())
    }

    fn content(&mut self, path: &Path) -> Result<(), LabError> {
        let mut file = File::open(path).map_err(LabError::io("read", path))?;
        let mut buffer = vec![0; 128 << 10];
        let mut size: u64 = 0;
        loop {
            let n = file.read(&mut buffer).map_err(LabError::io("read", path))?;
            if n == 0 {
                break;
            }
            size += n as u64;
            self.admit(path, n as u64)?;
            self.hash.update(&buffer[..n]);
        }
        self.take(&size.to_le_bytes());
        Ok(())
    }

    /// Counts more bytes of a file, and refuses what is more than a guest can hold.
    fn admit(&mut self, path: &Path, bytes: u64) -> Result<(), LabError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files > FILES_LIMIT {
            let limit = format!("brings the root to more than {FILES_LIMIT} files");
            return Err(too_much(path, &limit));
        }
        if self.bytes > BYTES_LIMIT {
            let limit = format!("makes the root larger than {} GiB", BYTES_LIMIT >> 30);
            return Err(too_much(path, &limit));
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }
}

fn too_much(path: &Path, what: &str) -> LabError {
    Failure::environment(
        format!("{} {what}", path.display()),
        "a root lies in the guest's memory: leave out what the program does not need",
    )
    .into()
}

/// Makes a root of programs, their libraries and a tree.
fn make(root: &Path, spec: &RootSpec) -> Result<(), LabError> {
    for dir in ["bin", "dev", "etc", "proc", "sys", "tmp"] {
        let dir = root.join(dir);
        fs::create_dir_all(&dir).map_err(LabError::io("create", &dir))?;
    }
    let mut done = BTreeSet::new();
    bring_all(root, spec, &mut done)?;
    settle(root)?;
    if let Some(tree) = &spec.tree {
        copy_tree(Path::new(tree), &root.join(TREE), 0, &mut Scan::default())?;
    }
    Ok(())
}

/// Directories that were made have the same times whenever they are.
fn settle(dir: &Path) -> Result<(), LabError> {
    for entry in fs::read_dir(dir).map_err(LabError::io("read", dir))? {
        let entry = entry.map_err(LabError::io("read", dir))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            settle(&entry.path())?;
        }
    }
    let made = UNIX_EPOCH + Duration::from_secs(MADE_S);
    let times = fs::FileTimes::new().set_accessed(made).set_modified(made);
    let opened = File::open(dir).and_then(|dir| dir.set_times(times));
    opened.map_err(LabError::io("set the times of", dir))
}

fn bring_all(root: &Path, spec: &RootSpec, done: &mut BTreeSet<PathBuf>) -> Result<(), LabError> {
    for program in &spec.programs {
        let path = find(program)?;
        for file in std::iter::once(path.clone()).chain(libraries(&path)?) {
            bring(root, &file, done)?;
        }
        // Whatever it is called where it really lies.
        if let Some(name) = path.file_name() {
            let link = root.join("bin").join(name);
            if fs::symlink_metadata(&link).is_err() {
                symlink(&path, &link).map_err(LabError::io("create", &link))?;
            }
        }
    }
    Ok(())
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
            "install it, or give a root that holds it with --root",
        )
    })?;
    std::path::absolute(&found).map_err(LabError::io("find", &found))
}

/// The files that a program's loader brings, as ldd(1) tells; a static one or a script has
/// none.
fn libraries(program: &Path) -> Result<Vec<PathBuf>, LabError> {
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

/// Copies a file into the root at its own place, with the links that lead to it.
fn bring(root: &Path, path: &Path, done: &mut BTreeSet<PathBuf>) -> Result<(), LabError> {
    let real = fs::canonicalize(path).map_err(LabError::io("find", path))?;
    for source in [path, &real] {
        if !done.insert(source.to_owned()) {
            continue;
        }
        let inside = root.join(source.strip_prefix("/").unwrap_or(source));
        if let Some(parent) = inside.parent() {
            fs::create_dir_all(parent).map_err(LabError::io("create", parent))?;
        }
        // A link on the way may have been the place of it already.
        if fs::symlink_metadata(&inside).is_ok() {
            continue;
        }
        copy_file(&real, &inside)?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<(), LabError> {
    fs::copy(from, to).map_err(LabError::io("copy", from))?;
    let found = fs::metadata(from).map_err(LabError::io("read", from))?;
    let times = fs::FileTimes::new();
    let times = match (found.accessed(), found.modified()) {
        (Ok(accessed), Ok(modified)) => times.set_accessed(accessed).set_modified(modified),
        _ => times,
    };
    let file = File::options().write(true).open(to);
    // Read-only files, too, are those of whoever made the copy.
    let file = file.or_else(|_| {
        let mut mode = found.permissions();
        mode.set_mode(mode.mode() | 0o200);
        fs::set_permissions(to, mode)?;
        let file = File::options().write(true).open(to)?;
        fs::set_permissions(to, found.permissions())?;
        Ok(file)
    });
    file.and_then(|file| file.set_times(times))
        .map_err(LabError::io("set the times of", to))
}

/// Copies a directory; `scan` sums up what was, so that none is copied that is refused then.
fn copy_tree(from: &Path, to: &Path, depth: usize, scan: &mut Scan) -> Result<(), LabError> {
    if depth > DEPTH_LIMIT {
        return Err(too_much(
            from,
            &format!("is more than {DEPTH_LIMIT} directories deep"),
        ));
    }
    fs::create_dir_all(to).map_err(LabError::io("create", to))?;
    for entry in fs::read_dir(from).map_err(LabError::io("read", from))? {
        let entry = entry.map_err(LabError::io("read", from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(LabError::io("read", &path))?;
        let found = entry.metadata().map_err(LabError::io("read", &path))?;
        scan.files += 1;
        scan.admit(&path, if kind.is_file() { found.len() } else { 0 })?;
        if kind.is_dir() {
            copy_tree(&path, &target, depth + 1, scan)?;
        } else if kind.is_symlink() {
            let link = fs::read_link(&path).map_err(LabError::io("read", &path))?;
            symlink(link, &target).map_err(LabError::io("create", &target))?;
        } else if kind.is_file() {
            copy_file(&path, &target)?;
        }
    }
    let found = fs::metadata(from).map_err(LabError::io("read", from))?;
    let modified = found.modified().map_err(LabError::io("read", from))?;
    let times = fs::FileTimes::new().set_modified(modified);
    let opened = File::open(to).and_then(|dir| dir.set_times(times));
    opened.map_err(LabError::io("set the times of", to))
}
