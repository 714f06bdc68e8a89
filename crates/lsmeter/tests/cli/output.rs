// SPDX-License-Identifier: GPL-2.0-or-later
//! The same flags print and save what each command finds.

use std::process::Command;

use crate::common::{Ended, Place};

const GOLDEN: &[u8] = include_bytes!("../../../model/tests/golden/monitor.json");

#[test]
fn every_command_with_tables_has_the_same_flags() {
    let place = Place::new();
    for command in [
        &["run"][..],
        &["profile"],
        &["sensitivity"],
        &["monitor"],
        &["compare"],
        &["placement"],
        &["placement", "diff"],
        &["placement", "checks"],
    ] {
        let help = place.run(&[command, &["--help"]].concat()).code(0).stdout;
        for told in [
            "--format <FORMAT>",
            "- table:",
            "- markdown:",
            "- csv:",
            "- json:",
            "--json\n",
            "-o, --output <FILE>",
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
    for format in ["csv", "markdown"] {
        let compare = ["compare", "night.json", "night.json", "--format", format];
        let printed = place.run(&compare).code(0).stdout;
        let saved = [&compare[..], &["-o", "same.json"]].concat();
        assert_eq!(place.run(&saved).code(0).stdout, printed);
        assert!(place.join("same.json").is_file());
    }
    let asked = ["monitor", "--format", "json", "--output", "-"];
    place
        .run(&asked)
        .refused(2, "standard output", Some("name a file"));
    let asked = ["monitor", "--format", "csv", "--json"];
    place.run(&asked).code(2);
}

/// Runs a shell command in the place, in which `$L` is lsmeter.
fn shell(place: &Place, script: &str) -> Ended {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env("L", env!("CARGO_BIN_EXE_lsmeter"));
    Ended::of(&[script], place.environment(&mut command).output().unwrap())
}

#[test]
fn a_full_disk_below_standard_error_changes_nothing() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    for asked in [
        "kernel list",
        "list stacks",
        "compare night.json night.json --fail-above 1%",
        "compare night.json nothere",
        "run --bench nothere --dir .",
        "nothere",
        "merge night.json",
    ] {
        let told = shell(&place, &format!("$L {asked}"));
        assert_ne!(told.stderr, "", "{told:#?}");
        let silent = shell(&place, &format!("$L {asked} 2>/dev/full"));
        assert_eq!(
            (silent.code, silent.stdout),
            (told.code, told.stdout),
            "{asked}"
        );
    }
}

#[test]
fn a_full_disk_below_standard_output_is_an_error() {
    let place = Place::new();
    for asked in ["--help", "--version", "run --help", "list stacks"] {
        shell(&place, &format!("$L {asked} >/dev/full")).refused(3, "No space left", None);
        shell(&place, &format!("$L {asked} | true")).code(0);
    }
}

#[test]
fn two_outputs_need_two_places() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    std::fs::create_dir(place.join("sub")).unwrap();
    std::os::unix::fs::symlink("x", place.join("link")).unwrap();
    shell(&place, "mkfifo pipe").code(0);
    for (one, other) in [
        ("x", "x"),
        ("x", "./x"),
        ("x", "sub/../x"),
        ("x", "link"),
        ("pipe", "./pipe"),
        ("/dev/fd/2", "/dev/stderr"),
    ] {
        let asked = ["sensitivity", "--offline", "-o", one, "--svg", other];
        let error = format!("two outputs cannot both be {other}");
        place
            .run(&asked)
            .refused(2, &error, Some("name another file"));
    }
    assert!(!place.join("x").exists());
    shell(
        &place,
        "$L sensitivity --offline -o /dev/null --svg /dev/null --qemu /bin/true",
    )
    .code(3);
    for (one, other) in [("-", "/dev/stdout"), ("/dev/fd/1", "/proc/self/fd/1")] {
        let asked = ["sensitivity", "--offline", "-o", one, "--svg", other];
        let error = "two outputs cannot both be standard output";
        place.run(&asked).refused(2, error, Some("name a file"));
    }
}

#[test]
fn an_output_goes_where_its_name_says() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    place.write("target", "old");
    std::os::unix::fs::symlink("target", place.join("link")).unwrap();
    shell(&place, "mkfifo pipe").code(0);
    let compare = "$L compare night.json night.json";
    let document = shell(&place, &format!("{compare} --json")).code(0).stdout;
    for (script, file) in [
        (format!("{compare} -o link"), "target"),
        (format!("{compare} -o /dev/fd/3 3>descriptor"), "descriptor"),
        (
            format!("cat pipe >piped & {compare} -o pipe; wait"),
            "piped",
        ),
        (
            format!("{compare} -o \"$(printf 'm\\377.json')\"; mv m*.json utf8"),
            "utf8",
        ),
        (format!("{compare} -o /dev/stdout >printed"), "printed"),
        (
            format!("echo first >appended; {compare} -o /dev/fd/3 3>>appended; sed -i 1d appended"),
            "appended",
        ),
    ] {
        shell(&place, &script).code(0);
        let written = std::fs::read_to_string(place.join(file)).unwrap();
        assert_eq!(written, document, "{script}");
    }
    assert!(place.join("link").is_symlink());
    let hint = Some("name a file");
    for (output, error) in [
        ("/dev/fd/9", "cannot write /dev/fd/9: "),
        (
            "/dev/fd/0",
            "cannot write /dev/fd/0: it is open for reading only",
        ),
        ("tmp", "cannot write tmp: it is a directory"),
    ] {
        let asked = ["compare", "night.json", "night.json", "-o", output];
        place.run(&asked).refused(3, error, hint);
    }
}

/// A terminal takes what a document, a guest or a file's name says as text.
#[test]
fn text_from_outside_moves_no_cursor() {
    let place = Place::new();
    let hostile = "\\u001b]0;title\\u0007\\u001b[31m=1+1\\u202e";
    let golden = String::from_utf8(GOLDEN.to_vec()).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&golden).unwrap();
    fn spoil(value: &mut serde_json::Value, hostile: &str) {
        match value {
            serde_json::Value::Array(values) => {
                values.iter_mut().for_each(|value| spoil(value, hostile));
            }
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    match (name.as_str(), &mut *value) {
                        (
                            "hook" | "function" | "scope" | "release" | "message" | "reason",
                            serde_json::Value::String(text),
                        ) => text.push_str(hostile),
                        _ => spoil(value, hostile),
                    }
                }
            }
            _ => {}
        }
    }
    let raw: String = serde_json::from_str(&format!("\"{hostile}\"")).unwrap();
    spoil(&mut document, &raw);
    place.write("hostile.json", serde_json::to_string(&document).unwrap());
    let is_harmful = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    for asked in [
        &["monitor", "--replay", "hostile.json"][..],
        &[
            "monitor",
            "--replay",
            "hostile.json",
            "--format",
            "markdown",
        ],
        &["compare", "hostile.json", "hostile.json"],
        &["compare", "\u{1b}[31m.json", "hostile.json"],
        &["run", "--bench", "\u{1b}[31m", "--dir", "."],
        &[
            "compare",
            "hostile.json",
            "hostile.json",
            "-o",
            "nothere/\u{1b}[31m",
        ],
    ] {
        let ended = place.run(asked);
        let printed = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!printed.contains(is_harmful), "{asked:?}: {printed:?}");
    }
}
