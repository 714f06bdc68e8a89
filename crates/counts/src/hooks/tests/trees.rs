// SPDX-License-Identifier: GPL-2.0-or-later

use model::HookCost;

use super::{framework, names, tree, tree_of};
use crate::hooks::{differences, outermost_sum, outside};

/// Hook, function, calls, inclusive, exclusive, dispatch and outermost; then module, function,
/// calls and inclusive of implementations.
fn rows(costs: &[HookCost]) -> Vec<String> {
    let mut rows = Vec::new();
    for c in costs {
        let figures = [c.calls, c.inclusive, c.exclusive, c.dispatch, c.outermost];
        let figures = figures.map(|figure| figure.to_string()).join(" ");
        rows.push(format!("{} {} {figures}", c.hook, c.function));
        for i in &c.implementations {
            let (module, function) = (&i.module, &i.function);
            rows.push(format!(" {module} {function} {} {}", i.calls, i.inclusive));
        }
    }
    rows
}

/// Hooks and other functions of the framework, active modules, tree; rows, functions outside.
#[test]
fn costs_of_trees() {
    for (hooks, others, active, nodes, expected, left) in [
        (
            // Modules and dispatch are separate.
            "file_open inode_alloc_security",
            "security_inode_alloc",
            "selinux my-lsm",
            "1 do_open 1 100; 2 security_file_open 2 20; 3 selinux_file_open 2 50; \
             4 avc_has_perm 1 7; 3 hook_file_open 2 8; 3 cap_file_open 1 3; \
             3 bpf_lsm_file_open 1 1; 3 ima_file_check.isra.0 1 5; 3 my_lsm_work 1 6; \
             3 foreign_file_open 1 9; 3 kmem_cache_alloc 1 11; 3 __file_open 1 12; \
             3 lsm_file_open 1 13",
            &[
                "file_open security_file_open 2 145 20 56 145",
                " bpf bpf_lsm_file_open 1 1",
                " capability cap_file_open 1 3",
                " foreign foreign_file_open 1 9",
                " ima ima_file_check 1 5",
                " landlock hook_file_open 2 8",
                " my-lsm my_lsm_work 1 6",
                " selinux selinux_file_open 2 57",
            ][..],
            "do_open 100",
        ),
        (
            // Nested hooks count once in sums.
            "capable inode_permission",
            "",
            "selinux",
            "1 security_inode_permission 1 10; 2 selinux_inode_permission 1 20; \
             3 security_capable 1 5; 4 cap_capable 1 7; 2 security_capable 1 30; \
             1 security_capable 1 2",
            &[
                "capable security_capable 3 44 37 37 2",
                " capability cap_capable 1 7",
                "inode_permission security_inode_permission 1 72 10 40 72",
                " selinux selinux_inode_permission 1 32",
            ],
            "",
        ),
        (
            // A hook inside itself counts its instructions once.
            "inode_getattr file_open",
            "",
            "selinux tomoyo",
            "1 security_inode_getattr 1 1; 2 tomoyo_inode_getattr 1 2; 3 vfs_getattr 1 4; \
             4 security_inode_getattr 2 8; 5 tomoyo_inode_getattr 2 16; \
             5 selinux_inode_getattr 2 32; 5 security_file_open 1 64",
            &[
                "file_open security_file_open 1 64 64 64 0",
                "inode_getattr security_inode_getattr 3 127 9 1 127",
                " selinux selinux_inode_getattr 2 32",
                " tomoyo tomoyo_inode_getattr 3 126",
            ],
            "",
        ),
        (
            // Parts belong to their function. A caller with an inlined beginning calls the part.
            "file_open",
            "",
            "selinux apparmor",
            "1 security_file_open 3 1; 2 security_file_open.part.0 2 2; \
             3 security_file_open.part.0.cold 1 4; 4 selinux_file_open.cold 1 8; \
             3 apparmor_file_open 1 16; 1 vfs_open 1 32; 2 security_file_open.part.0 1 64; \
             2 vfs_open.cold 1 128",
            &[
                "file_open security_file_open 4 95 71 71 95",
                " apparmor apparmor_file_open 1 16",
                " selinux selinux_file_open 1 8",
            ],
            "vfs_open 160",
        ),
        (
            // IMA is a hook if the kernel calls it directly.
            "capable file_open",
            "",
            "",
            "1 do_open 1 1; 2 ima_file_check 1 2; 3 ima_file_check.part.0 1 4; \
             4 ima_get_action 1 8; 4 evm_verifyxattr 1 16; 4 security_capable 1 32; \
             2 security_file_open 1 64; 3 ima_file_check 1 128; 2 imago 1 256",
            &[
                "capable security_capable 1 32 32 32 0",
                "file_open security_file_open 1 192 64 64 192",
                " ima ima_file_check 1 128",
                "ima_file_check ima_file_check 1 62 6 0 62",
                " ima ima_file_check 1 62",
            ],
            "do_open 1; imago 256",
        ),
        (
            // Functions of one hook have a row each.
            "xfrm_decode_session",
            "security_skb_classify_flow",
            "",
            "1 security_xfrm_decode_session 1 1; 1 security_skb_classify_flow 1 2",
            &[
                "xfrm_decode_session security_skb_classify_flow 1 2 2 2 2",
                "xfrm_decode_session security_xfrm_decode_session 1 1 1 1 1",
            ],
            "",
        ),
    ] {
        let words = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        let framework = framework(&words(hooks), &words(others));
        let tree = tree_of(nodes);
        let costs = framework.costs(&tree, &names(&words(active)));
        assert_eq!(rows(&costs), expected);
        let found = outside(&tree, &framework);
        assert_eq!(
            tree.total(),
            outermost_sum(&costs) + found.values().sum::<u64>()
        );
        let found = found.iter().map(|(name, n)| format!("{name} {n}"));
        assert_eq!(found.collect::<Vec<_>>().join("; "), left);
    }
}

#[test]
fn hooks_begin_at_their_functions() {
    let begun = |hooks: &[&str], nodes: &str| -> Vec<Option<String>> {
        let (framework, tree) = (framework(hooks, &[]), tree_of(nodes));
        let all = 0..=tree.nodes().len();
        all.map(|at| framework.hook_at(&tree, at).map(str::to_owned))
            .collect()
    };
    let parts = begun(
        &["file_open"],
        "1 security_file_open 3 1; 2 security_file_open.part.0 2 2; 1 vfs_open 1 3; \
         2 security_file_open.part.0 1 4; 2 vfs_open.cold 1 5",
    );
    let file_open = Some("file_open".to_owned());
    assert_eq!(
        parts,
        [None, file_open.clone(), None, None, file_open, None, None]
    );
    let direct = begun(
        &["capable", "file_open"],
        "1 do_open 1 1; 2 ima_file_check 1 2; 3 ima_file_check.part.0 1 4; 4 evm_verifyxattr 1 16; \
         4 security_capable 1 32; 2 security_file_open 1 64; 3 ima_file_check 1 128; 2 imago 1 256",
    );
    let direct: Vec<String> = direct.into_iter().flatten().collect();
    assert_eq!(direct, ["ima_file_check", "capable", "file_open"]);
}

#[test]
fn callers_are_counted_by_name() {
    let hooks = framework(&["inode_permission"], &[]);
    let tree = tree(&[
        (1, "may_open", 2, 1),
        (2, "security_inode_permission", 2, 2),
        (1, "inode_permission.cold", 3, 1),
        (2, "security_inode_permission", 3, 2),
        (1, "inode_permission", 1, 1),
        (2, "security_inode_permission", 1, 2),
    ]);
    let costs = hooks.costs(&tree, &[]);
    let callers: Vec<_> = (costs[0].called_by.iter())
        .map(|caller| (&caller.function[..], caller.calls))
        .collect();
    assert_eq!(callers, [("inode_permission", 4), ("may_open", 2)]);
}

#[test]
fn differences_are_largest_first_and_without_equal_ones() {
    let side = |functions: &[(&str, u64)]| {
        functions
            .iter()
            .map(|&(name, n)| (name.to_owned(), n))
            .collect()
    };
    let a = side(&[("gone", 5), ("less", 30), ("same", 9), ("more", 1)]);
    let b = side(&[("less", 10), ("more", 6), ("new", 7), ("same", 9)]);
    let found = differences(&a, &b);
    let found: Vec<_> = found
        .iter()
        .map(|d| (&d.function[..], d.difference))
        .collect();
    assert_eq!(
        found,
        [("less", -20), ("new", 7), ("gone", -5), ("more", 5)]
    );
}

#[test]
fn deep_recursion_needs_no_deep_stack() {
    let hooks = framework(&["file_open"], &[]);
    let mut tree = tree(&[]);
    let mut at = 0;
    for depth in 0..200_000 {
        let function = ["security_file_open", "selinux_file_open"][depth % 2];
        at = tree.add(at, function);
        tree.node_mut(at).expect("the new node").instructions = 1;
    }
    let costs = hooks.costs(&tree, &names(&["selinux"]));
    assert_eq!(costs.len(), 1);
    assert_eq!(
        (costs[0].inclusive, costs[0].dispatch, costs[0].exclusive),
        (200_000, 1, 100_000)
    );
}
