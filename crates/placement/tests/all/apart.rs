// SPDX-License-Identifier: GPL-2.0-or-later
//! The answer for a system call does not depend on the rest of the request.

use std::collections::BTreeMap;

use placement::{Request, SyscallPlacement, Tree, Unbounded, analyse};

use super::{files, request, toy};

/// The small tree, with a second file system and a network.
fn tree() -> Tree {
    let mut files = files(&toy());
    files.extend(self::files(&toy().with_file_name("apart")));
    Tree::from_files("tree", files).unwrap()
}

/// A system call on a file system, and what makes its maxima unbounded.
type Answer = (SyscallPlacement, Vec<Unbounded>);

/// The answers by system call, file system and case. An empty `syscalls` requests all that the tree
/// defines.
fn answers(tree: &Tree, syscalls: &[&str], fs: &[&str]) -> BTreeMap<[String; 3], Answer> {
    let request = Request {
        fs: fs.iter().map(|&name| name.to_owned()).collect(),
        ..request(syscalls)
    };
    let document = analyse(tree, &request).unwrap();
    let unbounded = document.unbounded;
    let answer = |mut call: SyscallPlacement| {
        let mut causes = Vec::new();
        let hooks = call.hooks.iter_mut();
        for places in hooks.flat_map(|hook| hook.unbounded_by.values_mut()) {
            let named = places
                .drain(..)
                .map(|place| unbounded[place as usize].clone());
            causes.extend(named);
        }
        let key = [&call.filesystem, &call.syscall, &call.case].map(String::clone);
        (key, (call, causes))
    };
    document.syscalls.into_iter().map(answer).collect()
}

#[test]
fn each_call_has_one_answer_whatever_else_is_asked_for() {
    let tree = tree();
    let systems = ["toyfs", "otherfs"];
    let all = answers(&tree, &[], &systems);
    let mut names: Vec<String> = all.keys().map(|[_, name, _]| name.clone()).collect();
    names.sort();
    names.dedup();
    assert!(names.len() > 10, "{names:?}");
    for (at, one) in names.iter().enumerate() {
        for fs in systems {
            let alone = answers(&tree, &[one], &[fs]);
            assert!(!alone.is_empty());
            for (key, answer) in &alone {
                assert_eq!(all.get(key), Some(answer), "{one} on {fs}");
            }
        }
        for other in &names[at + 1..] {
            for pair in [[&**one, other], [other, one]] {
                for (key, answer) in answers(&tree, &pair, &systems) {
                    assert_eq!(all.get(&key), Some(&answer), "{pair:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_read_for_others_does_not_widen_an_answer() {
    let all = answers(&tree(), &[], &["toyfs", "otherfs"]);
    let hooks = |syscall: &str| {
        let (call, _) = &all[&["toyfs", syscall, ""].map(str::to_owned)];
        let hooks = call.hooks.iter();
        let hooks = hooks.map(|hook| format!("{} {}/{}", hook.hook, hook.success_path, hook.max));
        hooks.collect::<Vec<_>>()
    };
    assert_eq!(hooks("chdir"), ["inode_getattr 1/1"]);
    assert_eq!(hooks("chroot"), ["inode_getattr 1/1"]);
    // A call that is not known to take files can reach the network.
    assert_eq!(hooks("apart"), ["inode_getattr 1/1", "path_mkdir 0/1"]);
}
