// SPDX-License-Identifier: GPL-2.0-or-later
//! Output flags, which are the same on every command.

use std::process::Command;

use serde_json::Value;

use crate::common::{Ended, Place};

const GOLDEN: &[u8] = include_bytes!("../../../model/tests/golden/monitor.json");

#[test]
fn results_can_be_printed_and_saved() {
    let place = Place::new();
    place.write("night.json", GOLDEN);
    for format in ["csv", "markdown"] {
        let compare = format!("compare night.json night.json --format {format}");
        let printed = place.line(&compare).code(0).stdout;
        let saved = place.line(&format!("{compare} -o same.json")).code(0);
        assert_eq!(saved.stdout, printed);
        assert!(place.join("same.json").is_file());
    }
}

/// Runs a shell script; `$L` is lsmeter.
fn shell(place: &Place, script: &str) -> Ended {
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env("L", env!("CARGO_BIN_EXE_lsmeter"));
    Ended::new(&[script], place.environment(&mut command).output().unwrap())
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
        let printed = shell(&place, &format!("$L {asked}"));
        assert_ne!(printed.stderr, "", "{printed:#?}");
        let silent = shell(&place, &format!("$L {asked} 2>/dev/full"));
        let both = [silent, printed].map(|ended| (ended.code, ended.stdout));
        assert_eq!(both[0], both[1], "{asked}");
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
        let line = format!("profile --offline -o {one} --callgrind {other}");
        let error = format!("two outputs cannot both go to {other}");
        let refused = place.line(&line);
        refused.refused(2, &error, Some("name another file"));
    }
    assert!(!place.join("x").exists());
    let nowhere = "profile --offline -o /dev/null --callgrind /dev/null --qemu /bin/true";
    place.line(nowhere).code(3);
    let error = "two outputs cannot both go to standard output | name a file";
    let table = format!(
        "profile --offline -o - --callgrind /dev/stdout | {error}
         profile --offline -o /dev/fd/1 --callgrind /proc/self/fd/1 | {error}"
    );
    place.refuses(2, &table);
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
    place.refuses(
        2,
        "compare night.json night.json -o /dev/fd/9 | cannot write /dev/fd/9: | name a file
         compare night.json night.json -o /dev/fd/0 | it is open for reading only | name a file
         compare night.json night.json -o tmp | cannot write tmp: it is a directory | name a file",
    );
}

/// Control characters in result files and file names do not reach the terminal.
#[test]
fn text_from_outside_moves_no_cursor() {
    let place = Place::new();
    let mut document: Value = serde_json::from_slice(GOLDEN).unwrap();
    fn spoil(value: &mut Value) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(spoil),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let named = ["hook", "function", "scope", "release", "message", "reason"];
                    match value {
                        Value::String(text) if named.contains(&name.as_str()) => {
                            text.push_str("\u{1b}]0;title\u{7}\u{1b}[31m=1+1\u{202e}");
                        }
                        _ => spoil(value),
                    }
                }
            }
            _ => {}
        }
    }
    spoil(&mut document);
    place.write("hostile.json", document.to_string());
    let is_harmful = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    for line in [
        "monitor --replay hostile.json",
        "monitor --replay hostile.json --format markdown",
        "compare hostile.json hostile.json",
        "compare \u{1b}[31m.json hostile.json",
        "run --bench \u{1b}[31m --dir .",
        "compare hostile.json hostile.json -o nothere/\u{1b}[31m",
    ] {
        let ended = place.line(line);
        let printed = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!printed.contains(is_harmful), "{line:?}: {printed:?}");
    }
}
