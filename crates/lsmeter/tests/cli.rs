// SPDX-License-Identifier: GPL-2.0-or-later
//! The command line: what it prints, and how it refuses what makes no sense. Fast:
//! nothing is booted.

mod common;

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use common::{Place, names};
use serde_json::Value;

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|value| value.as_str().unwrap())
        .collect()
}

#[test]
fn help() {
    let place = Place::new();
    insta::assert_snapshot!("help", place.run(&["--help"]).code(0).stdout);
    insta::assert_snapshot!("help-run", place.run(&["help", "run"]).code(0).stdout);
    insta::assert_snapshot!("help-run-short", place.run(&["run", "-h"]).code(0).stdout);
    insta::assert_snapshot!("help-kernel", place.run(&["help", "kernel"]).code(0).stdout);
}

#[test]
fn no_command_is_wrong_usage() {
    let place = Place::new();
    let ended = place.run(&[]).code(2);
    assert!(ended.stderr.contains("Usage: lsmeter"), "{ended:#?}");
    place.run(&["--version"]).code(0);
}

#[test]
fn listed_benchmarks() {
    let place = Place::new();
    let table = place.run(&["list", "benchmarks"]).code(0).stdout;
    insta::assert_snapshot!("list-benchmarks", table);

    let listing = place.run(&["list", "benchmarks", "--json"]).json();
    assert_eq!(listing["schema_version"], 1);
    let benchmarks = listing["benchmarks"].as_array().unwrap();
    assert_eq!(table.lines().count(), benchmarks.len() + 1);
    for benchmark in benchmarks {
        let title = format!("{}:{}", benchmark["name"], benchmark["variant"]);
        assert!(!strings(&benchmark["syscalls"]).is_empty(), "{title}");
        for key in ["class", "source", "summary"] {
            assert!(
                !benchmark[key].as_str().unwrap().is_empty(),
                "{title}: {key}"
            );
        }
        let measures = &benchmark["measures"];
        assert!(
            measures["latency"] == true || measures["throughput"] == true,
            "{title}"
        );
    }
    let of = |suite: &str, name: &str| {
        let fits = |b: &&Value| b["suite"] == suite && (name == "*" || b["name"] == name);
        benchmarks.iter().filter(fits).count()
    };
    // Table 3 of the paper has 14 benchmarks; the paths of Table 6 are beside them.
    let mut paper: Vec<&str> = benchmarks
        .iter()
        .filter(|benchmark| benchmark["suite"] == "paper")
        .map(|benchmark| benchmark["name"].as_str().unwrap())
        .collect();
    paper.dedup();
    assert_eq!(paper.len(), 14, "{paper:?}");
    // Each transfer size counts twice there, as latency and as throughput.
    let twice = benchmarks
        .iter()
        .filter(|b| b["suite"] == "paper")
        .filter(|b| b["measures"]["latency"] == true && b["measures"]["throughput"] == true)
        .count();
    assert!(
        of("paper", "*") + twice >= 59,
        "{} and {twice}",
        of("paper", "*")
    );
    for size in ["0KB", "1KB", "2KB", "4KB"] {
        for name in ["read", "write", "copy"] {
            let found = benchmarks
                .iter()
                .any(|b| b["name"] == name && b["variant"] == size);
            assert!(found, "{name}:{size}");
        }
    }
    assert!(of("paper", "open") >= 11);
    assert!(of("paper", "stat") >= 11);
    assert!(
        of("lmbench", "*") > 0 && of("howells", "treewalk") > 0 && of("beyond", "getppid") == 1
    );
}

#[test]
fn listed_benchmarks_can_be_chosen() {
    let place = Place::new();
    let listing = place
        .run(&["list", "benchmarks", "--json", "read:*KB"])
        .json();
    let benchmarks = listing["benchmarks"].as_array().unwrap();
    assert!(
        benchmarks
            .iter()
            .all(|benchmark| benchmark["name"] == "read")
    );
    assert_eq!(benchmarks.len(), 4);
    let asked = ["list", "benchmarks", "opne"];
    place.run(&asked).refused(
        2,
        "pattern `opne` fits no benchmark",
        Some("did you mean `open`?"),
    );
}

#[test]
fn listed_stacks_and_presets() {
    let place = Place::new();
    insta::assert_snapshot!("list-stacks", place.run(&["list", "stacks"]).code(0).stdout);
    insta::assert_snapshot!(
        "list-presets",
        place.run(&["list", "presets"]).code(0).stdout
    );

    let listing = place.run(&["list", "stacks", "--json"]).json();
    assert_eq!(listing["schema_version"], 1);
    let stacks = listing["stacks"].as_array().unwrap();
    assert!(
        stacks
            .iter()
            .any(|stack| stack["stack"] == "capability,selinux")
    );

    let listing = place.run(&["list", "presets", "--json"]).json();
    assert_eq!(listing["schema_version"], 1);
    let presets = listing["presets"].as_array().unwrap();
    let quick = presets
        .iter()
        .find(|preset| preset["name"] == "quick")
        .unwrap();
    assert_eq!(strings(&quick["experiment"]["kernels"]), ["debian:6.12"]);
    assert_eq!(strings(&quick["experiment"]["stacks"])[0], "capability");
    assert_eq!(strings(&quick["experiment"]["metrics"]), ["instructions"]);
}

#[test]
fn doctor_tells_the_same_in_both_forms() {
    let place = Place::new();
    // No QEMU, so that it does not depend on the machine how it ends.
    let json = place
        .run(&["doctor", "--json", "--qemu", "/nonexistent/qemu"])
        .code(3);
    let listing: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(listing["schema_version"], 1);
    let findings = listing["findings"].as_array().unwrap();
    let find = |what: &str| {
        findings
            .iter()
            .find(|finding| finding["what"] == what)
            .unwrap()
    };
    assert_eq!(find("QEMU")["verdict"], "essential");
    assert!(
        find("QEMU")["hint"]
            .as_str()
            .unwrap()
            .contains("apt-get install")
    );
    assert_eq!(find("kernels")["verdict"], "missing");
    assert!(
        find("kernels")["hint"]
            .as_str()
            .unwrap()
            .contains("lsmeter kernel fetch")
    );
    let text = place
        .run(&["doctor", "--qemu", "/nonexistent/qemu"])
        .code(3)
        .stdout;
    for finding in findings {
        let verdict = finding["verdict"].as_str().unwrap();
        assert!(
            ["ok", "missing", "essential"].contains(&verdict),
            "{finding}"
        );
        assert_eq!(finding.get("hint").is_some(), verdict != "ok", "{finding}");
        let line = format!("  {}: ", finding["what"].as_str().unwrap());
        assert!(text.contains(&line), "{line}");
    }
}

#[test]
fn completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.run(&["completions", shell]).code(0).stdout;
        assert!(
            script.contains("--export-markdown") || script.contains("export-markdown"),
            "{shell}"
        );
        let path = place.write(shell, script);
        // A shell that is not here cannot be asked.
        let checked = match shell {
            "bash" => Command::new("bash").arg("-n").arg(&path).output(),
            "zsh" => Command::new("zsh").args(["-f", "-n"]).arg(&path).output(),
            _ => Command::new("fish").arg("--no-execute").arg(&path).output(),
        };
        if let Ok(output) = checked {
            assert!(output.status.success(), "{shell}: {output:?}");
        } else {
            assert_ne!(shell, "bash", "these tests need bash");
        }
    }
    place.run(&["completions", "sh"]).code(2);
}

#[test]
fn manual_pages() {
    let place = Place::new();
    fs::create_dir(place.join("man")).unwrap();
    place.run(&["man", "man"]).code(0);
    let pages = names(&place.join("man"));
    for page in ["lsmeter.1", "lsmeter-run.1", "lsmeter-kernel-fetch.1"] {
        assert!(pages.iter().any(|name| name == page), "{pages:?}");
    }
    for page in &pages {
        let path = place.join("man").join(page);
        let groff = Command::new("groff")
            .args(["-k", "-man", "-Tutf8", "-ww", "-z"])
            .arg(&path)
            .output();
        if let Ok(output) = groff {
            assert!(output.status.success(), "{page}: {output:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{page}");
        }
        let mandoc = Command::new("mandoc")
            .args(["-T", "lint", "-W", "error"])
            .arg(&path)
            .output();
        if let Ok(output) = mandoc {
            assert!(output.status.success(), "{page}: {output:?}");
        }
    }
    place.run(&["man", "made/for/them"]).code(0);
    assert_eq!(names(&place.join("made/for/them")), pages);
    place.write("file", "");
    let asked = ["man", "file/below"];
    let error = "cannot write manual pages into file/below";
    place.run(&asked).refused(3, error, None);
}

#[test]
fn a_wrong_word_is_wrong_usage() {
    let place = Place::new();
    let refused = |arguments: &[&str], error: &str, hint: &str| {
        place.run(arguments).refused(2, error, Some(hint));
    };
    refused(
        &["run", "quik"],
        "no preset is called `quik`",
        "did you mean `quick`?",
    );
    refused(
        &["run", "kernels"],
        "no preset is called `kernels`",
        "lsmeter list presets",
    );
    refused(
        &["run", "--stack", "capability, selinux"],
        "' ' in a module name",
        "capability,selinux",
    );
    refused(
        &["run", "--stack", "SELinux"],
        "'S' in a module name",
        "lsm= parameter",
    );
    refused(&["run", "--baseline", "smack"], "is none of the", "add it");
    refused(
        &["run", "--kernel", "debian:six"],
        "`debian:six` does not name a kernel",
        "debian:6.12",
    );
    refused(&["run", "--on", "host"], "needs a directory", "dir");
    refused(
        &["run", "--dir", "not/there"],
        "there is no such directory",
        "--dir",
    );
    refused(
        &["run", "--json", "--output", "-"],
        "cannot both be standard output",
        "name a file",
    );
    refused(
        &["run", "--export-csv", "-", "--export-markdown", "-"],
        "cannot both be standard output",
        "name a file",
    );
    refused(
        &["kernel", "fetch", "build:mine"],
        "not a kernel that can be fetched",
        "kernel add",
    );
    refused(
        &["kernel", "remove", "debian:6.12"],
        "is not in the cache",
        "kernel list",
    );
    assert_eq!(place.names(), ["cache"], "nothing else was written");
}

/// Words that clap checks are told in clap's way.
#[test]
fn a_wrong_choice_lists_the_right_ones() {
    let place = Place::new();
    for (arguments, choices) in [
        (
            ["run", "--metric", "speed"],
            "instructions, time, throughput",
        ),
        (["run", "--fs", "ntfs"], "ext4"),
        (["run", "--clock", "sun"], "deterministic"),
        (["run", "--on", "moon"], "lab, host"),
    ] {
        let ended = place.run(&arguments).code(2);
        assert!(
            ended.stderr.starts_with("error: invalid value"),
            "{ended:#?}"
        );
        assert!(ended.stderr.contains(choices), "{ended:#?}");
    }
    let ended = place.run(&["run", "--metrc", "time"]).code(2);
    assert!(
        ended
            .stderr
            .contains("a similar argument exists: '--metric'"),
        "{ended:#?}"
    );
}

#[test]
fn a_number_out_of_range_is_wrong_usage() {
    let place = Place::new();
    for (option, value, error) in [
        ("--samples", "0", "`samples` is 0"),
        ("--jobs", "0", "`jobs` is 0"),
        ("--rounds", "1001", "`rounds` is 1001"),
        ("--throughput-period", "nan", "throughput_period"),
        ("--throughput-period", "-0", "throughput_period"),
        ("--boot-timeout", "0", "`boot_timeout_s` is 0"),
    ] {
        let value = format!("{option}={value}");
        place.run(&["run", &value]).refused(2, error, None);
    }
    place.run(&["run", "--samples", "-1"]).code(2);
}

#[test]
fn specs_that_make_no_sense() {
    let place = Place::new();
    let run = |name: &str| place.run(&["run", name]);
    run("missing.toml").refused(
        2,
        "cannot read missing.toml",
        Some("a preset or a TOML file"),
    );
    fs::create_dir(place.join("directory.toml")).unwrap();
    run("directory.toml").refused(2, "cannot read directory.toml", Some("TOML file"));
    place.write("binary.toml", [0xff, 0xfe, 0, 1]);
    run("binary.toml").refused(2, "cannot read binary.toml", Some("TOML file"));

    place.write(
        "typo.toml",
        "description = \"x\"\n\nstaks = [\"capability\"]\n",
    );
    run("typo.toml").refused(
        2,
        "typo.toml, line 3, column 1: ",
        Some("did you mean `stacks`?"),
    );
    place.write("kind.toml", "samples = 4\nmetrics = \"instructions\"\n");
    run("kind.toml").refused(2, "kind.toml, line 2", None);
    place.write("word.toml", "metrics = [\n  \"tme\"\n]\n");
    run("word.toml").refused(2, "word.toml, line 2", Some("did you mean `time`?"));
    place.write("torn.toml", "stacks = [\"capability\"");
    run("torn.toml").refused(2, "torn.toml, line 1", None);
    place.write("stack.toml", "stacks = [\"capability,\"]\n");
    run("stack.toml").refused(2, "no module name at position 2", Some("lsm= parameter"));
    place.write("empty-list.toml", "stacks = []\n");
    run("empty-list.toml").refused(2, "`stacks` is empty", None);
    place.write("escape.toml", "stacks = [\"\\u001b[31mred\"]\n");
    let ended = run("escape.toml").code(2);
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:#?}");
}

#[test]
fn a_configuration_that_makes_no_sense() {
    let place = Place::new();
    let path = place.write("config/lsmeter/config.toml", "mirorr = \"x\"\n");
    let ended = place.run(&["run"]).code(2);
    assert!(ended.stderr.contains(path.to_str().unwrap()), "{ended:#?}");
    assert!(
        ended.stderr.contains("unknown field `mirorr`"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("`mirror`"), "{ended:#?}");
    fs::write(&path, "qemu = \"/nonexistent/from-config\"\n").unwrap();
    let ended = place.run(&["doctor", "--json"]).code(3);
    assert!(
        ended.stdout.contains("/nonexistent/from-config"),
        "{ended:#?}"
    );
}

/// Looked for before a kernel is, which might have to be fetched.
#[test]
fn without_qemu_there_is_a_hint() {
    let place = Place::new();
    let run = |qemu: &str| place.run(&["run", "--offline", "--qemu", qemu]);
    run("/nonexistent").refused(3, "cannot run /nonexistent: ", Some("apt-get install"));
    run("/bin/true").refused(
        3,
        "/bin/true does not say which version of QEMU",
        Some("--version"),
    );
    let script = place.write("qemu", "#!/bin/sh\necho QEMU emulator version 1.0\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let asked = ["run", "--offline", "--qemu", "./qemu"];
    place
        .run(&asked)
        .refused(3, "QEMU 1.0 loads no TCG plugins", Some("--enable-plugins"));
    assert_eq!(place.names(), ["cache", "qemu"]);
}

#[test]
fn kernels_that_are_not_there_or_are_none() {
    let place = Place::new();
    let run = |kernel: &str| place.run(&["run", "--offline", "--kernel", kernel]);
    run("not/there").refused(2, "there is no such file", Some("bzImage"));
    run("debian:6.12").refused(
        2,
        "is not in the cache",
        Some("lsmeter kernel fetch debian:6.12"),
    );
    run("build:mine").refused(2, "is not in the cache", Some("kernel add"));

    let mut random = vec![0u8; 300_000];
    fs::File::open("/dev/urandom")
        .unwrap()
        .read_exact(&mut random)
        .unwrap();
    place.write("random", &random);
    place.write("empty", "");
    place.write("short-setup", bz_image(&random, 700));
    place.write("truncated", bz_image(&random, 40_000));
    place.write("no-payload", bz_image(&random, 200_000));
    for name in [
        "random",
        "empty",
        "short-setup",
        "truncated",
        "no-payload",
        "/bin/true",
    ] {
        let path = if name.starts_with('/') {
            name.into()
        } else {
            format!("./{name}")
        };
        for arguments in [
            &["run", "--offline", "--kernel", &path][..],
            &["kernel", "add", &path, "--name", "x"][..],
        ] {
            let ended = place.run(arguments).code(2);
            assert!(ended.stderr.starts_with("error: "), "{ended:#?}");
            assert!(ended.stderr.contains(name), "{ended:#?}");
            assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
        }
    }
    fs::create_dir(place.join("directory")).unwrap();
    run("./directory").code(2);

    let cache = place.cache().join("lsmeter");
    for part in ["kernels", "names", "imported", "tmp"] {
        assert_eq!(
            names(&cache.join(part)),
            Vec::<String>::new(),
            "left in {part}"
        );
    }
    let listing = place.run(&["kernel", "list", "--json"]).json();
    assert_eq!(listing["kernels"], Value::Array(Vec::new()));
}

/// The first `length` bytes of a bzImage whose payload is random.
fn bz_image(random: &[u8], length: usize) -> Vec<u8> {
    let mut image = random.to_vec();
    image[..4096].fill(0);
    image[0x1f1] = 7; // sectors of setup code
    image[0x1fe..0x200].copy_from_slice(&0xaa55u16.to_le_bytes());
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x206..0x208].copy_from_slice(&0x020fu16.to_le_bytes());
    image[0x211] = 1; // loaded high
    image[0x248..0x24c].copy_from_slice(&1024u32.to_le_bytes());
    image[0x24c..0x250].copy_from_slice(&200_000u32.to_le_bytes());
    image.truncate(length);
    image
}

#[test]
fn output_is_refused_before_anything_is_done() {
    let place = Place::new();
    let hint = Some("a directory that is there");
    for option in ["--output", "--export-csv", "--export-markdown"] {
        let asked = ["run", "--offline", option, "not/there/out"];
        place
            .run(&asked)
            .refused(3, "cannot write not/there/out: ", hint);
        let asked = ["run", "--offline", option, "."];
        place
            .run(&asked)
            .refused(3, "cannot write .: it is a directory", hint);
    }
    let closed = place.join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    // Root may write there all the same.
    if tempfile::tempfile_in(&closed).is_err() {
        let asked = ["run", "--offline", "--output", "closed/out"];
        place
            .run(&asked)
            .refused(3, "cannot write closed/out: permission denied", hint);
    }
    place
        .run(&["run", "--offline", "--output", "/proc/out"])
        .refused(3, "/proc/out", hint);
    assert_eq!(place.names(), ["closed"]);
}

#[test]
fn a_journal_that_is_there_is_not_overwritten() {
    let place = Place::new();
    let journal = place.write("out.json.journal", "cells of another run\n");
    let asked = ["run", "--dir", ".", "--output", "out.json"];
    place.run(&asked).refused(
        2,
        "holds the cells of a run that did not end",
        Some("--resume"),
    );
    assert_eq!(
        fs::read_to_string(&journal).unwrap(),
        "cells of another run\n"
    );

    let resumed = ["run", "--dir", ".", "--resume", "out.json.journal"];
    place
        .run(&resumed)
        .refused(2, "not a journal of lsmeter", Some("without --resume"));
    assert_eq!(
        fs::read_to_string(&journal).unwrap(),
        "cells of another run\n"
    );
    fs::remove_file(&journal).unwrap();
    place.run(&["run", "--dir", ".", "--resume"]).refused(
        2,
        "no journal of `quick`",
        Some("--resume"),
    );
}

/// Nothing is left behind by a run that could not begin: the next try is not refused.
#[test]
fn a_run_that_cannot_begin_leaves_no_journal() {
    let place = Place::new();
    let asked = ["run", "--dir", "gone", "--output", "out.json"];
    for _ in 0..2 {
        place
            .run(&asked)
            .refused(2, "there is no such directory", Some("--dir"));
    }
    assert_eq!(place.names(), ["cache"]);
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let place = Place::new();
    for arguments in [
        &["list", "benchmarks"][..],
        &["list", "benchmarks", "--json"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let mut child = place
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let ended = common::Ended::of(arguments, output);
        assert_eq!(ended.stderr, "", "{ended:#?}");
        assert_eq!(ended.code(0).signal, None);
    }
}
