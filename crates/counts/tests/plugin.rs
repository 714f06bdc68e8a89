// SPDX-License-Identifier: GPL-2.0-or-later
//! Parts of the plugin by themselves: its decoders against instructions as an assembler encodes them,
//! the transfers that accesses cause, and how it counts user blocks that the kernel interrupts.

use std::path::Path;
use std::process::Command;

#[test]
fn parts_of_the_plugin_are_right() {
    for (test, sources) in [
        ("effects.c", &["arch/x86_64/effects.c"][..]),
        (
            "aarch64.c",
            &["arch/aarch64/decode.c", "arch/aarch64/effects.c"],
        ),
        ("tasks.c", &["tasks.c", "walk.c", "calls.c", "block.c"]),
        ("transfers.c", &["transfers.c"]),
    ] {
        compile_and_run(test, sources);
    }
}

/// Compiles a test with parts of the plugin and runs it; the test prints each case that is wrong.
fn compile_and_run(test: &str, sources: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("test");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("plugin"))
        .arg("-o")
        .arg(&program)
        .arg(here.join("tests").join(test))
        .args(sources.iter().map(|file| here.join("plugin").join(file)))
        .status()
        .unwrap();
    assert!(compiled.success());
    let output = Command::new(&program).output().unwrap();
    let wrong = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{test}:\n{wrong}");
}
