// SPDX-License-Identifier: GPL-2.0-or-later
//! lsmeter as root on a live machine: a VM with a stock kernel. SLOW: some boots of a
//! quarter of a minute each.
//!
//! Needs QEMU, busybox and the kernels debian:6.1 and debian:6.12 in the cache of
//! whoever runs the tests (`lsmeter kernel fetch debian:6.1 debian:6.12`); nothing is
//! fetched here.

use crate::vm::Vm;

const KERNELS: &[&str] = &["debian:6.1", "debian:6.12"];

#[test]
fn lsmeter_runs_in_a_guest() {
    for kernel in KERNELS {
        let vm = Vm::new(kernel).lsm("capability,selinux,bpf");
        let outcome = vm
            .run(
                "uname -r >/out/release
                 cat /sys/kernel/security/lsm >/out/lsm
                 lsmeter doctor --json >/out/doctor.json
                 echo $? >/out/doctor.status
                 lsmeter run --on host --dir /tmp --bench getppid -n 3 \
                     --output /out/run.json >/out/table || exit
                 lsmeter --version",
            )
            .status(0);
        outcome.assert_no_kernel_warnings();
        let version = format!("lsmeter {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(outcome.text(), version);
        let file = |path: &str| String::from_utf8(outcome.file(path)).unwrap();
        assert_eq!(file("release").trim(), vm.release());
        let lsms = file("lsm");
        assert!(lsms.contains("capability,selinux,bpf"), "{lsms}");

        // There is neither a QEMU nor a kernel in there, and it says so.
        let doctor: serde_json::Value = serde_json::from_str(&file("doctor.json")).unwrap();
        let findings = doctor["findings"].as_array().unwrap();
        let found = |what: &str| {
            let mut of = findings.iter().filter(|finding| finding["what"] == what);
            of.next().unwrap()["found"].as_str().unwrap().to_owned()
        };
        assert_eq!(found("LSMs of this machine"), lsms.trim());
        assert_eq!(found("processors"), "2");
        assert_eq!(file("doctor.status"), "3\n");

        let run = model::Document::read(outcome.file("run.json").as_slice()).unwrap();
        assert_eq!(run.cells.len(), 1);
        let cell = &run.cells[0];
        assert_eq!(cell.estimate().map(|of| of.n), Some(3), "{cell:#?}");
        assert_eq!(cell.release, vm.release());
        assert!(file("table").contains("getppid"), "{}", file("table"));
    }
}

/// Bytes that a terminal would change, an end without a newline, a status that is
/// neither the shell's nor a signal's, and what goes on after the script.
#[test]
fn what_a_script_says_comes_back_exactly() {
    let bytes: Vec<u8> = (0..=255).collect();
    let vm = Vm::new("debian:6.12")
        .file("/root/a b", &bytes, 0o640)
        .program("setpriv");
    let outcome = vm
        .run(
            "cat 'a b'; stat -c ' %a' 'a b'; [ -t 1 ] || [ -t 2 ] || printf 'no terminal'
             echo complaint >&2
             mkdir -p /out/below; cat 'a b' 'a b' >/out/below/twice; : >/out/empty
             echo 'WARNING: a test' >/dev/kmsg
             setpriv --reuid 65534 --clear-groups id -u >/out/user
             (while :; do echo more >&2; sleep 1; done) &
             sleep 1000 &
             exit 42",
        )
        .status(42);
    let warnings = outcome.kernel_warnings();
    assert_eq!(warnings.len(), 1, "{}", outcome.told());
    assert!(warnings[0].ends_with("] WARNING: a test"), "{warnings:?}");
    let mut expected = bytes.clone();
    expected.extend(b" 640\nno terminal");
    assert_eq!(outcome.stdout, expected, "{}", outcome.told());
    assert!(outcome.stderr.contains("complaint\n"), "{}", outcome.told());
    assert!(outcome.console.contains("complaint\n"));
    assert_eq!(outcome.file("below/twice"), [&bytes[..], &bytes].concat());
    assert_eq!(outcome.file("empty"), b"");
    assert_eq!(outcome.file("user"), b"65534\n");
}

#[test]
fn a_clock_of_instructions_repeats_itself() {
    let vm = Vm::new("debian:6.12").lsm("capability").icount();
    let script = "echo begin >/dev/kmsg; lsmeter --version; echo end >/dev/kmsg; kill -TERM $$";
    let (first, second) = (vm.run(script).status(143), vm.run(script).status(143));
    // With the microsecond, and so the instructions, of each line.
    assert_eq!(first.kernel_log, second.kernel_log);
    assert!(first.kernel_log.contains("] end"), "{}", first.told());
}
