// SPDX-License-Identifier: GPL-2.0-or-later
//! Two instruments, one truth: what `lsmeter monitor` counts of the suite's benchmarks on a
//! live machine is what `lsmeter profile` counts in the lab. SLOW: some minutes.
//!
//! Needs QEMU, busybox and the kernels debian:6.1 and debian:6.12 in the cache of whoever
//! runs the tests (`lsmeter kernel fetch debian:6.1 debian:6.12`), or those that
//! LSMETER_SUITE_KERNELS lists; nothing is fetched here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};

use crate::common::Place;
use crate::vm::Vm;
use experiment::{ProfileDocument, Status};
use lab::protocol::encode_experiment;
use monitor::{Filter, Mode, Monitor, Options, Selection, Snapshot, SystemCall};
use syscalls::Sysno;

const STACK: &str = "capability";
/// Operations of the shorter and the longer of two runs: what they do not have in common
/// are operations.
const OPERATIONS: [u64; 2] = [8, 24];
/// This file, as a program of the guest.
const IN_GUEST: &str = "/bin/suite-counts";
const CELLS: &str = "/cells";

/// By benchmark and variant, then by hook: calls in one operation.
type Counts = BTreeMap<String, BTreeMap<String, f64>>;

/// Counts by the system calls that belong to the operation, and outside of any.
fn calls(snapshot: &Snapshot, system_calls: &BTreeSet<u16>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for hook in &snapshot.hooks {
        for (call, figures) in &hook.system_calls {
            if matches!(call, SystemCall::Number(number) if system_calls.contains(number)) {
                *counts.entry(hook.probe.hook.clone()).or_default() += figures.count;
            }
        }
    }
    counts
}

/// Runs the agent on one benchmark, and says what was called meanwhile.
fn watched(monitor: &Monitor, benchmark: &str, operations: u64) -> Snapshot {
    let directives =
        format!("dir /tmp\ncell 0 {benchmark} instructions warmup=16 samples={operations}\n");
    fs::write("/tmp/experiment", encode_experiment(&directives)).unwrap();
    let before = monitor.snapshot();
    let status = Command::new("/agent")
        .stdin(fs::File::open("/tmp/experiment").unwrap())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{benchmark}: {status}");
    monitor.snapshot().since(&before)
}

/// Operations that are undone by the system call that they consist of.
const UNDONE_ALIKE: [&str; 4] = ["chown same", "chown other", "setxattr 32B", "fsetxattr 32B"];
/// Operations that are prepared or undone by some of the system calls that they consist
/// of: these hooks are called no less often than a profile says.
const PREPARED_ALIKE: [&str; 3] = ["creat random", "fallocate 4KB", "unlink random"];
/// Called when memory is given back, some time later, in whatever system call is under
/// way then: a profile leaves it out with the interrupt that it comes in.
const GRACE_PERIOD: [&str; 4] = [
    "cred_free",
    "task_free",
    "inode_free_security_rcu",
    "file_free_security",
];

/// What the guest executes of this file.
#[test]
#[ignore = "runs in a guest, where the other test puts it"]
fn in_the_guest() {
    let options = Options {
        mode: Mode::Count,
        filter: Filter::Machine,
        selection: Selection::default(),
        pairs: 8192,
        ..Options::default()
    };
    let monitor = Monitor::start(&options, &mut |_| {}).unwrap();
    let left_out: Vec<&str> = monitor.left_out().iter().map(|l| l.name.as_str()).collect();
    println!("left out {}", left_out.join(" "));
    // What it reads and makes for the first time is none of a benchmark's.
    watched(&monitor, "getppid null", 1);
    for line in fs::read_to_string(CELLS).unwrap().lines() {
        let (benchmark, calls_of) = line.split_once('|').unwrap();
        let system_calls: BTreeSet<u16> = calls_of
            .split(',')
            .filter_map(|name| name.parse::<Sysno>().ok())
            .map(|call| call.id() as u16)
            .collect();
        let [short, long] =
            OPERATIONS.map(|n| calls(&watched(&monitor, benchmark, n), &system_calls));
        for (hook, &count) in &long {
            let before = short.get(hook).copied().unwrap_or(0);
            let more = count.cast_signed() - before.cast_signed();
            if more != 0 {
                let each = more as f64 / (OPERATIONS[1] - OPERATIONS[0]) as f64;
                println!("count {benchmark}|{hook}|{each}");
            }
        }
    }
    assert_eq!(monitor.snapshot().lost.total(), 0);
    assert_eq!(monitor.missed(), Some(0));
    println!("end");
    std::mem::forget(monitor);
}

/// A profile of benchmarks, and lsmeter's exit code.
fn profile_of(kernel: &str, benchmarks: &[&str]) -> (ProfileDocument, i32) {
    let place = Place::with_kernel(kernel);
    let mut arguments = vec!["profile", "suite", "--offline", "--kernel", kernel];
    arguments.extend([
        "--stack",
        STACK,
        "--fs",
        "tmpfs",
        "--output",
        "profile.json",
    ]);
    for benchmark in benchmarks {
        arguments.extend(["--bench", benchmark]);
    }
    let ended = place.run(&arguments);
    let document = ProfileDocument::parse(&fs::read(place.join("profile.json")).unwrap());
    (document.unwrap(), ended.code.unwrap())
}

/// Of all benchmarks. On 7.2, tmpfs keeps extended attributes in a table that a worker
/// makes larger or smaller in each operation, once others have filled it: what no window
/// was clean of is profiled again in a boot of its own, and must succeed there.
fn profiled(kernel: &str) -> ProfileDocument {
    let (mut document, code) = profile_of(kernel, &["*", "!treewalk:*"]);
    let failed: Vec<String> = document
        .profiles
        .iter()
        .filter(|profile| profile.status == Status::Failed)
        .map(|profile| format!("{}:{}", profile.benchmark, profile.variant))
        .collect();
    assert_eq!(code, if failed.is_empty() { 0 } else { 4 });
    if !failed.is_empty() {
        eprintln!("{kernel}: again: {failed:?}");
        let failed: Vec<&str> = failed.iter().map(String::as_str).collect();
        let (again, code) = profile_of(kernel, &failed);
        assert_eq!(code, 0, "{failed:?}");
        document
            .profiles
            .retain(|profile| profile.status != Status::Failed);
        document.profiles.extend(again.profiles);
    }
    document
}

#[test]
fn a_monitor_counts_what_a_profile_counts() {
    let wanted = std::env::var("LSMETER_SUITE_KERNELS");
    let wanted = wanted.as_deref().unwrap_or("debian:6.1,debian:6.12");
    for kernel in wanted.split(',') {
        let document = profiled(kernel);
        // Those of thousands of names make them all at once, however many are wanted.
        let usable = document
            .profiles
            .iter()
            .filter(|p| p.status == Status::Ok && !p.variant.ends_with("-names"));
        let cells: String = usable
            .clone()
            .map(|p| format!("{} {}|{}\n", p.benchmark, p.variant, p.syscalls.join(",")))
            .collect();
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        let outcome = Vm::new(kernel)
            .lsm(STACK)
            .minutes(15)
            .file(IN_GUEST, own, 0o755)
            .file("/agent", lab::catalogue::agent(), 0o755)
            .file(CELLS, cells, 0o644)
            .run(&format!(
                "{IN_GUEST} suite::in_the_guest --exact --ignored --nocapture"
            ))
            .status(0);
        outcome.assert_no_kernel_warnings();
        let mut counted: Counts = BTreeMap::new();
        let mut left_out = BTreeSet::new();
        for line in outcome.text().lines() {
            if let Some(names) = line.strip_prefix("left out ") {
                left_out.extend(names.split(' ').map(str::to_owned));
            }
            let Some(("", rest)) = line.split_once("count ") else {
                continue;
            };
            let parts: Vec<&str> = rest.split('|').collect();
            let of = counted.entry(parts[0].to_owned()).or_default();
            of.insert(parts[1].to_owned(), parts[2].parse().unwrap());
        }
        assert!(outcome.text().contains("\nend\n"), "{}", outcome.told());
        let mut differ = Vec::new();
        for profile in usable {
            let name = format!("{} {}", profile.benchmark, profile.variant);
            let expected: BTreeMap<String, f64> = profile
                .hooks
                .iter()
                .filter(|hook| hook.calls > 0 && !left_out.contains(&hook.hook))
                .map(|hook| (hook.hook.clone(), hook.calls as f64))
                .collect();
            let mut seen = counted.remove(&name).unwrap_or_default();
            seen.retain(|hook, _| expected.contains_key(hook) || !GRACE_PERIOD.contains(&&**hook));
            if UNDONE_ALIKE.contains(&&*name) {
                seen.values_mut().for_each(|calls| *calls /= 2.0);
            }
            if PREPARED_ALIKE.contains(&&*name) {
                seen.retain(|hook, _| expected.contains_key(hook));
                for (hook, calls) in &mut seen {
                    *calls = calls.min(expected[hook]);
                }
            }
            if seen != expected {
                differ.push(format!("{name}: profile {expected:?}, monitor {seen:?}"));
            }
        }
        eprintln!(
            "{kernel}: {} of {} differ\n{}",
            differ.len(),
            document.profiles.len(),
            differ.join("\n")
        );
        assert!(differ.is_empty());
    }
}
