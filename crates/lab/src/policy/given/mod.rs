// SPDX-License-Identifier: GPL-2.0-or-later
//! Custom policies: reads their files and writes the agent's directives for them. The guest's
//! `settings/given.c` checks that they are in force, and measures under them.

mod apparmor;
mod audit;
mod bpf;
mod ima;
mod landlock;
mod permissive;
mod selinux;
mod sign;
mod smack;
mod tomoyo;

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

use model::{CustomPolicy, Experiment, Failure};

use super::{FILE_LIMIT_BYTES, PolicyError, Prepared, Request, tools};

pub(super) use apparmor::prepare as apparmor;
pub(super) use audit::prepare as audit;
pub(super) use bpf::prepare as bpf;
pub(super) use ima::prepare as ima;
pub(super) use landlock::prepare as landlock;
pub(super) use selinux::prepare as selinux;
pub(super) use smack::prepare as smack;
pub(super) use tomoyo::prepare as tomoyo;

const FILES_LIMIT: usize = 16_384;
const DEPTH_LIMIT: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GivenFile {
    /// Relative to the path that the user names; for a single file, the file's name.
    name: PathBuf,
    bytes: Vec<u8>,
}

impl GivenFile {
    /// The error that this file is refused.
    fn refused(&self, hint: &str) -> impl FnOnce(String) -> PolicyError {
        move |why| tools::failed(format!("{}: {why}", self.name.display()), hint)
    }
}

pub(super) fn of<'a>(request: &Request<'a>, module: &str) -> Option<&'a CustomPolicy> {
    let name = request.configuration.settings.custom.get(module)?;
    request.custom.get(name)
}

/// Checks an experiment's custom policies and stores their digests.
pub fn take_in(experiment: &mut Experiment) -> Result<(), Failure> {
    for of in experiment.custom.values_mut() {
        let files = read(of).map_err(|failure| packaged(of, failure))?;
        of.digest = digest(&files);
    }
    Ok(())
}

fn digest(files: &[GivenFile]) -> String {
    let names: Vec<_> = files
        .iter()
        .map(|file| file.name.to_string_lossy())
        .collect();
    let parts = names.iter().zip(files);
    let parts = parts.flat_map(|(name, file)| [name.as_bytes(), &file.bytes]);
    let mut key = tools::key(&parts.collect::<Vec<_>>());
    key.truncate(16);
    key
}

/// Reads a policy's files and refuses changes since its digest was taken.
pub(super) fn files(of: &CustomPolicy) -> Result<Vec<GivenFile>, PolicyError> {
    let files = read(of)?;
    if !of.digest.is_empty() && digest(&files) != of.digest {
        return Err(tools::failed(
            format!("{} changed while it was measured", of.files.join(", ")),
            "run again without changing the policy",
        ));
    }
    Ok(files)
}

fn read(of: &CustomPolicy) -> Result<Vec<GivenFile>, Failure> {
    let mut files = Vec::new();
    for path in &of.files {
        let path = Path::new(path);
        if path.is_dir() {
            read_directory(path, Path::new(""), 0, &mut files)?;
        } else {
            let name = path.file_name().unwrap_or(path.as_os_str());
            read_one(path, Path::new(name), &mut files)?;
        }
    }
    if files.is_empty() {
        return Err(Failure::environment(
            format!("no policy file in {}", of.files.join(", ")),
            "name the policy's files",
        ));
    }
    Ok(files)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(
        format!("reading {}: {error}", path.display()),
        "check that it exists and is readable",
    )
}

fn packaged(of: &CustomPolicy, failure: Failure) -> Failure {
    let missing = of.files.iter().any(|path| !Path::new(path).exists());
    if !missing || of.packages.is_empty() {
        return failure;
    }
    let packages = of.packages.join(" ");
    Failure::environment(failure, format!("install it: apt install {packages}"))
}

fn read_directory(
    dir: &Path,
    below: &Path,
    depth: usize,
    files: &mut Vec<GivenFile>,
) -> Result<(), Failure> {
    if depth > DEPTH_LIMIT {
        return Err(Failure::environment(
            format!(
                "{} is nested more than {DEPTH_LIMIT} levels deep",
                dir.display()
            ),
            "name a directory with only the policy",
        ));
    }
    let entries = fs::read_dir(dir).map_err(|error| unreadable(dir, &error))?;
    let mut entries: Vec<fs::DirEntry> = entries
        .take(FILES_LIMIT)
        .collect::<Result<_, _>>()
        .map_err(|error| unreadable(dir, &error))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    // Hidden files of package scripts and editors are not part of a policy.
    entries.retain(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    for entry in entries {
        let (path, name) = (entry.path(), below.join(entry.file_name()));
        let meta = match fs::metadata(&path) {
            // Administrators leave dangling links in `disable`.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            meta => meta.map_err(|error| unreadable(&path, &error))?,
        };
        if meta.is_dir() {
            read_directory(&path, &name, depth + 1, files)?;
        } else if meta.is_file() {
            read_one(&path, &name, files)?;
        }
    }
    Ok(())
}

fn read_one(path: &Path, name: &Path, files: &mut Vec<GivenFile>) -> Result<(), Failure> {
    let bytes = tools::read_limited(path).map_err(|error| unreadable(path, &error))?;
    let held: usize = files.iter().map(|file| file.bytes.len()).sum();
    if held + bytes.len() > FILE_LIMIT_BYTES || files.len() >= FILES_LIMIT {
        return Err(Failure::environment(
            format!(
                "{} makes the policy larger than {} MiB or {FILES_LIMIT} files",
                path.display(),
                FILE_LIMIT_BYTES >> 20
            ),
            "name only the policy's files",
        ));
    }
    let name = name.to_owned();
    files.push(GivenFile { name, bytes });
    Ok(())
}

pub(super) fn prepared(of: &CustomPolicy) -> Prepared {
    let mut accesses = String::new();
    for (verdict, list) in [
        ("denied", &of.denied),
        ("allowed", &of.allowed),
        ("observed", &of.observed),
        // If this came after another access, the file would already be on the list.
        ("not-measured", &of.not_measured),
        ("measured", &of.measured),
    ] {
        for access in list {
            let _ = writeln!(accesses, "{verdict} {access}");
        }
    }
    // The guest rejects an empty file.
    if accesses.is_empty() {
        accesses.push('\n');
    }
    Prepared {
        keys: vec![("given", 1)],
        files: vec![("accesses".to_owned(), accesses.into_bytes())],
        ..Prepared::default()
    }
}

/// For whole programs: the accesses of all policies of a run. What they name exists in each
/// configuration, or a program could behave differently without the policy.
pub(super) fn all_accesses(request: &Request<'_>) -> Option<(String, Vec<u8>)> {
    request.root?;
    let mut lines = BTreeSet::new();
    for of in request.custom.values() {
        let lists = [
            &of.denied,
            &of.allowed,
            &of.observed,
            &of.not_measured,
            &of.measured,
        ];
        lines.extend(
            lists
                .into_iter()
                .flatten()
                .map(|access| format!("{access}\n")),
        );
    }
    let lines: String = lines.into_iter().collect();
    (!lines.is_empty()).then(|| ("policy/all/accesses".to_owned(), lines.into_bytes()))
}

/// For whole programs: the subject that some task must have, and what the agent writes before it
/// executes a program; None if the program starts unconfined.
fn start(
    request: &Request<'_>,
    prepared: &mut Prepared,
    subject: &str,
    start: Option<impl fmt::Display>,
) {
    if request.root.is_none() {
        return;
    }
    prepared.file("subject", format!("{subject}\n"));
    if let Some(start) = start {
        prepared.file("start", format!("{start}\n"));
    }
}

fn write_all(dir: &Path, files: &[GivenFile]) -> Result<(), PolicyError> {
    for file in files {
        let path = dir.join(&file.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| tools::unwritten(parent, &error))?;
        }
        tools::write(&path, &file.bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_order_and_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        fs::write(dir.path().join("b/x"), "1").unwrap();
        fs::write(dir.path().join("a"), "2").unwrap();
        fs::write(dir.path().join(".basemodules"), "a").unwrap();
        let of = CustomPolicy {
            files: vec![dir.path().to_string_lossy().into_owned()],
            ..CustomPolicy::default()
        };
        let files = read(&of).unwrap();
        let names: Vec<_> = files
            .iter()
            .map(|file| file.name.to_str().unwrap())
            .collect();
        assert_eq!(names, ["a", "b/x"]);
        assert_eq!(digest(&files).len(), 16);
        let moved = [GivenFile {
            name: PathBuf::from("a2b/x"),
            bytes: b"1".to_vec(),
        }];
        assert_ne!(digest(&files), digest(&moved));
        std::os::unix::fs::symlink(dir.path(), dir.path().join("b/again")).unwrap();
        let error = read(&of).unwrap_err().to_string();
        assert!(
            error.contains("nested more than") || error.contains("reading"),
            "{error}"
        );
        let none = CustomPolicy {
            files: vec!["/nonexistent/policy".to_owned()],
            ..CustomPolicy::default()
        };
        assert!(read(&none).is_err());
    }

    #[test]
    fn large_policies_are_refused_before_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("policy");
        fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
        let of = CustomPolicy {
            files: vec![path.to_string_lossy().into_owned()],
            ..CustomPolicy::default()
        };
        let error = read(&of).unwrap_err().to_string();
        assert!(error.contains("larger than 64 MiB"), "{error}");
    }
}
