// SPDX-License-Identifier: GPL-2.0-or-later
//! The placement document: what is written is read back, and damage is named.

use std::collections::BTreeMap;

use crate::common::{self, contradiction, golden, names, stored};
use model::placement::{
    BoundlessCause, Confidence, Count, Coverage, FrameworkPlacement, HookPlacement, MissingCheck,
    ModulePlacement, Reach, RedundantCheck, StaleFact, SyscallPlacement, TraceEntry, Unbounded,
    Undecided, Unparsed,
};
use model::{Architecture, DocumentFault, Fault, PlacementDocument, Stored};

fn count(text: &str) -> Count {
    text.parse().unwrap()
}

fn reach(success_path: &str, max: &str) -> Reach {
    Reach {
        success_path: count(success_path),
        max: count(max),
    }
}

fn module(name: &str, hooks: u32, direct: bool) -> ModulePlacement {
    ModulePlacement {
        module: name.to_owned(),
        hooks,
        unconditional: 1,
        loc: 190,
        loc_per_hook: 95.0,
        categories: BTreeMap::from([("inode".to_owned(), 1), ("task".to_owned(), 1)]),
        file_accessing: 1,
        direct,
        implements: vec!["inode_permission".to_owned(), "task_alloc".to_owned()],
    }
}

fn hook(name: &str, own: Reach, teardown: Reach) -> HookPlacement {
    HookPlacement {
        hook: name.to_owned(),
        success_path: own.success_path,
        max: own.max,
        teardown,
        nested: BTreeMap::new(),
        unbounded_by: BTreeMap::new(),
        modules: vec!["selinux".to_owned()],
    }
}

/// Every kind of count, a case, teardown, hooks inside hooks, and hostile names.
fn document() -> PlacementDocument {
    let inside = HookPlacement {
        nested: BTreeMap::from([("selinux+ima".to_owned(), reach("1", "2"))]),
        ..hook("current_getsecid_subj", reach("0", "0"), reach("0", "0"))
    };
    PlacementDocument {
        tool: common::tool(),
        tree: "/src/linux@v6.12".to_owned(),
        version: "6.12.117".to_owned(),
        architecture: Architecture::X86_64,
        framework: FrameworkPlacement {
            hooks: 271,
            unconditional: 150,
            loc: 5_000,
            names: Vec::new(),
        },
        modules: vec![module("selinux", 2, false), module("ima", 3, true)],
        syscalls: vec![
            SyscallPlacement {
                syscall: "open".to_owned(),
                case: "missing".to_owned(),
                filesystem: "ext4".to_owned(),
                hooks: vec![
                    inside,
                    hook("file_free", reach("0", "0"), reach("1", "1")),
                    hook(
                        "inode_permission",
                        reach("D+S+1", "6D+3S+9"),
                        reach("0", "0"),
                    ),
                    HookPlacement {
                        unbounded_by: BTreeMap::from([
                            ("own".to_owned(), vec![0]),
                            ("teardown".to_owned(), vec![0, 1]),
                        ]),
                        ..hook(
                            "a\u{1b}[31m|\u{202e}<b>",
                            reach("0", "unbounded"),
                            reach("1", "unbounded"),
                        )
                    },
                ],
                trace: vec![
                    TraceEntry {
                        hook: "inode_permission".to_owned(),
                        times: count("D+S"),
                        calls: vec!["sys_open".to_owned(), "link_path_walk".to_owned()],
                        teardown: false,
                        modules: Vec::new(),
                    },
                    TraceEntry {
                        hook: "current_getsecid_subj".to_owned(),
                        times: Count::ONE,
                        calls: vec!["sys_open".to_owned(), "ima_file_check".to_owned()],
                        teardown: false,
                        modules: vec!["selinux".to_owned(), "ima".to_owned()],
                    },
                    TraceEntry {
                        hook: "file_free".to_owned(),
                        times: Count::ONE,
                        calls: vec!["sys_open".to_owned(), "fput".to_owned()],
                        teardown: true,
                        modules: Vec::new(),
                    },
                ],
            },
            SyscallPlacement {
                syscall: "stat".to_owned(),
                case: String::new(),
                filesystem: "ext4".to_owned(),
                hooks: Vec::new(),
                trace: Vec::new(),
            },
        ],
        redundant: vec![
            RedundantCheck {
                confidence: Confidence::Likely,
                same_question: false,
                hook: "inode_permission".to_owned(),
                within: "do_mkdirat".to_owned(),
                first: names(&["do_mkdirat", "link_path_walk", "inode_permission"]),
                second: names(&["do_mkdirat", "vfs_mkdir", "a\u{1b}[31m|<b>"]),
                asked: [
                    "nd->inode, MAY_EXEC".to_owned(),
                    "dir, MAY_WRITE | MAY_EXEC".to_owned(),
                ],
                why: "The directory was searched before.".to_owned(),
                syscalls: names(&["mkdir on ext4"]),
            },
            RedundantCheck {
                confidence: Confidence::Unknown,
                same_question: true,
                hook: "capable".to_owned(),
                within: "do_mkdirat".to_owned(),
                first: names(&["do_mkdirat", "capable"]),
                second: names(&["do_mkdirat", "ns_capable", "capable"]),
                asked: ["ns".to_owned(), "ns".to_owned()],
                why: "ns is assigned 2 times".to_owned(),
                syscalls: names(&["mkdir on ext4"]),
            },
        ],
        missing: vec![MissingCheck {
            confidence: Confidence::Sure,
            what: "data of an open file".to_owned(),
            module: "tomoyo".to_owned(),
            kind: "path".to_owned(),
            checked_by: names(&["apparmor", "selinux"]),
            hooks: names(&["file_permission"]),
            calls: names(&["sys_read", "vfs_read", "rw_verify_area"]),
            why: "nothing on the path asks it".to_owned(),
            syscalls: names(&["read on ext4", "write on ext4"]),
        }],
        unbounded: vec![
            Unbounded {
                file: "fs/exec.c".to_owned(),
                line: 1_745,
                function: "exec_binprm".to_owned(),
                cause: BoundlessCause::Loop,
                code: "for (depth = 0;;depth++)".to_owned(),
                why: "neither the code nor a fact says how often it is gone round".to_owned(),
            },
            Unbounded {
                file: "kernel/cred.c".to_owned(),
                line: 110,
                function: "__put_cred".to_owned(),
                cause: BoundlessCause::Callback,
                code: "a\u{1b}[31m|<b>".to_owned(),
                why: "neither the code nor a fact says how often it is called back".to_owned(),
            },
        ],
        unparsed: vec![Unparsed {
            file: "fs/namei.c".to_owned(),
            function: "may_open".to_owned(),
            line: 3_000,
            reason: "`macro(`".to_owned(),
        }],
        circles: vec![vec!["ring".to_owned(), "security_ring".to_owned()]],
        undecided: vec![Undecided {
            file: "fs/open.c".to_owned(),
            function: "do_dentry_open".to_owned(),
            code: "f->f_mode & FMODE_WRITE".to_owned(),
        }],
        stale_facts: vec![StaleFact {
            function: "nd_jump_link".to_owned(),
            code: "for (;;)".to_owned(),
            reason: "the function has no such code".to_owned(),
            why: "One round for each link.".to_owned(),
        }],
        coverage: Coverage {
            files: 3_189,
            functions: 60_000,
            reachable: 4_000,
            scanned: 3_189,
            parsed: 4_000,
        },
        timing: BTreeMap::from([("scan".to_owned(), 900), ("total".to_owned(), 1_900)]),
    }
}

fn refused(document: &PlacementDocument) -> String {
    contradiction(PlacementDocument::parse(stored(document).as_bytes()))
}

#[test]
fn writer_keeps_to_the_golden_document() {
    common::stored_keeps_to_golden("placement", &document());
    let document = document();
    assert_eq!(document.syscalls[0].full_title(), "open (missing) on ext4");
    assert_eq!(document.syscalls[1].title(), "stat");
}

#[test]
fn keys_of_a_later_lsmeter_are_skipped_and_its_schema_is_refused() {
    let text = stored(&document());
    let more = text.replacen("{\n", "{\n\"invented\": [{\"hook\": 1}],\n", 1);
    assert_eq!(
        PlacementDocument::parse(more.as_bytes()).unwrap(),
        document()
    );
    let newer = text.replacen("\"schema_version\": 3", "\"schema_version\": 7", 1);
    let error = PlacementDocument::parse(newer.as_bytes()).unwrap_err();
    assert!(matches!(
        error.fault,
        DocumentFault::OtherVersion { found: 7 }
    ));
}

#[test]
fn contradictions_and_other_documents_are_refused() {
    let mut wrong = document();
    wrong.modules[1].unconditional = 4;
    assert_eq!(
        refused(&wrong),
        "placement document: at modules[1]: 4 hooks of ima are unconditional, of 3"
    );
    let mut wrong = document();
    wrong.syscalls[0].hooks[2].max = count("6D");
    wrong.syscalls[0].hooks[2].success_path = count("D+6");
    assert_eq!(
        refused(&wrong),
        "placement document: at syscalls[0]: inode_permission is called D+6 times on the success path, 6D \
         at most"
    );
    let mut wrong = document();
    wrong.syscalls[0].hooks.remove(0);
    assert_eq!(
        refused(&wrong),
        "placement document: at syscalls[0]: the trace calls current_getsecid_subj, which it \
         cannot reach"
    );
    let mut wrong = document();
    wrong.unbounded.pop();
    assert_eq!(
        refused(&wrong),
        "placement document: at syscalls[0]: a?[31m|?<b> is unbounded by what is not \
         among the 1 in `unbounded`"
    );
    let error = PlacementDocument::parse(b"{").unwrap_err();
    assert!(error.hint().unwrap().contains("analyse the tree again"));
    let error = PlacementDocument::parse(&golden("run")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no placement document: it is a run document"
    );
    let error = PlacementDocument::parse(&golden("run")).unwrap_err();
    assert!(
        matches!(error.fault, DocumentFault::OfOtherUse { .. }),
        "{error}"
    );
    let text = stored(&document());
    let odd = text.replacen("\"D+S+1\"", "\"D*S\"", 1);
    let error = PlacementDocument::parse(odd.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("`D*S` is no count"), "{error}");
}

#[test]
fn causes_go_with_the_system_calls_that_refer_to_them() {
    let mut some = document();
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
}
