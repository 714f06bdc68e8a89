// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter merge`: joins the parts of a run.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compare::parts::{Merged, Part, by_machine, merge as put_together};
use model::{Document, Exit};
use report::printable;

use crate::cli::MergeArgs;
use crate::commands::documents::unreadable;
use crate::failure::usage;
use crate::output;

pub fn merge(args: &MergeArgs) -> Result<Exit> {
    if args.by_machine && output::is_stdout(&args.output) {
        return Err(usage(
            "--by-machine cannot write several result files to standard output",
            "add --output run.json",
        ));
    }
    output::check(&args.output)?;
    let parts = args.documents.iter().map(|path| read_part(path));
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    let mut whole = true;
    if args.by_machine {
        for (number, (machine, parts)) in (1..).zip(by_machine(&parts)) {
            let merged = put_together(&parts, &lab::doubts)?;
            let path = numbered(&args.output, number);
            note_counts(args, &format!("{}: {machine}: ", path.display()), &merged);
            output::write(&path, |to| Ok(merged.run.write(to)?))?;
        }
        let here = parts.iter().flat_map(|part| &part.run.share);
        let shards = here.clone().flat_map(|share| &share.shards);
        let shards: BTreeSet<&u32> = shards.collect();
        let count = here.map(|share| share.count).max().unwrap_or(0);
        whole = shards.len() >= count as usize;
    } else {
        let merged = put_together(&parts, &lab::doubts)?;
        note_counts(args, "", &merged);
        output::write(&args.output, |to| Ok(merged.run.write(to)?))?;
        whole &= merged.run.share.is_none();
    }
    Ok(if whole || args.partial {
        Exit::Fine
    } else {
        Exit::Inconclusive
    })
}

fn read_part(path: &Path) -> Result<Part> {
    let hint = "give result files from `lsmeter run --output FILE`";
    let file = File::open(path).map_err(|error| unreadable(path, error, hint))?;
    let run = Document::read(BufReader::new(file));
    let run = run.with_context(|| format!("cannot read {}", path.display()))?;
    let name = printable(&path.display().to_string(), 200);
    Ok(Part::new(name, run)?)
}

/// FILE-2.json for FILE.json.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = format!("{stem}-{number}");
    if let Some(ending) = path.extension() {
        name += &format!(".{}", ending.to_string_lossy());
    }
    path.with_file_name(name)
}

fn note_counts(args: &MergeArgs, what: &str, merged: &Merged) {
    let cells = merged.run.cells.len();
    if !args.quiet {
        note!("{}{cells} measurements", printable(what, 400));
    }
    let warn = !args.by_machine;
    if warn && !merged.missing_shards.is_empty() {
        let numbers: Vec<String> = merged.missing_shards.iter().map(u32::to_string).collect();
        let count = merged.run.share.as_ref().map_or(0, |share| share.count);
        note!("missing: shards {} of {count}", numbers.join(", "));
    } else if warn && merged.missing_cells > 0 {
        note!("missing: {} measurements", merged.missing_cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_before_the_ending() {
        for (path, expected) in [
            ("run.json", "run-2.json"),
            ("out/run", "out/run-2"),
            ("a.b.json", "a.b-2.json"),
        ] {
            assert_eq!(numbered(Path::new(path), 2), Path::new(expected));
        }
    }
}
