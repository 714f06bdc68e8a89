// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect` of histories in which each commit names a Debian kernel.
//!
//! Needs QEMU, git and the kernels debian:6.1 and debian:6.12.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Place, Running, signal, wait_for, words};

/// The path of the image of a cached Debian kernel.
fn image(series: &str) -> PathBuf {
    let here = Place::with_kernel(&format!("debian:{series}"));
    let listed = here.run(&["kernel", "list", "--json"]).code(0).json();
    let kernels = listed["kernels"].as_array().unwrap();
    let prefix = format!("debian:{series}.");
    let mut found = kernels.iter().filter(|kernel| {
        let name = kernel["name"].as_str().unwrap();
        name.starts_with(&prefix) && !name.contains('/')
    });
    // The test's cache, which contains a link to the kernel, is removed soon.
    fs::canonicalize(found.next_back().unwrap()["image"].as_str().unwrap()).unwrap()
}

/// A repository with a commit for each image, named in a file; tags c0, c1 and so on.
fn history(place: &Place, images: &[&Path]) {
    place.git("init -q -b main tree");
    for (number, image) in images.iter().enumerate() {
        place.write("tree/which", image.to_str().unwrap());
        place.git("-C tree add .");
        place.git(&format!(
            "-C tree commit -q --allow-empty -m commit-{number}"
        ));
        place.git(&format!("-C tree tag c{number}"));
    }
}

/// Number of worktrees, including the user's checkout.
fn worktrees(place: &Place) -> usize {
    // git is not called, because it fails while a worktree is being created.
    let more = fs::read_dir(place.join("tree/.git/worktrees"));
    1 + more.map_or(0, Iterator::count)
}

/// A build command that links to an existing image.
const BUILD: [&str; 4] = [
    "--build",
    "test -e \"$(cat which)\" && ln -sf \"$(cat which)\" image",
    "--image",
    "image",
];
const CELLS: &str = "--bench stat:AA --stack capability --fs tmpfs";

#[test]
fn the_commit_with_another_kernel_is_found_among_sixteen() {
    let (old, new) = (image("6.1"), image("6.12"));
    let place = Place::new();
    let broken = Path::new("/no/such/image");
    // c8 does not build, and is the first that git chooses.
    let mut images: Vec<&Path> = vec![&old; 11];
    images.resize(17, &new);
    images[8] = broken;
    history(&place, &images);
    let bisect = |good: &str, bad: &str| {
        let line = format!("bisect --repo tree --good {good} --bad {bad} {CELLS}");
        place.run(&[&words(&line)[..], &BUILD].concat())
    };
    let ended = bisect("c0", "c16").code(0);
    let found = ended.stderr.split("first bad commit: ").nth(1);
    assert!(found.unwrap().contains("commit-11"), "{ended:#?}");
    assert!(ended.stderr.contains(": skipped"), "{ended:#?}");
    // The output of `compare --explain`.
    assert!(ended.stdout.contains("stat:AA"), "{ended:#?}");
    assert!(ended.stdout.contains("outside hooks"), "{ended:#?}");
    // After a skip, git chooses the next commit at random, so the halves may be unequal.
    let tested = ended
        .stderr
        .lines()
        .filter(|line| line.contains(" commit-"));
    assert!(tested.count() <= 10, "{ended:#?}");
    assert_eq!(worktrees(&place), 1);

    // Equal ends.
    let equal = bisect("c11", "c12").code(5);
    assert!(equal.stderr.contains("nothing to find: "), "{equal:#?}");
}

#[test]
fn an_interrupted_search_leaves_nothing() {
    let old = image("6.1");
    let place = Place::new();
    history(&place, &[&old, &old, &old]);
    let line = format!("bisect --repo tree --good c0 --bad c2 {CELLS} --image image --build");
    let running = Running::start(&place, &[&words(&line)[..], &["sleep 100"]].concat());
    wait_for("the first build", || (worktrees(&place) == 2).then_some(()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    signal(running.pid(), rustix::process::Signal::INT);
    running.wait().code(4);
    assert_eq!(worktrees(&place), 1);
}
