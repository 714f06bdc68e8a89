// SPDX-License-Identifier: GPL-2.0-or-later
//! A policy with arbitrary files. Findings go into the corpus, which `cargo test -p lab` also runs.

#![no_main]

#[path = "../anything.rs"]
mod anything;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

static DIR: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a directory"));

fuzz_target!(|data: &[u8]| {
    let _ = anything::prepared(DIR.path(), data);
});
