// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter placement diff` and `history`, on a small tree and what a patch makes of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ended, Place, schema};
use crate::placement::{copy, toy};

/// The small tree, and the same with one more hook in stat and another name for one.
fn patched(place: &Place) -> PathBuf {
    let tree = place.join("patched");
    copy(&toy(), &tree);
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

fn placement(place: &Place, command: &str, more: &[&str]) -> Ended {
    place.run(&[&["placement", command, "--fs", "toyfs"], more].concat())
}

#[test]
fn help() {
    let place = Place::new();
    for command in ["checks", "diff"] {
        let asked = ["placement", command, "--help"];
        insta::assert_snapshot!(format!("help-{command}"), place.run(&asked).code(0).stdout);
    }
}

#[test]
fn a_patch_that_adds_a_hook() {
    let place = Place::new();
    patched(&place);
    let tree = toy();
    let tree = tree.to_str().unwrap();
    let ended = placement(&place, "diff", &[tree, "patched", "--trace"]).code(0);
    assert_eq!(ended.stderr, "");
    // Trees of any place: their names are cut where the table ends.
    assert!(ended.stdout.contains("inode_statfs  added"), "{ended:#?}");
    assert!(ended.stdout.contains("sys_newstat"), "{ended:#?}");
    let told = placement(&place, "diff", &[tree, "patched", "--json"]).json();
    schema::assert_fits(&told);
    assert_eq!(told["framework"]["added"][0], "inode_statfs");
    assert_eq!(told["changes"][0]["hooks"][0]["change"], "added");
    let csv = placement(&place, "diff", &[tree, "patched", "--format", "csv"]);
    insta::assert_snapshot!("diff-csv", csv.code(0).stdout);
    // A gate: one way it fails, the other it does not.
    placement(&place, "diff", &[tree, "patched", "--fail-on-gain"]).code(1);
    placement(&place, "diff", &["patched", tree, "--fail-on-gain"]).code(0);
    let ended = placement(&place, "diff", &[tree, tree, "--fail-on-gain"]).code(0);
    assert!(ended.stdout.contains("No system call asks"), "{ended:#?}");
    let mkdir = [tree, "patched", "--fail-on-gain", "--syscall", "mkdir"];
    placement(&place, "diff", &mkdir).code(0);
}

#[test]
fn documents_stand_for_trees() {
    let place = Place::new();
    patched(&place);
    let tree = toy();
    let tree = tree.to_str().unwrap();
    let asked = ["placement", tree, "--fs", "toyfs", "--syscall", "stat"];
    let asked = [&asked[..], &["--output", "stat.json"]].concat();
    place.run(&asked).code(0);
    // The tree is asked for what the document holds.
    let asked = ["placement", "diff", "stat.json", "patched", "--json"];
    let told = place.run(&asked).json();
    assert_eq!(told["changes"].as_array().unwrap().len(), 2);
    assert_eq!(told["compared"], 2);
    let asked = [
        "placement",
        "diff",
        "stat.json",
        "stat.json",
        "--fail-on-gain",
    ];
    place.run(&[&asked[..], &["--fs", "ext4"]].concat()).code(5);
    place.write(
        "other.json",
        "{\"kind\": \"run\", \"schema_version\": 3, \"measurements\": []}",
    );
    let asked = ["placement", "diff", "other.json", tree];
    let hint = Some("lsmeter placement TREE --output FILE");
    place.run(&asked).refused(2, "placement document", hint);
}

#[test]
fn checks() {
    let place = Place::new();
    let tree = toy();
    let tree = tree.to_str().unwrap();
    let ended = placement(&place, "checks", &[tree]).code(0);
    assert_eq!(ended.stderr, "");
    insta::assert_snapshot!("checks", ended.stdout);
    let ended = placement(&place, "checks", &[tree, "--unknown"]).code(0);
    insta::assert_snapshot!("checks-unknown", ended.stdout);
    let told = placement(&place, "checks", &[tree, "--json"]).json();
    schema::assert_fits(&told);
    // mkdir asks once for each guest, and once more.
    let hooks = told["redundant"].as_array().unwrap();
    assert!(hooks.iter().any(|check| check["hook"] == "path_mkdir"));
    let asked = [tree, "--output", "toy.json", "--quiet"];
    placement(&place, "checks", &asked).code(0);
    // Of a document, and of what was asked for only.
    let asked = ["toy.json", "--syscall", "stat", "--json"];
    let told = placement(&place, "checks", &asked).json();
    assert_eq!(told["redundant"].as_array().unwrap().len(), 0);
    let asked = ["toy.json", "--format", "csv"];
    let csv = placement(&place, "checks", &asked).code(0).stdout;
    assert!(csv.starts_with("finding,confidence,hook,"), "{csv}");
}

#[test]
fn series_of_patches_and_releases() {
    let place = Place::new();
    let tree = place.join("tree");
    copy(&toy(), &tree);
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(&tree);
        git.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]);
        let output = git.args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let commit =
        |tag: &str| git(&["add", "-A"]) && git(&["commit", "-qm", tag]) && git(&["tag", tag]);
    assert!(git(&["init", "-q"]) && commit("v6.98"));
    let asked = "error = security_inode_getattr(&path);";
    change(&tree, "fs/stat.c", |text| {
        text.replace(asked, &format!("{asked}\n\t{asked}"))
    });
    assert!(commit("v6.99-rc1"));
    change(&tree, "fs/stat.c", |text| text.replacen(asked, "", 1));
    assert!(commit("v6.99"));
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
    let table = std::fs::read_to_string(place.join("history.csv")).unwrap();
    for rev in ["v6.98", "v6.99-rc1", "v6.99"] {
        let of = |line: &&str| line.starts_with(&format!("{rev},")) && line.contains(",stat,");
        assert!(table.lines().any(|line| of(&line)), "{rev}: {table}");
    }
    let diff = ["--repo", "tree", "v6.98", "v6.99-rc1", "--fail-on-gain"];
    placement(&place, "diff", &diff).code(1);
}
