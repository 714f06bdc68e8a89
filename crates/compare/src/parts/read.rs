// SPDX-License-Identifier: GPL-2.0-or-later
//! A part of a run, from its file.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use model::{Document, Failure, printable};

use crate::parts::{ClusterError, Part};

/// A document as a part, by the name of its file.
pub fn read_part(path: &Path) -> Result<Part, ClusterError> {
    let file = File::open(path).map_err(|error| {
        Failure::usage(
            format!("cannot read {}: {error}", path.display()),
            "give documents that `lsmeter run --output FILE` wrote",
        )
    })?;
    let run = Document::read(BufReader::new(file)).map_err(|source| ClusterError::Document {
        path: path.to_path_buf(),
        source,
    })?;
    let name = printable(&path.display().to_string(), 200);
    Ok(Part::new(name, run)?)
}
