// SPDX-License-Identifier: GPL-2.0-or-later
//! Where finished cells are kept until the document is safe: a journal beside it, and more
//! beside that one if a command measures several times.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::journal::Journals;

use crate::failure::usage;
use crate::output;

const EXTENSION: &str = "journal";

/// As the flags say: beside `output`, or if that is no file among the temporary files,
/// under a name with `name` in it. `resume` is the flag: with a journal, or without one for
/// the one beside `output`, or else the newest.
///
/// # Errors
/// If something is to go on and is not there, or one is there that is not to.
pub fn choose(
    name: &str,
    output: Option<&Path>,
    resume: Option<&Option<PathBuf>>,
) -> Result<Journals> {
    let output = output.filter(|output| !output::is_stdout(output));
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
    if !journals.resume
        && let Some(left) = all(&journals)?.first()
    {
        return Err(usage(
            format!(
                "{} holds the cells of a run that did not end",
                left.display()
            ),
            "go on with it with --resume, or remove it",
        ));
    }
    Ok(journals)
}

/// Says that what was measured is kept, and how it goes on.
pub fn tell_interrupted(journals: &Journals) {
    let saved = journals.first.display();
    interrupted(&format!("what was measured is saved in {saved}"));
}

/// Says what was interrupted, and how it goes on.
pub fn interrupted(what: &str) {
    anstream::eprintln!("interrupted: {what}");
    anstream::eprintln!("hint: the same command with --resume goes on");
}

/// Removes them: the document is safe.
///
/// # Errors
/// If one cannot be removed.
pub fn remove(journals: &Journals) -> Result<()> {
    // The first last: with it the others can be gone on with.
    for journal in all(journals)?.iter().rev() {
        std::fs::remove_file(journal)
            .with_context(|| format!("cannot remove {}", journal.display()))?;
    }
    Ok(())
}

/// Those that are there, the first first.
fn all(journals: &Journals) -> Result<Vec<PathBuf>> {
    let name = journals.first.file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let directory = match journals.first.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // Those of one name that lsmeter writes: a copy that somebody made is theirs.
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    let is_ours = |part: &str| part == "counts" || is_number(part);
    let is_one = |found: &str| match found.strip_prefix(&name) {
        Some("") => true,
        Some(more) => more
            .strip_prefix('.')
            .is_some_and(|parts| parts.split('.').all(is_ours)),
        None => false,
    };
    let mut all: Vec<PathBuf> = names(directory)
        .into_iter()
        .filter(|found| is_one(found))
        .map(|found| journals.first.with_file_name(found))
        .collect();
    all.sort();
    Ok(all)
}

/// The file of this name and an ending more.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// The name of a document that no earlier one of this had.
pub fn unique(name: &str) -> PathBuf {
    let stamp: String = lab::environment::now()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .collect();
    PathBuf::from(format!("lsmeter-{name}-{stamp}.json"))
}

/// The journal of the last of this that did not end, here or among the temporary files.
fn newest(name: &str) -> Result<PathBuf> {
    let prefix = format!("lsmeter-{name}-");
    let last = |directory: &Path| {
        let is_one =
            |found: &String| found.starts_with(&prefix) && found.ends_with(".json.journal");
        // The names end in the time at which it began.
        names(directory).into_iter().filter(is_one).max()
    };
    let temporary = std::env::temp_dir();
    // Others may write there, too: what is theirs, or a link, is not opened.
    let is_own = |path: &PathBuf| {
        let own = rustix::process::geteuid().as_raw();
        std::fs::symlink_metadata(path).is_ok_and(|of| of.is_file() && of.uid() == own)
    };
    let there = || Some(temporary.join(last(&temporary)?)).filter(is_own);
    let found = last(Path::new(".")).map(PathBuf::from).or_else(there);
    found.ok_or_else(|| {
        usage(
            format!("no journal of `{name}` is in this directory or among the temporary files"),
            "name it: --resume FILE.json.journal",
        )
    })
}

/// The names in a directory; none if it cannot be read.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_journals_of_a_document_are_found_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let output = directory.path().join("a.json");
        let journals = choose("sensitivity", Some(&output), None).unwrap();
        let ours = [
            "a.json.journal",
            "a.json.journal.3.2",
            "a.json.journal.counts",
        ];
        let theirs = ["a.json.journal.2.bak", "a.json.journals", "b"];
        for name in ours.iter().chain(&theirs).chain(&["a.json.journal.2"]) {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        assert!(choose("sensitivity", Some(&output), None).is_err());
        let missing = Some(directory.path().join("missing"));
        assert!(choose("sensitivity", Some(&output), Some(&missing)).is_err());
        let resumed = choose("sensitivity", Some(&output), Some(&None)).unwrap();
        assert!(resumed.number(2).resume && !resumed.number(4).resume);
        remove(&journals).unwrap();
        let mut left = names(directory.path());
        left.sort();
        assert_eq!(left, theirs);
    }
}
