// SPDX-License-Identifier: GPL-2.0-or-later
//! Searches of histories in which each commit says which stock kernel it is, and what a rebuild
//! changes. What is searched and measured again and again is kept in a cache of the tests'.
//!
//! Needs QEMU, git and the kernels debian:6.1 and debian:6.12 in the cache of whoever runs the
//! tests (`lsmeter kernel fetch debian:6.1 debian:6.12`).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Place, Running, signal, wait_for};

/// The image of a stock kernel that is here.
fn image(series: &str) -> PathBuf {
    let here = Place::with_kernel(&format!("debian:{series}"));
    let listed = here.run(&["kernel", "list", "--json"]).code(0).json();
    let kernels = listed["kernels"].as_array().unwrap();
    let prefix = format!("debian:{series}.");
    let mut found = kernels.iter().filter(|kernel| {
        let name = kernel["name"].as_str().unwrap();
        name.starts_with(&prefix) && !name.contains('/')
    });
    PathBuf::from(found.next_back().unwrap()["image"].as_str().unwrap())
}

fn git(place: &Place, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args([
        "-C",
        "tree",
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x.example",
    ]);
    git.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = place.environment(&mut git).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// A repository in whose commits a file names the kernel's image; tags c0, c1 and so on.
fn history(place: &Place, images: &[&Path]) {
    fs::create_dir(place.join("tree")).unwrap();
    git(place, &["init", "-q", "-b", "main"]);
    for (number, image) in images.iter().enumerate() {
        fs::write(place.join("tree/which"), image.to_str().unwrap()).unwrap();
        git(place, &["add", "."]);
        let message = format!("commit {number}");
        git(place, &["commit", "-q", "--allow-empty", "-m", &message]);
        git(place, &["tag", &format!("c{number}")]);
    }
}

/// A command that builds by naming a file that is there.
const BUILD: [&str; 4] = [
    "--build",
    "test -e \"$(cat which)\" && ln -sf \"$(cat which)\" image",
    "--image",
    "image",
];
const CELLS: [&str; 6] = [
    "--bench",
    "stat:AA",
    "--stack",
    "capability",
    "--fs",
    "tmpfs",
];

#[test]
fn the_commit_with_another_kernel_is_found_among_sixteen() {
    let (old, new) = (image("6.1"), image("6.12"));
    let place = Place::new();
    let broken = Path::new("/no/such/image");
    // c8 does not build, and is what git asks for first.
    let mut images: Vec<&Path> = vec![&old; 11];
    images.resize(17, &new);
    images[8] = broken;
    history(&place, &images);
    let ends = ["bisect", "--repo", "tree", "--good", "c0", "--bad", "c16"];
    let output = ["-o", "found.json"];
    let arguments = [&ends[..], &BUILD, &CELLS, &output].concat();
    let ended = place.run(&arguments).code(0);
    assert!(ended.stderr.contains("first bad commit: "), "{ended:#?}");
    assert!(ended.stderr.contains(": skipped"), "{ended:#?}");
    assert!(ended.stdout.contains("stat:AA"), "{ended:#?}");
    let text = fs::read_to_string(place.join("found.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["kind"], "bisection");
    assert_eq!(found["first_bad"]["subject"], "commit 11");
    assert_eq!(found["before"]["subject"], "commit 10");
    let steps = found["steps"].as_array().unwrap();
    // Which commit git takes in place of one that was skipped is by chance; it may halve badly.
    assert!(steps.len() <= 9, "{steps:#?}");
    let compared = &found["comparison"]["compared"][0];
    assert_ne!(compared["base"]["value"], compared["new"]["value"]);
    let explained = &found["comparison"]["explanations"][0];
    assert!(explained["residual_functions"].is_array(), "{explained}");

    // Nothing is built or measured again.
    let again = place.run(&[&arguments[..], &["--json"]].concat());
    assert!(again.stderr.contains("two outputs") || again.stderr.contains("measured before"));
    let again = place
        .run(&[&ends[..], &BUILD, &CELLS, &["--json"]].concat())
        .code(0)
        .json();
    let steps = again["steps"].as_array().unwrap();
    assert!(
        steps.iter().all(|step| step["build_s"].is_null()),
        "{steps:#?}"
    );
    assert_eq!(again["first_bad"], found["first_bad"]);

    // Ends that do not differ.
    let ends = ["bisect", "--repo", "tree", "--good", "c11", "--bad", "c12"];
    let equal = place.run(&[&ends[..], &BUILD, &CELLS].concat()).code(5);
    assert!(equal.stderr.contains("nothing to find: "), "{equal:#?}");
}

#[test]
fn a_tree_as_it_stands_is_good_bad_or_skipped() {
    let (old, new) = (image("6.1"), image("6.12"));
    let place = Place::new();
    history(&place, &[&old, &new, Path::new("/no/such/image")]);
    let kernel = ["--kernel", old.to_str().unwrap(), "-o", "good.json"];
    place.run(&[&["run"], &CELLS[..], &kernel].concat()).code(0);
    let step = |tag: &str, code: i32| {
        git(&place, &["checkout", "-q", "--force", tag]);
        let how = [
            "bisect",
            "--step",
            "--repo",
            "tree",
            "--good-document",
            "good.json",
        ];
        place.run(&[&how[..], &BUILD].concat()).code(code)
    };
    let good = step("c0", 0);
    assert!(
        good.stderr.contains("good: no change in 1 cell"),
        "{good:#?}"
    );
    let bad = step("c1", 1);
    assert!(bad.stderr.contains("bad: 1 cell: "), "{bad:#?}");
    let skipped = step("c2", 125);
    assert!(skipped.stderr.contains("skipped: "), "{skipped:#?}");
}

#[test]
fn each_build_is_one_line() {
    let (old, new) = (image("6.1"), image("6.12"));
    let place = Place::new();
    let images = place.join("build/arch/x86/boot");
    fs::create_dir_all(&images).unwrap();
    let link = images.join("bzImage");
    symlink(&old, &link).unwrap();
    let arguments = ["run", "--watch", "build"];
    let mut command = place.command(&[&arguments[..], &CELLS].concat());
    let out = fs::File::create(place.join("lines")).unwrap();
    let mut child = command.stdout(Stdio::from(out)).spawn().unwrap();
    let lines = || fs::read_to_string(place.join("lines")).unwrap();
    wait_for("the first line", || lines().ends_with('\n').then_some(()));
    assert_eq!(lines(), "1: 1 measured\n");
    let other = images.join("other");
    symlink(&new, &other).unwrap();
    fs::rename(&other, &link).unwrap();
    wait_for("the second line", || {
        (lines().lines().count() == 2).then_some(())
    });
    assert!(lines().contains("\n2: 1 cell: "), "{}", lines());
    assert!(
        lines().contains("most: stat:AA under capability: "),
        "{}",
        lines()
    );
    signal(child.id(), rustix::process::Signal::INT);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_watch_ends_well_when_it_is_interrupted() {
    let place = Place::new();
    fs::create_dir(place.join("build")).unwrap();
    let arguments = ["run", "--watch", "build"];
    let mut running = Running::start(&place, &[&arguments[..], &CELLS].concat());
    // It waits for what is not there; its handlers are in place before.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(!running.has_ended());
    signal(running.pid(), rustix::process::Signal::INT);
    running.wait().code(0);
}
