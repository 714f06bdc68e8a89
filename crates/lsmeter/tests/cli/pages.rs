// SPDX-License-Identifier: GPL-2.0-or-later
//! Pages print what result files contain (`make results publications` writes them), and their links work.

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

/// Runs Debian's Python, which has the libraries, whatever is first in PATH.
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

fn pages() -> Vec<PathBuf> {
    let mut git = Command::new("git");
    let listed = git.args(["-C", ROOT, "ls-files", "-co", "--exclude-standard", "*.md"]);
    let listed = String::from_utf8(listed.output().unwrap().stdout).unwrap();
    let pages = listed.lines().map(|line| Path::new(ROOT).join(line));
    pages.filter(|page| page.exists()).collect()
}

/// The text of a page without blocks of code.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    text.split("\n```").step_by(2).collect()
}

/// The anchors that GitHub makes for headings.
fn anchors(page: &Path) -> Vec<String> {
    let kept = |char: char| char.is_alphanumeric() || " -_".contains(char);
    let headings = prose(page);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    let slug = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let title: String = title.chars().filter(|&char| kept(char)).collect();
        title.replace(' ', "-")
    };
    let named = fs::read_to_string(page).unwrap();
    let named = named.split("<a id=\"").skip(1);
    let named = named.map(|rest| rest.split('"').next().unwrap().to_owned());
    headings.map(slug).chain(named).collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        for link in prose(&page).split("](").skip(1) {
            let link = link.split([')', ' ']).next().unwrap();
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let is_there = target.exists()
                && (anchor.is_empty() || anchors(&target).iter().any(|known| known == anchor));
            if !is_there {
                let page = page.strip_prefix(ROOT).unwrap();
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_summary_lists_every_page() {
    let summary = fs::read_to_string(Path::new(ROOT).join("docs/SUMMARY.md")).unwrap();
    let docs = Path::new(ROOT).join("docs");
    for page in pages() {
        let Ok(name) = page.strip_prefix(&docs) else {
            continue;
        };
        let name = name.display().to_string();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("]({name})")),
            "{name}"
        );
    }
}
