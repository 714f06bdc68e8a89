// SPDX-License-Identifier: GPL-2.0-or-later
//! The export equals the result files, in stable columns.

use std::collections::BTreeMap;
use std::path::Path;

use model::Document;
use report::{Kind, Rows, exported, raw_csv};

fn sources() -> Vec<(String, Document)> {
    let golden = include_bytes!("../../../model/tests/golden/run.json");
    vec![("run.json".to_owned(), Document::parse(golden).unwrap())]
}

fn rows_of_csv(rows: Rows) -> Vec<BTreeMap<String, String>> {
    rows_of(&sources(), rows)
}

fn rows_of(sources: &[(String, Document)], rows: Rows) -> Vec<BTreeMap<String, String>> {
    let mut bytes = Vec::new();
    raw_csv(exported(sources, rows), &mut bytes).unwrap();
    let mut reader = ::csv::Reader::from_reader(&bytes[..]);
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn rows_are_cells() {
    let run = &sources()[0].1;
    let rows = rows_of_csv(Rows::Cells);
    assert_eq!(rows.len(), run.cells.len());
    for (row, cell) in rows.iter().zip(&run.cells) {
        assert_eq!(row["benchmark"], cell.key.benchmark());
        assert_eq!(row["stack"], cell.key.stack.join(","));
        let value = cell.headline().map(|value| value.to_string());
        assert_eq!(row["value"], value.unwrap_or_default());
        assert_eq!(row["value"].is_empty(), cell.evidence().is_none());
        assert_eq!(row["reason"], cell.reason().unwrap_or_default());
    }
    let (open, overhead) = (&rows[2], (6567.0 - 4979.0) / 4979.0);
    assert_eq!(open["overhead"].parse::<f64>().unwrap(), overhead);
    assert_eq!(rows[0]["baseline"], "true");
    for (column, value) in [
        ("stack", "capability,selinux"),
        ("value", "6567"),
        ("baseline", "false"),
        ("started", "2026-02-28T10:00:00Z"),
        (
            "machine",
            "QEMU 7.2.19 (q35, Haswell-noTSX), deterministic clock",
        ),
    ] {
        assert_eq!(open[column], value);
    }
    assert!(rows[8]["machine"].starts_with("Intel(R) Xeon(R), 2 processors"));
}

#[test]
fn rows_are_samples() {
    let run = &sources()[0].1;
    let samples = run
        .cells
        .iter()
        .filter_map(|cell| cell.estimate()?.samples.clone());
    let rows = rows_of_csv(Rows::Samples);
    let values = rows.iter().map(|row| row["value"].parse::<f64>().unwrap());
    assert!(values.eq(samples.flatten()));
    assert_eq!((&*rows[0]["sample"], &*rows[39]["sample"]), ("0", "39"));
}

#[test]
fn a_cell_ran_where_its_own_environment_says() {
    let mut sources = sources();
    let run = &mut sources[0].1;
    let origin = |cores, cells: Vec<u32>| model::Origin {
        environment: model::Environment {
            cores,
            ..run.environment.clone()
        },
        cells,
    };
    let rest = (1..run.cells.len() as u32).collect();
    run.environments = vec![origin(64, vec![0]), origin(2, rest)];
    let rows = rows_of(&sources, Rows::Cells);
    assert_eq!((&*rows[0]["cores"], &*rows[1]["cores"]), ("64", "2"));
}

#[test]
fn nothing_to_export_has_columns_all_the_same() {
    let mut bytes = Vec::new();
    raw_csv(exported(&[], Rows::Cells), &mut bytes).unwrap();
    let columns = exported(&[], Rows::Cells).headings;
    let columns: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(String::from_utf8(bytes).unwrap(), columns.join(",") + "\n");
}

/// Programs rely on names and kinds: a column may be added at the end, but not changed.
#[test]
fn columns_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/export.md");
    let text = std::fs::read_to_string(path).unwrap();
    let word = |kind| match kind {
        Kind::Text => "text",
        Kind::Integer => "integer",
        Kind::Float => "float",
        Kind::Flag => "flag",
        Kind::Moment => "time",
    };
    let wanted = [Rows::Cells, Rows::Samples].map(|rows| exported(&[], rows).headings);
    for column in wanted.concat() {
        let row = format!("| `{}` | {} |", column.title, word(column.kind));
        assert!(text.contains(&row), "docs/export.md has no row {row}");
    }
}
