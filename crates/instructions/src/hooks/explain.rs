// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions outside hooks in which two boots of one kernel differ on the same
//! operation, whatever their stacks: what a boot leaves behind shows in them.

use experiment::FunctionDifference;

/// Something that a kernel does now and then. Each was seen on 5.10, 6.1, 6.12 or 7.2
/// and looked up in its source; `why` names the file, and what decides there.
#[derive(Debug)]
pub struct Explanation {
    /// One of them differs whenever this happens.
    pub functions: &'static [&'static str],
    /// They differ with it, and need another explanation without.
    pub companions: &'static [&'static str],
    /// Largest difference of one function that this explains in an operation that is one
    /// window, in instructions. One that is the sum of ten thousand windows has no bound.
    pub at_most: u64,
    /// What happens, and on what that depends.
    pub why: &'static str,
}

/// Only where thousands of windows add up.
const COMPOSITE_ONLY: u64 = 0;

const ALLOCATORS: &[&str] = &[
    "__kmalloc",
    "__kmalloc_cache_noprof",
    "__kmalloc_node",
    "__kmalloc_node_noprof",
    "__kmalloc_noprof",
    "__kmem_cache_alloc_node",
    "__kmem_cache_free",
    "__list_add_valid",
    "__list_add_valid_or_report",
    "__list_del_entry_valid",
    "__list_del_entry_valid_or_report",
    "_raw_spin_lock_irqsave",
    "_raw_spin_unlock_irqrestore",
    "kfree",
    "kmem_cache_alloc",
    "kmem_cache_alloc_lru_noprof",
    "kmem_cache_alloc_noprof",
    "kmem_cache_free",
];

/// What `allocate_slab()` of mm/slub.c calls for a new slab, besides [`ALLOCATORS`]: pages,
/// and random numbers for the order of its objects.
const NEW_SLAB: &[&str] = &[
    "__alloc_pages",
    "__alloc_pages_noprof",
    "__cond_resched",
    "__get_random_u32_below",
    "_find_first_bit",
    "_raw_spin_trylock",
    "_raw_spin_unlock",
    "alloc_pages",
    "alloc_pages_noprof",
    "clear_page_erms",
    "get_page_from_freelist",
    "get_random_u32",
    "mempolicy_slab_node",
    "mod_node_page_state",
    "policy_node",
    "policy_nodemask",
    "should_fail_alloc_page",
];

/// All that is known.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        functions: &["memcpy_orig"],
        companions: &[],
        at_most: 16,
        why: "memcpy_orig() copies backwards if the low byte of one address is below that of the \
              other: it depends on where the allocator put them (arch/x86/lib/memcpy_64.S)",
    },
    Explanation {
        functions: &["ktime_get_coarse_real_ts64_mg", "inode_set_ctime_current"],
        companions: &["ns_to_timespec64"],
        at_most: 64,
        why: "since 6.13 a time stamp is made another way if a finer one was handed out after the \
              last tick: it depends on when the tick came (kernel/time/timekeeping.c, fs/inode.c)",
    },
    Explanation {
        functions: &[
            "__pcs_replace_empty_main",
            "__pcs_replace_full_main",
            "barn_replace_empty_sheaf",
            "barn_replace_full_sheaf",
        ],
        companions: ALLOCATORS,
        at_most: 64,
        why: "which allocation finds its processor's sheaf of free objects empty, and which free \
              one finds it full, depends on all before (mm/slub.c)",
    },
    Explanation {
        functions: &[
            "___slab_alloc",
            "__slab_alloc",
            "__slab_free",
            "__unfreeze_partials",
            "allocate_slab",
            "cmpxchg_double_slab",
            "get_partial_node",
            "new_slab",
            "put_cpu_partial",
            "setup_object",
            "shuffle_freelist",
            "slab_update_freelist",
            "unfreeze_partials",
        ],
        companions: ALLOCATORS,
        at_most: COMPOSITE_ONLY,
        why: "which allocation finds its processor's slab empty, and which object is freed into \
              another slab, depends on all before (mm/slub.c)",
    },
    Explanation {
        functions: &[
            "___slab_alloc",
            "__slab_alloc",
            "__slab_free",
            "cmpxchg_double_slab",
            "put_cpu_partial",
        ],
        companions: ALLOCATORS,
        at_most: 256,
        why: "an operation that frees what it allocates finds its processor's slab empty each time, \
              or frees into another, once the boot and what came before it have left it so \
              (mm/slub.c)",
    },
    Explanation {
        functions: &["allocate_slab"],
        companions: NEW_SLAB,
        at_most: COMPOSITE_ONLY,
        why: "which allocation needs a new slab, and pages for it, depends on all before \
              (allocate_slab() in mm/slub.c)",
    },
    Explanation {
        functions: &["rb_first_postorder", "rb_next_postorder"],
        companions: &[],
        at_most: COMPOSITE_ONLY,
        why: "ext4 sorts a directory's names into a tree of one shape or another; the two add up \
              to 0 (free_rb_tree_fname() in fs/ext4/dir.c)",
    },
    Explanation {
        functions: &["__d_lookup", "__d_lookup_rcu"],
        companions: &["___d_drop", "__d_rehash"],
        at_most: 64,
        why: "a name's bucket depends on its directory's address; a name that shares one takes a \
              step more (fs/dcache.c)",
    },
];

/// Gives each difference its explanation, if one is known. `composite`: the operation is
/// made of many windows.
pub fn explain(differences: &mut [FunctionDifference], composite: bool) {
    let happens: Vec<&Explanation> = EXPLANATIONS
        .iter()
        .filter(|explanation| {
            let shows =
                |it: &FunctionDifference| explanation.functions.contains(&it.function.as_str());
            differences.iter().any(shows)
        })
        .collect();
    for difference in differences {
        let name = difference.function.as_str();
        let bounded = |explanation: &&&Explanation| {
            composite || difference.difference.unsigned_abs() <= explanation.at_most
        };
        let found = happens.iter().filter(bounded).find(|explanation| {
            explanation.functions.contains(&name) || explanation.companions.contains(&name)
        });
        difference.explanation = found.map(|explanation| explanation.why.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(differences: &[(&str, i64)], composite: bool) -> Vec<bool> {
        let mut differences: Vec<FunctionDifference> = differences
            .iter()
            .map(|(function, difference)| FunctionDifference {
                function: (*function).to_owned(),
                difference: *difference,
                explanation: None,
            })
            .collect();
        explain(&mut differences, composite);
        let known = differences.iter().map(|it| it.explanation.is_some());
        known.collect()
    }

    #[test]
    fn what_is_explained_in_a_window_is_small() {
        assert_eq!(explained(&[("memcpy_orig", -4)], false), [true]);
        assert_eq!(explained(&[("memcpy_orig", 400)], false), [false]);
        assert_eq!(explained(&[("__slab_free", 82)], false), [true]);
        assert_eq!(explained(&[("__slab_free", 820)], false), [false]);
        assert_eq!(explained(&[("get_partial_node", 82)], false), [false]);
        assert_eq!(explained(&[("__slab_free", 8200)], true), [true]);
        assert_eq!(explained(&[("ext4_file_open", 1)], true), [false]);
    }

    #[test]
    fn companions_need_their_company() {
        assert_eq!(explained(&[("kfree", 21)], true), [false]);
        let both = [("kfree", 21), ("__pcs_replace_full_main", 29)];
        assert_eq!(explained(&both, false), [true, true]);
    }
}
