// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents made from several placements: what a patch changed.

use crate::common::{self, contradiction, names, stored};
use model::placement::{HookChange, HookPart, PlacementDifference, Side};
use model::{PlacementDocument, Stored};
use proptest::prelude::*;

fn golden() -> PlacementDocument {
    PlacementDocument::parse(include_bytes!("../golden/placement.json")).unwrap()
}

/// The golden placement, and what a patch could make of it.
fn pair() -> (PlacementDocument, PlacementDocument) {
    let mut before = golden();
    before.framework.names = names(&["inode_permission", "old_hook"]);
    let mut after = before.clone();
    after.tree = "/src/linux@patched".to_owned();
    after.framework.names = names(&["inode_permission", "new_hook", "other_hook"]);
    after.framework.hooks += 1;
    after.modules[0].implements.push("new_hook".to_owned());
    after.modules[0].hooks += 1;
    after.modules.remove(1);
    let open = &mut after.syscalls[0];
    // One more on the path, one in another place, one that is gone, one more at most.
    let mut new = open.hooks[2].clone();
    new.hook = "new_hook".to_owned();
    new.success_path = "1".parse().unwrap();
    new.max = "unbounded".parse().unwrap();
    open.hooks.push(new);
    let mut entry = open.trace[0].clone();
    entry.hook = "new_hook".to_owned();
    open.trace.push(entry);
    open.hooks[2].success_path = "D+S+2".parse().unwrap();
    open.trace[0].calls.push("may_lookup".to_owned());
    open.hooks[0].nested.clear();
    open.trace.remove(1);
    open.hooks[3].max = "3".parse().unwrap();
    open.hooks[1].teardown.success_path = "0".parse().unwrap();
    open.trace.remove(1);
    let mut only = after.syscalls[1].clone();
    only.syscall = "statx".to_owned();
    after.syscalls[1] = only;
    (before, after)
}

fn difference() -> PlacementDifference {
    let (before, after) = pair();
    PlacementDifference {
        tool: common::tool(),
        ..PlacementDifference::between(&before, &after)
    }
}

#[test]
fn writers_keep_to_the_golden_documents() {
    common::stored_keeps_to_golden("placement-diff", &difference());
}

#[test]
fn every_kind_of_change_is_told() {
    use HookChange as C;
    let difference = difference();
    assert_eq!(difference.framework.added, ["new_hook", "other_hook"]);
    assert_eq!(difference.framework.removed, ["old_hook"]);
    assert_eq!(difference.compared, 1);
    let [open, stat, statx] = &difference.changes[..] else {
        panic!("{:?}", difference.changes)
    };
    assert_eq!(
        (stat.only, statx.only),
        (Some(Side::Before), Some(Side::After))
    );
    let told: Vec<_> = open
        .hooks
        .iter()
        .map(|hook| (hook.change, hook.hook.as_str(), hook.part.clone()))
        .collect();
    let inside = HookPart::Inside("selinux+ima".to_owned());
    assert_eq!(
        told,
        [
            (C::Added, "new_hook", HookPart::Own),
            (C::More, "inode_permission", HookPart::Own),
            (C::Removed, "current_getsecid_subj", inside),
            (C::Removed, "file_free", HookPart::Teardown),
            (C::MaximumFewer, "a\u{1b}[31m|\u{202e}<b>", HookPart::Own),
        ]
    );
    assert_eq!(open.hooks[0].new_calls, [["sys_open", "link_path_walk"]]);
    assert_eq!(open.hooks[1].gone_calls, [["sys_open", "link_path_walk"]]);
    assert_eq!(open.hooks[1].new_calls[0].len(), 3);
    let asking: Vec<_> = difference.asking_more().map(|call| call.title()).collect();
    assert_eq!(asking, ["open (missing)"]);
    let modules: Vec<_> = difference
        .modules
        .iter()
        .map(|module| {
            (
                module.module.as_str(),
                module.hooks_before,
                module.hooks_after,
            )
        })
        .collect();
    assert_eq!(
        modules,
        [("ima", Some(3), None), ("selinux", Some(2), Some(3))]
    );
    assert_eq!(difference.modules[1].implements.added, ["new_hook"]);
}

#[test]
fn a_hook_that_is_called_by_another_way_as_often_is_no_change() {
    let before = golden();
    let mut after = before.clone();
    after.syscalls[0].trace[0].calls.push("renamed".to_owned());
    let difference = PlacementDifference::between(&before, &after);
    assert_eq!(difference.changes, []);
    assert_eq!(difference.compared, 2);
    // Only one lists its hooks: nothing can be said.
    after.framework.names = names(&["new_hook"]);
    let difference = PlacementDifference::between(&before, &after);
    assert!(difference.framework.is_empty());
}

#[test]
fn contradictions_and_other_documents_are_refused() {
    let mut wrong = difference();
    wrong.changes[0].hooks[0].change = HookChange::Fewer;
    assert_eq!(
        contradiction(PlacementDifference::parse(stored(&wrong).as_bytes())),
        "difference of placements: at changes[0]: the counts of new_hook say otherwise"
    );
    let error = PlacementDifference::parse(stored(&golden()).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no difference of placements: it is a placement document"
    );
}

proptest! {
    #[test]
    fn nothing_differs_from_itself(success_path in 0u32..5, depth in 0u32..5) {
        let mut document = golden();
        let hook = &mut document.syscalls[0].hooks[2];
        hook.success_path = model::placement::Count { depth, ..hook.success_path };
        hook.success_path.constant = success_path;
        hook.max = model::placement::Count::UNBOUNDED;
        let difference = PlacementDifference::between(&document, &document);
        prop_assert_eq!(difference.changes.len(), 0);
        prop_assert_eq!(difference.modules.len(), 0);
    }
}
