// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter export`: the cells of runs as one table.

use std::path::Path;

use anyhow::Result;
use diagnostics::Exit;
use experiment::{Cell, Kind};
use export::{Rows, Source};
use report::printable;

use super::documents::read_kind;
use crate::cli::ExportArgs;
use crate::failure::usage;
use crate::output;

/// Exports documents.
///
/// # Errors
/// If one cannot be read, or the table not written.
pub fn export(args: &ExportArgs) -> Result<Exit> {
    let paths: Vec<&Path> = [&args.parquet, &args.csv]
        .into_iter()
        .filter_map(|path| path.as_deref())
        .collect();
    output::check_all(&paths, 0)?;
    let hint = "give documents that `lsmeter run --output FILE` wrote";
    let sources = args.documents.iter().map(|path| {
        Ok(Source {
            name: printable(&path.display().to_string(), 1_000),
            run: read_kind(path, Kind::Run, hint)?,
        })
    });
    let sources: Vec<Source> = sources.collect::<Result<_>>()?;
    let mut cells = sources.iter().flat_map(|source| &source.run.cells);
    let rows = if args.samples {
        Rows::Samples
    } else {
        Rows::Cells
    };
    let no_samples = |cell: &Cell| cell.estimate().is_none_or(|of| of.samples.is_none());
    if args.samples && cells.all(no_samples) {
        return Err(usage(
            "none of the documents holds samples",
            "measure with `lsmeter run --keep-samples`",
        ));
    }
    if let Some(path) = &args.parquet {
        let bytes = ::export::parquet(::export::records(&sources, rows))?;
        output::write(path, |to| Ok(to.write_all(&bytes)?))?;
    }
    if let Some(path) = &args.csv {
        output::write(path, |to| {
            Ok(report::raw_csv(::export::records(&sources, rows), to)?)
        })?;
    }
    Ok(Exit::Fine)
}
