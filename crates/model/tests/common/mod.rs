// SPDX-License-Identifier: GPL-2.0-or-later
//! Golden result files to read, write and damage.

#![allow(dead_code, reason = "each test program uses its part of this module")]

use std::path::Path;

use model::{Document, Stored};

/// A golden file: `profile`.
pub fn golden(name: &str) -> Vec<u8> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../model/tests/golden");
    std::fs::read(format!("{dir}/{name}.json")).unwrap()
}

/// A golden result file with measurements: `run` has all metrics, ok, failed and unsupported; most
/// files have hostile text.
pub fn document(name: &str) -> Document {
    Document::parse(&golden(name)).unwrap()
}

pub fn run() -> Document {
    document("run")
}

pub fn written(document: &Document) -> String {
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

pub fn stored(document: &impl Stored) -> String {
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Compares with a file of the repository, or writes it when `variable` is set.
pub fn same_as_file(path: &str, text: &str, variable: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os(variable).is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "{} is not up to date: run the tests with {variable}=1",
        path.display()
    );
}

/// The rows of a table, with fields separated by ` | `; a line that begins with it continues the
/// row above.
pub fn rows(table: &str) -> Vec<Vec<String>> {
    let mut rows: Vec<String> = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match rows.last_mut() {
            Some(row) if line.starts_with("| ") => *row += &format!(" {line}"),
            _ => rows.push(line.to_owned()),
        }
    }
    // A last field may be empty.
    let fields = |row: String| {
        row.split(" |")
            .map(|field| field.trim().to_owned())
            .collect()
    };
    rows.into_iter().map(fields).collect()
}
