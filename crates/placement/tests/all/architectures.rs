// SPDX-License-Identifier: GPL-2.0-or-later
//! Analyses of the same tree for different architectures.

use model::Architecture;
use placement::{Request, Tree, analyse};

use super::{request, toy};

#[test]
fn another_architecture_has_its_own_system_calls() {
    let tree = Tree::open(toy()).unwrap();
    let other = |names: &[&str]| Request {
        architecture: Architecture::Aarch64,
        ..request(names)
    };
    for (name, syscall) in [("mkdir", "mkdir"), ("newstat", "stat")] {
        let here = analyse(&tree, &request(&[name])).unwrap();
        assert_eq!(here.architecture, Architecture::X86_64);
        assert_eq!(here.syscalls[0].syscall, syscall);
        let error = analyse(&tree, &other(&[name])).unwrap_err();
        assert!(error.to_string().contains("no system call"), "{error}");
    }
    let document = analyse(&tree, &other(&[])).unwrap();
    assert_eq!(document.architecture, Architecture::Aarch64);
    let names = document.syscalls.iter().map(|call| &*call.syscall);
    let names: Vec<&str> = names.collect();
    let has = ["hold", "mkdir", "stat"].map(|name| names.contains(&name));
    assert_eq!(has, [true, false, false], "{names:?}");
}
