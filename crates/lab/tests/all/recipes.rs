// SPDX-License-Identifier: GPL-2.0-or-later
//! Follows the recipes of CONTRIBUTING.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lab::catalogue::catalogue;
use model::{FileSystem, presets};

use super::common;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The section of CONTRIBUTING.md with this title.
fn section(title: &str) -> String {
    let page = text("CONTRIBUTING.md");
    let (_, rest) = page.split_once(&format!("\n## {title}\n")).expect(title);
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

#[test]
fn the_benchmark_of_the_page_can_be_added() {
    let section = section("Adding a benchmark");
    let (_, rest) = section.split_once("```c\n").expect("the page's C file");
    let (c, _) = rest.split_once("```").expect("its end");
    let renamed = c.replace("BENCH(\"access\"", "BENCH(\"recipe\"");
    assert_ne!(renamed, c);

    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("recipe.c");
    fs::write(&source, renamed).unwrap();
    let mut files = common::agent_objects(&[]);
    files.push(source);
    let agent = dir.path().join("agent");
    common::compile(&agent, &["-s"], &files);

    let output = Command::new(&agent).arg("--list").output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    let listed = |name: &str| list.lines().find(|line| line.contains(name));
    let made = listed("\trecipe\tAA/BB\t").unwrap_or_else(|| panic!("{list}"));
    // Its name is also its system call and its man page.
    assert_eq!(
        Some(made.replace("recipe", "access").as_str()),
        listed("\taccess\tAA/BB\t")
    );
    assert_eq!(list.lines().count(), catalogue().len() + 1);
}

#[test]
fn every_benchmark_has_a_line_in_the_suites_page() {
    let page = text("docs/suite.md");
    for benchmark in catalogue() {
        let line = format!("| `{}` |", benchmark.name);
        assert!(page.contains(&line), "docs/suite.md has no line {line}");
    }
}

#[test]
fn every_preset_is_listed() {
    let directory = root().join("crates/model/presets");
    let files: BTreeSet<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let listed: BTreeSet<String> = presets().iter().map(|p| p.name.to_owned()).collect();
    assert_eq!(files, listed);
}

/// Steps that the Rust compiler cannot check.
#[test]
fn every_file_system_on_a_device_is_where_the_page_says() {
    let steps = section("Adding a file system");
    for &filesystem in FileSystem::ALL {
        // overlayfs is on top of ext4 and tmpfs.
        if matches!(filesystem, FileSystem::Tmpfs | FileSystem::Overlay) {
            continue;
        }
        for (path, words) in [
            ("crates/lab/guest/vm.c", format!("\"{filesystem}\"")),
            ("Makefile", format!("mkfs.{filesystem}:")),
            (
                "crates/lsmeter/src/commands/doctor.rs",
                format!("\"mkfs.{filesystem}\""),
            ),
        ] {
            assert!(text(path).contains(&words), "{path} lacks {words}");
            let name = path.rsplit('/').next().unwrap_or_default();
            assert!(
                steps.contains(name.trim_end_matches(".rs")),
                "the recipe lacks {path}"
            );
        }
    }
}
