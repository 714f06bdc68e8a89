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

/// Worktrees of the repository, with the user's checkout.
fn worktrees(place: &Place) -> usize {
    let mut git = Command::new("git");
    git.args(["-C", "tree", "worktree", "list"]);
    let output = place.environment(&mut git).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().count()
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
    let ended = place.run(&[&ends[..], &BUILD, &CELLS].concat()).code(0);
    assert!(ended.stderr.contains("first bad commit: "), "{ended:#?}");
    let found = ended.stderr.split("first bad commit: ").nth(1).unwrap();
    assert!(found.contains("commit 11"), "{ended:#?}");
    assert!(ended.stderr.contains(": skipped"), "{ended:#?}");
    // The output of `compare --explain`.
    assert!(ended.stdout.contains("stat:AA"), "{ended:#?}");
    assert!(ended.stdout.contains("outside hooks"), "{ended:#?}");
    // Which commit git takes in place of one that was skipped is by chance; it may halve badly.
    let tested = ended
        .stderr
        .lines()
        .filter(|line| line.contains(" commit "));
    assert!(tested.count() <= 10, "{ended:#?}");
    assert_eq!(worktrees(&place), 1);

    // Ends that do not differ.
    let ends = ["bisect", "--repo", "tree", "--good", "c11", "--bad", "c12"];
    let equal = place.run(&[&ends[..], &BUILD, &CELLS].concat()).code(5);
    assert!(equal.stderr.contains("nothing to find: "), "{equal:#?}");
}

#[test]
fn nothing_is_left_of_a_search_that_is_interrupted() {
    let old = image("6.1");
    let place = Place::new();
    history(&place, &[&old, &old, &old]);
    let ends = ["bisect", "--repo", "tree", "--good", "c0", "--bad", "c2"];
    let build = ["--build", "sleep 100", "--image", "image"];
    let running = Running::start(&place, &[&ends[..], &build, &CELLS].concat());
    wait_for("the first build", || (worktrees(&place) == 2).then_some(()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    signal(running.pid(), rustix::process::Signal::INT);
    running.wait().code(4);
    assert_eq!(worktrees(&place), 1);
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
