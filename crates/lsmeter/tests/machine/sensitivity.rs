// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter sensitivity` with boots of a Debian kernel. SLOW: a minute.
//!
//! Needs QEMU and the kernel debian:6.12.

use crate::common::Place;
use model::{DelayModule, Document, Slope, Status};

const OFFLINE: &str = "sensitivity --offline --kernel debian:6.12";

fn whole<'a>(document: &'a Document, title: &str) -> &'a Slope {
    let mut slopes = document.slopes();
    let found = slopes.find(|(cell, delay, _)| cell.title() == title && delay.is_whole());
    found.unwrap().2
}

#[test]
fn slopes_equal_counts_and_grow_with_depth() {
    let place = Place::with_kernels();
    let line = format!(
        "{OFFLINE} --bench stat:AA,stat:AA/BB,stat:AA/BB/CC,open:AA,execve,getppid \
         -o slopes.json --fail-above 0.05"
    );
    place.line(&line).code(0);
    let document = place.document("slopes.json");
    for cell in &document.cells {
        let delay = cell.key.delay.as_ref().unwrap();
        assert_eq!(delay.module, DelayModule::Bpf);
        // Hooks that BPF programs cannot delay are listed.
        let kept = !delay.is_whole() && cell.status() == Status::Unsupported;
        assert!(cell.status() == Status::Ok || kept, "{cell:?}");
    }
    for (title, count) in [
        ("getppid:null", 0.0),
        ("stat:AA", 2.0),
        ("stat:AA/BB/CC", 4.0),
    ] {
        let slope = whole(&document, title);
        assert_eq!(slope.counted, Some(count), "{title}");
        let apart = (slope.slope - count).abs();
        assert!(apart < 0.001, "{title}: {slope:?}");
        assert!(
            count == 0.0 || slope.r2.unwrap() > 0.9999,
            "{title}: {slope:?}"
        );
    }
    // The process that held delays was killed in this boot, and the delays were removed.
    let [setup] = &document.setups[..] else {
        panic!("{:#?}", document.setups)
    };
    let mut steps = setup.steps.iter();
    assert!(steps.any(|step| step.starts_with("killed (SIGKILL)")));
    // Child processes are delayed too, after execve as well.
    let execve = whole(&document, "execve:agent");
    assert!(execve.counted.unwrap() > 20.0);
    let mut rules = document.findings().rules.iter();
    let rule = rules.find(|rule| rule.hook == "all").unwrap();
    assert_eq!(rule.benchmark, "stat");
    let is_one = |figure: f64| (figure - 1.0).abs() < 0.01;
    assert!(is_one(rule.a) && is_one(rule.b), "{rule:?}");
    // Slopes of single hooks add up.
    let parts = document
        .slopes()
        .filter(|(cell, delay, _)| cell.title() == "open:AA" && !delay.is_whole());
    let sum: f64 = parts.map(|(_, _, slope)| slope.slope).sum();
    let apart = sum - whole(&document, "open:AA").slope;
    assert!(apart.abs() < 0.02, "{sum}");
    let svg = place
        .line("report slopes.json --figure latency-over-delay -o -")
        .code(0)
        .stdout;
    assert!(svg.starts_with("<svg") && svg.contains("stat:AA/BB"));
}

#[test]
fn cold_caches_make_more_checks() {
    let place = Place::with_kernels();
    let what = "--bench stat:AA/BB/CC --hooks inode_permission,d_instantiate --cold";
    place
        .line(&format!("{OFFLINE} {what} -o cold.json"))
        .code(0);
    let document = place.document("cold.json");
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
    // Each component's dentry is allocated again.
    assert_eq!(cold.counted, Some(6.0));
}

#[test]
fn operations_without_checks_have_slope_0() {
    let place = Place::with_kernels();
    let ended = place
        .line(&format!("{OFFLINE} --bench getppid --json"))
        .code(0);
    let document = Document::parse(ended.stdout.as_bytes()).unwrap();
    let [cell] = &document.cells[..] else {
        panic!("{:#?}", document.cells)
    };
    let slope = cell.slope().unwrap();
    assert_eq!(slope.counted, Some(0.0));
    assert!(slope.slope.abs() < 0.001, "{slope:?}");
}

#[test]
fn unknown_hooks_and_unsuited_kernels_are_refused() {
    let place = Place::with_kernels();
    for (more, code, error, hint) in [
        (
            "--hooks inode_permision",
            2,
            "has no hook `inode_permision`",
            "did you mean inode_permission?",
        ),
        // A kernel function, but not a hook.
        ("--hooks func_proto", 2, "has no hook `func_proto`", ""),
        (
            "--module tunable",
            3,
            "the module tunable cannot delay the hooks of",
            "lsmeter kernel build",
        ),
    ] {
        let refused = place.line(&format!("{OFFLINE} --bench getppid {more}"));
        refused.refused(code, error, Some(hint));
    }
}

#[test]
fn the_tunable_module_gives_slopes() {
    let Some((place, kernel)) = Place::with_test_kernel(&["SECURITY_TUNABLE"]) else {
        return;
    };
    let line = format!(
        "sensitivity --offline --kernel {kernel} --module tunable -o slopes.json \
         --bench stat:AA,open:AA/BB,rename:depth1 --fail-above 0.01"
    );
    place.line(&line).code(0);
    let document = place.document("slopes.json");
    assert_eq!(whole(&document, "stat:AA").counted, Some(2.0));
    let mut steps = document.setups.iter().flat_map(|setup| &setup.steps);
    assert!(steps.any(|step| step.contains("SIGKILL")));
    // The module lists repeated checks: a rename walks to its directory for both names.
    let asked_twice = document.findings().repeated.iter();
    let mut asked_twice = asked_twice.filter(|asked| asked.hook == "inode_permission");
    let twice = asked_twice.next().expect("a repeated check");
    assert_eq!(
        format!("{}:{}", twice.benchmark, twice.variant),
        "rename:depth1"
    );
    let chains = twice.chains.len() as u64;
    assert!(twice.times > 1 && chains == twice.times, "{twice:?}");
}
