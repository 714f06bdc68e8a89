// SPDX-License-Identifier: GPL-2.0-or-later
//! Container images and tar files as the root of programs. SLOW: a minute.
//!
//! Needs QEMU, busybox and the kernel debian:6.12.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::vm::program::find;
use crate::common::{Ended, Place, words};
use model::{Document, Status};
use serde_json::json;
use tar::EntryType;
use testing::image::{Layout, Tar};
use testing::succeed;

const LISTS: [(&str, &str); 2] = [
    ("etc/passwd", "root:x:0:0::/:\nnobody:x:65534:65534::/:\n"),
    ("etc/group", "root:x:0:\nnobody:x:65534:\n"),
];

/// Checks in the guest: user, settings of the image, and owners, modes and devices that an ordinary
/// user cannot create on a disk.
const CHECKS: &str = r#"
    set -e
    [ "$(id -u):$(id -g)" = 65534:65534 ]
    [ "$(pwd)" = /work/here ]
    [ "$SAID" = "by the image" ]
    [ "$HOME" = /tmp ]
    is() { [ "$(stat -c %u:%g:%a "$1")" = "$2" ] || { echo "$1 is $(stat -c %u:%g:%a "$1")"; exit 1; }; }
    is /bin/busybox 0:0:755
    is /bin/su 0:0:4755
    is /etc/shadow 0:42:640
    is '/home/a "b" c' 1000:1000:600
    is /home 1000:1000:755
    is /home/closed 1001:1000:0
    if cat /etc/shadow; then exit 1; fi
    [ "$(stat -c %F:%t:%T /srv/null)" = "character special file:1:3" ]
    echo x > /srv/null
    is /srv/null 7:8:666
    [ -p /srv/pipe ]
    [ ! -e /srv/gone ]
    [ "$(cat /srv/new)" = upper ]
    [ "$(stat -c %i /srv/new)" = "$(stat -c %i /srv/again)" ]
    [ "$(stat -c %Y /srv/new)" = 1600000000 ]
"#;

/// Links to busybox, and the lists of users.
fn base(links: &[&str]) -> Tar {
    let busybox = fs::read(find("busybox").expect("apt-get install busybox-static")).unwrap();
    let root = (0, 0);
    let file = EntryType::Regular;
    let mut tar = Tar::new().owned(root, file, "bin/busybox", "", &busybox, 0o755);
    for (path, text) in LISTS {
        tar = tar.owned(root, file, path, "", text.as_bytes(), 0o644);
    }
    links.iter().fold(tar, |tar, name| {
        tar.symlink(&format!("bin/{name}"), "busybox")
    })
}

fn image() -> Layout {
    let layout = Layout::default();
    let (file, directory) = (EntryType::Regular, EntryType::Directory);
    let lower = base(&["sh", "id", "cat", "stat", "pwd"])
        .owned((0, 0), file, "bin/su", "", b"su", 0o4755)
        .owned((0, 42), file, "etc/shadow", "", b"secret", 0o640)
        .owned((1000, 1000), directory, "home", "", b"", 0o755)
        .owned((1000, 1000), file, "home/a \"b\" c", "", b"x", 0o600)
        .owned((1001, 1000), directory, "home/closed", "", b"", 0)
        .file("srv/gone", "lower")
        .file("srv/new", "lower");
    let upper = Tar::new()
        .file("srv/.wh.gone", "")
        .file("srv/new", "upper")
        .hard("srv/again", "srv/new")
        .entry(EntryType::Char, "srv/null", "", b"", 0o666)
        .entry(EntryType::Fifo, "srv/pipe", "", b"", 0o644);
    let config = json!({
        "Entrypoint": ["sh", "-c"], "Cmd": [CHECKS], "User": "nobody",
        "Env": ["SAID=by the image"], "WorkingDir": "/work/here",
    });
    let platform = format!("linux/{}", kernels::arch::native().debian.name);
    layout.index(&[layout.image(&platform, &[lower, upper], &config)]);
    layout
}

const RUN: &str = "run --offline --kernel debian:6.12 --stack capability --repeat 1";

#[track_caller]
fn ran(ended: Ended, place: &Place) -> Document {
    ended.code(0);
    let document = place.document("out.json");
    for cell in &document.cells {
        assert_eq!(cell.status(), Status::Ok, "{:?}", cell.reason());
    }
    assert_eq!(place.left_over(), [""; 0]);
    document
}

#[test]
fn the_guest_has_the_image() {
    let place = Place::with_kernels();
    image().copied(&place.join("image"));
    let line = format!("{RUN} --root image -o out.json");
    let document = ran(place.line(&line), &place);
    let experiment = document.experiment.as_ref().unwrap();
    let programs = experiment.programs.as_ref().unwrap();
    assert_eq!(programs.workloads[0].user.as_deref(), Some("65534:65534"));
    assert!(document.cells[0].title().starts_with("sh--c"));
    // User nobody, who cannot read others' caches, gets the same counts.
    let mine = Place::new();
    image().copied(&mine.join("image"));
    let to = mine.join("cache/lsmeter");
    fs::create_dir_all(&to).unwrap();
    let cache = place.cache().join("lsmeter");
    let kept = ["kernels", "names"].map(|name| cache.join(name));
    succeed(Command::new("cp").arg("-rH").args(kept).arg(&to));
    succeed(
        Command::new("chmod")
            .args(["-R", "a+rwX"])
            .arg(mine.join("cache")),
    );
    let other = ran(mine.run_unprivileged(&words(&line)), &mine);
    assert_eq!(other.cells[0].key, document.cells[0].key);
    assert_eq!(other.cells[0].outcome, document.cells[0].outcome);
}

/// Not every file system is made from a directory: the guest copies the image to others, from
/// persistent memory or a ram disk.
#[test]
fn the_guest_has_the_image_on_every_file_system() {
    let place = Place::with_kernels();
    image().copied(&place.join("image"));
    for filesystem in ["tmpfs", "xfs", "overlay"] {
        let line = format!("{RUN} --root image --fs {filesystem} -o out.json");
        let [first, second] = [(); 2].map(|()| ran(place.line(&line), &place));
        assert_eq!(first.cells[0].outcome, second.cells[0].outcome);
    }
}

/// Links and paths that lead out of the root while it is unpacked stay inside.
#[test]
fn a_hostile_archive_stays_in_its_root() {
    let place = Place::with_kernels();
    fs::create_dir(place.join("host")).unwrap();
    let host = place.join("host");
    let host = host.to_str().unwrap();
    let tar = base(&["sh", "cat"])
        .symlink("out", host)
        .file("out/file", "inside")
        .symlink("up", "../../../../../../../../..")
        .file("up/top", "top");
    place.write("hostile.tar", tar.bytes());
    let checks = format!("[ $(cat {host}/file) = inside ] && [ $(cat /top) = top ]");
    let line = format!("{RUN} --root hostile.tar -o out.json -- sh -c");
    ran(place.run(&[&words(&line)[..], &[&checks]].concat()), &place);
    assert_eq!(fs::read_dir(host).unwrap().count(), 0);
}

/// Images saved by container tools: crates/lab/src/root/tests/saved/README.md. The image's program
/// succeeds only if it runs with the image's settings.
#[test]
fn images_of_container_tools_run_as_configured() {
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/src/root/tests/saved");
    let place = Place::with_kernels();
    for name in ["skopeo-oci", "podman-oci"] {
        fs::create_dir(place.join(name)).unwrap();
        let mut tar = Command::new("tar");
        tar.arg("-xf").arg(saved.join(format!("{name}.tar.gz")));
        succeed(tar.arg("-C").arg(place.join(name)));
        // A command replaces the entry point: with one before it, the program would fail.
        for command in ["", "-- /bin/tool"] {
            let line = format!("{RUN} --root {name} -o out.json {command}");
            ran(place.line(&line), &place);
        }
    }
}
