// SPDX-License-Identifier: GPL-2.0-or-later
//! Analyses of the small tree, whose counts can be checked by hand.

use std::path::Path;
use std::process::Command;

use model::Failure;
use placement::{BoundlessCause, PlacementDocument, Request, SyscallPlacement, Tree, analyse};

use super::{copied, files, request, toy};

/// The document without the fields that depend on durations or on a cache.
fn plain(mut document: PlacementDocument) -> PlacementDocument {
    document.timing.clear();
    document.coverage.scanned = 0;
    document.coverage.parsed = 0;
    document.tree.clear();
    document
}

fn call<'d>(document: &'d PlacementDocument, name: &str) -> &'d SyscallPlacement {
    let mut calls = document.syscalls.iter();
    let call = calls.find(|call| call.syscall == name && call.case.is_empty());
    call.unwrap()
}

/// The document for these system calls of the small tree.
fn found(syscalls: &[&str]) -> PlacementDocument {
    analyse(&Tree::open(toy()).unwrap(), &request(syscalls)).unwrap()
}

fn rows(call: &SyscallPlacement) -> Vec<String> {
    let row = |hook: &placement::HookPlacement| {
        let (own, teardown) = ((hook.success_path, hook.max), &hook.teardown);
        let nested = hook.nested.iter();
        let nested =
            nested.map(|(name, reach)| format!(" {name} {}/{}", reach.success_path, reach.max));
        let own = format!("{} {}/{}", hook.hook, own.0, own.1);
        let teardown = format!(" {}/{}", teardown.success_path, teardown.max);
        own + &teardown + &nested.collect::<String>()
    };
    call.hooks.iter().map(row).collect()
}

/// The message of the error that the result must be.
fn refused<T: std::fmt::Debug>(result: Result<T, Failure>, expected: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn counts() {
    let tree = Tree::open(toy()).unwrap();
    assert_eq!(tree.version(), "6.99.0-toy");
    let document = analyse(&tree, &request(&["stat", "mkdir"])).unwrap();
    // There are two passes with two tries each.
    assert_eq!(
        rows(call(&document, "stat")),
        ["inode_getattr 1/2 0/0", "inode_permission D/4D 0/0"]
    );
    // The loop over guests has no known bound, except on the success path.
    assert_eq!(
        rows(call(&document, "mkdir")),
        [
            "inode_free_security 0/0 1/unbounded",
            "inode_getattr 0/0 0/0 toy 2/unbounded",
            "inode_permission D+1/unbounded 0/0",
            "path_mkdir 2/unbounded 0/0",
        ]
    );
    let own = &call(&document, "mkdir").hooks[2].unbounded_by["own"];
    let cause = &document.unbounded[own[0] as usize];
    let place = (&*cause.file, cause.line, &*cause.function, &*cause.code);
    assert_eq!(
        (own.len(), place),
        (1, ("fs/namei.c", 47, "mkdir", "retry:"))
    );
    let trace = &call(&document, "mkdir").trace;
    let hooks: Vec<_> = trace.iter().map(|entry| entry.hook.as_str()).collect();
    let expected = "inode_permission path_mkdir inode_getattr path_mkdir inode_getattr \
                    inode_permission inode_free_security";
    assert_eq!(hooks.join(" "), expected);
    let expected = "sys_mkdir toyfs_mkdir vfs_ready inode_permission security_inode_permission";
    assert_eq!(trace[5].calls.join(" "), expected);
    let implemented = &call(&document, "mkdir").hooks[3];
    assert_eq!(implemented.modules, ["toy"]);
}

#[test]
fn what_members_and_variables_hold_is_called() {
    let document = found(&["tell", "hold", "choose"]);
    assert_eq!(rows(call(&document, "tell")), ["inode_getattr 1/1 0/0"]);
    let held = call(&document, "hold").hooks.iter().map(|hook| &*hook.hook);
    assert_eq!(held.collect::<Vec<_>>(), ["inode_getattr", "path_mkdir"]);
    let mut chosen = call(&document, "choose").hooks.iter();
    assert!(chosen.any(|hook| hook.hook == "inode_free_security"));
}

#[test]
fn calls_in_circles_end_where_a_fact_says_so() {
    let document = found(&["forget", "forever"]);
    // Destroying a mark notifies its listener, which destroys it again.
    let forget = call(&document, "forget");
    assert_eq!(
        rows(forget),
        ["inode_getattr 1/2 0/0", "inode_permission 1/2 0/0"]
    );
    assert!(forget.hooks.iter().all(|hook| hook.unbounded_by.is_empty()));
    let forever = &call(&document, "forever").hooks[0];
    assert!(forever.max.unbounded);
    let own = forever.unbounded_by["own"].iter();
    let causes: Vec<_> = own
        .map(|&cause| &document.unbounded[cause as usize])
        .map(|cause| (cause.line, cause.cause, &*cause.function, &*cause.code))
        .collect();
    assert_eq!(
        causes,
        [
            (18, BoundlessCause::Circle, "go_round", "go_round"),
            (33, BoundlessCause::Callback, "forever", "go_round"),
        ]
    );
}

#[test]
fn modules() {
    let document = found(&["stat"]);
    let framework = &document.framework;
    assert_eq!((framework.hooks, framework.unconditional), (4, 3));
    let [toy] = &document.modules[..] else {
        panic!("{:?}", document.modules)
    };
    let counts = (toy.hooks, toy.unconditional, toy.loc);
    assert_eq!((&*toy.module, counts), ("toy", (2, 1, 19)));
    assert_eq!(toy.categories.get("inode"), Some(&1));
    assert_eq!((toy.loc_per_hook, toy.file_accessing), (9.5, 2));
}

#[test]
fn what_does_not_parse_is_listed() {
    let document = found(&["broken"]);
    let [unparsed] = &document.unparsed[..] else {
        panic!("{:?}", document.unparsed)
    };
    let place = (&*unparsed.file, &*unparsed.function, unparsed.line);
    assert_eq!(place, ("fs/stat.c", "broken", 26));
    // The part that was understood is counted.
    assert_eq!(call(&document, "broken").hooks[0].hook, "inode_getattr");
    assert!(!document.stale_facts.is_empty());
}

#[test]
fn the_cache_changes_nothing_but_the_time() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("tree");
    copied(&copy);
    let tree = Tree::open(&copy).unwrap();
    let cached = Request {
        cache: Some(directory.path().join("cache")),
        ..request(&["stat", "mkdir"])
    };
    let first = analyse(&tree, &cached).unwrap();
    let second = analyse(&tree, &cached).unwrap();
    assert_eq!((second.coverage.scanned, second.coverage.parsed), (0, 0));
    assert_eq!(plain(first), plain(second));
    // If one file changes, only that file is read again.
    let stat = copy.join("fs/stat.c");
    let text = std::fs::read_to_string(&stat).unwrap();
    let text = text.replace("error = security_inode_getattr(&path);", "error = 0;");
    std::fs::write(&stat, text).unwrap();
    let third = analyse(&tree, &cached).unwrap();
    assert_eq!(third.coverage.scanned, 1);
    assert_eq!(rows(call(&third, "stat")), ["inode_permission D/4D 0/0"]);
    // A damaged cache is not used.
    for entry in std::fs::read_dir(directory.path().join("cache")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let half = bytes.len() / 2;
        bytes[half] ^= 0x55;
        std::fs::write(&path, bytes).unwrap();
    }
    let fourth = analyse(&tree, &cached).unwrap();
    assert!(fourth.coverage.scanned > 1);
    assert_eq!(plain(third), plain(fourth));
}

#[test]
fn archives_and_revisions_are_trees() {
    let expected = plain(found(&["stat", "mkdir"]));
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("linux-source.tar");
    let mut builder = tar::Builder::new(std::fs::File::create(&archive).unwrap());
    builder.append_dir_all("linux-source-6.99", toy()).unwrap();
    builder.finish().unwrap();
    let tree = Tree::open(&archive).unwrap();
    let analysed = analyse(&tree, &request(&["stat", "mkdir"])).unwrap();
    assert_eq!(plain(analysed), expected);

    let copy = directory.path().join("tree");
    copied(&copy);
    let git = |line: &str| {
        let mut command = Command::new("git");
        command.arg("-C").arg(&copy);
        command.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]);
        let output = command.args(line.split(' ')).output();
        assert!(output.unwrap().status.success(), "{line}");
    };
    git("init -q");
    git("add -A");
    git("commit -qm toy");
    let tree = Tree::open_revision(&copy, "HEAD").unwrap();
    let analysed = analyse(&tree, &request(&["stat", "mkdir"])).unwrap();
    assert_eq!(plain(analysed), expected);
    refused(Tree::open_revision(&copy, "nowhere"), "has no revision");
    assert!(Tree::open_revision(&copy, "--help").is_err());

    // For the next revision, only changed files are read. It gets no cache of its own.
    let stat = copy.join("fs/stat.c");
    let text = std::fs::read_to_string(&stat).unwrap();
    let asking = "error = security_inode_getattr(&path);";
    std::fs::write(stat, text.replace(asking, "error = 0;")).unwrap();
    git("commit -qam less");
    let cached = Request {
        cache: Some(directory.path().join("cache")),
        ..request(&["stat", "mkdir"])
    };
    for (revision, scanned) in [("HEAD^", None), ("HEAD", Some(1)), ("HEAD^", Some(1))] {
        let tree = Tree::open_revision(&copy, revision).unwrap();
        let document = analyse(&tree, &cached).unwrap();
        assert!(scanned.is_none_or(|scanned| document.coverage.scanned == scanned));
        let is_old = plain(document) == expected;
        assert_eq!(is_old, revision == "HEAD^", "{revision}");
    }
    let caches = std::fs::read_dir(directory.path().join("cache")).unwrap();
    assert_eq!(caches.count(), 1);
}

#[test]
fn what_is_unpacked_is_kept_for_as_long_as_the_tarball_is_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("linux-source.tar.xz");
    let packed = |stat: &str| {
        let copy = directory.path().join("tree");
        copied(&copy);
        std::fs::write(copy.join("fs/stat.c"), stat).unwrap();
        let file = std::fs::File::create(&archive).unwrap();
        let mut builder = tar::Builder::new(liblzma::write::XzEncoder::new(file, 1));
        builder.append_dir_all("linux-source-6.99", copy).unwrap();
        builder.into_inner().unwrap().finish().unwrap();
    };
    let stat = std::fs::read_to_string(toy().join("fs/stat.c")).unwrap();
    let kept = directory.path().join("kept");
    // The hooks that stat reaches, and whether the tarball was unpacked to find them.
    let look = || {
        let mut unpacked = false;
        let tree = Tree::open_kept(&archive, &kept, || unpacked = true).unwrap();
        let document = analyse(&tree, &request(&["stat"])).unwrap();
        (rows(call(&document, "stat")), unpacked)
    };
    packed(&stat);
    let (rows, unpacked) = look();
    assert!(unpacked);
    assert_eq!(rows, ["inode_getattr 1/2 0/0", "inode_permission D/4D 0/0"]);
    assert_eq!(look(), (rows.clone(), false));
    let files: Vec<_> = std::fs::read_dir(&kept).unwrap().collect();
    let [Ok(file)] = &files[..] else {
        panic!("{files:?}")
    };
    // A damaged file is treated as missing, and replaced.
    let whole = std::fs::read(file.path()).unwrap();
    let source = whole.windows(stat.len()).position(|w| w == stat.as_bytes());
    for at in [30, source.unwrap() + 5] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(file.path(), damaged).unwrap();
        assert_eq!(look(), (rows.clone(), true));
        assert_eq!(std::fs::read(file.path()).unwrap(), whole);
    }
    for length in [0, 7, 100, whole.len() - 1] {
        std::fs::write(file.path(), &whole[..length]).unwrap();
        assert_eq!(look(), (rows.clone(), true), "{length}");
    }
    // A different tarball of the same name.
    packed(&stat.replace("error = security_inode_getattr(&path);", "error = 0;"));
    let (others, unpacked) = look();
    assert!(unpacked);
    assert_eq!(others, ["inode_permission D/4D 0/0"]);
    // A truncated tarball is not kept.
    let bytes = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
    for _ in 0..2 {
        let cut = Tree::open_kept(&archive, &kept, || ());
        refused(cut, "cannot be unpacked");
    }
    // If the tarball cannot be kept, this is not an error.
    packed(&stat);
    let nowhere = Path::new("/dev/null/kept");
    assert!(Tree::open_kept(&archive, nowhere, || ()).is_ok());
}

#[test]
fn a_tarball_that_just_stops_is_refused() {
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_dir_all("linux-source-6.99", toy()).unwrap();
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..7].copy_from_slice(b"x/fs/\xff\xfe");
    header.set_size(0);
    header.set_cksum();
    builder.append(&header, std::io::empty()).unwrap();
    let whole = builder.into_inner().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let archive = directory.path().join("linux-source.tar");
    let open = |bytes: &[u8]| {
        std::fs::write(&archive, bytes).unwrap();
        Tree::open(&archive)
    };
    assert!(open(&whole).is_ok());
    // The tarball is cut after the last file, without the two final blocks of zeros, and within the
    // file.
    let end = whole.len() - 2 * 512;
    for len in [end, end - 512, end - 700] {
        refused(open(&whole[..len]), "cannot be unpacked");
    }
}

#[test]
fn hostile_files_do_no_harm() {
    let mut files = files(&toy());
    let deep = "SYSCALL_DEFINE0(deep)\n{\n".to_owned()
        + &"if (a) {".repeat(20_000)
        + "security_inode_getattr(x);"
        + &"}".repeat(20_000)
        + "\n}\n";
    let long = format!(
        "SYSCALL_DEFINE0(long)\n{{ security_inode_getattr({}1); }}\n",
        "1+".repeat(600_000)
    );
    let circle = "void security_ring(void)\n{\n\tring();\n\tsecurity_inode_getattr(x);\n}\nvoid ring(void)\n{\n\tsecurity_ring();\n}\nSYSCALL_DEFINE0(circle)\n{\n\tring();\n}\n";
    let noise: Vec<u8> = (0..100_000u32).map(|i| (i * 7919 % 251) as u8).collect();
    let chain: String = (0..30_000)
        .map(|n| format!("void link_{n}(void)\n{{\n\tlink_{}();\n}}\n", n + 1))
        .collect();
    let chain = chain
        + "void link_30000(void)\n{\n\tsecurity_inode_getattr(x);\n}\n"
        + "SYSCALL_DEFINE0(chain)\n{\n\tlink_0();\n}\n";
    for (name, text) in [
        ("deep", deep.into_bytes()),
        ("long", long.into_bytes()),
        ("circle", circle.into()),
        ("noise", noise),
        ("chain", chain.into_bytes()),
    ] {
        files.insert(format!("fs/{name}.c"), text);
    }
    let tree = Tree::from_files("tree", files).unwrap();
    let document = analyse(&tree, &request(&["deep", "long", "circle", "chain"])).unwrap();
    let mut unparsed = document.unparsed.iter();
    let deep = unparsed.any(|place| place.reason.contains("nest deeper"));
    assert!(deep, "{:?}", document.unparsed);
    let reasons = document.unparsed.iter();
    let reasons = reasons.map(|place| (&*place.function, &*place.reason));
    let reasons: Vec<_> = reasons.collect();
    for reason in [("deep", "too deeply nested"), ("long", "longer than 1 MiB")] {
        assert!(reasons.contains(&reason), "{reasons:?}");
    }
    let circle = rows(call(&document, "circle"));
    assert_eq!(circle, ["inode_getattr 1/unbounded 0/0"]);
    assert_eq!(document.circles.len(), 1);
}
