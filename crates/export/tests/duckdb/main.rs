// SPDX-License-Identifier: GPL-2.0-or-later
//! Exported runs, read by DuckDB.
//!
//! Needs node and npm, which `make test` installs; what the test takes from npm's registry,
//! once, is kept in $XDG_CACHE_HOME/lsmeter/duckdb-test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use experiment::Run;
use export::{Rows, Source, columns, parquet};
use serde_json::Value;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/duckdb");

fn cache() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| {
        PathBuf::from(std::env::var_os("HOME").expect("HOME is not set")).join(".cache")
    });
    cache.join("lsmeter/duckdb-test")
}

#[track_caller]
fn succeed(command: &mut Command) -> String {
    let what = format!("{command:?}");
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot start {what}: {error}; `make test` installs it"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{what}: {}\n{stderr}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The modules of package-lock.json; fetched if others or none are there.
fn modules() -> PathBuf {
    let dir = cache();
    fs::create_dir_all(&dir).unwrap();
    let lock = fs::read(Path::new(HERE).join("package-lock.json")).unwrap();
    let stamp = dir.join("installed");
    if fs::read(&stamp).ok().as_deref() != Some(lock.as_slice()) {
        for name in ["package.json", "package-lock.json"] {
            fs::copy(Path::new(HERE).join(name), dir.join(name)).unwrap();
        }
        let mut npm = Command::new("npm");
        succeed(
            // Not `ci`: it wants all platforms' bindings in the lock file, and npm leaves out
            // those that a registry's mirror does not have.
            npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
                .current_dir(&dir),
        );
        fs::write(stamp, lock).unwrap();
    }
    dir
}

fn ask(sql: &str) -> Vec<Value> {
    let mut node = Command::new("node");
    node.arg(Path::new(HERE).join("query.mjs"));
    let answer = succeed(node.arg(modules()).arg(sql));
    serde_json::from_str(&answer).unwrap()
}

/// What `docs/export.md` tells its readers to ask.
fn documented() -> String {
    let path = Path::new(HERE).join("../../../../docs/export.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, from) = text.split_once("```sql\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

/// One test, since two of npm at a time would be in each other's way.
#[test]
fn duckdb_reads_what_was_exported() {
    let golden = fs::read(Path::new(HERE).join("../../../experiment/tests/golden/v1.json"));
    let sources = [Source {
        name: "v1.json".to_owned(),
        run: Run::parse(&golden.unwrap()).unwrap(),
    }];
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("runs.parquet");
    fs::write(&file, parquet(&sources, Rows::Cells).unwrap()).unwrap();
    let there = |sql: &str| sql.replace("'runs.parquet'", &format!("'{}'", file.display()));

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
        assert_eq!(row["cells"], "2", "{row}");
        assert!(
            (row["percent"].as_f64().unwrap() - percent).abs() < 0.051,
            "{row}"
        );
    }

    let described = ask(&there("DESCRIBE SELECT * FROM 'runs.parquet'"));
    let names: Vec<&str> = described
        .iter()
        .map(|row| row["column_name"].as_str().unwrap())
        .collect();
    let wanted: Vec<&str> = columns(Rows::Cells)
        .iter()
        .map(|column| column.name)
        .collect();
    assert_eq!(names, wanted);
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

    fs::write(&file, parquet(&sources, Rows::Samples).unwrap()).unwrap();
    let sql = "SELECT metric, count(*) AS n FROM 'runs.parquet' GROUP BY metric ORDER BY metric";
    let counted = ask(&there(sql));
    assert_eq!(counted.len(), 2, "{counted:?}");
    assert_eq!(
        (&counted[1]["metric"], &counted[1]["n"]),
        (&"time".into(), &"120".into())
    );
}
