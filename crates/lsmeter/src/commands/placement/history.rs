// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement history`: how hooks, lines and reach have grown.

use std::path::{Path, PathBuf};

use anyhow::Result;
use diagnostics::Exit;
use experiment::Stored as _;
use experiment::placement::{PlacementHistory, SkippedVersion};
use placement::{Tree, revisions};
use report::PlacementHistoryOptions;

use super::input::{Input, cache, request};
use crate::cli::{HistoryArgs, ScopeArgs};
use crate::deliver::Delivery;
use crate::failure::usage;
use crate::progress::Line;

/// Analyses all versions, and tells what has become of them.
///
/// # Errors
/// If none can be analysed, or the history not be written.
pub fn history(args: &HistoryArgs) -> Result<Exit> {
    let stdout = args.table.out.check(&[], 0)?;
    let line = Line::new(args.table.quiet);
    let mut asked = request(&args.scope)?;
    asked.lenient = true;
    let versions = versions(args)?;
    let mut history = PlacementHistory::default();
    let mut first_error = None;
    for (number, version) in (1usize..).zip(&versions) {
        let name = version.name();
        line.say(format!("{number}/{}: analysing {name}", versions.len()));
        let placement = version
            .open(&args.scope, &line)
            .and_then(|input| input.placement(&asked));
        match placement {
            Ok(document) => history.push(&document),
            Err(error) => {
                let reason = report::printable(&format!("{error:#}"), 300);
                line.keep(&format!(
                    "skipped: {}: {reason}",
                    report::printable(&name, 200)
                ));
                history.skipped.push(SkippedVersion { tree: name, reason });
                first_error.get_or_insert(error);
            }
        }
    }
    line.done();
    if history.versions.is_empty()
        && let Some(error) = first_error
    {
        return Err(error);
    }
    let options = PlacementHistoryOptions { reach: args.reach };
    let found = Delivery {
        document: &|to| Ok(history.write(to)?),
        tables: &|| report::placement_history_report(&history, &options),
        records: &|| report::placement_history_records(&history),
    };
    args.table.out.deliver(stdout, &found)?;
    Ok(if history.skipped.is_empty() {
        Exit::Fine
    } else {
        Exit::CellsFailed
    })
}

/// One of the versions, not yet opened: trees can be large, and many.
enum Version<'a> {
    Tree(&'a Path),
    Revision(&'a Path, String),
}

impl Version<'_> {
    fn name(&self) -> String {
        match self {
            Version::Tree(path) => path.display().to_string(),
            Version::Revision(path, revision) => format!("{}@{revision}", path.display()),
        }
    }

    fn open(&self, scope: &ScopeArgs, line: &Line) -> Result<Input> {
        Ok(match self {
            Version::Tree(path) => Input::open(path, cache(scope), line)?,
            Version::Revision(path, revision) => Input::Tree(Tree::open_revision(path, revision)?),
        })
    }
}

fn versions(args: &HistoryArgs) -> Result<Vec<Version<'_>>> {
    if args.revs.is_empty() {
        let trees = args.trees.iter().map(PathBuf::as_path);
        return Ok(trees.map(Version::Tree).collect());
    }
    let [repository] = &args.trees[..] else {
        return Err(usage(
            "--revs is about one git repository",
            "give its directory only, or trees without --revs",
        ));
    };
    let mut found = Vec::new();
    for range in &args.revs {
        let all = revisions(repository, range)?;
        found.extend(
            all.into_iter()
                .map(|name| Version::Revision(repository, name)),
        );
    }
    Ok(found)
}
