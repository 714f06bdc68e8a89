// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernels of another architecture than this machine's.
//!
//! Needs its QEMU (`qemu-system-aarch64`), an lsmeter built with its compiler, and the kernel
//! debian:6.12/aarch64 in the cache (`lsmeter kernel fetch debian:6.12/aarch64`).

use std::collections::BTreeMap;

use super::*;

/// Calls that both architectures have, and such as one of them makes in another form.
const SOME: &str = "open:AA/BB,stat:AA,rename:depth1,read:1KB,write:0KB,socket:unix-stream,\
                    pipe-message:64KB,access:AA/BB,getppid";

/// Profiles some operations on `kernel`, with SELinux and without.
fn profile(place: &Place, kernel: &str, output: &str) -> Document {
    let stacks = ["--stack", "capability", "--stack", "capability,selinux"];
    let what = ["--offline", "--fs", "tmpfs", "--kernel", kernel];
    let more = ["--bench", SOME, "--diff", "capability", "--output", output];
    place
        .run(&[&["profile"][..], &what, &stacks, &more].concat())
        .code(0);
    read(&place.join(output))
}

/// How often each operation calls each hook.
fn calls(document: &Document) -> BTreeMap<(String, Vec<String>), BTreeMap<String, u64>> {
    let cells = document.cells.iter();
    let of = |cell: &Cell| {
        let hooks = counted(cell).1.hooks.iter();
        let hooks = hooks.map(|hook| (hook.hook.clone(), hook.calls));
        (
            (cell.title(), cell.key.stack.clone()),
            hooks.collect::<BTreeMap<_, _>>(),
        )
    };
    cells.map(of).collect()
}

#[test]
fn the_same_hooks_are_called_on_two_architectures() {
    let _machine = machine();
    let place = Place::with_kernels();
    let native = profile(&place, "debian:6.12", "native.json");
    let other = profile(&place, "debian:6.12/aarch64", "other.json");
    assert_fits_schema(&place.join("other.json"));
    assert_eq!(calls(&native), calls(&other));
    for cell in &other.cells {
        assert_eq!(cell.key.architecture.as_str(), "aarch64");
        assert_eq!(cell.key.kernel, "debian:6.12/aarch64");
        let (counted, path) = counted(cell);
        assert_sums(&cell.title(), path);
        if let Some(residual) = &counted.residual {
            // Where memset begins depends on what it clears.
            assert!(residual.instructions.abs() <= 32, "{residual:#?}");
        }
        if cell.key.benchmark() == "open" {
            let made: Vec<&str> = path.system_calls.keys().map(String::as_str).collect();
            assert_eq!(made, ["close", "openat"]);
        }
    }
    // Once more, and nothing differs.
    let again = profile(&place, "debian:6.12/aarch64", "again.json");
    crate::cells::assert_same(&again, &other);
    // What this lsmeter does not measure there it says.
    for refused in [
        &["sensitivity", "--bench", "stat:AA"][..],
        &["run", "memory"],
        &["profile", "--events", "--bench", "stat:AA"],
        &["run", "--kernel", "debian:6.12", "--bench", "stat:AA"],
    ] {
        let kernel = ["--offline", "--kernel", "debian:6.12/aarch64"];
        let error = place.run(&[refused, &kernel].concat()).stderr;
        assert!(error.contains("aarch64"), "{error}");
        assert!(error.contains("hint: "), "{error}");
    }
}
