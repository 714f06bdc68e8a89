// SPDX-License-Identifier: GPL-2.0-or-later
//! Roots from archives.

mod images;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use ::tar::{Builder, EntryType, Header};
use model::Fault;
use proptest::prelude::*;
use testing::image::Tar;

use super::place::set_time;
use super::tree::{DEPTH_LIMIT, FILES_LIMIT, TOP, What};
use super::*;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn unpacked(
    layers: &[Vec<u8>],
    layered: bool,
) -> Result<(Root, BTreeMap<String, String>), LabError> {
    let scratch = Scratch::new().unwrap();
    let mut report = |_| {};
    let mut watch = Watch::new(&GO_ON, &mut report);
    let mut unpacker = unpacker(&scratch, layered, &mut watch)?;
    for layer in layers {
        unpacker.unpack(&layer[..], "test.tar")?;
    }
    let mut names = 0;
    let mut bytes = 0;
    let mut held = BTreeMap::new();
    let Ok(()) = unpacker
        .tree
        .walk::<std::convert::Infallible>(&mut |path, id| {
            let node = &unpacker.tree.nodes[id];
            names += 1;
            let text = match &node.what {
                What::Directory(_) => "/".to_owned(),
                What::File { .. } => std::fs::read_to_string(unpacker.content(id)).unwrap(),
                What::Symlink(target) => format!("-> {}", target.to_string_lossy()),
                What::Special(kind, _) => format!("{kind:o}"),
            };
            held.insert(path.to_string_lossy().into_owned(), text);
            Ok(())
        });
    assert_eq!(unpacker.tree.files, names);
    for (id, node) in unpacker.tree.nodes.iter().enumerate() {
        if let What::File { bytes: size, .. } = node.what {
            assert_eq!(unpacker.content(id).exists(), node.links > 0);
            bytes += if node.links > 0 { size } else { 0 };
        }
    }
    assert_eq!(unpacker.tree.bytes, bytes);
    let root = Root::placed(unpacker, Settings::default(), scratch)?;
    Ok((root, held))
}

fn held(layers: &[Tar]) -> Vec<String> {
    let layers: Vec<Vec<u8>> = layers.iter().map(Tar::so_far).collect();
    let (_, held) = unpacked(&layers, true).unwrap();
    let held = held
        .into_iter()
        .map(|(name, text)| format!("{name} {text}"));
    held.collect()
}

fn refused(tar: Tar, why: &str) {
    let error = unpacked(&[tar.bytes()], false).unwrap_err();
    assert!(error.to_string().contains(why), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn links_lead_nowhere_out_of_a_root() {
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().to_str().unwrap();
    let tar = Tar::new()
        .symlink("a", path)
        .file("a/passwd", "x")
        .symlink("up", "../../../../../../..")
        .file("up/tmp/y", "y")
        .symlink("here", ".")
        .file("here/here/z", "z")
        .file("/absolute", "w");
    let (root, held) = unpacked(&[tar.bytes()], false).unwrap();
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    let below = format!("{}/passwd", path.trim_start_matches('/'));
    for (name, text) in [
        (below.as_str(), "x"),
        ("tmp/y", "y"),
        ("z", "z"),
        ("absolute", "w"),
    ] {
        assert_eq!(held[name], text, "{name}");
        assert_eq!(
            std::fs::read_to_string(root.path().join(name)).unwrap(),
            text
        );
    }
    refused(Tar::new().file("../x", ""), "leaves the root");
    refused(Tar::new().file("a/../../x", ""), "leaves the root");
    refused(Tar::new().hard("x", "../../etc/passwd"), "leaves the root");
    refused(Tar::new().hard("x", "/etc/passwd"), "which is not a file");
    refused(
        Tar::new()
            .symlink("a", "b")
            .symlink("b", "a")
            .file("a/x", ""),
        "too many links",
    );
    refused(Tar::new().file("a", "").file("a/x", ""), "non-directory");
    refused(Tar::new().symlink("a", ""), "invalid path");
    refused(Tar::new().dir("d").hard("x", "d"), "which is not a file");
    refused(Tar::new().file(&"n".repeat(300), ""), "255 bytes");
    let sparse = EntryType::GNUSparse;
    refused(
        Tar::new().entry(sparse, "x", "", b"", 0o644),
        "only some tar programs",
    );
}

#[test]
fn layers_hide_what_is_below_them() {
    let lower = || {
        Tar::new()
            .dir("etc")
            .file("etc/one", "1")
            .file("etc/two", "2")
            .hard("three", "etc/one")
            .dir("var")
            .file("var/lib/old", "old")
            .symlink("lib", "usr/lib")
    };
    let upper = Tar::new()
        .file("etc/.wh.one", "")
        .file("etc/two", "2nd")
        .file("var/lib/new", "new")
        .file("var/.wh..wh..opq", "")
        .file(".wh..wh.plnk", "")
        .file("lib/so", "so");
    assert_eq!(
        held(&[lower(), upper]),
        [
            "etc /",
            "etc/two 2nd",
            "lib -> usr/lib",
            "three 1",
            "usr /",
            "usr/lib /",
            "usr/lib/so so",
            "var /",
            "var/lib /",
            "var/lib/new new"
        ]
    );
    // Entries of the whiteout's own layer stay, in any order.
    let upper = Tar::new()
        .file("etc/new", "n")
        .file(".wh.etc", "")
        .file("three/below", "b")
        .file(".wh.three", "");
    let error = unpacked(&[lower().bytes(), upper.bytes()], true).unwrap_err();
    assert!(error.to_string().contains("non-directory"), "{error}");
    let upper = Tar::new()
        .file("etc/new", "n")
        .file(".wh.etc", "")
        .file(".wh.var", "")
        .file(".wh.three", "")
        .file(".wh.nothing", "");
    assert_eq!(
        held(&[lower(), upper]),
        ["etc /", "etc/new n", "lib -> usr/lib"]
    );
    let upper = Tar::new()
        .file("var", "v")
        .dir("three")
        .file("three/x", "x");
    let held = held(&[lower(), upper]);
    assert!(held.contains(&"var v".to_owned()) && held.contains(&"three/x x".to_owned()));
    // In a plain archive, whiteouts are ordinary names.
    let (_, plain) = unpacked(&[Tar::new().file(".wh.x", "x").bytes()], false).unwrap();
    assert_eq!(plain[".wh.x"], "x");
}

#[test]
fn what_is_too_much_is_refused_early() {
    let deep = "d/".repeat(DEPTH_LIMIT + 1);
    refused(Tar::new().file(&format!("{deep}x"), ""), "directories deep");
    refused(Tar::new().dir(&"d/".repeat(2000)), "directories deep");
    // According to its header, the file has 9 GiB, but there are no data.
    let mut bomb = Header::new_gnu();
    bomb.set_path("bomb").unwrap();
    bomb.set_entry_type(EntryType::Regular);
    bomb.set_size(9 << 30);
    bomb.set_cksum();
    let error = unpacked(&[bomb.as_bytes().to_vec()], false).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("bomb makes the root larger than 8 GiB"),
        "{error}"
    );
    // Ten million files, none of them on disk.
    let header = Tar::new()
        .entry(EntryType::Directory, "d", "", b"", 0o755)
        .bytes();
    let error = endless(header[..512].to_vec());
    assert!(
        error
            .to_string()
            .contains("has more than 4000000 archive members"),
        "{error}"
    );
    let mut tree = Tree::new();
    assert!(tree.admit(Path::new("x"), FILES_LIMIT, 0).is_ok());
    let error = tree.admit(Path::new("x"), 1, 0).unwrap_err();
    assert!(
        error.to_string().contains("more than 1000000 files"),
        "{error}"
    );
    // Unlimited input after the archive's end.
    let mut report = |_| {};
    let watch = Watch::new(&GO_ON, &mut report);
    let mut reader = watch.reader(io::repeat(0), 5 << 20);
    let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
    assert!(
        error.to_string().contains("unpacks to more than 5 MiB"),
        "{error}"
    );
}

fn endless(piece: Vec<u8>) -> LabError {
    struct Again(Vec<u8>, usize);
    impl Read for Again {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let rest = &self.0[self.1..];
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            self.1 = (self.1 + count) % self.0.len();
            Ok(count)
        }
    }
    let scratch = Scratch::new().unwrap();
    let mut report = |_| {};
    let mut watch = Watch::new(&GO_ON, &mut report);
    let mut unpacker = unpacker(&scratch, false, &mut watch).unwrap();
    unpacker.unpack(Again(piece, 0), "test.tar").unwrap_err()
}

#[test]
fn what_no_user_can_make_is_kept_beside() {
    let tar = Tar::new()
        .dir("closed")
        .entry(EntryType::Regular, "closed/secret", "", b"s", 0o000)
        .entry(EntryType::Regular, "su", "", b"su", 0o4755)
        .hard("su-too", "su")
        .entry(EntryType::Char, "null", "", b"", 0o666)
        .entry(EntryType::Fifo, "pipe", "", b"", 0o600)
        .symlink("link", "su");
    let tar = tar.bytes();
    let (root, _) = unpacked(std::slice::from_ref(&tar), false).unwrap();
    let fixes = root.fixes.as_ref().unwrap();
    let shown: Vec<String> = fixes
        .iter()
        .map(|fix| {
            let mode = fix.mode.map_or(String::new(), |mode| format!("{mode:o}"));
            assert_eq!(fix.owner, Some((7, 8)));
            format!("{} {mode} {:?}", fix.path.display(), fix.made)
        })
        .collect();
    assert_eq!(
        shown,
        [
            "closed  None",
            "closed/secret 100000 None",
            "link  None",
            "null 20666 Some((1, 3, 1600000000))",
            "pipe 10600 Some((0, 0, 1600000000))",
            "su  None",
        ]
    );
    let found = |name: &str| std::fs::symlink_metadata(root.path().join(name)).unwrap();
    assert_eq!(found("su").permissions().mode() & 0o7777, 0o4755);
    assert_eq!(found("su").ino(), found("su-too").ino());
    assert_eq!(found("closed").mtime(), 1_600_000_000);
    assert_eq!(found("link").mtime(), 1_600_000_000);
    assert_eq!(root.newest_s, 1_700_000_000);
    assert!(std::fs::symlink_metadata(root.path().join("null")).is_err());
    // Changing one of these changes the digest; moving the root does not.
    let again = |tar: Tar| unpacked(&[tar.bytes()], false).unwrap().0.digest;
    assert_eq!(unpacked(&[tar], false).unwrap().0.digest, root.digest);
    let one = again(Tar::new().file("a", "1").file("b", "1"));
    assert_ne!(one, again(Tar::new().file("a", "1").hard("b", "a")));
    let device = |kind| again(Tar::new().entry(kind, "a", "", b"", 0o666));
    assert_ne!(device(EntryType::Char), device(EntryType::Block));
}

#[test]
fn a_directory_and_its_archive_are_the_same_root() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("d")).unwrap();
    std::fs::write(place.path().join("d/file"), "text").unwrap();
    std::os::unix::fs::symlink("d", place.path().join("link")).unwrap();
    let mut tar = Builder::new(Vec::new());
    tar.follow_symlinks(false);
    tar.append_dir_all("", place.path()).unwrap();
    let (packed, _) = unpacked(&[tar.into_inner().unwrap()], false).unwrap();
    let mut report = |_| {};
    let mut watch = Watch::new(&GO_ON, &mut report);
    let given = Root::given(place.path(), &mut watch).unwrap();
    assert_eq!(given.digest, packed.digest);
    assert_eq!((given.files, given.bytes), (3, 4));
}

#[test]
fn a_root_is_as_old_as_what_it_is_made_of() {
    let place = tempfile::tempdir().unwrap();
    symlink("sh", place.path().join("link")).unwrap();
    set_time(&place.path().join("link"), 1_600_000_000).unwrap();
    let spec = RootSpec {
        programs: vec!["sh".to_owned()],
        tree: Some(place.path().to_str().unwrap().to_owned()),
        ..RootSpec::default()
    };
    set_time(place.path(), 1_500_000_000).unwrap();
    let root = Root::prepare(&spec, &mut Watch::new(&GO_ON, &mut |_| {})).unwrap();
    let link = std::fs::symlink_metadata(root.path().join("tree/link")).unwrap();
    assert_eq!(link.mtime(), 1_600_000_000);
    // The times of directories and links are not checked.
    let now = jiff::Timestamp::now().as_second();
    assert!(root.newest_s < now - 3_600, "{} at {now}", root.newest_s);
}

#[test]
fn whoever_waits_may_break_off() {
    let cancel = AtomicBool::new(false);
    let place = tempfile::tempdir().unwrap();
    std::fs::write(
        place.path().join("a.tar"),
        Tar::new().file("a", "x").bytes(),
    )
    .unwrap();
    let spec = RootSpec {
        path: Some(place.path().join("a.tar").to_str().unwrap().to_owned()),
        ..RootSpec::default()
    };
    let mut report = |making: Making| {
        if making.what == "unpacking the root" {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let made = Root::prepare(&spec, &mut Watch::new(&cancel, &mut report));
    assert!(matches!(made, Err(LabError::Interrupted)), "{made:?}");
}

fn entries() -> impl Strategy<Value = Vec<(u8, String, String)>> {
    let name = "(a|b|c|/|\\.\\.|\\.wh\\.a|\\.wh\\.\\.wh\\.\\.opq)(/(a|b|c|\\.wh\\.b|\\.)){0,3}";
    proptest::collection::vec((0u8..7, name, name), 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn archives_are_unpacked_or_refused(lower in entries(), upper in entries()) {
        let layer = |entries: &[(u8, String, String)]| {
            let tar = entries.iter().fold(Tar::new(), |tar, (kind, name, other)| match kind {
                0 | 1 => tar.file(name, other),
                2 => tar.dir(name),
                3 => tar.symlink(name, other),
                4 => tar.symlink(name, &format!("/{other}")),
                5 => tar.hard(name, other),
                _ => tar.entry(EntryType::Fifo, name, "", b"", 0o644),
            });
            tar.bytes()
        };
        if let Ok((root, held)) = unpacked(&[layer(&lower), layer(&upper)], true) {
            let mut report = |_| {};
            let mut watch = Watch::new(&GO_ON, &mut report);
            let tree = directory::read(root.path(), &mut watch).unwrap();
            let mut placed = Vec::new();
            let Ok(()) = tree.walk::<std::convert::Infallible>(&mut |path, id| {
                placed.push((path.to_string_lossy().into_owned(), id));
                Ok(())
            });
            let expected = held.iter().filter(|(_, text)| *text != "10000");
            prop_assert!(placed.iter().map(|(name, _)| name).eq(expected.map(|(name, _)| name)));
            prop_assert_eq!(tree.bytes, root.bytes);
            prop_assert!(placed.iter().all(|(_, id)| *id != TOP));
        }
    }
}
