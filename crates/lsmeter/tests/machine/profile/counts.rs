// SPDX-License-Identifier: GPL-2.0-or-later
//! What is counted: calls of hooks, and what they cost, on both kinds of kernel: hooks
//! in lists (6.1) and as static calls (6.12).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use experiment::{HookCost, Profile, ProfileDocument, Status};

use super::{assert_fits_schema, assert_sums, machine, read, tables};
use crate::common::Place;

/// How often an operation on a path of `depth` components asks for permission to a
/// directory or file (`inode_permission`): once for every directory that is walked
/// through, which include the one that it starts from. Also chmod.
const fn stat(depth: u64) -> u64 {
    depth
}

/// Once more for the file that is opened; of unlink, symlink, mkdir and rmdir for the
/// directory that is written to.
const fn open(depth: u64) -> u64 {
    depth + 1
}

/// The directory is searched, opened for writing, and the new file is opened.
const fn creat(depth: u64) -> u64 {
    depth + 2
}

/// Both paths are walked, both directories written to.
const fn rename(depth: u64) -> u64 {
    2 * depth + 2
}

/// Benchmarks, and the calls of `inode_permission`, `file_open` and `file_permission`
/// in one operation.
const CALLS: &[(&str, [u64; 3])] = &[
    ("open:AA", [open(1), 1, 0]),
    ("open:AA/BB/CC/DD", [open(4), 1, 0]),
    ("open:AA/BB/CC/DD/EE/FF/GG/HH", [open(8), 1, 0]),
    ("open:AA/../HH", [open(3), 1, 0]),
    ("open:XX/YY/../../AA/BB/../../HH", [open(9), 1, 0]),
    ("stat:AA", [stat(1), 0, 0]),
    ("stat:AA/BB", [stat(2), 0, 0]),
    ("stat:AA/BB/CC/DD/EE/FF/GG/HH", [stat(8), 0, 0]),
    ("rename:depth1", [rename(1), 0, 0]),
    ("rename:depth2", [rename(2), 0, 0]),
    ("rename:depth5", [rename(5), 0, 0]),
    ("chmod:depth1", [stat(1), 0, 0]),
    ("chmod:depth3", [stat(3), 0, 0]),
    ("mkdir:one", [open(1), 0, 0]),
    ("rmdir:one", [open(1), 0, 0]),
    // These are two operations each, at depth 1: rename and creat,
    ("creat:random", [rename(1) + creat(1), 1, 0]),
    // open and unlink,
    ("unlink:random", [open(1) + open(1), 1, 0]),
    // symlink and unlink.
    ("symlink:random", [open(1) + open(1), 0, 0]),
    ("read:4KB", [0, 0, 1]),
    ("write:4KB", [0, 0, 1]),
    ("getppid:null", [0, 0, 0]),
];

const STACKS: &[&str] = &["selinux", "apparmor", "tomoyo"];

fn find<'a>(profiles: &'a [Profile], title: &str, module: &str) -> &'a Profile {
    profiles
        .iter()
        .find(|profile| profile.title() == title && profile.stack.iter().any(|m| m == module))
        .unwrap_or_else(|| panic!("no {title} under {module}"))
}

fn calls(hooks: &[HookCost], hook: &str) -> u64 {
    let of_hook = hooks.iter().filter(|cost| cost.hook == hook);
    of_hook.map(|cost| cost.calls).sum()
}

fn outermost(hooks: &[HookCost]) -> BTreeMap<&str, i64> {
    let mut sums = BTreeMap::new();
    for cost in hooks {
        *sums.entry(cost.hook.as_str()).or_default() += i64::try_from(cost.outermost).unwrap();
    }
    sums
}

fn modules(profiles: &[&Profile]) -> BTreeSet<String> {
    profiles
        .iter()
        .flat_map(|profile| &profile.hooks)
        .flat_map(|hook| &hook.implementations)
        .map(|behind| behind.module.clone())
        .collect()
}

#[track_caller]
fn assert_difference(profile: &Profile) {
    let title = format!("{} under {:?}", profile.title(), profile.stack);
    let base = profile.baseline.as_ref().expect(&title);
    assert_eq!(base.stack, ["capability"], "{title}");
    assert_sums(&title, profile.total, profile.hooked, &profile.hooks);
    assert_sums(&title, base.total, base.hooked, &base.hooks);
    let [own, of_base] = [&profile.hooks, &base.hooks].map(|hooks| outermost(hooks));
    let names: BTreeSet<&str> = own.keys().chain(of_base.keys()).copied().collect();
    let of = |sums: &BTreeMap<&str, i64>, hook: &str| sums.get(hook).copied().unwrap_or(0);
    let in_hooks: i64 = names
        .iter()
        .map(|hook| of(&own, hook) - of(&of_base, hook))
        .sum();
    let in_total = profile.total.cast_signed() - base.total.cast_signed();
    assert_eq!(in_total, in_hooks + profile.residual.unwrap(), "{title}");
    if profile.is_stable() {
        assert_eq!(profile.residual, Some(0), "{title}");
        assert_eq!(profile.residual_functions, [], "{title}");
    }
}

/// Profiles all of [`CALLS`] under all of [`STACKS`] against capability.
fn compared(place: &Place, kernel: &str, rest: &[&str]) -> (ProfileDocument, String) {
    let stacks: Vec<String> = STACKS.iter().map(|m| format!("capability,{m}")).collect();
    let mut asked = vec!["profile", "--offline", "--kernel", kernel, "--fs", "tmpfs"];
    asked.extend(["--diff", "capability", "--check", "--output", "out.json"]);
    asked.extend(stacks.iter().flat_map(|stack| ["--stack", stack]));
    asked.extend(CALLS.iter().flat_map(|(title, _)| ["--bench", title]));
    asked.extend(rest);
    let ended = place.run(&asked).code(0);
    (read(&place.join("out.json")), ended.stdout)
}

#[track_caller]
fn assert_calls(profiles: &[Profile]) {
    for (title, expected) in CALLS {
        for module in STACKS {
            let profile = find(profiles, title, module);
            assert_eq!(profile.status, Status::Ok, "{profile:#?}");
            for hooks in [&profile.hooks, &profile.baseline.as_ref().unwrap().hooks] {
                let counted = ["inode_permission", "file_open", "file_permission"]
                    .map(|hook| calls(hooks, hook));
                assert_eq!(counted, *expected, "{title} under {module}: {hooks:#?}");
            }
        }
    }
    assert_eq!(profiles.len(), CALLS.len() * STACKS.len());
}

#[track_caller]
fn assert_differences(profiles: &[Profile]) {
    for profile in profiles {
        assert_difference(profile);
    }
    // That the sums hold says nothing where nothing is stable.
    let stable = profiles.iter().filter(|profile| profile.is_stable());
    assert!(stable.count() > profiles.len() * 3 / 4);
    for module in STACKS {
        let open = find(profiles, "open:AA", module);
        let base = open.baseline.as_ref().unwrap();
        assert!(open.is_stable());
        assert!(open.total > base.total && open.hooked > base.hooked);
        assert_eq!(
            open.total - base.total,
            open.hooked - base.hooked,
            "{module}"
        );
        let getppid = find(profiles, "getppid:null", module);
        assert_eq!(getppid.hooks, []);
        assert_eq!(getppid.total, getppid.baseline.as_ref().unwrap().total);
    }
}

#[test]
fn hooks_of_6_12() {
    let _machine = machine();
    let place = Place::with_kernel("debian:6.12");
    let exports = ["--export-csv", "out.csv", "--export-markdown", "out.md"];
    let (document, table) = compared(&place, "debian:6.12", &exports);
    let profiles = &document.profiles;
    assert_calls(profiles);
    assert_differences(profiles);
    assert_fits_schema(&place.join("out.json"));
    for module in STACKS {
        let of_stack: Vec<&Profile> = profiles
            .iter()
            .filter(|profile| profile.stack.iter().any(|m| m == module))
            .collect();
        // From 6.8 on these are modules, which every stack has.
        let expected = BTreeSet::from([*module, "ima", "evm"].map(str::to_owned));
        assert_eq!(modules(&of_stack), expected);
        for profile in of_stack {
            let active = &profile.active_lsms;
            assert!(expected.iter().all(|m| active.contains(m)), "{active:?}");
            assert!(profile.release.starts_with("6.12."));
        }
    }

    let csv = fs::File::open(place.join("out.csv")).unwrap();
    tables::assert_csv_says(csv, profiles);
    let markdown = fs::read_to_string(place.join("out.md")).unwrap();
    for text in [&table, &markdown] {
        tables::assert_rows_say(text, profiles);
    }
    assert_eq!(place.names(), ["out.csv", "out.json", "out.md"]);
    assert_eq!(place.left_over(), Vec::<String>::new());
}

#[test]
fn hooks_of_6_1() {
    let _machine = machine();
    let place = Place::with_kernel("debian:6.1");
    let (document, table) = compared(&place, "debian:6.1", &[]);
    let profiles = &document.profiles;
    assert_calls(profiles);
    assert_differences(profiles);
    tables::assert_rows_say(&table, profiles);
    for module in STACKS {
        let open = find(profiles, "open:AA", module);
        assert!(open.release.starts_with("6.1."));
        // No module yet, but called beside the framework.
        assert!(modules(&[open]).contains("ima"));
        assert!(modules(&[open]).contains(*module));
        assert!(!open.active_lsms.iter().any(|m| m == "ima"));
        assert_eq!(calls(&open.hooks, "ima_file_check"), 1, "{open:#?}");
    }
    // One decision of SELinux for each that is asked for.
    let open = find(profiles, "open:AA", "selinux");
    let hook = open.hooks.iter().find(|h| h.hook == "inode_permission");
    let behind = &hook.unwrap().implementations[..];
    assert_eq!(behind.len(), 1, "{behind:#?}");
    assert_eq!(behind[0].function, "selinux_inode_permission");
    assert_eq!((behind[0].module.as_str(), behind[0].calls), ("selinux", 2));
}
