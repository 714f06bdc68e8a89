// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks that all counts are the same as before. Times are ignored, and so are date, tools and
//! machine.
//!
//! ```text
//! cargo bench -p model --bench same_counts -- BEFORE AFTER
//! ```
//!
//! BEFORE and AFTER are result files of the same kind (run, profile, sensitivity; also `.json.xz`),
//! or folders of them, matched by name.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use model::{Cell, Document};

/// Differences printed per result file.
const TOLD: usize = 10;

type Failed = Box<dyn Error>;

fn main() -> Result<ExitCode, Failed> {
    let arguments = std::env::args().skip(1);
    let paths: Vec<PathBuf> = arguments
        .filter(|argument| !argument.starts_with("--"))
        .map(PathBuf::from)
        .collect();
    let [before, after] = paths.as_slice() else {
        // `cargo bench` without arguments runs all benches.
        println!("usage: cargo bench -p model --bench same_counts -- BEFORE AFTER");
        return Ok(ExitCode::SUCCESS);
    };
    let mut same = true;
    if before.is_dir() {
        let mut names: Vec<String> = std::fs::read_dir(before)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, Failed>>()?;
        names.retain(|name| name.ends_with(".json") || name.ends_with(".json.xz"));
        names.sort();
        for name in names {
            let other = after.join(name.trim_end_matches(".xz"));
            match other.exists() {
                true => same &= is_same(&before.join(&name), &other)?,
                false => {
                    same = false;
                    println!("{name}: not in {}", after.display());
                }
            }
        }
    } else {
        same = is_same(before, after)?;
    }
    Ok(if same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failed> {
    if path.extension().is_some_and(|extension| extension == "xz") {
        let output = Command::new("xz").arg("-dc").arg(path).output()?;
        return match output.status.success() {
            true => Ok(output.stdout),
            false => Err(format!("xz -dc {}: {}", path.display(), output.status).into()),
        };
    }
    Ok(std::fs::read(path)?)
}

fn is_same(before: &Path, after: &Path) -> Result<bool, Failed> {
    let (old, new) = (bytes(before)?, bytes(after)?);
    let (all, differ) = cells(&Document::parse(&old)?, &Document::parse(&new)?);
    let name = before.file_name().unwrap_or_default().to_string_lossy();
    println!("{name}: {} of {all} are the same", all - differ.len());
    for difference in differ.iter().take(TOLD) {
        println!("  {difference}");
    }
    Ok(differ.is_empty())
}

/// Number of measurements in both, and differences.
fn cells(old: &Document, new: &Document) -> (usize, Vec<String>) {
    let mut differ = Vec::new();
    for cell in &old.cells {
        let other = new.cells.iter().find(|other| other.key == cell.key);
        let name = || format!("{} under {}", cell.title(), cell.configuration_title());
        match other {
            None => differ.push(format!("{}: it is not there", name())),
            Some(other) if counted(cell) == counted(other) => {}
            Some(other) => {
                let [old, new] = [cell, other].map(|cell| format!("{:?}", counted(cell)));
                differ.push(format!("{}: {}", name(), first_difference(&old, &new)));
            }
        }
    }
    if old.sweep.is_some() && old.sweep != new.sweep {
        differ.push("what all slopes say together".to_owned());
    }
    (old.cells.len(), differ)
}

/// A measurement without its times.
fn counted(cell: &Cell) -> Cell {
    Cell {
        seconds: None,
        ..cell.clone()
    }
}

/// The first difference of two texts, with its context.
fn first_difference(old: &str, new: &str) -> String {
    let both = old.char_indices().zip(new.chars());
    let at = both.take_while(|((_, a), b)| a == b).count();
    let part =
        |text: &str| -> String { text.chars().skip(at.saturating_sub(40)).take(80).collect() };
    format!("{} -> {}", part(old), part(new))
}
