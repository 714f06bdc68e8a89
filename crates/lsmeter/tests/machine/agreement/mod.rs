// SPDX-License-Identifier: GPL-2.0-or-later
//! Independent methods must count the same hook calls: the plugin of `lsmeter profile`, eBPF programs in
//! the same kernel, and the slopes of `lsmeter sensitivity`. `explanations.toml` explains differences.
//! SLOW: minutes.
//!
//! Needs QEMU, busybox and the kernels debian:6.1 and debian:6.12, or those in LSMETER_SUITE_KERNELS.

mod facts;
mod guest;

use std::collections::{BTreeMap, BTreeSet};

use lab::catalogue::{Benchmark, catalogue};
use model::{Cell, Document, Slope, Status, Suite};

use crate::common::Place;
use facts::{Difference, Facts, Method};

/// Benchmarks that their own system call undoes, benchmarks that make processes whose objects are freed
/// later, and others.
const SOME: &str = "open:AA/BB chown:same creat:random fork:exit unlink:random getppid:null";
/// Tolerance of exact counts, in calls: rounding of a sum of fractions.
const EXACT: f64 = 1e-6;
/// Relative error of the rate of the guest's clock, by which delays are kept. It reveals a missing
/// call among fewer than 1,900.
const SLOPE_SHARE: f64 = 5e-4;

/// Calls of each hook per operation, by title.
type Calls = BTreeMap<String, BTreeMap<String, f64>>;

/// Every operation on files except those that repeat others: tree walks consist of other
/// operations, and 9,437 directories call the same hooks as one.
fn operations_on_files() -> impl Iterator<Item = &'static Benchmark> {
    let files = [Suite::Paper, Suite::Lmbench, Suite::Howells, Suite::Beyond];
    catalogue().iter().filter(move |benchmark| {
        let again = benchmark.name == "treewalk" || benchmark.variant == "9437-names";
        files.contains(&benchmark.suite) && !again
    })
}

/// One variant of each benchmark: most others call the same hooks on longer paths and more bytes.
fn first_variants() -> Vec<&'static Benchmark> {
    let mut names = BTreeSet::new();
    operations_on_files()
        .filter(|benchmark| names.insert(&benchmark.name))
        .collect()
}

/// Runs `lsmeter COMMAND` on a kernel and these benchmarks.
fn measure(kernel: &str, command: &str, benchmarks: &[String]) -> Document {
    let place = Place::with_kernel(kernel);
    let benchmarks = benchmarks.join(",");
    let ended = place.line(&format!(
        "{command} --offline --kernel {kernel} --json --stack capability --fs tmpfs \
         --bench {benchmarks}"
    ));
    let ended = ended.code(0);
    Document::parse(ended.stdout.as_bytes()).unwrap()
}

fn profiled(profile: &Document) -> Calls {
    let mut all = Calls::new();
    for (cell, _, path) in profile.hooked() {
        let hooks = all.entry(cell.title()).or_default();
        for hook in &path.hooks {
            *hooks.entry(hook.hook.clone()).or_default() += hook.calls as f64;
        }
    }
    all
}

/// Slopes of single hooks.
fn slopes(sweep: &Document) -> Calls {
    let mut all = Calls::new();
    for (cell, delay, slope) in sweep.slopes() {
        if let (false, [hook]) = (delay.is_whole(), &delay.hooks[..]) {
            let hooks = all.entry(cell.title()).or_default();
            hooks.insert(hook.clone(), slope.slope);
        }
    }
    all
}

/// Unexplained differences from the profile, and the numbers of compared and equal counts. `unseen`:
/// hooks that the other method cannot see.
fn compare(
    profile: &Calls,
    method: Method,
    other: &Calls,
    unseen: &BTreeSet<String>,
) -> (Vec<String>, usize, usize) {
    let facts = Facts::load();
    let (mut unexplained, mut compared, mut equal) = (Vec::new(), 0, 0);
    for (title, calls) in other {
        let (benchmark, variant) = title.split_once(':').unwrap();
        let hooks = profile.get(title);
        let hooks = hooks.unwrap_or_else(|| panic!("{title} is not in the profile"));
        // Only delayed hooks have a slope; a monitor watches all.
        let watched = |hook: &&String| method == Method::Monitor || calls.contains_key(*hook);
        let names: BTreeSet<&String> = hooks.keys().chain(calls.keys()).collect();
        for hook in names.into_iter().filter(watched) {
            if unseen.contains(hook) {
                continue;
            }
            let count = |calls: &BTreeMap<String, f64>| calls.get(hook).copied().unwrap_or(0.0);
            let (profile, other) = (count(hooks), count(calls));
            if profile == 0.0 && other == 0.0 {
                continue;
            }
            compared += 1;
            let tolerance = match method {
                Method::Sensitivity => Slope::DIFFERENCE + SLOPE_SHARE * profile.max(other),
                _ => EXACT,
            };
            if (profile - other).abs() <= tolerance {
                equal += 1;
            } else if !facts.explain(&Difference {
                benchmark,
                variant,
                hook,
                method,
                profile,
                other,
                tolerance,
            }) {
                unexplained.push(format!("{title}: {hook}: profile {profile}, {other}"));
            }
        }
    }
    (unexplained, compared, equal)
}

/// The measured region contains the system calls that the benchmark declares, except where a
/// variant leaves a call out, or a walk makes each of them many times.
fn assert_calls_are_declared(profile: &Document) {
    for (cell, _, hooked) in profile.hooked() {
        let mut calls = BTreeMap::new();
        for call in &cell.syscalls {
            *calls.entry(call.clone()).or_insert(0) += 1;
        }
        match cell.title().as_str() {
            "open:missing" => calls.remove("close"),
            "lmbench-create:0KB" => calls.remove("write"),
            "landlock-open:denied" => continue,
            _ => None,
        };
        assert_eq!(hooked.system_calls, calls, "{}", cell.title());
    }
}

#[test]
fn monitor_and_profile_agree() {
    let all: Vec<&Benchmark> = operations_on_files().collect();
    let first = first_variants();
    let asked = std::env::var("LSMETER_SUITE_KERNELS").ok();
    let kernels: Vec<(&str, &[&Benchmark], usize)> = match &asked {
        Some(kernels) => kernels
            .split(',')
            .map(|kernel| (kernel, &all[..], 350))
            .collect(),
        None => vec![("debian:6.12", &all, 350), ("debian:6.1", &first, 150)],
    };
    for (kernel, benchmarks, least) in kernels {
        let ids: Vec<String> = benchmarks.iter().map(|benchmark| benchmark.id()).collect();
        let profile = measure(kernel, "profile", &ids);
        let failed = |cell: &&Cell| cell.status() == Status::Failed;
        assert_eq!(profile.cells.iter().find(failed), None, "{kernel}");
        assert_calls_are_declared(&profile);
        let counted = guest::count(kernel, benchmarks);
        let profile = profiled(&profile);
        for title in &counted.unsupported {
            assert!(
                !profile.contains_key(title),
                "{kernel}: only profiled: {title}"
            );
        }
        let (unexplained, compared, equal) =
            compare(&profile, Method::Monitor, &counted.calls, &counted.unseen);
        eprintln!("{kernel}: {equal} of {compared} equal, the rest explained");
        assert_eq!(unexplained, [""; 0], "{kernel}");
        assert!(compared > least, "{kernel}: {compared}");
        // The number of files that RCU frees in between varies.
        assert!(equal * 10 > compared * 8, "{kernel}: {equal} of {compared}");

        // The comparison detects a missing hook.
        let mut blind = counted.calls;
        let mut opens = blind
            .iter_mut()
            .filter(|(title, _)| title.starts_with("open:"));
        let (title, hooks) = opens.next().unwrap();
        hooks.remove("inode_permission").unwrap();
        let expected = format!("{title}: inode_permission: profile ");
        let (unexplained, ..) = compare(&profile, Method::Monitor, &blind, &counted.unseen);
        assert_eq!(unexplained.len(), 1, "{unexplained:?}");
        assert!(unexplained[0].starts_with(&expected), "{unexplained:?}");
    }
}

#[test]
fn slopes_and_profile_agree() {
    let some: Vec<String> = SOME.split(' ').map(str::to_owned).collect();
    let profile = profiled(&measure("debian:6.12", "profile", &some));
    let slopes = slopes(&measure("debian:6.12", "sensitivity", &some));
    let (unexplained, compared, _) =
        compare(&profile, Method::Sensitivity, &slopes, &BTreeSet::new());
    assert_eq!(unexplained, [""; 0]);
    assert!(compared > 10, "{compared}");
}
