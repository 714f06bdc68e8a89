// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run` that does not get as far as to boot.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::common::{Place, Running, names, signal, wait_for};

#[test]
fn programs_need_a_root_and_a_command() {
    let place = Place::new();
    let refused = |arguments: &[&str], error: &str, hint: &str| {
        let arguments = [&["run"], arguments].concat();
        place.run(&arguments).refused(2, error, Some(hint));
    };
    refused(&["--", "git", "status"], "need a root", "--programs");
    for (toml, error, hint) in [
        (
            "where = \"um\"\nkernels = [\"./linux\"]",
            "execute the kernel ./linux",
            "--kernel ./linux",
        ),
        (
            "[root]\nprograms = [\"./tool\"]",
            "ldd read ./tool",
            "--programs ./tool",
        ),
        (
            "[root]\nprograms = [\"sh\"]\npackages = [\"x; reboot\"]\n[[workloads]]\nname = \"a\"\nargv = [\"sh\"]",
            "is not a package's name",
            "lower-case letters",
        ),
    ] {
        place.write("theirs.toml", toml);
        refused(&["theirs.toml"], error, hint);
    }
    refused(&["--programs", "git"], "without a workload", "after --");
    refused(
        &["--programs", "git", "--prepare", "sh 'a", "--", "git"],
        "is no command",
        "as in a shell",
    );
    refused(
        &["--programs", "sh", "--metric", "time", "--", "sh"],
        "instructions are counted",
        "leave out",
    );
    refused(
        &["--programs", "sh", "--shard", "1/2", "--", "sh"],
        "not measured in parts",
        "on one machine",
    );
    place
        .run(&["run", "--programs", "no-such-program", "--", "sh"])
        .refused(3, "no-such-program is not on this machine", Some("--root"));
    let files = |files: &str, error: &str| {
        let arguments = ["run", "--programs", "sh", "--files", files, "--", "sh"];
        place
            .run(&arguments)
            .refused(3, error, Some("by their whole path"));
    };
    files("etc/passwd", "etc/passwd does not begin with /");
    files("/nowhere", "/nowhere is not on this machine");
    refused(
        &["workloads", "--bench", "git-stat"],
        "pattern `git-stat` fits no workload",
        "there are git-status, find-stat",
    );
    place
        .run(&["run", "--programs", "sh", "--bench", "open", "--", "sh"])
        .refused(2, "cannot be used with", None);
    std::fs::write(
        place.join("lacks.toml"),
        "[root]\nprograms = [\"no-such-program\"]\npackages = [\"such-a-package\"]\n\
         [[workloads]]\nname = \"a\"\nargv = [\"sh\"]\n",
    )
    .unwrap();
    place.run(&["run", "lacks.toml"]).refused(
        3,
        "no-such-program",
        Some("apt-get install such-a-package"),
    );
    place
        .run(&["run", "--root", "nowhere", "--", "sh"])
        .refused(3, "nowhere", None);
    refused(&["--repeat", "5"], "there is none", "after --");
}

#[test]
fn what_is_no_root_is_told() {
    let place = Place::new();
    let refused = |code: i32, root: &str, error: &str, hint: &str| {
        let arguments = ["run", "--root", root, "--", "sh"];
        place.run(&arguments).refused(code, error, Some(hint));
        assert_eq!(place.left_over(), [""; 0]);
    };
    place.write("dir/bin/sh", "");
    place
        .run(&["run", "--root", "dir"])
        .refused(2, "without a workload", Some("after --"));
    place.write("text", "hello\n".repeat(1000));
    refused(3, "text", "cannot read", "OCI image");
    place.write("some.tar.bz2", "BZh91AY");
    refused(
        3,
        "some.tar.bz2",
        "bzip2 compression is not supported",
        "xz or zstd",
    );
    place.write("cut.tar", [b'x'; 100]);
    refused(3, "cut.tar", "it is cut off", "a tar file");
    let fifo = place.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    refused(
        3,
        "fifo",
        "neither a directory nor a file",
        "OCI image layout",
    );
    place.write("layout/oci-layout", "{}");
    place.write("layout/index.json", r#"{"manifests":[]}"#);
    refused(
        3,
        "layout",
        "holds no image for linux/",
        "docker pull --platform",
    );
    place.write(
        "layout/index.json",
        format!(
            r#"{{"manifests":[{{"digest":"sha256:{}"}}]}}"#,
            "0".repeat(64)
        ),
    );
    refused(3, "layout", "000 is not there", "save it again");
    place.write(
        "users.toml",
        r#"
        [root]
        path = "dir"
        [[workloads]]
        name = "x"
        argv = ["sh"]
        user = "nobody"
        "#,
    );
    place
        .run(&["run", "users.toml"])
        .refused(2, "knows no user `nobody`", Some("give its number"));
    assert_eq!(place.left_over(), [""; 0]);
}

/// An ordinary user cannot read all of others' directories.
#[test]
fn a_file_that_cannot_be_read_is_named() {
    let place = Place::new();
    let secret = place.write("dir/etc/shadow", "");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let ended = place.run_unprivileged(&["run", "--root", "dir", "--", "sh"]);
    let error = "dir/etc/shadow: Permission denied";
    ended.refused(3, error, Some("as a tar file"));
}

/// Whoever ends it while a root is made waits for nothing, and nothing stays.
#[test]
fn making_a_root_can_be_broken_off() {
    let place = Place::new();
    fs::create_dir_all(place.join("dir")).unwrap();
    // Zeros that are nowhere: minutes to read, if nobody broke it off.
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        let file = fs::File::create(place.join("dir").join(name)).unwrap();
        file.set_len(1 << 30).unwrap();
    }
    let mut running = Running::start(&place, &["run", "--root", "dir", "--", "sh"]);
    wait_for("the root", || place.left_over().pop());
    signal(running.pid(), Signal::INT);
    wait_for("the end", || running.has_ended().then_some(()));
    running.wait().refused(4, "interrupted", None);
    assert_eq!(place.left_over(), [""; 0]);
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
    refused(
        &["run", "--bench", "open,sta"],
        "pattern `sta` fits no benchmark",
        "did you mean `stat`?",
    );
    refused(
        &["run", "--bench", "open,"],
        "names no benchmark",
        "BENCHMARK:VARIANT",
    );
    refused(
        &["run", "--baseline", "smack"],
        "is not one of the",
        "add it",
    );
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
        (["run", "--on", "moon"], "lab, host"),
    ] {
        let ended = place.run(&arguments).code(2);
        assert!(
            ended.stderr.starts_with("error: invalid value"),
            "{ended:#?}"
        );
        assert!(ended.stderr.contains(choices), "{ended:#?}");
    }
    for (setting, told) in [
        ("avc_entrys=16", "did you mean `avc_entries`?"),
        ("filesystem=tmpfs", "in TOML, line 1, column 12: "),
    ] {
        let ended = place.run(&["run", "--set", setting]).code(2);
        assert!(ended.stderr.contains(told), "{ended:#?}");
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
        ("--set", "throughput_period_s=nan", "throughput_period"),
        ("--set", "throughput_period_s=-0.0", "throughput_period"),
        ("--timeout", "0", "`boot_timeout_s` is 0"),
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
    // It has plugins, but does not load one: what it says is the reason.
    let says = "case $* in *-plugin*) echo qemu: out of memory >&2; exit 1;; esac\n";
    place.write(
        "qemu",
        format!("#!/bin/sh\n{says}echo QEMU emulator version 1.0\n"),
    );
    place.run(&asked).refused(
        3,
        "QEMU 1.0 does not load lsmeter's plugin: qemu: out of memory",
        Some("ulimit -v"),
    );
    place.write("qemu", "#!/bin/sh\necho qemu: out of memory >&2; exit 1\n");
    place.run(&asked).refused(
        3,
        "./qemu --version fails: qemu: out of memory",
        Some("--version"),
    );
    assert_eq!(place.names(), ["cache", "qemu"]);
}

#[test]
fn output_is_refused_before_anything_is_done() {
    let place = Place::new();
    let hint = Some("a directory that is there");
    for (output, error) in [
        ("not/there/out", "cannot write not/there/out: "),
        (".", "cannot write .: it is a directory"),
    ] {
        let asked = ["run", "--offline", "--output", output];
        place.run(&asked).refused(3, error, hint);
    }
    place
        .run(&["run", "--offline", "--output", "/proc/out"])
        .refused(3, "/proc/out", hint);
    assert_eq!(place.names(), Vec::<String>::new());
    let closed = place.join("below/closed");
    fs::create_dir_all(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let asked = ["run", "--offline", "--output", "below/closed/out"];
    let error = "cannot write below/closed/out: permission denied";
    place.run_unprivileged(&asked).refused(3, error, hint);
    assert_eq!(names(&closed), Vec::<String>::new());
}

/// Temporary files are removed by a lock that nobody holds, not by a name or a process id.
#[test]
fn only_what_a_killed_run_left_is_removed() {
    let place = Place::new();
    let own = place.write("tmp/lsmeter-2026-11-29/results.json", "precious");
    // A QEMU that takes as long as there is a file.
    place.write("hold", "");
    let waits = "#!/bin/sh\nwhile [ -e hold ]; do sleep 0.05; done\necho none\n";
    let qemu = place.write("qemu", waits);
    fs::set_permissions(qemu, fs::Permissions::from_mode(0o755)).unwrap();
    let asked = ["run", "--offline", "--qemu", "./qemu"];
    let killed = Running::start(&place, &asked);
    wait_for("a scratch directory", || {
        (place.left_over().len() > 1).then_some(())
    });
    signal(killed.pid(), Signal::KILL);
    killed.wait();
    let left = place.left_over();
    assert_eq!(left.len(), 2, "{left:?}");
    let running = Running::start(&place, &asked);
    let others = || {
        let names = place.left_over();
        (names.len() == 2 && names != left).then_some(names)
    };
    let names = wait_for("the end of what was left", others);
    // Another process leaves what this one uses.
    place
        .run(&["run", "--offline", "--qemu", "/bin/true"])
        .code(3);
    assert_eq!(place.left_over(), names);
    fs::remove_file(place.join("hold")).unwrap();
    running.wait().code(3);
    assert_eq!(place.left_over(), ["lsmeter-2026-11-29"]);
    assert_eq!(fs::read_to_string(own).unwrap(), "precious");
}

#[test]
fn a_journal_that_is_there_is_not_overwritten() {
    let place = Place::new();
    let journal = place.write("out.json.journal", "cells of another run\n");
    let asked = ["run", "--dir", ".", "--output", "out.json"];
    place.run(&asked).refused(
        2,
        "holds the measurements of a run that did not end",
        Some("--resume"),
    );
    assert_eq!(
        fs::read_to_string(&journal).unwrap(),
        "cells of another run\n"
    );

    let resumed = ["run", "--dir", ".", "--resume=out.json.journal"];
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
    for asked in [
        ["run", "--dir", ".", "--resume=nothere"],
        ["sensitivity", "--bench", "stat", "--resume=nothere"],
    ] {
        let error = "there is no journal nothere";
        place
            .run(&asked)
            .refused(2, error, Some("without --resume"));
    }
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
fn a_pattern_that_fits_no_kernel_is_told() {
    let place = Place::new();
    let run = place.run(&["run", "--on", "um", "--kernel", "build:none.*"]);
    let error = "no kernel in the cache has a name like `build:none.*`";
    run.refused(3, error, Some("--layouts 8"));
    // The preset's two; the first is told, with how to make it.
    let error = "no kernel in the cache has a name like `build:um-dac.*`";
    for words in [
        &["run", "paper-um"][..],
        &["run", "paper", "--on", "um", "--metric", "time"],
    ] {
        let run = place.run(words);
        run.refused(3, error, Some("--flavour um-dac --layouts 8"));
    }
}
