// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter export`: measurements of runs as one table, or the table of another result file.

use anyhow::Result;
use model::{Cell, Document, Exit, Kind};
use report::{Content, Rows, printable};

use super::documents::{ANY, read_as, read_kind};
use crate::cli::ExportArgs;
use crate::failure::usage;
use crate::output;

pub fn export(args: &ExportArgs) -> Result<Exit> {
    output::check_all(&[&args.output], 0)?;
    if let ([path], false) = (&args.documents[..], args.samples) {
        let content = read_as(path, ANY, Content::parse)?;
        let records = match &content {
            Content::Measured(document) => match document.kind {
                Kind::Profile => Some(report::profile_records(document)),
                Kind::Sensitivity => Some(report::sensitivity_records(document)),
                Kind::Recording => Some(report::monitor_records(document)),
                _ => None,
            },
            Content::Placement(document) => Some(report::placement_records(document)),
        };
        if let Some(records) = records {
            output::write(&args.output, |to| Ok(report::raw_csv(records, to)?))?;
            return Ok(Exit::Fine);
        }
    }
    let hint =
        "give result files from `lsmeter run --output FILE`, or one result file of another kind";
    let sources = args.documents.iter().map(|path| {
        let name = printable(&path.display().to_string(), 1_000);
        Ok((name, read_kind(path, Kind::Run, hint)?))
    });
    let sources: Vec<(String, Document)> = sources.collect::<Result<_>>()?;
    let mut cells = sources.iter().flat_map(|(_, run)| &run.cells);
    let rows = if args.samples {
        Rows::Samples
    } else {
        Rows::Cells
    };
    let no_samples = |cell: &Cell| {
        cell.estimate()
            .is_none_or(|estimate| estimate.samples.is_none())
    };
    if args.samples && cells.all(no_samples) {
        return Err(usage(
            "no result file contains samples",
            "measure with `lsmeter run --keep-samples`",
        ));
    }
    output::write(&args.output, |to| {
        Ok(report::raw_csv(report::exported(&sources, rows), to)?)
    })?;
    Ok(Exit::Fine)
}
