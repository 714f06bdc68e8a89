// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents that are given by their files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use experiment::{AnyDocument, DocumentError, Run};

use crate::failure::usage;

/// Who writes documents of every kind.
pub const ANY: &str = "give a document that lsmeter wrote, with --output or --record";

/// Reads one with `read`, such as [`Run::read`]. `hint` says what is to be given.
///
/// # Errors
/// If there is no such file, or it holds none.
pub fn read_as<T>(
    path: &Path,
    hint: &'static str,
    read: impl FnOnce(BufReader<File>) -> Result<T, DocumentError>,
) -> Result<T> {
    let unreadable = || format!("cannot read {}", path.display());
    let file =
        File::open(path).map_err(|error| usage(format!("{}: {error}", unreadable()), hint))?;
    read(BufReader::new(file)).with_context(unreadable)
}

/// Reads one of whatever kind.
///
/// # Errors
/// If there is no such file, or it holds none.
pub fn read(path: &Path) -> Result<AnyDocument> {
    read_as(path, ANY, AnyDocument::read)
}

/// Reads a run document.
///
/// # Errors
/// If there is no such file, or it holds none.
pub fn read_run(path: &Path) -> Result<Run> {
    let hint = "give documents that `lsmeter run --output FILE` wrote";
    read_as(path, hint, Run::read)
}
