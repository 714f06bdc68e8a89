// SPDX-License-Identifier: GPL-2.0-or-later

use super::*;
use crate::fixtures::{Entry as E, control, deb, put, rpm};

const FORMATS: [Option<Format>; 4] = [
    None,
    Some(Format::Gzip),
    Some(Format::Xz),
    Some(Format::Zstd),
];

type Write = fn(&[E], Option<Format>) -> Vec<u8>;

const WRITERS: [Write; 2] = [
    |entries, format| deb(&control("linux-image-6.1.0-1", "6.1.1-1"), entries, format),
    |entries, format| rpm("kernel-core", "6.1.1-1", entries, format),
];

fn unpacked(data: &[u8]) -> (tempfile::TempDir, Result<Origin, Error>) {
    let dir = tempfile::tempdir().unwrap();
    let path = put(dir.path(), "package", data);
    let into = dir.path().join("out");
    fs::create_dir(&into).unwrap();
    let origin = open(&[path]).and_then(|packages| match packages {
        Some(packages) => unpack(&packages, &into),
        None => Err(Error::damaged("file", "it is not a package")),
    });
    (dir, origin)
}

#[test]
fn keeps_what_a_lab_needs() {
    let entries = [
        E::File("./boot/vmlinuz-6.1.0-1", b"image"),
        E::File("./boot/config-6.1.0-1", b"CONFIG_X=y\n"),
        E::File("./boot/System.map-6.1.0-1", b"stub"),
        E::File("./lib/modules/6.1.0-1/modules.builtin", b""),
        E::File("./lib/modules/6.1.0-1/kernel/fs/xfs/xfs.ko", b"xfs"),
        E::File("./lib/modules/6.1.0-1/kernel/net/xfrm/x.ko", b"net"),
        E::File("./lib/modules/6.1.0-1/kernel/drivers/net/tun.ko.xz", b"tun"),
        E::File("./lib/modules/6.1.0-1/kernel/drivers/net/dummy.ko", b"no"),
        E::File("./lib/modules/6.1.0-1/kernel/sound/x.ko", b"no"),
        E::Link("./usr/share/doc/linux", "elsewhere"),
        E::Link("./lib/modules/6.1.0-1/build", "/usr/src"),
    ];
    for write in WRITERS {
        for format in FORMATS {
            let (dir, origin) = unpacked(&write(&entries, format));
            assert_eq!(origin.unwrap().version.unwrap(), "6.1.1-1");
            let out = dir.path().join("out");
            let mut files = files::walk(&out).unwrap();
            files.retain(|path| path.is_file());
            let names = files.iter().map(|path| path.strip_prefix(&out).unwrap());
            let names: Vec<_> = names.map(|name| name.to_str().unwrap()).collect();
            let kept = [
                "config",
                "modules/kernel/drivers/net/tun.ko.xz",
                "modules/kernel/fs/xfs/xfs.ko",
                "modules/kernel/net/xfrm/x.ko",
                "modules/modules.builtin",
                "vmlinuz",
            ];
            assert_eq!(names, kept);
            assert_eq!(fs::read(out.join("vmlinuz")).unwrap(), b"image");
            assert_eq!(fs::read(out.join("config")).unwrap(), b"CONFIG_X=y\n");
        }
    }
}

#[test]
fn hostile_packages_are_refused() {
    let long = format!("lib/modules/1.0/kernel/fs/{}/../../x.ko", "y".repeat(120));
    let image = || E::File("./boot/vmlinuz-1.0", b"x");
    let bad = [
        vec![E::File("../../etc/passwd", b"x")],
        vec![E::File("/boot/vmlinuz-1.0", b"x")],
        vec![E::File("./lib/modules/../../../x", b"x")],
        vec![E::File(&long, b"x")],
        vec![E::Link("./boot/vmlinuz-1.0", "/etc/shadow")],
        vec![E::Link("./lib/modules/1.0/kernel/fs/x.ko", "/etc/shadow")],
        vec![image(), E::File("./boot/config-2.0", b"x")],
        vec![image(), image()],
    ];
    for write in WRITERS {
        for entries in &bad {
            let (dir, origin) = unpacked(&write(entries, None));
            assert!(matches!(origin, Err(Error::Damaged { .. })), "{origin:?}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        }
    }
    let of_other = control("p", "1").replace("amd64", "m68k");
    let mut rpm = WRITERS[1](&[image()], None);
    let at = rpm.windows(7).position(|bytes| bytes == b"x86_64\0");
    rpm[at.unwrap()..][..5].copy_from_slice(b"m68k\0");
    for data in [deb(&of_other, &[], None), rpm] {
        let error = unpacked(&data).1.unwrap_err();
        assert!(error.to_string().contains("it is for `m68k`"), "{error}");
    }
}

#[test]
fn truncated_packages_are_told() {
    let entries = [E::File("./boot/vmlinuz-1.0", &[42; 5000])];
    for write in WRITERS {
        for format in [None, Some(Format::Xz), Some(Format::Zstd)] {
            let data = write(&entries, format);
            // If the file is short (compressed), cut it off at every byte.
            let step = 1 + data.len() / 1024;
            for length in (8..data.len() - 7).step_by(step) {
                let origin = unpacked(&data[..length]).1;
                assert!(
                    matches!(origin, Err(Error::Damaged { .. })),
                    "{length}: {origin:?}"
                );
            }
        }
    }
}

#[test]
fn damaged_packages_never_panic() {
    let entries = [E::File("./boot/vmlinuz-1.0", &[42; 900])];
    for write in WRITERS {
        testing::damage(&write(&entries, Some(Format::Gzip)), |data| {
            drop(unpacked(data))
        });
    }
}
