// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter history site`: a directory of documents as pages that anyone can be shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use diagnostics::Exit;
use report::{Content, SiteIndex, SitePage, Source, printable};

use super::documents;
use super::history::directory;
use crate::cli::HistorySiteArgs;
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

const INDEX: &str = "index.html";
const HINT: &str = "name a directory with documents: --dir DIR";

/// Makes a page of each document in the history's directory, one of each benchmark over the runs,
/// and one that leads to all.
///
/// # Errors
/// If there is no such directory or no document in it, or the pages cannot be written. A file that
/// is no document is named on the first page.
pub fn site(args: &HistorySiteArgs) -> Result<Exit> {
    let from = directory(args.series.place.dir.as_deref());
    let to = &args.output;
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let line = Line::new(args.quiet);
    let mut index = SiteIndex::default();
    let mut taken = BTreeSet::from([INDEX.to_owned()]);
    for path in files(&from)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        line.say(format!("{name}: its page"));
        match source(&path, &name) {
            Ok(source) => {
                let stem = name.trim_end_matches(".xz").trim_end_matches(".json");
                let file = page_name(stem, &mut taken);
                let page = report::page(std::slice::from_ref(&source));
                write(&to.join(&file), &page)?;
                index.pages.push(SitePage::of(&source, &file));
            }
            Err(error) => index
                .left_out
                .push((name.into_owned(), format!("{error:#}"))),
        }
    }
    if index.pages.is_empty() {
        return Err(usage(format!("no document is in {}", from.display()), HINT));
    }
    let all = super::history::selected(&args.series)?;
    let benchmarks: BTreeSet<&String> = all.series.iter().map(|series| &series.benchmark).collect();
    for benchmark in benchmarks {
        line.say(format!("{benchmark}: its page"));
        let mut history = all.clone();
        history
            .series
            .retain(|series| series.benchmark == *benchmark);
        // What was measured once has no course.
        if !history.series.iter().any(|series| series.points.len() > 1) {
            continue;
        }
        let file = page_name(&format!("history-{benchmark}"), &mut taken);
        write(
            &to.join(&file),
            &report::history_page(benchmark, &history, INDEX),
        )?;
        index.benchmarks.push((benchmark.clone(), file));
    }
    write(&to.join(INDEX), &report::site_index(&args.title, &index))?;
    line.done();
    note!(
        "{}: {} documents, {} benchmarks over time",
        printable(&to.join(INDEX).display().to_string(), 200),
        index.pages.len(),
        index.benchmarks.len()
    );
    for (file, why) in &index.left_out {
        note!(
            "left out: {}: {}",
            printable(file, 200),
            printable(why, 300)
        );
    }
    Ok(Exit::Fine)
}

/// Files that may hold documents, by name.
fn files(from: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| documents::unreadable(from, error, HINT);
    let mut files = Vec::new();
    for entry in fs::read_dir(from).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named = name.ends_with(".json") || name.ends_with(".json.xz");
        if named && !name.starts_with('.') && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn source(path: &Path, name: &str) -> Result<Source> {
    let content = documents::read_as(path, documents::ANY, Content::parse)?;
    Ok(Source {
        name: name.to_owned(),
        content,
        estimates: None,
    })
}

/// A file's name of plain letters that no other page has.
fn page_name(stem: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "._+-".contains(c) {
        true => c,
        false => '-',
    };
    let stem: String = stem.chars().take(120).map(plain).collect();
    let stem = match stem.trim_start_matches('.') {
        "" => "document",
        stem => stem,
    };
    let numbered = (2..).map(|number| format!("{stem}-{number}.html"));
    let mut names = std::iter::once(format!("{stem}.html")).chain(numbered);
    let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(name.clone());
    name
}

fn write(path: &Path, page: &str) -> Result<()> {
    output::write(path, |to| Ok(to.write_all(page.as_bytes())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_plain_names_of_their_own() {
        let mut taken = BTreeSet::from([INDEX.to_owned()]);
        let mut name = |stem: &str| page_name(stem, &mut taken);
        assert_eq!(name("run"), "run.html");
        assert_eq!(name("run"), "run-2.html");
        assert_eq!(name("index"), "index-2.html");
        assert_eq!(name("a/../b c"), "a-..-b-c.html");
        assert_eq!(name(".."), "document.html");
    }
}
