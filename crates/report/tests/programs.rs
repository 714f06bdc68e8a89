// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of whole programs, from the document of `docs/results/workloads.md`.

use std::path::Path;

use experiment::{Cell, Document};
use report::{Options, markdown, report};

fn make_noop() -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/make-noop.json.xz");
    Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap()
}

/// The rows of the table of hooks, a group's after the other's.
fn hooks(document: &Document, details: bool) -> Vec<Vec<String>> {
    let text = markdown(&report(document, &Options { details }));
    let tables = text.split("**What hooks add to programs: ").skip(1);
    tables
        .flat_map(|table| {
            let rows = table.lines().skip_while(|line| !line.starts_with('|'));
            rows.skip(2).take_while(|line| line.starts_with('|'))
        })
        .map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

fn number(text: &str) -> i64 {
    text.replace(',', "").parse().unwrap()
}

#[test]
fn hooks_add_up_to_what_all_add() {
    let document = make_noop();
    let rows = hooks(&document, true);
    let hooked = |cell: &Cell| {
        let counted = cell.counted().unwrap();
        i64::try_from(counted.hooked.as_ref().unwrap().hooked).unwrap()
    };
    let base = |cell: &Cell| {
        let of_kernel = |other: &&Cell| {
            other.key.kernel == cell.key.kernel && other.key.stack == ["capability"]
        };
        hooked(document.cells.iter().find(of_kernel).unwrap())
    };
    let cells = document.cells.iter();
    let adds: i64 = cells.map(|cell| hooked(cell) - base(cell)).sum();
    let told: i64 = rows.iter().map(|row| number(&row[4])).sum();
    assert_eq!(told, adds);
    assert!(rows.iter().all(|row| number(&row[4]) != 0));
    // Without details only those that differ most.
    assert!(hooks(&document, false).len() < rows.len());
    let first = &rows[0];
    assert_eq!(
        (first[3].as_str(), first[6].as_str()),
        ("inode\\_permission", "selinux")
    );
}
