// SPDX-License-Identifier: GPL-2.0-or-later
//! What BTF says of functions.

use testing::btf::Btf;

use crate::btf::{Returns, Types};

#[test]
fn describes_arguments_and_results() {
    let mut btf = Btf::default();
    let int = btf.int("int", 4, true);
    let unsigned = btf.int("unsigned int", 4, false);
    let long = btf.int("long", 8, true);
    let error = btf.typedef("error_t", int);
    let id = btf.structure("kuid_t", 4);
    let path = btf.structure("path", 16);
    let pointer = btf.pointer(path);
    for (name, result, arguments) in [
        ("a", error, vec![pointer, int]),
        ("b", 0, vec![path, id]),
        ("c", unsigned, vec![]),
        ("d", long, vec![long]),
        // A variable number of arguments.
        ("e", int, vec![pointer, 0]),
    ] {
        let prototype = btf.prototype(result, &arguments);
        btf.function(name, prototype);
    }
    let bytes = btf.write();
    let functions = Types::read(&bytes).unwrap().functions(|_| true);
    let seen: Vec<_> = functions
        .iter()
        .map(|f| (f.name.as_str(), f.argument_words, f.returns))
        .collect();
    assert_eq!(
        seen,
        [
            ("a", 2, Returns::Int),
            ("b", 3, Returns::Void),
            ("c", 0, Returns::Other),
            ("d", 1, Returns::Other),
        ]
    );
}

#[test]
fn numbers_are_the_kernels() {
    let mut btf = Btf::default();
    let nothing = btf.prototype(0, &[]);
    btf.typedef("other", nothing);
    let function = btf.function("security_inode_permission", nothing);
    let typedef = btf.typedef("btf_trace_sched_process_fork", nothing);
    let bytes = btf.write();
    let types = Types::read(&bytes).unwrap();
    let found = types.functions(|name| name == "security_inode_permission");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, function);
    assert_eq!(types.typedef("btf_trace_sched_process_fork"), Some(typedef));
    assert_eq!(types.typedef("btf_trace_sched_process_exit"), None);
}

/// The host's, if it shows one.
#[test]
fn reads_a_real_kernels() {
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
        return;
    };
    let types = Types::read(&bytes).unwrap();
    let hooks = types.hooks().unwrap();
    if !hooks.is_empty() {
        assert!(hooks.iter().any(|&hook| hook == "inode_permission"));
        let found = types.functions(|name| name == "security_inode_permission");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].returns, Returns::Int);
        assert_eq!(found[0].argument_words, 2);
    }
}
