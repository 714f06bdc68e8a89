// SPDX-License-Identifier: GPL-2.0-or-later
//! Exported runs, read by DuckDB.
//!
//! Needs node and npm, which `make test` installs; modules from npm's registry are installed once,
//! in $XDG_CACHE_HOME/lsmeter/duckdb-test.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use model::Document;
use report::{Rows, exported, raw_csv};
use serde_json::Value;
use testing::{node_modules, succeed};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/duckdb");

fn ask(sql: &str) -> Vec<Value> {
    let mut node = Command::new("node");
    node.arg(Path::new(HERE).join("query.mjs"));
    let answer = succeed(
        node.arg(node_modules(Path::new(HERE), "duckdb-test"))
            .arg(sql),
    );
    serde_json::from_str(&answer).unwrap()
}

/// The queries in `docs/export.md`.
fn documented() -> String {
    let path = Path::new(HERE).join("../../../../docs/export.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, from) = text.split_once("```sql\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

/// There is one test, because two npm processes would disturb each other.
#[test]
fn duckdb_reads_what_was_exported() {
    let golden = fs::read(Path::new(HERE).join("../../../model/tests/golden/run.json"));
    let run = Document::parse(&golden.unwrap()).unwrap();
    let sources = [("run.json".to_owned(), run)];
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("runs.csv");
    let write = |rows| raw_csv(exported(&sources, rows), File::create(&file).unwrap()).unwrap();
    write(Rows::Cells);
    let there = |sql: &str| sql.replace("'runs.csv'", &format!("'{}'", file.display()));

    // open costs 6567 and 5386 against 4979, stat 4309 and 3317 against 3317.
    let mean = |a: f64, b: f64| ((a * b).sqrt() - 1.0) * 100.0;
    let expected = [
        ("capability,apparmor", mean(5386.0 / 4979.0, 1.0)),
        ("capability,selinux", mean(6567.0 / 4979.0, 4309.0 / 3317.0)),
    ];
    let rows = ask(&there(&documented()));
    assert_eq!(rows.len(), expected.len(), "{rows:?}");
    for (row, (stack, percent)) in rows.iter().zip(expected) {
        assert_eq!(
            (&row["kernel"], &row["stack"]),
            (&"debian:6.1".into(), &stack.into())
        );
        assert_eq!(row["measurements"], "2", "{row}");
        assert!(
            (row["percent"].as_f64().unwrap() - percent).abs() < 0.051,
            "{row}"
        );
    }

    let described = ask(&there("DESCRIBE SELECT * FROM 'runs.csv'"));
    let names: Vec<&str> = described
        .iter()
        .map(|row| row["column_name"].as_str().unwrap())
        .collect();
    let columns = exported(&[], Rows::Cells).headings;
    let columns: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(names, columns);
    let kind = |name: &str| {
        let row = described.iter().find(|row| row["column_name"] == name);
        row.unwrap()["column_type"].as_str().unwrap()
    };
    assert_eq!(
        ["kernel", "cores", "started", "kvm", "value"].map(kind),
        [
            "VARCHAR",
            "BIGINT",
            "TIMESTAMP WITH TIME ZONE",
            "BOOLEAN",
            "DOUBLE"
        ]
    );

    write(Rows::Samples);
    let sql = "SELECT metric, count(*) AS n FROM 'runs.csv' GROUP BY metric ORDER BY metric";
    let counted = ask(&there(sql));
    assert_eq!(counted.len(), 2, "{counted:?}");
    assert_eq!(
        (&counted[1]["metric"], &counted[1]["n"]),
        (&"time".into(), &"120".into())
    );
}
