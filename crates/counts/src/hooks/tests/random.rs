// SPDX-License-Identifier: GPL-2.0-or-later

use proptest::prelude::*;

use super::{framework, names};
use crate::calltree::CallTree;
use crate::hooks::{outermost_sum, outside};

const FUNCTIONS: [&str; 14] = [
    "security_file_open",
    "security_file_open.part.0",
    "security_capable",
    "security_capable.cold",
    "security_compute_av",
    "selinux_file_open",
    "selinux_capable",
    "cap_capable",
    "ima_file_check",
    "ima_file_check.part.0",
    "evm_verifyxattr",
    "vfs_open",
    "vfs_open.cold",
    "kfree",
];

fn trees() -> impl Strategy<Value = CallTree> {
    let node = (
        any::<prop::sample::Index>(),
        0..FUNCTIONS.len(),
        1_u64..5,
        0_u64..1000,
    );
    prop::collection::vec(node, 0..60).prop_map(|nodes| {
        let mut tree = CallTree::default();
        for (parent, function, calls, instructions) in nodes {
            let at = tree.add(parent.index(tree.nodes().len()), FUNCTIONS[function]);
            let node = tree.node_mut(at).expect("the new node");
            node.calls = calls;
            node.instructions = instructions;
        }
        tree
    })
}

proptest! {
    #[test]
    fn every_instruction_is_in_hooks_or_outside(tree in trees()) {
        let hooks = framework(&["file_open", "capable"], &[]);
        let costs = hooks.costs(&tree, &names(&["selinux"]));
        let outside: u64 = outside(&tree, &hooks).values().sum();
        prop_assert_eq!(tree.total(), outermost_sum(&costs) + outside);
    }

    #[test]
    fn figures_of_a_hook_fit_together(tree in trees()) {
        let hooks = framework(&["file_open", "capable"], &[]);
        let costs = hooks.costs(&tree, &names(&["selinux"]));
        prop_assert!(costs.is_sorted_by_key(|cost| (cost.hook.clone(), cost.function.clone())));
        for cost in &costs {
            prop_assert!(cost.calls > 0);
            let called: u64 = cost.called_by.iter().map(|caller| caller.calls).sum();
            prop_assert_eq!(called, cost.calls);
            prop_assert!(cost.exclusive <= cost.inclusive);
            prop_assert!(cost.outermost <= cost.inclusive);
            prop_assert!(cost.inclusive <= tree.total());
            let modules: u64 = cost.implementations.iter().map(|m| m.inclusive).sum();
            let largest = cost.implementations.iter().map(|m| m.inclusive).max().unwrap_or(0);
            let taken = cost.inclusive - cost.dispatch;
            prop_assert!(largest <= taken && taken <= modules);
            if cost.hook == "ima_file_check" || cost.hook == "evm_verifyxattr" {
                prop_assert_eq!(cost.dispatch, 0);
                prop_assert_eq!(cost.implementations.len(), 1);
                prop_assert_eq!(cost.outermost, cost.inclusive);
            }
        }
    }

    #[test]
    fn calls_are_those_of_the_nodes_where_hooks_begin(tree in trees()) {
        let hooks = framework(&["file_open", "capable"], &[]);
        for cost in hooks.costs(&tree, &names(&["selinux"])) {
            let begun: u64 = (0..tree.nodes().len())
                .filter(|&at| hooks.hook_at(&tree, at) == Some(&cost.hook))
                .map(|at| tree.nodes()[at].calls)
                .sum();
            prop_assert_eq!(cost.calls, begun);
        }
    }
}
