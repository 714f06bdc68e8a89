// SPDX-License-Identifier: GPL-2.0-or-later
//! The plugin's decoders against instructions as an assembler encodes them.

use std::path::Path;
use std::process::Command;

#[test]
fn instructions_are_read_as_they_are() {
    for (test, sources) in [
        ("effects.c", &["x86_64/effects.c"][..]),
        ("aarch64.c", &["aarch64/decode.c", "aarch64/effects.c"]),
    ] {
        compile_and_run(test, sources);
    }
}

/// Compiles a test with parts of the plugin and runs it; the test prints each wrongly decoded
/// instruction.
fn compile_and_run(test: &str, sources: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("effects");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(here.join("plugin"))
        .arg("-o")
        .arg(&program)
        .arg(here.join("tests").join(test))
        .args(
            sources
                .iter()
                .map(|file| here.join("plugin/arch").join(file)),
        )
        .status()
        .unwrap();
    assert!(compiled.success());
    let output = Command::new(&program).output().unwrap();
    let wrong = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{test}: instructions decoded wrongly:\n{wrong}"
    );
}
