// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity` with real boots of a stock kernel. SLOW: a minute.
//!
//! Needs QEMU and the kernel debian:6.12 in the cache of whoever runs the tests
//! (`lsmeter kernel fetch debian:6.12`); nothing is fetched here.

use std::fs;

use crate::common::Place;
use model::{Cell, Delay, DelayModule, Document, Slope, Status};

const OFFLINE: &[&str] = &["sensitivity", "--offline", "--kernel", "debian:6.12"];

fn run(place: &Place, arguments: &[&str], code: i32) -> crate::common::Ended {
    place.run(&[OFFLINE, arguments].concat()).code(code)
}

fn whole<'a>(document: &'a Document, title: &str) -> &'a Slope {
    let mut slopes = document.slopes();
    let found = slopes.find(|(cell, delay, _)| cell.title() == title && delay.is_whole());
    found.unwrap().2
}

fn delay(cell: &Cell) -> &Delay {
    cell.key.delay.as_ref().unwrap()
}

#[test]
fn slopes_are_what_was_counted_and_grow_with_depth() {
    let place = Place::with_kernels();
    run(
        &place,
        &[
            "--bench",
            "stat:AA",
            "--bench",
            "stat:AA/BB",
            "--bench",
            "stat:AA/BB/CC",
            "--bench",
            "open:AA",
            "--bench",
            "execve",
            "--bench",
            "getppid",
            "-o",
            "slopes.json",
            "--svg",
            "slopes.svg",
            "--fail-above",
            "0.05",
        ],
        0,
    );
    let bytes = fs::read(place.path().join("slopes.json")).unwrap();
    let document = Document::parse(&bytes).unwrap();
    for cell in &document.cells {
        assert_eq!(delay(cell).module, DelayModule::Bpf);
        // Hooks that the kernel keeps from BPF are told, and nothing is made up.
        let kept = !delay(cell).is_whole() && cell.status() == Status::Unsupported;
        assert!(cell.status() == Status::Ok || kept, "{cell:?}");
    }
    for (title, count) in [
        ("getppid:null", 0.0),
        ("stat:AA", 2.0),
        ("stat:AA/BB/CC", 4.0),
    ] {
        let slope = whole(&document, title);
        assert_eq!(slope.counted, Some(count), "{title}");
        assert!(
            (slope.slope - count).abs() < 0.001,
            "{title}: {}",
            slope.slope
        );
        assert!(
            count == 0.0 || slope.r2.unwrap() > 0.9999,
            "{title}: {:?}",
            slope.r2
        );
    }
    // Whoever held delays was killed in this boot, and they were gone.
    let [setup] = &document.setups[..] else {
        panic!("{:#?}", document.setups)
    };
    assert!(
        setup
            .steps
            .iter()
            .any(|step| step.starts_with("killed (SIGKILL)"))
    );
    // Processes that it makes are delayed too, whatever they execute.
    let execve = whole(&document, "execve:agent");
    assert!(execve.counted.unwrap() > 20.0);
    let rule = document
        .findings()
        .rules
        .iter()
        .find(|rule| rule.hook == "all")
        .unwrap();
    assert_eq!(rule.benchmark, "stat");
    assert!(
        (rule.a - 1.0).abs() < 0.01 && (rule.b - 1.0).abs() < 0.01,
        "{rule:?}"
    );
    // The parts make up the whole.
    let parts = document
        .slopes()
        .filter(|(cell, delay, _)| cell.title() == "open:AA" && !delay.is_whole());
    let sum: f64 = parts.map(|(_, _, slope)| slope.slope).sum();
    assert!(
        (sum - whole(&document, "open:AA").slope).abs() < 0.02,
        "{sum}"
    );
    let svg = fs::read_to_string(place.path().join("slopes.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("stat:AA/BB"));
}

#[test]
fn cold_caches_ask_more_often_and_chosen_hooks_are_the_only_ones() {
    let place = Place::with_kernels();
    run(
        &place,
        &[
            "--bench",
            "stat:AA/BB/CC",
            "--hooks",
            "inode_permission,d_instantiate",
            "--cold",
            "-o",
            "cold.json",
        ],
        0,
    );
    let bytes = fs::read(place.path().join("cold.json")).unwrap();
    let document = Document::parse(&bytes).unwrap();
    let mut slopes = Vec::new();
    for (_, delay, slope) in document.slopes().filter(|(_, delay, _)| delay.is_whole()) {
        assert_eq!(delay.hooks, ["inode_permission", "d_instantiate"]);
        let apart = slope.difference().unwrap();
        assert!(apart.abs() < 0.001, "{}: {apart}", delay.caches);
        slopes.push(slope);
    }
    let [warm, cold] = slopes[..] else {
        panic!("warm and cold: {slopes:#?}");
    };
    assert_eq!(warm.counted, Some(3.0));
    // Each component's dentry is made anew.
    assert_eq!(cold.counted, Some(6.0));
}

#[test]
fn what_asks_for_nothing_has_slope_0() {
    let place = Place::with_kernels();
    let arguments = ["--bench", "getppid", "--json"];
    let ended = run(&place, &arguments, 0);
    let document = Document::parse(ended.stdout.as_bytes()).unwrap();
    let [cell] = &document.cells[..] else {
        panic!("{:#?}", document.cells)
    };
    let slope = cell.slope().unwrap();
    assert_eq!(slope.counted, Some(0.0));
    assert!(slope.slope.abs() < 0.001, "{slope:?}");
}

#[test]
fn a_hook_that_is_none_and_a_kernel_that_cannot_are_refused() {
    let place = Place::with_kernels();
    let asked = [
        OFFLINE,
        &["--bench", "getppid", "--hooks", "inode_permision"],
    ]
    .concat();
    place.run(&asked).refused(
        2,
        "has no hook `inode_permision`",
        Some("did you mean inode_permission?"),
    );
    // A function of the kernel's, but no hook.
    let asked = [OFFLINE, &["--bench", "getppid", "--hooks", "func_proto"]].concat();
    place
        .run(&asked)
        .refused(2, "has no hook `func_proto`", Some(""));
    let asked = [OFFLINE, &["--bench", "getppid", "--module", "tunable"]].concat();
    place.run(&asked).refused(
        3,
        "cannot be delayed by the module tunable",
        Some("lsmeter kernel build"),
    );
}

#[test]
fn the_tunable_security_module_gives_slopes_too() {
    let Some((place, kernel)) = Place::with_test_kernel(&["SECURITY_TUNABLE"]) else {
        return;
    };
    let arguments = [
        "sensitivity",
        "--offline",
        "--kernel",
        &kernel,
        "--module",
        "tunable",
        "--bench",
        "stat:AA",
        "--bench",
        "open:AA/BB",
        "--bench",
        "rename:depth1",
        "-o",
        "slopes.json",
        "--fail-above",
        "0.01",
    ];
    place.run(&arguments).code(0);
    let bytes = fs::read(place.path().join("slopes.json")).unwrap();
    let document = Document::parse(&bytes).unwrap();
    assert_eq!(whole(&document, "stat:AA").counted, Some(2.0));
    let steps = document.setups.iter().flat_map(|setup| &setup.steps);
    assert!(
        steps.clone().any(|step| step.contains("SIGKILL")),
        "{:?}",
        document.setups
    );
    // What is asked twice is told by the module itself: a rename walks to its directory for
    // both names.
    let asked_twice = document.findings().repeated.iter();
    let mut asked_twice = asked_twice.filter(|asked| asked.hook == "inode_permission");
    let twice = asked_twice.next().expect("a question asked twice");
    assert_eq!(
        (twice.benchmark.as_str(), twice.variant.as_str()),
        ("rename", "depth1")
    );
    assert!(
        twice.times > 1 && twice.chains.len() as u64 == twice.times,
        "{twice:?}"
    );
}
