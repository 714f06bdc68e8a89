// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement`: hooks that system calls can reach, from sources.

mod checks;
mod diff;
mod input;

use std::collections::BTreeMap;

use anyhow::Result;
use model::{Cell, Document, Exit, Kind, PlacementDocument, Stored as _, placement::Comparison};
use placement::{Tree, analyse, compare, file_systems};
use report::PlacementOptions;

use super::documents::read_kind;
use crate::cli::{PlacementArgs, PlacementCommand, ScopeArgs, TreeArgs};
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::progress::Line;

use input::add;

pub fn placement(args: &PlacementArgs) -> Result<Exit> {
    match &args.command {
        Some(PlacementCommand::Diff(args)) => return diff::diff(args),
        Some(PlacementCommand::Checks(args)) => return checks::checks(args),
        None => {}
    }
    let hint = "give a result file from `lsmeter profile --output FILE`";
    let profiles = args
        .agree
        .as_deref()
        .map(|path| read_kind(path, Kind::Profile, hint))
        .transpose()?;
    let stdout = args.table.out.check(&[], 0)?;

    let line = Line::new(args.table.quiet);
    line.say("opening the tree");
    let tree = open(&args.tree, &line)?;
    if let Some(profiles) = profiles {
        return agree(args, stdout, profiles, &tree, &line);
    }
    let request = input::request(&args.tree.scope)?;
    line.say(format!("analysing Linux {}", tree.version()));
    let document = analyse(&tree, &request)?;
    line.done();
    deliver(args, &document, stdout)?;
    Ok(Exit::Fine)
}

fn open(args: &TreeArgs, line: &Line) -> Result<Tree> {
    let Some(path) = &args.tree else {
        return Err(usage(
            "no kernel tree is given",
            "lsmeter placement ~/linux",
        ));
    };
    Ok(match &args.rev {
        Some(revision) => Tree::open_revision(path, revision)?,
        None => input::open_tree(path, input::cache(&args.scope), line)?,
    })
}

fn deliver(args: &PlacementArgs, document: &PlacementDocument, stdout: StdoutTaken) -> Result<()> {
    let options = PlacementOptions {
        details: !args.tree.scope.syscalls.is_empty() || args.reach,
        reach: args.reach,
        trace: args.trace,
        explain: args.explain,
    };
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::placement_report(document, &options),
        records: &|| report::placement_records(document),
    };
    args.table.out.deliver(stdout, &found)?;
    Ok(())
}

fn agree(
    args: &PlacementArgs,
    stdout: StdoutTaken,
    mut profiles: Document,
    tree: &Tree,
    line: &Line,
) -> Result<Exit> {
    let mut request = input::request(&args.tree.scope)?;
    if let (None, Some(cell)) = (args.tree.scope.arch, profiles.cells.first()) {
        request.architecture = cell.key.architecture;
    }
    let mut other_releases: BTreeMap<String, u32> = BTreeMap::new();
    profiles.cells.retain(|cell| {
        let same = series(&cell.release) == series(tree.version())
            && cell.key.architecture == request.architecture;
        let measured = cell.hooks().is_some();
        if !same && measured {
            *other_releases.entry(cell.release.clone()).or_insert(0) += 1;
        }
        same && measured && asked_for(&args.tree.scope, cell)
    });
    for (release, operations) in other_releases {
        let plural = if operations == 1 { "" } else { "s" };
        line.keep(&format!(
            "skipped: {operations} operation{plural} measured on {}: the tree is Linux {} for {}",
            report::printable(&release, 60),
            tree.version(),
            request.architecture
        ));
    }
    request.fs = file_systems(&profiles)?.into_iter().collect();
    for syscall in profiles.cells.iter().flat_map(|cell| &cell.syscalls) {
        add(&mut request.syscalls, syscall);
    }
    if profiles.cells.is_empty() {
        line.done();
        note!(
            "inconclusive: no profile from Linux {} matches the selection",
            tree.version()
        );
        return Ok(Exit::Inconclusive);
    }
    line.say(format!("analysing Linux {}", tree.version()));
    let document = analyse(tree, &request)?;
    let comparison = compare(&profiles, &document)?;
    line.done();
    let kernel = format!("Linux {}", tree.version());
    let comparison = &comparison;
    let found = Delivery {
        document: &|to| {
            serde_json::to_writer_pretty(&mut *to, comparison)?;
            Ok(writeln!(to)?)
        },
        tables: &|| report::agreement_report(&kernel, comparison),
        records: &|| report::agreement_records(comparison),
    };
    args.table.out.deliver(stdout, &found)?;
    Ok(verdict(comparison))
}

fn verdict(comparison: &Comparison) -> Exit {
    if comparison.hooks.is_empty() {
        note!("inconclusive: no operation could be compared");
        Exit::Inconclusive
    } else if comparison.is_sound() {
        Exit::Fine
    } else {
        Exit::Regression
    }
}

fn asked_for(args: &ScopeArgs, cell: &Cell) -> bool {
    let fs = args.fs.is_empty() || args.fs.contains(&cell.key.filesystem);
    let mut calls = cell.syscalls.iter();
    fs && (args.syscalls.is_empty() || calls.any(|call| args.syscalls.contains(call)))
}

/// `6.12` of `6.12.117+deb12-cloud-amd64`.
fn series(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_releases() {
        assert_eq!(series("6.12.117+deb12-cloud-amd64"), Some((6, 12)));
        assert_eq!(series("7.2.0-rc1"), series("7.2.13+deb14-amd64"));
        assert_eq!(series("6"), None);
        assert_eq!(series(""), None);
        assert_eq!(series("99999999999.1"), None);
    }
}
