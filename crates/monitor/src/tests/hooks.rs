// SPDX-License-Identifier: GPL-2.0-or-later
//! Tests that functions are found.

use testing::btf::Btf;

use crate::hooks::{Found, Selection, find};
use kernels::btf::Types;

fn kernel() -> Vec<u8> {
    let mut btf = Btf::default();
    let int = btf.int("int", 4, true);
    let pointer = btf.pointer(0);
    let takes_two = btf.prototype(int, &[pointer, int]);
    let takes_none = btf.prototype(0, &[]);
    let to_hook = btf.pointer(takes_two);
    btf.members(
        5,
        "security_list_options",
        &[
            ("inode_permission", to_hook),
            ("inode_alloc_security", to_hook),
            ("cred_prepare", to_hook),
            ("inode_getattr", to_hook),
            ("lsm_func_addr", pointer),
        ],
    );
    for name in [
        "security_inode_permission",
        "selinux_inode_permission",
        "hook_inode_permission",
        "security_prepare_creds",
        "security_compute_av",
        "selinux_complete_init",
    ] {
        btf.function(name, takes_two);
    }
    btf.function("security_inode_alloc", takes_two);
    btf.function("security_inode_free", takes_none);
    btf.typedef("btf_trace_sched_process_fork", pointer);
    btf.write()
}

fn found(hooks: &[&str], implementations: &[&str]) -> Found {
    let owned = |patterns: &[&str]| patterns.iter().map(|&p| p.to_owned()).collect();
    let selection = Selection {
        hooks: owned(hooks),
        implementations: owned(implementations),
    };
    let active = ["capability".to_owned(), "selinux".to_owned()];
    find(&Types::read(&kernel()).unwrap(), &active, &selection).unwrap()
}

fn names(found: &Found) -> Vec<(&str, &str)> {
    found
        .probes
        .iter()
        .map(|probe| (probe.hook.as_str(), probe.function.name.as_str()))
        .collect()
}

#[test]
fn hooks_are_named_as_the_kernel_defines_them() {
    let found = found(&["*"], &[]);
    assert_eq!(
        names(&found),
        [
            ("cred_prepare", "security_prepare_creds"),
            ("inode_alloc_security", "security_inode_alloc"),
            ("inode_free_security", "security_inode_free"),
            ("inode_permission", "security_inode_permission"),
        ]
    );
    assert_eq!(found.unserved, ["inode_getattr"]);
    assert!(found.ambiguous.is_empty());
}

#[test]
fn only_active_modules_have_implementations() {
    let found = found(&["inode_p*"], &["*"]);
    assert_eq!(
        names(&found),
        [
            ("inode_permission", "security_inode_permission"),
            ("inode_permission", "selinux_inode_permission"),
        ]
    );
    assert_eq!(found.probes[1].module.as_deref(), Some("selinux"));
}

#[test]
fn implementations_are_chosen_by_function_or_by_module() {
    for pattern in ["selinux", "selinux_inode_*", "selinux_inode_permission"] {
        assert_eq!(found(&["*"], &[pattern]).probes.len(), 5, "{pattern}");
    }
    assert_eq!(found(&["*"], &["apparmor"]).probes.len(), 4);
    assert!(found(&["inode_x*"], &[]).probes.is_empty());
}
