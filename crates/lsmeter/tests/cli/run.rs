// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter run` without a boot.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::common::{Place, Running, names, signal, wait_for};

#[test]
fn programs_need_a_root_and_a_command() {
    let place = Place::new();
    let workload = "[[workloads]]\nname = \"a\"\nargv = [\"sh\"]\n";
    for (name, toml) in [
        ("um", "where = \"um\"\nkernels = [\"./linux\"]"),
        ("tool", "[root]\nprograms = [\"./tool\"]"),
        (
            "package",
            "[root]\nprograms = [\"sh\"]\npackages = [\"x; reboot\"]\n",
        ),
        ("both", "[root]\npath = \"/x\"\nfiles = [\"/y\"]"),
        ("bare", "[root]\npackages = [\"sh\"]\n"),
        (
            "lacks",
            "[root]\nprograms = [\"no-such-program\"]\npackages = [\"such-a-package\"]\n",
        ),
    ] {
        let workload = if toml.contains("packages") {
            workload
        } else {
            ""
        };
        place.write(&format!("{name}.toml"), [toml, workload].concat());
    }
    place.refuses(
        2,
        "run -- git status | need a root | --programs
         run um.toml | execute the kernel ./linux | --kernel ./linux
         run tool.toml | ldd read ./tool | --programs ./tool
         run both.toml | both `path` (--root) and `programs` or `files` | leave out `path`
         run bare.toml | neither `path` nor `programs` | a directory with --root
         run package.toml | invalid package name | lower-case letters
         run --programs git | no workload | after --
         run --programs git --prepare \"sh 'a\" -- git | is not a command | as in a shell
         run --programs sh --metric time -- sh | only instruction counts | leave out
         run --programs sh --shard 1/2 -- sh | cannot split runs | leave out --shard
         run workloads --bench git-stat | `git-stat` matches no workload | git-status, find-stat
         run --programs sh --bench open -- sh | cannot be used with
         run --repeat 5 | need a command | at the end: --
         run --programs sh --files etc/passwd -- sh | etc/passwd does not begin with / | absolute
         run --programs sh --files /nowhere -- sh | /nowhere is not on this machine | absolute path
         run --root nowhere -- sh | nowhere | --root PATH",
    );
    place.refuses(
        3,
        "run --programs no-such-program -- sh | no-such-program is not on this machine | --root
         run lacks.toml | no-such-program | apt-get install such-a-package",
    );
}

#[test]
fn invalid_roots_are_refused() {
    let place = Place::new();
    place.write("dir/bin/sh", "");
    place.write("text", "hello\n".repeat(1000));
    place.write("some.tar.bz2", "BZh91AY");
    place.write("cut.tar", [b'x'; 100]);
    let fifo = place.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let lost = format!(
        r#"{{"manifests":[{{"digest":"sha256:{}"}}]}}"#,
        "0".repeat(64)
    );
    for (name, index) in [("empty", r#"{"manifests":[]}"#), ("lost", &lost)] {
        place.write(&format!("{name}/oci-layout"), "{}");
        place.write(&format!("{name}/index.json"), index);
    }
    let workload = "[root]\npath = 'dir'\n[[workloads]]\nname = 'x'\nargv = ['sh']\n";
    place.write("users.toml", format!("{workload}user = 'nobody'\n"));
    place.refuses(
        3,
        "run --root text -- sh | cannot read | OCI image
         run --root some.tar.bz2 -- sh | bzip2 compression is not supported | xz or zstd
         run --root cut.tar -- sh | it is cut off | a tar file
         run --root fifo -- sh | neither a directory nor a file | OCI image layout
         run --root empty -- sh | has no image for linux/ | docker pull --platform
         run --root lost -- sh | 000 is missing | save it again",
    );
    place.refuses(
        2,
        "run --root dir | no workload | after --
         run users.toml | has no user `nobody` | give numbers",
    );
    assert_eq!(place.left_over(), [""; 0]);
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let place = Place::new();
    let secret = place.write("dir/etc/shadow", "");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let ended = place.run_unprivileged(&["run", "--root", "dir", "--", "sh"]);
    let error = "dir/etc/shadow: Permission denied";
    ended.refused(3, error, Some("a tar file"));
}

/// An interruption while a root is built ends at once and leaves no files.
#[test]
fn building_a_root_can_be_interrupted() {
    let place = Place::new();
    fs::create_dir_all(place.join("dir")).unwrap();
    // Sparse files, which take minutes to read.
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
fn invalid_arguments_are_refused() {
    let place = Place::new();
    place.refuses(
        2,
        "run quik | unknown preset `quik` | did you mean `quick`?
         run kernels | unknown preset `kernels` | lsmeter list presets
         run --stack 'capability, selinux' | a module name contains ' ' | capability,selinux
         run --stack SELinux | a module name contains 'S' | lsm= parameter
         run --bench open,sta | pattern `sta` matches no benchmark | did you mean `stat`?
         run --bench open, | no benchmark | BENCHMARK:VARIANT
         run --baseline smack | is not one of the | or add `smack`
         run --baseline selinx | is not one of the | did you mean `capability,selinux`?
         run -s capability selinux | unknown preset `selinux` | --stack capability,selinux
         run -k debain:6.12 | `debain:` is unknown | did you mean `debian:6.12`?
         run --details=opne | matches no operation | --details=open
         run --kernel debian:six | `debian:six` does not name a kernel | debian:6.12
         run --on host | needs a directory | dir
         run --dir not/there | no such directory | --dir
         run --json --output - | cannot both go to standard output | name a file",
    );
    // These numbers are out of range.
    place.refuses(
        2,
        "run --samples=0 | `samples` is 0
         run --jobs=0 | `jobs` is 0
         run --set=rounds=1001 | `rounds` is 1001
         run --set=throughput_period_s=nan | throughput_period
         run --set=throughput_period_s=-0.0 | throughput_period
         run --timeout=0 | `boot_timeout_s` is 0
         run --samples -1 | unexpected argument",
    );
    assert_eq!(place.names(), ["cache"], "nothing else was written");
}

#[test]
fn a_wrong_choice_lists_the_right_ones() {
    let place = Place::new();
    for (arguments, expected) in [
        ("--metric speed", "instructions, time, throughput"),
        ("--fs ntfs", "ext4"),
        ("--on moon", "lab, host"),
        ("--set avc_entrys=16", "did you mean `avc_entries`?"),
        ("--set filesystem=tmpsf", "did you mean `tmpfs`?"),
        ("--set samples=many", "in TOML, line 1, column 9: "),
        ("--metrc time", "a similar argument exists: '--metric'"),
    ] {
        let ended = place.line(&format!("run {arguments}")).code(2);
        let stderr = &ended.stderr;
        assert!(stderr.starts_with("error: "), "{ended:#?}");
        assert!(stderr.contains(expected), "{ended:#?}");
    }
}

#[test]
fn invalid_specs_are_refused() {
    let place = Place::new();
    fs::create_dir(place.join("directory.toml")).unwrap();
    place.write("binary.toml", [0xff, 0xfe, 0, 1]);
    for (name, text) in [
        ("typo", "description = \"x\"\n\nstaks = [\"capability\"]\n"),
        ("kind", "samples = 4\nmetrics = \"instructions\"\n"),
        ("word", "metrics = [\n  \"tme\"\n]\n"),
        ("torn", "stacks = [\"capability\""),
        ("stack", "stacks = [\"capability,\"]\n"),
        ("empty-list", "stacks = []\n"),
        ("escape", "stacks = [\"\\u001b[31mred\"]\n"),
    ] {
        place.write(&format!("{name}.toml"), text);
    }
    place.refuses(
        2,
        "run missing.toml | cannot read missing.toml | a preset or a TOML file
         run directory.toml | cannot read directory.toml | TOML file
         run binary.toml | cannot read binary.toml | TOML file
         run typo.toml | typo.toml, line 3, column 1: | did you mean `stacks`?
         run kind.toml | kind.toml, line 2
         run word.toml | word.toml, line 2 | did you mean `time`?
         run torn.toml | torn.toml, line 1
         run stack.toml | no module name at position 2 | lsm= parameter
         run empty-list.toml | `stacks` is empty",
    );
    let ended = place.line("run escape.toml").code(2);
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:#?}");
}

/// QEMU is checked before kernels are fetched.
#[test]
fn without_qemu_there_is_a_hint() {
    let place = Place::new();
    let version = "echo QEMU emulator version 1.0";
    let plugin = "case $* in *-plugin*) echo qemu: out of memory >&2; exit 1;; esac";
    for (name, script) in [
        ("old", version.to_owned()),
        // This QEMU supports plugins but fails to load one. The reason is its output.
        ("full", format!("{plugin}\n{version}")),
        ("fails", "echo qemu: out of memory >&2; exit 1".to_owned()),
    ] {
        let path = place.write(name, format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.refuses(
        3,
        "run --offline --qemu /nonexistent | cannot run /nonexistent: | give --qemu the path
         run --offline --qemu /bin/true | /bin/true does not report a QEMU version | --version
         run --offline --qemu ./old | QEMU 1.0 has no TCG plugins | --enable-plugins
         run --offline --qemu ./full | not load lsmeter's plugin: qemu: out of memory | ulimit -v
         run --offline --qemu ./fails | ./fails --version fails: qemu: out of memory | --version",
    );
    assert_eq!(place.names(), ["cache", "fails", "full", "old"]);
}

#[test]
fn output_is_refused_before_anything_is_done() {
    let place = Place::new();
    for option in [
        "run --output",
        "profile --output",
        "profile --callgrind",
        "profile --folded",
    ] {
        for (output, error) in [
            ("not/there/out", "cannot write not/there/out: "),
            (".", "cannot write .: it is a directory"),
            ("/proc/out", "/proc/out"),
        ] {
            let refused = place.line(&format!("{option} {output} --offline"));
            refused.refused(2, error, Some("an existing directory"));
        }
    }
    assert_eq!(place.names(), [""; 0]);
    let closed = place.join("below/closed");
    fs::create_dir_all(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let asked = ["run", "--offline", "--output", "below/closed/out"];
    let error = "cannot write below/closed/out: permission denied";
    let ended = place.run_unprivileged(&asked);
    ended.refused(2, error, Some("an existing directory"));
    assert_eq!(names(&closed), [""; 0]);
}

/// Temporary files are removed if their lock is free, whatever their name or process id.
#[test]
fn only_what_a_killed_run_left_is_removed() {
    let place = Place::new();
    let own = place.write("tmp/lsmeter-2026-11-29/results.json", "precious");
    // This QEMU waits until the file is removed.
    place.write("hold", "");
    let waits = "#!/bin/sh\nwhile [ -e hold ]; do sleep 0.05; done\necho none\n";
    let qemu = place.write("qemu", waits);
    fs::set_permissions(qemu, fs::Permissions::from_mode(0o755)).unwrap();
    let asked = ["run", "--offline", "--qemu", "./qemu"];
    let killed = Running::start(&place, &asked);
    // Without its marker the directory would not be removed.
    wait_for("a scratch directory", || {
        let marked = |name: &String| {
            place
                .join("tmp")
                .join(name)
                .join(".lsmeter-scratch")
                .exists()
        };
        place.left_over().iter().any(marked).then_some(())
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
    // Another process does not remove a directory in use.
    place.line("run --offline --qemu /bin/true").code(3);
    assert_eq!(place.left_over(), names);
    fs::remove_file(place.join("hold")).unwrap();
    running.wait().code(3);
    assert_eq!(place.left_over(), ["lsmeter-2026-11-29"]);
    assert_eq!(fs::read_to_string(own).unwrap(), "precious");
}

#[test]
fn a_pattern_that_matches_no_kernel_is_refused() {
    let error = "no kernel in the cache matches `build:um-dac.*`";
    let hint = "--flavour um-nolsm --layouts 8";
    let table = format!(
        "run --on um --kernel build:none.* | matches `build:none.*` | --layouts 8
         run paper-um | {error} | {hint}
         run paper --on um --metric time | {error} | {hint}"
    );
    Place::new().refuses(3, &table);
}

#[test]
fn a_dry_run_needs_no_kernel() {
    let place = Place::new();
    let lines = |arguments: &str| -> String {
        let run = place.run(&arguments.split(' ').collect::<Vec<_>>());
        run.code(0).stdout.clone()
    };
    let two = "run -s capability -s capability,selinux -b open:AA,treewalk:full --dry-run";
    let text = lines(two);
    for line in [
        "debian:6.12 under capability: measurements 2, boots 1\n",
        "debian:6.12 under capability,selinux: measurements 2, boots 1\n",
        "all: measurements 4, boots 2, about ",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let part = lines(&format!("{two} --shard 2/2"));
    assert!(part.contains("all: measurements 2, boots 1"), "{part}");
    let timed = lines(&format!("{two} --metric time --set rounds=5"));
    assert!(timed.contains("all: measurements 4, boots 10"), "{timed}");
    let host = lines("run --on host --dir . -b open:AA --dry-run");
    assert!(host.contains("all: measurements 1, processes 1"), "{host}");
    let program = lines("run --programs sh --dry-run -- sh");
    assert!(
        program.ends_with("all: measurements 5, boots 5\n"),
        "{program}"
    );
}
