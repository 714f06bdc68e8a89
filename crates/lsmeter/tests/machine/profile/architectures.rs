// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels of another architecture.
//!
//! Needs `qemu-system-aarch64`, an lsmeter built with its cross-compiler, and the kernel
//! debian:6.12/aarch64.

use std::collections::BTreeMap;

use super::*;

/// Calls of both architectures. Some have another form on one of them.
const SOME: &str = "open:AA/BB,stat:AA,rename:depth1,read:1KB,write:0KB,socket:unix-stream,\
                    pipe-message:64KB,access:AA/BB,getppid";

/// Profiles operations on the default kernel of each architecture, with and without SELinux.
fn profile(place: &Place, archs: &[&str], output: &str, flag: &str) -> Document {
    let line = format!(
        "profile --offline --fs tmpfs --kernel debian:6.12 --arch {} --stack capability \
         --stack capability,selinux --bench {SOME} --baseline capability --output {output} {flag}",
        archs.join(" --arch ")
    );
    place.line(&line).code(0);
    place.document(output)
}

/// Calls of each hook in each operation on an architecture.
fn calls(
    document: &Document,
    architecture: Architecture,
) -> BTreeMap<(String, Vec<String>), BTreeMap<String, u64>> {
    let cells = document.cells.iter();
    let own = cells.filter(|cell| cell.key.architecture == architecture);
    let entry = |cell: &Cell| {
        let hooks = counted(cell).1.hooks.iter();
        let hooks = hooks.map(|hook| (hook.hook.clone(), hook.calls));
        (
            (cell.title(), cell.key.stack.clone()),
            hooks.collect::<BTreeMap<_, _>>(),
        )
    };
    own.map(entry).collect()
}

/// Profiles both in one run, and one of them alone.
#[test]
fn the_same_hooks_are_called_on_two_architectures() {
    let place = Place::with_kernels();
    let mut both = profile(&place, &["x86_64", "arm64"], "both.json", "");
    assert_fits_schema(&place.join("both.json"));
    let native = calls(&both, Architecture::X86_64);
    assert_eq!(native.len(), both.cells.len() / 2);
    assert_eq!(native, calls(&both, Architecture::Aarch64));
    // Each has its own emulator.
    for (at, cell) in both.cells.iter().enumerate() {
        let (is_other, kernel) = match cell.key.architecture {
            Architecture::X86_64 => (false, "debian:6.12"),
            Architecture::Aarch64 => (true, "debian:6.12/aarch64"),
        };
        assert_eq!(cell.key.kernel, kernel);
        let emulator = both.environment_of(at).qemu.as_ref().unwrap();
        assert_eq!(emulator.machine == "virt", is_other, "{emulator:?}");
        let (counted, path) = counted(cell);
        assert_sums(&cell.title(), path);
        if let Some(residual) = &counted.residual {
            // The start of memset depends on the length.
            let most = if is_other { 32 } else { 0 };
            assert!(residual.instructions.abs() <= most, "{residual:#?}");
        }
        if is_other && cell.key.benchmark() == "open" {
            let made: Vec<&str> = path.system_calls.keys().map(String::as_str).collect();
            assert_eq!(made, ["close", "openat"]);
        }
    }
    // Alone it gives the same counts.
    let again = profile(&place, &["aarch64"], "again.json", "--no-cache");
    assert!(again.environments.is_empty());
    let other = |cell: &Cell| cell.key.architecture == Architecture::Aarch64;
    both.cells.retain(other);
    crate::cells::assert_same(&again, &both);
    // Unsupported benchmarks are reported.
    let refused = "sensitivity --arch x86_64 --bench stat:AA --offline --arch aarch64";
    let error = place.line(refused).stderr;
    assert!(
        error.contains("aarch64") && error.contains("hint: "),
        "{error}"
    );
}

/// BPF programs delay decisions there too, and slopes equal counts.
#[test]
fn slopes_are_counts_on_another_architecture() {
    let place = Place::with_kernels();
    let line = "sensitivity --arch aarch64 --offline --fs tmpfs --bench open:AA/BB,stat:AA \
                --output swept.json";
    place.line(line).code(0);
    let swept = place.document("swept.json");
    let whole = swept.slopes().filter(|(_, delay, _)| delay.is_whole());
    let slopes: BTreeMap<String, f64> = whole
        .map(|(cell, _, slope)| (cell.title(), slope.slope))
        .collect();
    assert_eq!(slopes.len(), 2, "{slopes:?}");
    // stat calls inode_permission and inode_getattr once each; open makes nine calls.
    for (operation, decisions) in [("stat:AA", 2.0), ("open:AA/BB", 9.0)] {
        let slope = slopes[operation];
        assert!((slope - decisions).abs() < 0.001, "{operation}: {slope}");
    }
}

/// Merged shards of a run on two architectures equal the whole run.
#[test]
fn shards_of_two_architectures_are_the_whole() {
    let place = Place::with_kernels();
    let measure = |more: &str| {
        let line = format!(
            "run --offline --fs tmpfs --kernel debian:6.12 --arch x86_64 --arch aarch64 \
             --stack capability --bench getppid,stat:AA,open:AA,access:* --output {more}"
        );
        place.line(&line).code(0);
    };
    measure("whole.json");
    for part in 1..=4 {
        measure(&format!("{part}.json --shard {part}/4"));
        assert!(!place.document(&format!("{part}.json")).cells.is_empty());
    }
    place
        .line("merge 4.json 1.json 2.json 3.json --output merged.json")
        .code(0);
    let [whole, merged] = ["whole.json", "merged.json"].map(|name| place.document(name));
    assert_eq!([&whole, &merged].map(|run| run.environments.len()), [2, 2]);
    assert!(merged.share.is_none());
    assert_eq!(merged.kernel_digests, whole.kernel_digests);
    assert_eq!(merged.warnings, whole.warnings);
    crate::cells::assert_same(&merged, &whole);
}
