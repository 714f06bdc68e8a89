// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports and diagrams, opened in Chromium. SLOW: some minutes.
//!
//! Needs chromium, node and npm, which `make test` installs. npm installs modules once, in
//! $XDG_CACHE_HOME/lsmeter/browser-test.

mod document;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use model::Document;
use testing::{node_modules, succeed, unpack};

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");
/// `lsmeter run suite --with-hooks` on debian:6.12.
const SUITE: &[u8] = include_bytes!("suite.json.xz");
/// Maximum size of the page of such a run, in bytes, so that it can be mailed.
const PAGE_LIMIT: u64 = 1_500_000;
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../model/tests/golden");

fn report(documents: &[PathBuf], page: &Path) {
    let mut lsmeter = Command::new(env!("CARGO_BIN_EXE_lsmeter"));
    // The page contains the names as they are given, so they are relative.
    let dir = documents[0].parent().unwrap();
    let named = |document: &PathBuf| document.strip_prefix(dir).unwrap_or(document).to_owned();
    let named: Vec<PathBuf> = documents.iter().map(named).collect();
    lsmeter.current_dir(dir).arg("report").args(named);
    succeed(lsmeter.arg("--output").arg(page));
}

/// Opens a page of this kind: `report`, `comparison`, or `lead` to check only its first screen.
fn open(page: &Path, kind: &str) {
    let mut node = Command::new("node");
    node.arg(Path::new(HERE).join("page.mjs"));
    node.arg(node_modules(Path::new(HERE), "browser-test"));
    succeed(node.arg("/usr/bin/chromium").arg(page).arg(kind));
}

/// Browsers that run in parallel would wait for each other, and for npm.
static ONE_BROWSER: Mutex<()> = Mutex::new(());

#[test]
fn pages_draw_filter_and_are_accessible() {
    let _one = ONE_BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let [one, other] = ["suite.json", "other-kernel.json"].map(|name| dir.path().join(name));
    fs::write(&one, unpack(SUITE)).unwrap();
    document::write(&other, "build:7.2-all");
    let page = dir.path().join("suite.html");
    report(std::slice::from_ref(&one), &page);
    let size = fs::metadata(&page).unwrap().len();
    assert!(size < PAGE_LIMIT, "{size} bytes");
    open(&page, "report");

    let golden = ["run", "profile", "sensitivity", "monitor", "placement"];
    let golden = golden.map(|name| Path::new(GOLDEN).join(format!("{name}.json")));
    let mut all: Vec<PathBuf> = golden.into();
    all.push(document::hostile(&dir.path().join("hostile.json")));
    all.push(other);
    let page = dir.path().join("all.html");
    report(&all, &page);
    open(&page, "report");
}

/// Compares a run with a copy in which a patch made one function longer.
#[test]
fn comparisons_answer_on_their_first_screen() {
    let _one = ONE_BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let [base, new] = regression(dir.path());
    let page = dir.path().join("compare.html");
    compare(&base, &new, &page);
    open(&page, "comparison");
}

/// Each other kind of result file has its main figure on the first screen.
#[test]
fn pages_of_each_kind_lead_with_their_figure() {
    let _one = ONE_BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let page = dir.path().join("page.html");
    for name in [
        "events-6.12",
        "../../publications/lsm-overhead/placement-6.12",
        "../../publications/lsm-overhead/slopes",
    ] {
        report(&[results.join(format!("{name}.json.xz"))], &page);
        open(&page, "lead");
    }
    report(&[Path::new(GOLDEN).join("monitor.json")], &page);
    open(&page, "lead");
}

/// Writes a real run, and a copy with an injected regression, to `dir`.
fn regression(dir: &Path) -> [PathBuf; 2] {
    let [base, new] = ["base.json", "patched.json"].map(|name| dir.join(name));
    let measured = unpack(SUITE);
    let mut run = Document::parse(&measured).unwrap();
    assert!(document::regressed(&mut run) > 50);
    fs::write(&base, measured).unwrap();
    run.write(fs::File::create(&new).unwrap()).unwrap();
    [base, new]
}

fn compare(base: &Path, new: &Path, page: &Path) {
    let mut lsmeter = Command::new(env!("CARGO_BIN_EXE_lsmeter"));
    lsmeter.current_dir(base.parent().unwrap());
    lsmeter.arg("compare");
    lsmeter.args([base, new].map(|path| path.file_name().unwrap()));
    fs::write(page, succeed(lsmeter.args(["--format", "html"]))).unwrap();
}

/// Makes the pictures of `docs/images` and checks that none is blank. UPDATE_IMAGES replaces them; look
/// at them before you commit.
#[test]
fn pictures_of_the_documentation_are_made() {
    let _one = ONE_BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let images = match std::env::var_os("UPDATE_IMAGES") {
        Some(_) => root.join("docs/images"),
        None => dir.path().join("images"),
    };
    fs::create_dir_all(&images).unwrap();
    let [base, new] = regression(dir.path());
    let page = |name: &str| dir.path().join(name);
    compare(&base, &new, &page("compare.html"));
    fs::rename(&base, page("suite.json")).unwrap();
    report(&[page("suite.json")], &page("suite.html"));
    for name in ["paper", "slopes"] {
        let packed =
            fs::read(root.join(format!("publications/lsm-overhead/{name}.json.xz"))).unwrap();
        let document = page(&format!("{name}.json"));
        fs::write(&document, unpack(&packed)).unwrap();
        report(&[document], &page(&format!("{name}.html")));
    }
    let mut node = Command::new("node");
    node.current_dir(dir.path());
    node.arg(Path::new(HERE).join("shots.mjs"));
    node.arg(node_modules(Path::new(HERE), "browser-test"));
    node.arg("/usr/bin/chromium").arg(&images);
    node.args(["run=suite.html", "cell=suite.html#cell=glance-1-1.0.1"]);
    node.args([
        "compare=compare.html",
        "paper=paper.html",
        "sweep=slopes.html",
    ]);
    succeed(&mut node);
    let of_pages = ["run", "cell", "compare", "paper", "sweep"];
    for name in of_pages {
        for kind in ["", "-dark", "-phone", "-phone-dark"] {
            let image = images.join(format!("{name}{kind}.png"));
            let size = fs::metadata(&image).unwrap().len();
            assert!(
                (4_000..200_000).contains(&size),
                "{name}{kind}: {size} bytes"
            );
        }
    }
}
