// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter report --results`: pages of results, made from the documents beside them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use diagnostics::Exit;
use rayon::prelude::*;
use report::results::{Made, commands, made_anew};

use super::documents;
use crate::failure::usage;
use crate::output;
use crate::progress::Line;

/// Most bytes of a page.
const PAGE_LIMIT_BYTES: u64 = 8 << 20;
/// Commands that only read documents: no others are run because a page says so.
const READING: [&str; 6] = [
    "compare", "estimate", "history", "list", "predict", "report",
];
const HINT: &str = "give a directory of pages in Markdown, as docs/results/README.md describes";

/// Makes the tables of all pages in `directory` again; with `check` only tells which of them are
/// not what their documents hold.
///
/// # Errors
/// If a page cannot be read or written, or a command in it fails.
pub fn results(directory: &Path, check: bool) -> Result<Exit> {
    let mut told = String::new();
    let mut stale = 0;
    let mut tables = 0;
    let mut texts = Vec::new();
    for path in pages(directory)? {
        let page = documents::text(&path, PAGE_LIMIT_BYTES, HINT, |_| Ok(()))?;
        texts.push((path, page));
    }
    let mut printed = all_printed(directory, &texts);
    for (path, page) in &texts {
        let made: Made = made_anew(page, |arguments| match printed.get(arguments) {
            Some(Ok(text)) => Ok(String::clone(text)),
            _ => (printed.remove(arguments)).unwrap_or_else(|| print(directory, arguments)),
        })
        .with_context(|| format!("in {}", path.display()))?;
        if made.commands == 0 {
            continue;
        }
        tables += made.commands;
        let state = if made.text == *page {
            "as its documents say"
        } else if check {
            stale += 1;
            "not what its documents say"
        } else {
            output::write(path, |to| Ok(to.write_all(made.text.as_bytes())?))?;
            "made anew"
        };
        told += &format!("{}: {} tables, {state}\n", path.display(), made.commands);
    }
    if tables == 0 {
        return Err(usage(
            format!("no page in {} has a table to make", directory.display()),
            HINT,
        ));
    }
    if stale > 0 {
        told += "Without --check they are made anew.\n";
    }
    output::print(&told)?;
    Ok(if stale > 0 {
        Exit::Regression
    } else {
        Exit::Fine
    })
}

/// What the commands of all pages print, each once, for pages share them, as many at a time as there
/// are processors.
fn all_printed(directory: &Path, texts: &[(PathBuf, String)]) -> HashMap<String, Result<String>> {
    let asked: BTreeSet<&str> = texts.iter().flat_map(|(_, page)| commands(page)).collect();
    let line = Line::new(false);
    let all = asked.par_iter().map(|&arguments| {
        line.say(report::printable(&format!("lsmeter {arguments}"), 200));
        (arguments.to_owned(), print(directory, arguments))
    });
    let all = all.collect();
    line.done();
    all
}

/// The pages, by name.
fn pages(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(directory).map_err(|error| documents::unreadable(directory, error, HINT))?;
    let mut pages = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| documents::unreadable(directory, error, HINT))?
            .path();
        if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}

/// What this lsmeter prints for a page's command, in the page's directory.
fn print(directory: &Path, arguments: &str) -> Result<String> {
    let shown = || report::printable(&format!("lsmeter {arguments}"), 200);
    let refused = |why: &str| {
        usage(
            format!("a page may not ask for `{}`: {why}", shown()),
            format!("commands of pages are: {}", READING.join(", ")),
        )
    };
    let words = shlex::split(arguments).ok_or_else(|| refused("its quotes do not match"))?;
    if !words
        .first()
        .is_some_and(|word| READING.contains(&word.as_str()))
    {
        return Err(refused("it does more than read documents"));
    }
    let writes = |word: &String| word.starts_with("-o") || word.starts_with("--output");
    if words
        .iter()
        .any(|word| writes(word) || word.starts_with("--export"))
    {
        return Err(refused("it writes files"));
    }
    let this = std::env::current_exe().context("which program this is")?;
    let ended = Command::new(this)
        .args(&words)
        .current_dir(directory)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", shown()))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.lines().find_map(|line| line.strip_prefix("error: "));
        return Err(usage(
            format!(
                "`{}` fails: {}",
                shown(),
                report::printable(said.unwrap_or("it says not why"), 400)
            ),
            "run it in the directory of the page",
        ));
    }
    String::from_utf8(ended.stdout).with_context(|| format!("what `{}` prints", shown()))
}
