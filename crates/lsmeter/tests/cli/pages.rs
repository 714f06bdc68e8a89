// SPDX-License-Identifier: GPL-2.0-or-later
//! The pages of results print what result files contain. `make results publications` writes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const LSMETER: &str = env!("CARGO_BIN_EXE_lsmeter");

fn succeeds(command: &mut Command) {
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

#[test]
fn result_pages_are_fresh() {
    let refresh = Path::new(ROOT).join("docs/results/refresh");
    succeeds(Command::new(refresh).args([LSMETER, "--check"]));
}

/// Debian's Python has the libraries, whatever comes first in PATH.
#[test]
fn pages_of_publications_are_fresh() {
    let folders = fs::read_dir(Path::new(ROOT).join("publications")).unwrap();
    let pages = folders.map(|folder| folder.unwrap().path().join("page.py"));
    let pages: Vec<PathBuf> = pages.filter(|page| page.exists()).collect();
    assert_eq!(pages.len(), 4);
    for page in pages {
        let mut python = Command::new("/usr/bin/python3");
        succeeds(python.arg(page).args(["--lsmeter", LSMETER, "--check"]));
    }
}
