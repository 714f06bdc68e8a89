// SPDX-License-Identifier: GPL-2.0-or-later
//! The placement result file, and the difference of two.

use std::collections::BTreeMap;

use crate::common::{self, names};
use model::placement::{HookChange, HookPart, PlacementDifference, Side};
use model::{PlacementDocument, Stored};
use proptest::prelude::*;

#[test]
fn causes_go_with_the_system_calls_that_refer_to_them() {
    let mut some = golden();
    let hook = &mut some.syscalls[0].hooks[3];
    hook.unbounded_by = BTreeMap::from([("teardown".to_owned(), vec![1])]);
    some.retain(|_| true);
    let [left] = &some.unbounded[..] else {
        panic!("{:?}", some.unbounded)
    };
    assert_eq!(left.function, "__put_cred");
    assert_eq!(some.syscalls[0].hooks[3].unbounded_by["teardown"], [0]);
    some.retain(|call| call.syscall == "stat");
    assert_eq!(some.unbounded, []);
    let document = golden();
    assert_eq!(document.syscalls[0].full_title(), "open (missing) on ext4");
    assert_eq!(document.syscalls[1].title(), "stat");
}

fn golden() -> PlacementDocument {
    PlacementDocument::parse(&common::golden("placement")).unwrap()
}

/// The golden placement, and the result of a patch.
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
    // One more call on the path, a hook in another place, a removed hook, and a higher upper bound.
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

#[test]
fn every_kind_of_change_is_told() {
    use HookChange as C;
    let (before, after) = pair();
    let difference = PlacementDifference {
        tool: before.tool.clone(),
        ..PlacementDifference::between(&before, &after)
    };
    let golden = PlacementDifference::parse(&common::golden("placement-diff"));
    assert_eq!(difference, golden.unwrap());
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
    let hooks = open.hooks.iter();
    let hooks = hooks.map(|hook| (hook.change, hook.hook.as_str(), hook.part.clone()));
    let hooks: Vec<_> = hooks.collect();
    let inside = HookPart::Inside("selinux+ima".to_owned());
    assert_eq!(
        hooks,
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
    let modules = difference.modules.iter();
    let modules = modules.map(|module| {
        (
            module.module.as_str(),
            module.hooks_before,
            module.hooks_after,
        )
    });
    let modules: Vec<_> = modules.collect();
    let expected = [("ima", Some(3), None), ("selinux", Some(2), Some(3))];
    assert_eq!(modules, expected);
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
    // Only one lists its hooks: no comparison is possible.
    after.framework.names = names(&["new_hook"]);
    let difference = PlacementDifference::between(&before, &after);
    assert!(difference.framework.is_empty());
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
