// SPDX-License-Identifier: GPL-2.0-or-later
//! The same tree for kernels of another architecture.

use std::path::Path;

use model::Architecture;
use placement::{Request, Tree, analyse};

#[test]
fn another_architecture_has_its_own_system_calls() {
    let toy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tree");
    let tree = Tree::open(toy).unwrap();
    let request = |names: &[&str]| Request {
        syscalls: names.iter().map(|&name| name.to_owned()).collect(),
        fs: vec!["toyfs".to_owned()],
        ..Request::default()
    };
    let other = |names: &[&str]| Request {
        architecture: Architecture::Aarch64,
        ..request(names)
    };
    for (name, of) in [("mkdir", "mkdir"), ("newstat", "stat")] {
        let here = analyse(&tree, &request(&[name])).unwrap();
        assert_eq!(here.architecture, Architecture::X86_64);
        assert_eq!(here.syscalls[0].syscall, of);
        let error = analyse(&tree, &other(&[name])).unwrap_err();
        assert!(error.to_string().contains("no system call"), "{error}");
    }
    let all = Request {
        all: true,
        ..other(&[])
    };
    let document = analyse(&tree, &all).unwrap();
    assert_eq!(document.architecture, Architecture::Aarch64);
    let names: Vec<&str> = document
        .syscalls
        .iter()
        .map(|call| &*call.syscall)
        .collect();
    assert!(names.contains(&"hold"), "{names:?}");
    assert!(
        !names.contains(&"mkdir") && !names.contains(&"stat"),
        "{names:?}"
    );
}
