// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement diff` and `checks`, on a small tree and a patched copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ended, Place, schema};
use crate::placement::{copy, toy};

/// A copy of the small tree with one more hook in stat.
fn patched(place: &Place) -> PathBuf {
    let tree = place.join("patched");
    copy(&tree);
    change(&tree, "fs/stat.c", |text| {
        let asked = "error = security_inode_getattr(&path);";
        text.replace(asked, &format!("{asked}\n\tsecurity_inode_statfs(&path);"))
    });
    change(&tree, "include/linux/lsm_hook_defs.h", |text| {
        text.to_owned() + "LSM_HOOK(int, 0, inode_statfs, const struct path *path)\n"
    });
    change(&tree, "security/security.c", |text| {
        let function = "int security_inode_statfs(const struct path *path)\n{\n\treturn \
                        call_int_hook(inode_statfs, path);\n}\n";
        text.to_owned() + function
    });
    tree
}

fn change(tree: &Path, file: &str, to: impl Fn(&str) -> String) {
    let path = tree.join(file);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, to(&text)).unwrap();
}

/// Runs `lsmeter placement` with the small tree as `TREE`.
fn placement(place: &Place, line: &str) -> Ended {
    let tree = toy().display().to_string();
    place.line(&format!(
        "placement {} --fs toyfs",
        line.replace("TREE", &tree)
    ))
}

#[test]
fn a_patch_that_adds_a_hook() {
    let place = Place::new();
    patched(&place);
    let ended = placement(&place, "diff TREE patched --trace").code(0);
    assert_eq!(ended.stderr, "");
    assert!(ended.stdout.contains("inode_statfs  added"), "{ended:#?}");
    assert!(ended.stdout.contains("sys_newstat"), "{ended:#?}");
    let printed = placement(&place, "diff TREE patched --json").json();
    schema::assert_fits(&printed);
    assert_eq!(printed["framework"]["added"][0], "inode_statfs");
    assert_eq!(printed["changes"][0]["hooks"][0]["change"], "added");
    let csv = placement(&place, "diff TREE patched --format csv");
    insta::assert_snapshot!("diff-csv", csv.code(0).stdout);
    // The gate fails in one direction only.
    placement(&place, "diff TREE patched --fail-on-gain").code(1);
    placement(&place, "diff patched TREE --fail-on-gain").code(0);
    let ended = placement(&place, "diff TREE TREE --fail-on-gain").code(0);
    assert!(ended.stdout.contains("No system call gains"), "{ended:#?}");
    placement(&place, "diff TREE patched --fail-on-gain --syscall mkdir").code(0);
}

#[test]
fn result_files_can_replace_trees() {
    let place = Place::new();
    patched(&place);
    placement(&place, "TREE --syscall stat --output stat.json").code(0);
    // Only system calls of the result file are analysed in the tree.
    let printed = place.line("placement diff stat.json patched --json").json();
    assert_eq!(printed["changes"].as_array().unwrap().len(), 2);
    assert_eq!(printed["compared"], 2);
    let nothing = "placement diff stat.json stat.json --fail-on-gain --fs ext4";
    place.line(nothing).code(5);
    let other = "{\"kind\": \"run\", \"schema_version\": 3, \"measurements\": []}";
    place.write("other.json", other);
    place.refuses(
        2,
        "placement diff other.json patched | placement result file | placement TREE --output FILE",
    );
}

#[test]
fn checks() {
    let place = Place::new();
    for (name, more) in [("checks", ""), ("checks-unknown", "--unknown")] {
        let ended = placement(&place, &format!("checks TREE {more}")).code(0);
        assert_eq!(ended.stderr, "");
        insta::assert_snapshot!(name, ended.stdout);
    }
    let printed = placement(&place, "checks TREE --json").json();
    schema::assert_fits(&printed);
    let hooks = printed["redundant"].as_array().unwrap();
    assert!(hooks.iter().any(|check| check["hook"] == "path_mkdir"));
    placement(&place, "checks TREE --output toy.json --quiet").code(0);
    // A result file, restricted to one system call.
    let printed = placement(&place, "checks toy.json --syscall stat --json").json();
    assert_eq!(printed["redundant"].as_array().unwrap().len(), 0);
    let csv = placement(&place, "checks toy.json --format csv")
        .code(0)
        .stdout;
    assert!(csv.starts_with("finding,confidence,hook,"), "{csv}");
}

#[test]
fn series_of_patches_and_releases() {
    let place = Place::new();
    let tree = place.join("tree");
    copy(&tree);
    let commit = |tag: &str| {
        place.git("-C tree add -A");
        place.git(&format!("-C tree commit -qm {tag}"));
        place.git(&format!("-C tree tag {tag}"));
    };
    place.git("init -q tree");
    commit("v6.98");
    let asked = "error = security_inode_getattr(&path);";
    change(&tree, "fs/stat.c", |text| {
        text.replace(asked, &format!("{asked}\n\t{asked}"))
    });
    commit("v6.99-rc1");
    change(&tree, "fs/stat.c", |text| text.replacen(asked, "", 1));
    commit("v6.99");
    // The recipe of docs/placement.md.
    let docs = include_str!("../../../../docs/placement.md");
    let (_, recipe) = docs.split_once("```sh\nfor rev in").unwrap();
    let (recipe, _) = recipe.split_once("```").unwrap();
    let recipe = format!("for rev in{recipe}")
        .replace("lsmeter", env!("CARGO_BIN_EXE_lsmeter"))
        .replace("--syscall stat", "--syscall stat --fs toyfs")
        .replace("~/linux", "tree");
    let mut shell = Command::new("sh");
    let shell = shell.args(["-euc", &recipe]).current_dir(place.path());
    assert!(shell.status().unwrap().success(), "{recipe}");
    let table = fs::read_to_string(place.join("history.csv")).unwrap();
    for rev in ["v6.98", "v6.99-rc1", "v6.99"] {
        let is_row = |line: &&str| line.starts_with(&format!("{rev},")) && line.contains(",stat,");
        assert!(table.lines().any(|line| is_row(&line)), "{rev}: {table}");
    }
    placement(&place, "diff --repo tree v6.98 v6.99-rc1 --fail-on-gain").code(1);
}
