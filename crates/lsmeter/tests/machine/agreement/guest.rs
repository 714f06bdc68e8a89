// SPDX-License-Identifier: GPL-2.0-or-later
//! eBPF programs count the hooks of benchmarks inside a guest. This test program runs there, so that
//! all benchmarks share one monitor: attaching takes minutes in an emulator.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::process::{Command, Stdio};

use lab::catalogue::{Benchmark, agent};
use lab::protocol::{Decoder, Message, encode_experiment};
use model::{MonitorMode, Status};
use monitor::{Filter, Monitor, Options, Selection, Snapshot};
use syscalls::Sysno;

use super::Calls;
use crate::vm::Vm;

/// Operations of two runs of a benchmark. The difference excludes preparation and warm-up, which are
/// equal in both.
const OPERATIONS: [u64; 2] = [8, 24];
const WARMUP: u32 = 16;

/// Counts of a monitor per operation of each benchmark.
pub struct Counted {
    pub calls: Calls,
    /// Hooks that a monitor cannot watch.
    pub unseen: BTreeSet<String>,
    /// Benchmarks that the agent reports as unsupported.
    pub unsupported: BTreeSet<String>,
}

/// Boots a kernel with the agent and this program.
pub fn count(kernel: &str, benchmarks: &[&Benchmark]) -> Counted {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let mut wanted = String::new();
    // The runs must differ only in operations. Leaves out benchmarks with thousands of names, made at
    // once, and those that repeat by themselves.
    for benchmark in benchmarks.iter().filter(|benchmark| {
        benchmark.repetitions.is_none()
            && !benchmark.composite
            && !benchmark.variant.ends_with("-names")
    }) {
        let calls = benchmark.syscalls.join(",");
        wanted += &format!("{} {} {calls}\n", benchmark.name, benchmark.variant);
    }
    // With one thread libtest does not report a test that takes over 60 s: its write and those of tee
    // would count as the benchmark's.
    let arguments = "--test-threads=1 --ignored --exact --nocapture";
    let outcome = Vm::new(kernel)
        .lsm("capability")
        .minutes(40)
        .file("/agent", agent(), 0o755)
        .file("/root/wanted", &wanted, 0o644)
        .program(program)
        .run(&format!(
            "mount -t tmpfs tmpfs /mnt
             {program} {arguments} agreement::guest::runs_in_a_guest >&2"
        ))
        .status(0);
    let mut counted = Counted {
        calls: Calls::new(),
        unseen: BTreeSet::new(),
        unsupported: BTreeSet::new(),
    };
    for line in String::from_utf8(outcome.file("counts")).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["unseen", hook] => _ = counted.unseen.insert(hook.to_owned()),
            ["unsupported", title] => _ = counted.unsupported.insert(title.to_owned()),
            // There is an entry even if no hook is called.
            ["ran", title] => _ = counted.calls.entry(title.to_owned()).or_default(),
            [title, hook, difference] => {
                let operations = (OPERATIONS[1] - OPERATIONS[0]) as f64;
                let calls = difference.parse::<f64>().unwrap() / operations;
                let hooks = counted.calls.entry(title.to_owned()).or_default();
                hooks.insert(hook.to_owned(), calls);
            }
            _ => panic!("{line}"),
        }
    }
    let answered = counted.calls.len() + counted.unsupported.len();
    assert_eq!(answered, wanted.lines().count());
    counted
}

#[test]
#[ignore = "another test runs it in a guest"]
fn runs_in_a_guest() {
    let options = Options {
        mode: MonitorMode::Count,
        filter: Filter::Machine,
        selection: Selection::default(),
        pairs: 8192,
        ..Options::default()
    };
    let monitor = Monitor::start(&options, &mut |_| {}).unwrap();
    let mut out = File::create("/out/counts").unwrap();
    for left in &monitor.left_out {
        let hook = left.name.trim_start_matches("security_");
        writeln!(out, "unseen {hook}").unwrap();
    }
    // First accesses of the agent belong to no benchmark.
    watch(&monitor, "getppid null", 1).unwrap();
    let wanted = fs::read_to_string("/root/wanted").unwrap();
    for line in wanted.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [benchmark, variant, calls] = words[..] else {
            panic!("{line}");
        };
        let calls: BTreeSet<u16> = calls.split(',').map(number).collect();
        let runs = OPERATIONS.map(|operations| {
            let name = format!("{benchmark} {variant}");
            watch(&monitor, &name, operations).map(|snapshot| own(&snapshot, &calls))
        });
        let [Ok(short), Ok(long)] = runs else {
            writeln!(out, "unsupported {benchmark}:{variant}").unwrap();
            continue;
        };
        writeln!(out, "ran {benchmark}:{variant}").unwrap();
        let hooks: BTreeSet<&String> = short.keys().chain(long.keys()).collect();
        for hook in hooks {
            let calls_in = |run: &BTreeMap<String, i64>| run.get(hook).copied().unwrap_or(0);
            let difference = calls_in(&long) - calls_in(&short);
            writeln!(out, "{benchmark}:{variant} {hook} {difference}").unwrap();
        }
    }
    let lost = monitor.snapshot().lost_calls() + monitor.missed().unwrap_or(0);
    assert_eq!(lost, 0);
    // Links end with the machine, which is faster than closing them one by one.
    std::mem::forget(monitor);
}

/// The number of a system call. asm-generic/unistd.h uses plain names for single forms: fstatat.
fn number(name: &str) -> u16 {
    let plain = name.strip_prefix("new").unwrap_or(name);
    let call: Result<Sysno, ()> = name.parse().or_else(|()| plain.parse());
    call.unwrap().id() as u16
}

/// Calls in the system calls of the operation. Preparation and undoing use others.
fn own(snapshot: &Snapshot, calls: &BTreeSet<u16>) -> BTreeMap<String, i64> {
    let mut counts = BTreeMap::new();
    for hook in &snapshot.hooks {
        for (call, figures) in &hook.system_calls {
            if calls.contains(call) {
                *counts.entry(hook.probe.hook.clone()).or_default() += figures.count as i64;
            }
        }
    }
    counts
}

/// Runs the agent on one benchmark, or returns why the kernel cannot.
fn watch(monitor: &Monitor, name: &str, operations: u64) -> Result<Snapshot, String> {
    let directives =
        format!("dir /mnt\ncell 0 {name} instructions warmup={WARMUP} samples={operations}\n");
    fs::write("/tmp/directives", encode_experiment(&directives)).unwrap();
    let before = monitor.snapshot();
    let status = Command::new("/agent")
        .stdin(File::open("/tmp/directives").unwrap())
        .stdout(File::create("/tmp/answers").unwrap())
        .stderr(Stdio::inherit())
        .status()
        .unwrap();
    let after = monitor.snapshot();
    let messages = Decoder::default().push(&fs::read("/tmp/answers").unwrap());
    for message in messages.unwrap() {
        match message {
            Message::CellEnd {
                status: Status::Ok, ..
            } => return Ok(after.since(&before)),
            Message::CellEnd {
                status: Status::Unsupported,
                reason,
                ..
            } => return Err(reason),
            Message::CellEnd { reason, .. } | Message::Failed(reason) => panic!("{name}: {reason}"),
            _ => {}
        }
    }
    panic!("{name}: the agent ended too early: {status}")
}
