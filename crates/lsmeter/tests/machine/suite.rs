// SPDX-License-Identifier: GPL-2.0-or-later
//! Two instruments, one truth: what `lsmeter monitor` counts of the suite's benchmarks in a
//! kernel is what `lsmeter profile` counts of it, as `lsmeter check` tells. SLOW: some minutes.
//!
//! Needs QEMU and the kernels debian:6.1 and debian:6.12 in the cache of whoever runs the
//! tests (`lsmeter kernel fetch debian:6.1 debian:6.12`), or those that LSMETER_SUITE_KERNELS
//! lists; nothing is fetched here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use experiment::check::PairSummary;
use experiment::{CheckDocument, Document, Instrument, Stored as _, Suite};

use lab::catalogue::{Benchmark, catalogue};
use rustix::process::Signal;

use crate::common::{Ended, Place, Running, signal, wait_for};

/// Benchmarks that are undone by their own system call, that make processes, whose objects are
/// freed later, and that do nothing of that.
const SOME: [&str; 6] = [
    "open:AA/BB",
    "chown:same",
    "creat:random",
    "fork:exit",
    "unlink:random",
    "getppid",
];

fn check(place: &Place, kernel: &str, benchmarks: &[&str], more: &[&str]) -> Ended {
    let mut asked = vec!["check", "--offline", "--kernel", kernel];
    asked.extend(["--stack", "capability", "--output", "check.json"]);
    for benchmark in benchmarks {
        asked.extend(["--bench", benchmark]);
    }
    asked.extend(more);
    place.run(&asked)
}

fn document(place: &Place) -> CheckDocument {
    CheckDocument::parse(&fs::read(place.join("check.json")).unwrap()).unwrap()
}

fn pair(document: &CheckDocument, first: Instrument, second: Instrument) -> PairSummary {
    let mut pairs = document.summary.pairs.iter();
    let pair = pairs.find(|pair| pair.first == first && pair.second == second);
    pair.unwrap().clone()
}

/// Every operation on files, but not the same a second time: walks of a tree are many of the
/// others, and making and removing 9,437 directories calls the hooks that one calls. Of others the
/// check says itself in what they differ: TCP's timers, and tasks that wake each other.
fn operations_on_files() -> impl Iterator<Item = &'static Benchmark> {
    let files = [Suite::Paper, Suite::Lmbench, Suite::Howells, Suite::Beyond];
    catalogue().iter().filter(move |of| {
        let again = of.name == "treewalk" || of.variant == "9437-names";
        files.contains(&of.suite) && !again
    })
}

/// One variant of each benchmark: most others call the same hooks on longer paths and more bytes.
/// What only they call (`capable`, `inode_follow_link`) the kernel of which all are compared calls.
fn first_variants() -> Vec<String> {
    let mut names = BTreeSet::new();
    let of_all = operations_on_files();
    let first = of_all.filter(|benchmark| names.insert(&benchmark.name));
    first.map(Benchmark::id).collect()
}

/// What is called in the window is what the benchmark says that it calls, but where a variant
/// leaves a call out, or a walk makes each of them many times.
fn assert_calls_are_the_suite_s(profile: &Document) {
    let mut compared = 0;
    for cell in &profile.cells {
        let hooked = cell.counted().and_then(|counted| counted.hooked.as_ref());
        let Some(hooked) = hooked else {
            continue;
        };
        let mut calls = BTreeMap::new();
        for call in &cell.syscalls {
            *calls.entry(call.clone()).or_insert(0) += 1;
        }
        match cell.title().as_str() {
            "open:missing" => calls.remove("close"),
            "lmbench-create:0KB" => calls.remove("write"),
            "landlock-open:denied" => continue,
            title if title.starts_with("treewalk:") => continue,
            _ => None,
        };
        assert_eq!(hooked.system_calls, calls, "{}", cell.title());
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn a_monitor_counts_what_a_profile_counts() {
    let first = first_variants();
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let all: Vec<String> = operations_on_files().map(Benchmark::id).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let asked = std::env::var("LSMETER_SUITE_KERNELS").ok();
    let kernels = match &asked {
        Some(kernels) => kernels.split(',').map(|of| (of, &all[..], 350)).collect(),
        None => vec![("debian:6.12", &all[..], 350), ("debian:6.1", &first, 150)],
    };
    for (kernel, benchmarks, least) in kernels {
        let place = Place::with_kernel(kernel);
        let more = ["--skip", "sensitivity", "--keep", "kept"];
        let ended = check(&place, kernel, benchmarks, &more).code(0);
        eprintln!("{}", ended.stdout);
        let profile = fs::File::open(place.join("kept/profile.json")).unwrap();
        assert_calls_are_the_suite_s(&Document::read(profile).unwrap());
        let document = document(&place);
        let compared = pair(&document, Instrument::Profile, Instrument::Monitor);
        assert!(compared.compared > least, "{compared:#?}");
        // Of the rest each has its reason; how many files RCU frees meanwhile is chance.
        assert!(compared.agree * 10 > compared.compared * 8, "{compared:#?}");
    }
}

#[test]
fn three_instruments_agree_and_a_fault_in_one_is_found() {
    let kernel = "debian:6.12";
    let place = Place::with_kernels();
    let ended = check(&place, kernel, &SOME, &["--keep", "made", "--jobs", "1"]).code(0);
    assert!(ended.stdout.contains("profile = monitor"), "{ended:#?}");
    let whole = document(&place);
    let slopes = pair(&whole, Instrument::Monitor, Instrument::Sensitivity);
    assert!(slopes.compared > 10 && slopes.disagree == 0, "{slopes:#?}");
    assert!(whole.benchmarks.iter().all(|b| b.missing.is_empty()));
    assert_eq!(place.left_over(), [""; 0]);

    // The monitor does not see a hook, and a profile is compared that was made before.
    let blind = ["--skip", "profile", "--skip", "sensitivity"];
    let blind = [
        &blind[..],
        &["--blind-to", "inode_permission", "--keep", "blind"],
    ]
    .concat();
    check(&place, kernel, &SOME[..2], &blind).code(5);
    let from = ["--from", "made/profile.json", "--from", "blind/counts.json"];
    let ended = place.run(&[&["check"], &from[..]].concat()).code(1);
    let told = "disagree: open:AA/BB: inode_permission: profile 3, monitor 0";
    assert!(ended.stderr.contains(told), "{ended:#?}");
}

#[test]
fn what_a_kernel_cannot_do_is_no_error() {
    let place = Place::with_kernels();
    // Without ftrace programs attach, and are never run.
    let off = "sysctl.kernel.ftrace_enabled=0";
    let more = ["--cmdline", off, "--skip", "sensitivity"];
    let ended = check(&place, "debian:6.12", &["open:AA"], &more).code(5);
    assert!(
        ended.stdout.contains("monitor: not available: "),
        "{ended:#?}"
    );
    assert!(
        ended.stdout.contains("the kernel never runs them"),
        "{ended:#?}"
    );
    assert!(ended.stderr.contains("inconclusive: "), "{ended:#?}");
}

#[test]
fn the_guest_works_on_the_file_system_that_is_asked_for() {
    let place = Place::with_kernels();
    let more = ["--fs", "ext4", "--skip", "sensitivity"];
    check(&place, "debian:6.12", &["open:AA", "creat:random"], &more).code(0);
    assert_eq!(document(&place).filesystem, "ext4");
}

#[test]
fn what_was_complete_outlives_an_interrupt() {
    let place = Place::with_kernels();
    let check = [
        "check",
        "--offline",
        "--kernel",
        "debian:6.12",
        "--keep",
        "kept",
    ];
    let more = ["--stack", "capability", "--bench", "open:AA"];
    let running = Running::start(&place, &[&check[..], &more].concat());
    let profile = place.join("kept/profile.json");
    wait_for("the profile", || profile.exists().then_some(()));
    signal(running.pid(), Signal::INT);
    let ended = running.wait().code(4);
    let told = "interrupted: finished boots are saved in ";
    assert!(ended.stderr.contains(told), "{ended:#?}");
    let source = ["--from", "kept/profile.json", "--all"];
    let ended = place.run(&[&["check"], &source[..]].concat()).code(5);
    assert!(ended.stdout.contains("file_open"), "{ended:#?}");
}
