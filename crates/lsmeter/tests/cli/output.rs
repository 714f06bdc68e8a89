// SPDX-License-Identifier: GPL-2.0-or-later
//! The same flags print and save what each command finds.

use crate::common::Place;

const GOLDEN: &[u8] = include_bytes!("../../../experiment/tests/golden/monitor-v2.json");

#[test]
fn every_command_with_tables_has_the_same_flags() {
    let place = Place::new();
    for command in [
        &["run"][..],
        &["profile"],
        &["sensitivity"],
        &["monitor"],
        &["compare"],
        &["bisect"],
        &["check"],
        &["history", "show"],
        &["placement"],
        &["placement", "diff"],
        &["placement", "history"],
        &["placement", "checks"],
    ] {
        let help = place.run(&[command, &["--help"]].concat()).code(0).stdout;
        for told in [
            "--format <FORMAT>",
            "- table:",
            "- markdown:",
            "- latex:",
            "- csv:",
            "- json:",
            "--json\n",
            "-o, --output <FILE>",
            "--export-csv <FILE>",
            "--export-parquet <FILE>",
            "--export-markdown <FILE>",
            "--export-latex <FILE>",
        ] {
            assert!(help.contains(told), "{command:?} lacks {told}: {help}");
        }
    }
}

#[test]
fn what_is_printed_can_be_saved() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    let replay = |more: &[&str]| {
        let asked = [&["monitor", "--replay", "night.json"], more].concat();
        place.run(&asked).code(0).stdout
    };
    assert_eq!(replay(&["--format", "json"]).as_bytes(), GOLDEN);
    for format in ["csv", "markdown", "latex"] {
        let file = format!("night.{format}");
        let table = replay(&[&format!("--export-{format}"), &file]);
        assert!(table.starts_with("6.12"), "{table}");
        let saved = std::fs::read_to_string(place.join(&file)).unwrap();
        assert_eq!(replay(&["--format", format]), saved);
    }
    replay(&["--export-parquet", "night.parquet", "--quiet"]);
    let parquet = std::fs::read(place.join("night.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let asked = ["monitor", "--format", "json", "--export-csv", "-"];
    place
        .run(&asked)
        .refused(2, "standard output", Some("name a file"));
    let asked = ["monitor", "--format", "csv", "--json"];
    place.run(&asked).code(2);
}
