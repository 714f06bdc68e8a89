// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents that are given by their files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use experiment::Run;

use crate::failure::usage;

/// Reads a run document.
///
/// # Errors
/// If there is none, or it is none.
pub fn read_run(path: &Path) -> Result<Run> {
    let file = File::open(path).map_err(|error| {
        usage(
            format!("cannot read {}: {error}", path.display()),
            "give documents that `lsmeter run --output FILE` wrote",
        )
    })?;
    Run::read(BufReader::new(file)).with_context(|| format!("cannot read {}", path.display()))
}
