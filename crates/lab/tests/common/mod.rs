// SPDX-License-Identifier: GPL-2.0-or-later
//! An agent with another runner, and the cache of whoever runs the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernels::Store;

/// The agent's sources.
#[allow(dead_code, reason = "each test file uses its part of this module")]
pub fn guest() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("guest")
}

/// What of them is of this machine's architecture.
fn arch() -> PathBuf {
    guest().join("arch").join(std::env::consts::ARCH)
}

/// All C files of the agent.
#[allow(dead_code, reason = "each test file uses its part of this module")]
pub fn agent_sources() -> Vec<PathBuf> {
    let mut files = sources(&guest());
    files.extend(sources(&arch()));
    for part in ["bench", "policy", "delays", "program", "settings"] {
        files.extend(sources(&guest().join(part)));
    }
    let own = arch().join("bench");
    if own.is_dir() {
        files.extend(sources(&own));
    }
    files
}

/// The agent in which the C file `runner` of `tests/` stands for `guest/runner.c`, whose
/// `run_cells` it finds as `sound_run_cells`.
#[allow(dead_code, reason = "each test file uses its part of this module")]
pub fn agent_with(runner: &str, dir: &Path) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let object = dir.join("runner.o");
    let renamed = ["-Drun_cells=sound_run_cells", "-c"];
    compile(&object, &renamed, &[guest().join("runner.c")]);
    let mut files = agent_objects();
    let all = files.len();
    files.retain(|file| !file.to_str().unwrap().ends_with("-runner.o"));
    assert_eq!(files.len() + 1, all);
    files.extend([root.join("tests").join(runner), object]);
    let agent = dir.join("agent");
    compile(&agent, &["-s"], &files);
    fs::read(agent).unwrap()
}

/// What `build.rs` compiled for the agent.
#[allow(dead_code, reason = "each test file uses its part of this module")]
pub fn agent_objects() -> Vec<PathBuf> {
    let list = include_str!(concat!(env!("OUT_DIR"), "/objects.txt"));
    list.lines().map(PathBuf::from).collect()
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

/// Compiles C as `build.rs` compiles the agent, with more arguments.
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

/// The cache of whoever runs the tests.
#[allow(dead_code, reason = "each test file uses its part of this module")]
pub fn store() -> Store {
    let cache = match std::env::var_os("XDG_CACHE_HOME") {
        Some(cache) => PathBuf::from(cache),
        None => PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"),
    };
    Store::open(&cache.join("lsmeter")).unwrap()
}
