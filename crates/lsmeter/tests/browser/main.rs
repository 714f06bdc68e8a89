// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports, opened in Chromium. SLOW: some minutes.
//!
//! Needs chromium, node and npm, which `make test` installs; what the test takes from npm's
//! registry, once, is kept in $XDG_CACHE_HOME/lsmeter/browser-test.

mod document;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testing::{node_modules, succeed, unpack};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
/// What docs/results/paper-on-6.12.md shows.
const PAPER: &[u8] = include_bytes!("../../../../docs/results/paper-on-6.12.json.xz");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiment/tests/golden");

fn report(documents: &[PathBuf], page: &Path) {
    let mut lsmeter = Command::new(env!("CARGO_BIN_EXE_lsmeter"));
    succeed(
        lsmeter
            .arg("report")
            .args(documents)
            .arg("--output")
            .arg(page),
    );
}

/// Opens it, and keeps pictures of it in `shots` if that is named.
fn open(page: &Path, shots: Option<OsString>) {
    let mut node = Command::new("node");
    node.arg(Path::new(HERE).join("page.mjs"));
    node.arg(node_modules(Path::new(HERE), "browser-test"));
    succeed(node.arg("/usr/bin/chromium").arg(page).args(shots));
}

/// One test, since two browsers at a time would wait for each other, and for npm.
#[test]
fn pages_draw_filter_and_are_accessible() {
    let dir = tempfile::tempdir().unwrap();
    // The paper's evaluation, as it was run, with hooks; and figures of another kernel.
    let [one, other] = ["paper.json", "other-kernel.json"].map(|name| dir.path().join(name));
    fs::write(&one, unpack(PAPER)).unwrap();
    document::write(&other, "build:7.2-all");
    let page = dir.path().join("paper.html");
    report(std::slice::from_ref(&one), &page);
    open(&page, std::env::var_os("LSMETER_SCREENSHOTS"));

    let golden = [
        "v1.json",
        "profile-v1.json",
        "sensitivity-v1.json",
        "monitor-v1.json",
        "placement-v1.json",
    ];
    let mut all: Vec<PathBuf> = golden.map(|name| Path::new(GOLDEN).join(name)).into();
    all.push(document::hostile(&dir.path().join("hostile.json")));
    all.push(other);
    let page = dir.path().join("all.html");
    report(&all, &page);
    open(&page, None);
}
