// SPDX-License-Identifier: GPL-2.0-or-later
//! Analyses of a real kernel, whose source `make test-kernels` leaves in lsmeter's cache.

use std::path::PathBuf;

use placement::{PlacementDocument, Request, Tree, analyse};

/// Trees of Debian's 6.12 that `lsmeter kernel build` unpacked.
fn trees() -> Vec<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(|cache| PathBuf::from(cache).join("lsmeter"))
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/lsmeter")));
    let entries = cache.and_then(|cache| std::fs::read_dir(cache.join("sources")).ok());
    let all = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let is_6_12 = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("linux-source-6.12_"))
    };
    all.filter(is_6_12).collect()
}

fn count(document: &PlacementDocument, syscall: &str, hook: &str) -> (String, String) {
    let mut calls = document.syscalls.iter();
    let call = calls.find(|call| call.syscall == syscall && call.case.is_empty());
    let found = call.and_then(|call| call.hooks.iter().find(|placed| placed.hook == hook));
    found.map_or_else(Default::default, |placed| {
        (placed.success_path.to_string(), placed.max.to_string())
    })
}

#[test]
fn real_trees() {
    let trees = trees();
    if trees.is_empty() {
        let why = "the source of linux-source-6.12 is not in the cache";
        testing::skip(why, "make test-kernels");
        return;
    }
    for path in trees {
        let tree = Tree::open(&path).unwrap();
        // On overlayfs, a hook on an inode is called again for that in its layer.
        for (fs, counts) in [
            ("ext4", ["D", "D+1", "2D+2", "1", "1"]),
            ("tmpfs", ["D", "D+1", "2D+2", "1", "1"]),
            ("overlay", ["2D", "2D+3", "4D+8", "2", "1"]),
            ("overlay:ext4", ["2D", "2D+3", "4D+8", "2", "1"]),
        ] {
            let request = Request {
                fs: vec![fs.to_owned()],
                ..Request::default()
            };
            let document = analyse(&tree, &request).unwrap();
            let what = format!("{} {fs}", document.version);
            // "3*2*dir depth" in Table 7 of the paper: three passes, two calls in may_lookup().
            let hooks = [
                ("stat", "inode_permission", None),
                ("open", "inode_permission", None),
                ("rename", "inode_permission", None),
                ("read", "file_permission", Some("1")),
                ("stat", "inode_getattr", Some("2")),
            ];
            for ((syscall, hook, max), success_path) in hooks.into_iter().zip(counts) {
                let found = count(&document, syscall, hook);
                assert_eq!(found.0, success_path, "{what}: {syscall}");
                let max = max.filter(|_| !fs.starts_with("overlay"));
                assert!(max.is_none_or(|max| found.1 == max), "{what}: {syscall}");
            }
            let mut modules = document.modules.iter();
            let selinux = modules.find(|module| module.module == "selinux").unwrap();
            assert!(
                selinux.hooks > 180 && selinux.loc > 15_000,
                "{what}: {selinux:?}"
            );
            // These must be less than 0.5 % of the reachable functions.
            let unparsed = document.unparsed.len() * 200;
            assert!(
                unparsed < document.coverage.reachable,
                "{what}: {:?}",
                document.unparsed
            );
        }
    }
}
