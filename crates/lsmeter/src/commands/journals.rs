// SPDX-License-Identifier: GPL-2.0-or-later
//! Journals keep finished cells until the document is written: next to it, with further ones if a
//! command measures several times.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::journal::{Journals, Left, left_in};

use crate::failure::usage;
use crate::output;
use crate::target::directory_of;

const EXTENSION: &str = "journal";

/// The journal's path: next to `output`, or in the temporary directory with `name` in its name if
/// that is not a file. `resume` is the flag: a journal, or empty for the one next to `output`, else
/// the newest.
pub fn choose(
    name: &str,
    output: Option<&Path>,
    resume: Option<&Option<PathBuf>>,
) -> Result<Journals> {
    let output = output.filter(|output| output::is_file(output));
    let first = match (resume, output) {
        (Some(Some(journal)), _) => journal.clone(),
        (_, Some(output)) => beside(output, EXTENSION),
        (Some(None), None) => newest(name)?,
        (None, None) => beside(&std::env::temp_dir().join(unique(name)), EXTENSION),
    };
    let journals = Journals {
        first,
        resume: resume.is_some(),
    };
    if journals.resume && !journals.first.exists() {
        return Err(usage(
            format!("there is no journal {}", journals.first.display()),
            "name the one to go on with, or begin anew without --resume",
        ));
    }
    if !journals.resume {
        remove_empty(&journals)?;
    }
    Ok(journals)
}

/// Removes journals of a run that ended before it measured anything.
fn remove_empty(journals: &Journals) -> Result<()> {
    let found = all(journals)?;
    for journal in &found {
        let (what, hint) = match left_in(journal) {
            Left::Nothing => continue,
            Left::Cells => (
                "holds the measurements of a run that did not end",
                "continue it with --resume, or remove the file",
            ),
            Left::InUse => (
                "is being written by another lsmeter",
                "wait until it ends, or name another output",
            ),
        };
        return Err(usage(format!("{} {what}", journal.display()), hint));
    }
    found.iter().try_for_each(|journal| remove_one(journal))
}

fn remove_one(journal: &Path) -> Result<()> {
    std::fs::remove_file(journal).with_context(|| format!("cannot remove {}", journal.display()))
}

pub fn tell_kept(journals: &Journals, error: &anyhow::Error) {
    if !output::is_closed_pipe(error) {
        let saved = journals.first.display();
        note!("the measurements are saved in {saved}: the same command with --resume reads them");
    }
}

pub fn tell_interrupted(journals: &Journals) {
    let saved = journals.first.display();
    interrupted(&format!("finished measurements are saved in {saved}"));
}

pub fn interrupted(what: &str) {
    note!("interrupted: {what}");
    note!("hint: the same command with --resume goes on");
}

pub fn remove(journals: &Journals) -> Result<()> {
    // In reverse order: while the first exists, the others can be resumed.
    let all = all(journals)?;
    all.iter().rev().try_for_each(|journal| remove_one(journal))
}

fn all(journals: &Journals) -> Result<Vec<PathBuf>> {
    let name = journals.first.file_name().unwrap_or_default().as_bytes();
    let directory = directory_of(&journals.first);
    // Only names that lsmeter writes: others may be copies made by users.
    let is_ours = |part: &[u8]| {
        let number = str::from_utf8(part)
            .ok()
            .and_then(|part| part.parse::<u32>().ok());
        part == b"counts" || number.is_some()
    };
    let is_one = |found: &OsString| match found.as_bytes().strip_prefix(name) {
        Some([]) => true,
        Some([b'.', parts @ ..]) => parts.split(|byte| *byte == b'.').all(is_ours),
        _ => false,
    };
    let mut all: Vec<PathBuf> = names(directory)
        .into_iter()
        .filter(is_one)
        .map(|found| journals.first.with_file_name(found))
        .collect();
    all.sort();
    Ok(all)
}

pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// A name for a document that does not exist yet.
pub fn unique(name: &str) -> PathBuf {
    let stamp: String = lab::environment::now()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    PathBuf::from(format!("lsmeter-{name}-{stamp}.json"))
}

fn newest(name: &str) -> Result<PathBuf> {
    let prefix = format!("lsmeter-{name}-").into_bytes();
    let last = |directory: &Path| {
        let is_one = |found: &OsString| {
            let found = found.as_bytes();
            found.starts_with(&prefix) && found.ends_with(b".json.journal")
        };
        // Names end in the start time.
        names(directory).into_iter().filter(is_one).max()
    };
    let temporary = std::env::temp_dir();
    // Others may write there, too: only own files are opened, no links.
    let is_own = |path: &PathBuf| {
        let own = rustix::process::geteuid().as_raw();
        std::fs::symlink_metadata(path).is_ok_and(|of| of.is_file() && of.uid() == own)
    };
    let there = || Some(temporary.join(last(&temporary)?)).filter(is_own);
    let found = last(Path::new(".")).map(PathBuf::from).or_else(there);
    found.ok_or_else(|| {
        usage(
            format!("no journal of `{name}` is in this directory or among the temporary files"),
            "name it: --resume=FILE.json.journal",
        )
    })
}

fn names(directory: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn all_journals_of_a_document_are_found_and_removed() {
        for stem in [&b"a"[..], b"n\xff"] {
            let directory = tempfile::tempdir().unwrap();
            let named = |rest: &str| {
                let name = [stem, rest.as_bytes()].concat();
                directory.path().join(OsString::from_vec(name))
            };
            let output = named(".json");
            let journals = choose("sensitivity", Some(&output), None).unwrap();
            let ours = [".json.journal", ".json.journal.3.2", ".json.journal.counts"];
            let theirs = [".json.journal.2.bak", ".json.journals", "b"];
            for name in ours.iter().chain(&theirs).chain(&[".json.journal.2"]) {
                std::fs::write(named(name), "{}\n{}\n").unwrap();
            }
            assert!(choose("sensitivity", Some(&output), None).is_err());
            let missing = Some(directory.path().join("missing"));
            assert!(choose("sensitivity", Some(&output), Some(&missing)).is_err());
            let resumed = choose("sensitivity", Some(&output), Some(&None)).unwrap();
            assert!(resumed.number(2).resume && !resumed.number(4).resume);
            remove(&journals).unwrap();
            let mut left = names(directory.path());
            left.sort();
            assert_eq!(left.len(), theirs.len());
            assert!(theirs.iter().all(|name| named(name).exists()));
        }
    }

    #[test]
    fn a_journal_without_measurements_is_no_obstacle() {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("a.json");
        let journal = beside(&output, EXTENSION);
        for (text, refused) in [
            ("", false),
            ("{\"journal", false),
            ("{\"journal_version\":2}\n", false),
            ("{\"journal_version\":2}\n{\"cell\"", false),
            ("{\"journal_version\":2}\n{\"cell\":1}\n", true),
            ("a file of somebody else", true),
        ] {
            std::fs::write(&journal, text).unwrap();
            assert_eq!(
                choose("run", Some(&output), None).is_err(),
                refused,
                "{text}"
            );
            assert_eq!(journal.exists(), refused, "{text}");
        }
        std::fs::write(&journal, "{}\n").unwrap();
        let held = std::fs::File::open(&journal).unwrap();
        rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let error = choose("run", Some(&output), None).unwrap_err().to_string();
        assert!(
            error.ends_with("is being written by another lsmeter"),
            "{error}"
        );
    }

    #[test]
    fn what_is_not_a_file_has_its_journal_elsewhere() {
        for output in ["-", "/dev/null", "/dev/full", "/dev/fd/3", "/dev/stdout"] {
            let journals = choose("run", Some(Path::new(output)), None).unwrap();
            assert!(journals.first.starts_with(std::env::temp_dir()), "{output}");
        }
    }
}
