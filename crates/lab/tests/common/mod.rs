// SPDX-License-Identifier: GPL-2.0-or-later
//! Compiles agents as `build.rs` does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The agent's sources.
pub fn guest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guest")
}

/// The sources of this machine's architecture.
pub fn arch() -> PathBuf {
    guest().join("arch").join(std::env::consts::ARCH)
}

/// A C file in `tests/` that replaces one of the agent's.
pub fn of_tests(name: &str) -> PathBuf {
    guest().with_file_name("tests").join(name)
}

/// Objects that `build.rs` compiled for the agent, except these files.
pub fn agent_objects(without: &[&str]) -> Vec<PathBuf> {
    let list = include_str!(concat!(env!("OUT_DIR"), "/objects.txt"));
    let is_left_out = |object: &&str| {
        let ending = |name: &&str| object.ends_with(&format!("-{name}.o"));
        without.iter().any(ending)
    };
    let (out, files): (Vec<&str>, Vec<&str>) = list.lines().partition(is_left_out);
    assert_eq!(out.len(), without.len());
    files.into_iter().map(PathBuf::from).collect()
}

/// Compiles C with `build.rs`'s flags for the agent, and more arguments.
pub fn compile(output: &Path, arguments: &[&str], files: &[PathBuf]) {
    let texts = [guest(), arch()].map(|dir| fs::read_to_string(dir.join("flags.txt")).unwrap());
    let flags = texts.iter().flat_map(|text| text.lines());
    let flags = flags.filter(|line| !line.starts_with('#'));
    let done = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(flags)
        .arg("-I")
        .arg(guest())
        .arg("-I")
        .arg(arch())
        .args(arguments)
        .arg("-o")
        .arg(output)
        .args(files)
        .output()
        .expect("these tests need a C compiler");
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{complaint}");
}
