// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter monitor` as root on live machines: VMs with Debian kernels. SLOW: boots of half a minute
//! each.
//!
//! Needs QEMU, busybox and the kernels debian:6.1 and debian:6.12.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::vm::{Outcome, Vm};
use model::{Document, Interval, Kind, MonitorMode, WarningKind, WatchedHook};

fn recording(outcome: &Outcome, name: &str) -> Document {
    let bytes = outcome.file(name);
    Document::parse_as(Kind::Recording, &bytes)
        .unwrap_or_else(|error| panic!("{name}: {error}: {}", outcome.summary()))
}

fn hook<'a>(interval: &'a Interval, function: &str) -> Option<&'a WatchedHook> {
    let mut hooks = interval.hooks.iter();
    hooks.find(|hook| hook.function == function)
}

fn calls_in(interval: &Interval, function: &str, system_call: &str) -> u64 {
    let calls = hook(interval, function).into_iter();
    let mut calls = calls.flat_map(|hook| &hook.system_calls);
    let call = calls.find(|call| call.system_call == system_call);
    call.map_or(0, |call| call.calls.count)
}

/// cat looks up and opens a file below two directories, a thousand times.
#[test]
fn a_commands_hooks_are_counted_exactly() {
    for kernel in ["debian:6.1", "debian:6.12"] {
        let outcome = Vm::new(kernel)
            .lsm("capability,apparmor")
            .run(
                "mkdir -p /tmp/a/b; echo text >/tmp/a/b/c
                 printf 'i=0; while [ $i -lt 1000 ]; do read x </tmp/a/b/c; i=$((i+1)); done' >/tmp/loop
                 for mode in --count '' --histogram; do
                     lsmeter monitor $mode --hooks file_open,inode_permission,inode_getattr --functions apparmor \
                         --record /out/$mode.json -- sh /tmp/loop >&2 || exit
                     cat /tmp/a/b/c >/dev/null
                 done
                 lsmeter monitor --replay /out/--histogram.json",
            )
            .status(0);
        outcome.assert_no_kernel_warnings();
        assert!(
            outcome.text().contains("inode_permission"),
            "{}",
            outcome.summary()
        );
        let mut counts = Vec::new();
        for (name, mode) in [
            ("--count.json", MonitorMode::Count),
            (".json", MonitorMode::Time),
            ("--histogram.json", MonitorMode::Histogram),
        ] {
            let document = recording(&outcome, name);
            assert_eq!(document.monitor.as_ref().unwrap().mode, mode);
            assert_eq!(document.warnings, [], "{name}");
            let total = document.all_intervals();
            assert_eq!(total.lost, 0);
            // Includes opens of the shell and its libraries.
            let opened = calls_in(&total, "security_file_open", "openat");
            let own = calls_in(&total, "apparmor_file_open", "openat");
            assert!((1_000..1_020).contains(&opened), "{name}: {opened}");
            assert_eq!(own, opened, "{name}");
            let walked = calls_in(&total, "security_inode_permission", "openat");
            let rest: u64 = total.hooks.iter().map(|hook| hook.calls.count).sum();
            counts.push((opened, walked, rest));
            let timed = hook(&total, "security_file_open").unwrap();
            assert_eq!(timed.calls.sum_ns.is_some(), mode != MonitorMode::Count);
            assert_eq!(!timed.histogram.is_empty(), mode == MonitorMode::Histogram);
        }
        // All modes count the same.
        assert_eq!(counts[0], counts[1], "{kernel}");
        assert_eq!(counts[1], counts[2], "{kernel}");
    }
}

#[test]
fn hooks_have_a_share_of_their_system_calls() {
    for kernel in ["debian:6.1", "debian:6.12"] {
        let outcome = Vm::new(kernel)
            .lsm("capability")
            .run(
                "echo text >/tmp/c
                 printf 'i=0; while [ $i -lt 100 ]; do (read x </tmp/c); i=$((i+1)); done' >/tmp/loop
                 monitor() { lsmeter monitor --system-calls --hooks file_open,task_alloc $*; }
                 monitor --record /out/command.json -- sh /tmp/loop || exit
                 mkdir -p /tmp/group; mount -t cgroup2 none /tmp/group || exit
                 # Busy, but all processors are one thread, and a monitor needs most of it.
                 while :; do cat /tmp/c; sleep 0.05; done >/dev/null & busy=$!
                 monitor --cgroup /tmp/group --duration 1 --record /out/group.json >/dev/null || exit
                 monitor --duration 1 --record /out/machine.json >/dev/null || exit
                 kill $busy",
            )
            .status(0);
        outcome.assert_no_kernel_warnings();
        assert!(
            outcome.text().contains("System calls as a whole"),
            "{}",
            outcome.summary()
        );
        let command = recording(&outcome, "command.json").all_intervals();
        let opens = calls_in(&command, "security_file_open", "openat");
        let whole = command.whole("openat").unwrap();
        // Opens of missing files do not call file_open.
        assert!(whole.count >= opens && opens > 100, "{whole:?}");
        // A child returns from the call that its parent entered.
        let forks = ["fork", "vfork", "clone"].into_iter();
        let forks: u64 = forks
            .filter_map(|name| Some(command.whole(name)?.count))
            .sum();
        let tasks = hook(&command, "security_task_alloc").unwrap();
        assert_eq!(forks, tasks.calls.count, "{:#?}", command.system_calls);
        for name in ["command", "group", "machine"] {
            let document = recording(&outcome, &format!("{name}.json"));
            assert_eq!(document.warnings, [], "{name}");
            let total = document.all_intervals();
            let opened = hook(&total, "security_file_open").unwrap();
            let open = total.whole("openat").unwrap();
            assert!(open.count > 0, "{name}: {open:?}");
            // If the machine was busy during calibration, nothing may be left.
            let share = total.share_of_system_calls(&opened.system_calls);
            assert!(share.is_none_or(|share| share >= 0.0), "{name}: {share:?}");
        }
    }
}

/// A compiled profile for a program that may do anything except read `/tmp/secret`.
fn apparmor_profile() -> Vec<u8> {
    let features = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/policy/apparmor/features");
    let place = tempfile::tempdir().unwrap();
    let (source, compiled) = (place.path().join("source"), place.path().join("compiled"));
    let rules = "profile confined /bin/confined {\n  file,\n  deny /tmp/secret r,\n}\n";
    fs::write(&source, rules).unwrap();
    let parser = Command::new("apparmor_parser")
        .arg("-QK")
        .arg("-M")
        .arg(features)
        .arg("-o")
        .args([&compiled, &source])
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .output()
        .expect("apparmor_parser (apt-get install apparmor)");
    assert!(parser.status.success(), "{parser:?}");
    fs::read(compiled).unwrap()
}

#[test]
fn denials_are_listed_by_hook_and_function() {
    let outcome = Vm::new("debian:6.12")
        .lsm("landlock,capability,yama,apparmor")
        .program("setpriv")
        .program("/bin/cat")
        .file("/profile", apparmor_profile(), 0o600)
        .run(
            "echo secret >/tmp/secret; chmod 600 /tmp/secret; cp /bin/cat /bin/confined
             echo 3 >/proc/sys/kernel/yama/ptrace_scope
             dd if=/profile of=/sys/kernel/security/apparmor/.replace bs=1M || exit 99
             lsmeter monitor --hooks 'inode_permission,capable,ptrace_*' --record /out/denied.json -- \
                 setpriv --reuid 65534 --clear-groups sh -c 'cat /tmp/secret; cat /proc/1/environ'
             lsmeter monitor --hooks file_open --functions apparmor --record /out/confined.json -- \
                 /bin/confined /tmp/secret /proc/self/attr/current
             lsmeter monitor --count --hooks file_open --interval 0.5 --textfile /tmp/a.prom -- \
                 sh -c 'cat /tmp/a.prom >/out/first.prom; until grep -q ^lsmeter_hook_calls_total /tmp/a.prom; do sleep 0.2; done; cat /tmp/a.prom >/out/later.prom'
             ! ls /tmp/a.prom*",
        )
        .status(0);
    // The text file exists from start to end of a monitor.
    let [first, later] = ["first.prom", "later.prom"].map(|name| outcome.file(name));
    let [first, later] = [first, later].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(first.contains("\nlsmeter_lost_calls_total 0\n"), "{first}");
    let opened = "\nlsmeter_hook_calls_total{hook=\"file_open\",module=\"framework\",syscall=\"";
    assert!(later.contains(opened), "{later}");
    let total = recording(&outcome, "denied.json").all_intervals();
    let denied = total.hooks.iter().map(WatchedHook::denials).sum::<u64>();
    assert!(denied > 0, "{total:#?}");
    let capable = hook(&total, "security_capable").unwrap();
    assert!(capable.errnos["EPERM"] > 0, "{capable:#?}");
    let total = recording(&outcome, "confined.json").all_intervals();
    for function in ["security_file_open", "apparmor_file_open"] {
        let seen = hook(&total, function).unwrap();
        assert_eq!(seen.errnos["EACCES"], 1, "{seen:#?}");
        assert_eq!(seen.denials(), 1);
        assert!(seen.calls.count > 1, "{seen:#?}");
    }
}

/// However it ends, no program stays attached, and results are printed where possible.
#[test]
fn every_end_is_clean() {
    let outcome = Vm::new("debian:6.12")
        .lsm("capability")
        .program("setpriv")
        .run(
            "links() { ls -l /proc/[0-9]*/fd 2>/dev/null | grep bpf_link; }
             start() {
                 lsmeter monitor --hooks file_open $* >/out/table & lsmeter=$!
                 tries=0
                 until links >/dev/null; do
                     tries=$((tries + 1)); [ $tries -lt 200 ] || exit 98; sleep 0.2
                 done
             }
             # Repeated until handled: a shell makes its children ignore SIGINT at first.
             start; while kill -INT $lsmeter 2>/dev/null; do sleep 0.2; done
             wait $lsmeter; echo interrupted $?
             grep -q file_open /out/table && echo table
             links && exit 97
             start; kill -9 $lsmeter; wait $lsmeter; echo killed $?
             sleep 2; links && exit 96
             # The text file exists once the target is followed.
             sleep 1000 & target=$!; start --pid $target --textfile /tmp/target.prom
             until [ -e /tmp/target.prom ]; do sleep 0.2; done
             kill $target; wait $lsmeter; echo target $?
             lsmeter monitor --hooks nosuch_hook; echo hook $?
             lsmeter monitor --pid 99999; echo pid $?
             lsmeter monitor --cgroup /tmp; echo group $?
             # One hook is enough.
             lsmeter monitor --hooks file_open -- /nosuch/command; echo command $?
             lsmeter monitor -q --hooks file_open --duration 1 --json-lines --interval 0.5 | wc -l
             HOME=/tmp setpriv --reuid 65534 --clear-groups lsmeter monitor; echo user $?
             lsmeter monitor --hooks file_open -- sh -c 'exit 7' >/dev/null; echo failed $?
             # As on a kernel without types.
             mount -t tmpfs none /sys/kernel/btf || exit 95
             lsmeter monitor --hooks file_open; echo btf $?",
        )
        .status(0);
    outcome.assert_no_kernel_warnings();
    let begins = "interrupted 0\ntable\nkilled 137\ntarget 0\nhook 2\npid 2\ngroup 2\ncommand 2\n";
    let ends = "user 3\nfailed 0\nbtf 3\n";
    let text = outcome.text();
    assert!(
        text.starts_with(begins) && text.ends_with(ends),
        "{}",
        outcome.summary()
    );
    for hint in [
        "no LSM hook in this kernel matches `nosuch_hook`",
        "there is no process 99999",
        "CAP_BPF and CAP_PERFMON",
        "the command ended with exit status: 7",
        "CONFIG_DEBUG_INFO_BTF",
    ] {
        assert!(
            outcome.stderr.contains(hint),
            "{hint}: {}",
            outcome.summary()
        );
    }
}

#[test]
fn a_killed_recording_is_saved() {
    let outcome = Vm::new("debian:6.12")
        .lsm("capability")
        .run(
            "lsmeter monitor -q --hooks file_open --interval 0.5 --record /out/r.json >/dev/null &
             tries=0
             until [ -e /out/r.json ]; do
                 tries=$((tries + 1)); [ $tries -lt 600 ] || exit 98; sleep 0.1
             done
             kill -9 $!; ls /out",
        )
        .status(0);
    outcome.assert_no_kernel_warnings();
    assert_eq!(outcome.text(), "r.json\n", "{}", outcome.summary());
    let document = recording(&outcome, "r.json");
    let kinds: Vec<_> = document
        .warnings
        .iter()
        .map(|warning| warning.kind)
        .collect();
    assert_eq!(kinds, [WarningKind::Interrupted]);
    let watched: f64 = document.intervals().map(|interval| interval.seconds).sum();
    assert!(watched > 9.0, "{watched}");
}

/// A monitor does not need what lockdown=confidentiality forbids eBPF programs.
#[test]
fn a_locked_down_kernel_can_be_watched() {
    let outcome = Vm::new("debian:6.12")
        .cmdline("lockdown=confidentiality")
        .run(
            "grep -o '.confidentiality.' /sys/kernel/security/lockdown >&2 || exit 99
             lsmeter monitor --hooks file_open --json -- cat /dev/null",
        )
        .status(0);
    assert!(outcome.stderr.contains("[confidentiality]"));
    let total = Document::parse(&outcome.stdout).unwrap().all_intervals();
    assert!(calls_in(&total, "security_file_open", "openat") > 0);
}
