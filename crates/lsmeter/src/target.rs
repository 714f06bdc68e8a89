// SPDX-License-Identifier: GPL-2.0-or-later
//! Resolves the name of an output.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};

const LINKS_MAX: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    Stdout,
    /// An inherited descriptor: `/dev/fd/3`.
    Descriptor(i32),
    /// A device, a pipe or a socket: written directly.
    Special(PathBuf),
    /// May not exist yet. Symbolic links are followed.
    File(PathBuf),
}

impl Target {
    pub fn new(path: &Path) -> Target {
        if path.as_os_str() == "-" {
            return Target::Stdout;
        }
        let mut path = path.to_path_buf();
        for _ in 0..LINKS_MAX {
            match descriptor(&path) {
                Some(1) => return Target::Stdout,
                Some(number) => return Target::Descriptor(number),
                None => {}
            }
            match std::fs::read_link(&path) {
                // Links there are not paths: `/proc/8/fd/3` leads to `pipe:[15]`.
                Ok(link) if !is_of_process(&path) => path = directory_of(&path).join(link),
                _ => break,
            }
        }
        let is_special = |found: Metadata| !found.is_file() && !found.is_dir();
        if is_of_process(&path) || std::fs::metadata(&path).is_ok_and(is_special) {
            return Target::Special(path);
        }
        Target::File(path)
    }

    pub fn refusal(&self) -> Option<String> {
        match self {
            Target::Stdout => None,
            Target::Descriptor(number) => {
                // SAFETY: this only reads flags; a closed descriptor is an error.
                let flags = rustix::fs::fcntl_getfl(unsafe { BorrowedFd::borrow_raw(*number) });
                match flags {
                    Ok(flags) if flags & OFlags::ACCMODE == OFlags::RDONLY => {
                        Some("it is open for reading only".to_owned())
                    }
                    Ok(_) => None,
                    Err(_) => Some("it is not open".to_owned()),
                }
            }
            Target::Special(path) => {
                let refused = rustix::fs::access(path, Access::WRITE_OK).err();
                refused.map(|error| io::Error::from(error).kind().to_string())
            }
            Target::File(path) if path.is_dir() => Some("it is a directory".to_owned()),
            Target::File(path) if path.is_symlink() => Some("too many symbolic links".to_owned()),
            Target::File(path) => {
                // Unnamed, so that a kill leaves nothing.
                let tried = tempfile::tempfile_in(directory_of(path));
                tried.err().map(|error| match error.kind() {
                    io::ErrorKind::NotFound => "there is no such directory".to_owned(),
                    kind => kind.to_string(),
                })
            }
        }
    }

    /// Whether the output of two writers would mix.
    pub fn is_for_one(&self) -> bool {
        let is_device = |path: &Path| {
            std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
        };
        !matches!(self, Target::Special(path) if is_device(path))
    }

    /// Equal for all names of a file.
    pub fn resolved(self) -> Target {
        let resolved = |path: PathBuf| match (directory_of(&path).canonicalize(), path.file_name())
        {
            (Ok(directory), Some(name)) => directory.join(name),
            _ => path,
        };
        match self {
            Target::Special(path) => Target::Special(resolved(path)),
            Target::File(path) => Target::File(resolved(path)),
            stream => stream,
        }
    }
}

/// The descriptor of this process that `path` names. `/dev/fd` is a link to `/proc/self/fd`.
fn descriptor(path: &Path) -> Option<i32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    let directory = directory_of(path).canonicalize().ok()?;
    let own = Path::new("/proc/self/fd").canonicalize().ok()?;
    (directory == own).then_some(number)
}

fn is_of_process(path: &Path) -> bool {
    let directory = directory_of(path).canonicalize();
    directory.is_ok_and(|directory| directory.starts_with("/proc"))
}

pub fn inherited(number: i32) -> io::Result<File> {
    // SAFETY: the descriptor is only duplicated; the system refuses a number that is not open.
    let copy = rustix::io::fcntl_dupfd_cloexec(unsafe { BorrowedFd::borrow_raw(number) }, 3)?;
    Ok(copy.into())
}

pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve_as_in_a_shell() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "").unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        for (link, to) in [
            ("link", "file"),
            ("sub/up", "../link"),
            ("dangling", "sub/new"),
            ("out", "/dev/stdout"),
            ("three", "/dev/fd/3"),
            ("null", "/dev/null"),
            ("loop", "loop"),
        ] {
            std::os::unix::fs::symlink(to, at(link)).unwrap();
        }
        let real = dir.path().canonicalize().unwrap();
        let file = |name: &str| Target::File(real.join(name));
        for (name, expected) in [
            (at("file"), file("file")),
            (at("new"), file("new")),
            (at("link"), file("file")),
            (at("sub/up"), file("file")),
            (at("sub/../file"), file("file")),
            (at("dangling"), file("sub/new")),
            ("-".into(), Target::Stdout),
            ("/dev/stdout".into(), Target::Stdout),
            ("/proc/self/fd/1".into(), Target::Stdout),
            (at("out"), Target::Stdout),
            ("/dev/fd/3".into(), Target::Descriptor(3)),
            (at("three"), Target::Descriptor(3)),
            (at("null"), Target::Special("/dev/null".into())),
        ] {
            assert_eq!(Target::new(&name).resolved(), expected, "{name:?}");
        }
        let refusal = |name: &str| Target::new(&at(name)).refusal();
        assert_eq!(refusal("loop").unwrap(), "too many symbolic links");
        assert_eq!(refusal("sub").unwrap(), "it is a directory");
        assert_eq!(refusal("link"), None);
        assert!(Target::Descriptor(999).refusal().is_some());
        assert!(!Target::new(&at("null")).is_for_one());
    }
}
