// SPDX-License-Identifier: GPL-2.0-or-later

use super::*;
use std::fs;
use std::path::Path;
use testing::elf::module;

fn kernel(dir: &Path, files: &[(&str, &[u8])]) -> Kernel {
    for (name, data) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, data).unwrap();
    }
    let has = |name: &str| Some(dir.join(name)).filter(|path| path.exists());
    Kernel {
        name: "build:test".into(),
        release: "6.12.0".into(),
        series: "6.12".into(),
        image: dir.join("vmlinuz"),
        vmlinux: has("vmlinux"),
        modules: has("modules"),
        config: has("config"),
        digest: String::new(),
        package_version: None,
        pvh_entry: None,
    }
}

fn names(fs: FileSystem, kernel: &Kernel) -> Result<Vec<String>, Error> {
    Ok(modules(fs, kernel)?.into_iter().map(|m| m.name).collect())
}

#[test]
fn the_layout_is_the_protocols() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = kernel(dir.path(), &[("config", b"CONFIG_TMPFS=y\n")]);
    let archive = build(b"agent", FileSystem::Tmpfs, None, &kernel).unwrap();
    assert_eq!(
        archive,
        build(b"agent", FileSystem::Tmpfs, None, &kernel).unwrap()
    );
    let entries = cpio::entries(&archive);
    let paths: Vec<&str> = entries.iter().map(|e| e.0.as_str()).collect();
    assert_eq!(
        paths,
        [
            "dev",
            "mnt",
            "modules",
            "proc",
            "sys",
            "tmp",
            "dev/console",
            "dev/null",
            "init"
        ]
    );
    assert_eq!(entries[0].1, 0o040_755);
    assert_eq!((entries[6].1, entries[6].2), (0o020_600, (5, 1)));
    assert_eq!((entries[7].1, entries[7].2), (0o020_666, (1, 3)));
    assert_eq!(
        (entries[8].1, entries[8].3.as_slice()),
        (0o100_755, &b"agent"[..])
    );
}

#[test]
fn modules_come_in_order_with_their_parameters() {
    let dir = tempfile::tempdir().unwrap();
    let (brd, ext4, jbd2) = (module(&[]), module(&["depends=jbd2"]), module(&[]));
    let kernel = kernel(
        dir.path(),
        &[
            ("modules/kernel/drivers/block/brd.ko", &brd),
            ("modules/kernel/fs/ext4/ext4.ko", &ext4),
            ("modules/kernel/fs/jbd2/jbd2.ko", &jbd2),
        ],
    );
    let archive = match build(b"agent", FileSystem::Ext4, None, &kernel) {
        Err(Error::Environment { hint, .. }) => return assert!(hint.contains("e2fsprogs")),
        other => other.unwrap(),
    };
    let entries = cpio::entries(&archive);
    let paths: Vec<&str> = entries[9..].iter().map(|e| e.0.as_str()).collect();
    assert_eq!(
        paths,
        [
            "modules/00-brd.ko",
            "modules/00-brd.args",
            "modules/01-jbd2.ko",
            "modules/02-ext4.ko",
            "image"
        ]
    );
    assert_eq!(entries[10].3, b"rd_nr=1 rd_size=262144");
    assert_eq!(&entries[13].3[..4], b"LSMX");
    assert_eq!(
        kernel_arguments(FileSystem::Ext4, None),
        ["brd.rd_nr=1", "brd.rd_size=262144"]
    );
    assert!(kernel_arguments(FileSystem::Tmpfs, None).is_empty());
}

#[test]
fn what_a_kernel_lacks_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let config = b"CONFIG_EXT4_FS=y\nCONFIG_BLK_DEV_RAM=m\n# CONFIG_XFS_FS is not set\n";
    let kernel = kernel(dir.path(), &[("config", config)]);
    for (fs, named) in [
        (FileSystem::Ext4, "CONFIG_BLK_DEV_RAM=m"),
        (FileSystem::Tmpfs, "CONFIG_TMPFS is not set"),
    ] {
        let error = names(fs, &kernel).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains(named), "{error}");
    }
    fs::write(
        dir.path().join("config"),
        "CONFIG_BLK_DEV_RAM=y\nCONFIG_XFS_FSX=y\n",
    )
    .unwrap();
    let error = names(FileSystem::Xfs, &kernel).unwrap_err().to_string();
    assert!(error.contains("CONFIG_XFS_FS is not set"), "{error}");
}

#[test]
fn drivers_built_in_need_no_module() {
    let dir = tempfile::tempdir().unwrap();
    let config = b"CONFIG_EXT4_FS=y\nCONFIG_BLK_DEV_RAM=y\n";
    let configured = kernel(dir.path(), &[("config", config)]);
    assert!(names(FileSystem::Ext4, &configured).unwrap().is_empty());

    let dir = tempfile::tempdir().unwrap();
    let listed = kernel(
        dir.path(),
        &[(
            "modules/modules.builtin",
            b"kernel/fs/ext4/ext4.ko\nkernel/drivers/block/brd.ko\n",
        )],
    );
    assert!(names(FileSystem::Ext4, &listed).unwrap().is_empty());

    let dir = tempfile::tempdir().unwrap();
    // A name that ends another is kept only there.
    let image = b"..\0brd.rd_nr\0..\0ext4_inode_cache\0..\0devtmpfs\0..";
    let bare = kernel(dir.path(), &[("vmlinux", image)]);
    assert!(names(FileSystem::Ext4, &bare).unwrap().is_empty());
    assert!(names(FileSystem::Btrfs, &bare).is_err());
    assert!(names(FileSystem::Tmpfs, &bare).is_err());
    let image = b"..\0shmem_inode_cache\0..\0devtmpfs\0..";
    let bare = kernel(dir.path(), &[("vmlinux", image)]);
    assert!(names(FileSystem::Tmpfs, &bare).unwrap().is_empty());
}
