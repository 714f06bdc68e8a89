// SPDX-License-Identifier: GPL-2.0-or-later

use super::*;
use crate::root::Watch;
use model::{Fault as _, RootSpec};
use std::fs;
use std::sync::atomic::AtomicBool;
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
        ..Kernel::default()
    }
}

fn names<'a>(guest: impl Into<Guest<'a>>, kernel: &Kernel) -> Result<Vec<String>, Error> {
    let (_, modules) = needs(guest.into(), kernel)?;
    Ok(modules.into_iter().map(|m| m.name).collect())
}

/// Reads a cpio archive: name, mode, device and content of each file.
type Entry = (String, u32, (u32, u32), Vec<u8>);

fn entries(mut data: &[u8]) -> Vec<Entry> {
    let mut out = Vec::new();
    loop {
        assert_eq!(&data[..6], b"070701");
        let field = |i: usize| {
            let text = std::str::from_utf8(&data[6 + i * 8..14 + i * 8]).unwrap();
            u32::from_str_radix(text, 16).unwrap()
        };
        let name_size = field(11) as usize;
        let size = field(6) as usize;
        let name = std::str::from_utf8(&data[110..110 + name_size - 1])
            .unwrap()
            .to_string();
        let start = (110 + name_size).next_multiple_of(4);
        if name == "TRAILER!!!" {
            return out;
        }
        let content = data[start..start + size].to_vec();
        out.push((name, field(1), (field(9), field(10)), content));
        data = &data[(start + size).next_multiple_of(4)..];
    }
}

#[test]
fn an_empty_file_system_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    for filesystem in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
        let guest = Guest {
            images: Some(dir.path()),
            ..filesystem.into()
        };
        let bytes = || match empty(filesystem, guest) {
            Ok(Some(Content::Empty(bytes))) => bytes,
            // Without its program, it has no cache entry.
            Err(Error::Environment { .. }) => Vec::new(),
            _ => panic!("{filesystem} is no image"),
        };
        // mkfs.btrfs would choose another device identifier each time.
        assert!(bytes() == bytes(), "{filesystem}");
    }
}

fn build(agent: &[u8], fs: FileSystem, kernel: &Kernel) -> Result<(Vec<u8>, Files), Error> {
    let dir = tempfile::tempdir().unwrap();
    let files = write(agent, fs.into(), kernel, dir.path())?;
    Ok((fs::read(&files.initramfs).unwrap(), files))
}

#[test]
fn the_layout_is_the_protocols() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = kernel(dir.path(), &[("config", b"CONFIG_TMPFS=y\n")]);
    let built = || build(b"agent", FileSystem::Tmpfs, &kernel).unwrap();
    let (archive, files) = built();
    assert!(archive == built().0 && files.arguments.is_empty());
    let entries = entries(&archive);
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
    let (archive, files) = match build(b"agent", FileSystem::Ext4, &kernel) {
        Err(Error::Environment { hint, .. }) => return assert!(hint.contains("e2fsprogs")),
        other => other.unwrap(),
    };
    let entries = entries(&archive);
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
    assert_eq!(files.arguments, ["brd.rd_nr=1", "brd.rd_size=262144"]);
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
    let image = b"..\0brd.rd_nr\0..\0ext4_inode_cache\0..\0devtmpfs\0..";
    let bare = kernel(dir.path(), &[("vmlinux", image)]);
    assert!(names(FileSystem::Ext4, &bare).unwrap().is_empty());
    assert!(names(FileSystem::Btrfs, &bare).is_err());
    assert!(names(FileSystem::Tmpfs, &bare).is_err());
    let image = b"..\0shmem_inode_cache\0..\0devtmpfs\0..";
    let bare = kernel(dir.path(), &[("vmlinux", image)]);
    assert!(names(FileSystem::Tmpfs, &bare).unwrap().is_empty());
}

fn root(dir: &Path) -> Root {
    let path = dir.join("root");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("file"), vec![1; 3_000_000]).unwrap();
    let spec = RootSpec {
        path: Some(path.to_str().unwrap().to_owned()),
        ..RootSpec::default()
    };
    let cancel = AtomicBool::new(false);
    Root::prepare(&spec, &mut Watch::new(&cancel, &mut |_| {})).unwrap()
}

fn written(config: &str, modules: &[&str]) -> Option<Result<(Vec<String>, Files), Error>> {
    let dir = tempfile::tempdir().unwrap();
    let elf = module(&[]);
    let paths: Vec<String> = modules
        .iter()
        .map(|path| format!("modules/kernel/drivers/{path}.ko"))
        .collect();
    let mut files = vec![("config", config.as_bytes())];
    files.extend(paths.iter().map(|path| (path.as_str(), elf.as_slice())));
    let kernel = kernel(dir.path(), &files);
    let mut root = root(dir.path());
    let cancel = AtomicBool::new(false);
    let mut report = |_| {};
    let mut watch = Watch::new(&cancel, &mut report);
    if let Err(error) = root.make_image(FileSystem::Ext4, &mut watch) {
        assert!(error.hint().unwrap().contains("e2fsprogs"));
        return None;
    }
    let out = dir.path().join("out");
    fs::create_dir(&out).unwrap();
    let guest = Guest {
        root: Some(&root),
        ..FileSystem::Ext4.into()
    };
    let made = match write(b"agent", guest, &kernel, &out) {
        Err(error) => return Some(Err(error)),
        Ok(made) => made,
    };
    let again = write(b"agent", guest, &kernel, &out).unwrap();
    assert_eq!(again.disk, made.disk);
    let entries = entries(&fs::read(&made.initramfs).unwrap());
    if let Some((.., image)) = entries.iter().find(|entry| entry.0 == "image") {
        assert!(image.starts_with(b"LSMX") && image.len() > 3_000_000);
    }
    if let Some(disk) = &made.disk {
        let device = fs::read(&disk.path).unwrap();
        assert_eq!(device.len() as u64, disk.bytes);
        assert_eq!(device[1024 + 0x38..1024 + 0x3a], [0x53, 0xef]);
    }
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
    let paths = entries.into_iter().skip(9).map(|entry| entry.0).collect();
    Some(Ok((paths, made)))
}

const CONFIG: &str = "CONFIG_EXT4_FS=y\nCONFIG_BLK_DEV_RAM=m\nCONFIG_BLK_DEV_PMEM=m\n\
                      CONFIG_X86_PMEM_LEGACY=m\n";

#[test]
fn a_root_is_mapped_where_the_kernel_can() {
    let modules = ["nvdimm/nd_pmem", "nvdimm/nd_e820", "block/brd"];
    let Some(written) = written(CONFIG, &modules) else {
        return;
    };
    let (paths, files) = written.unwrap();
    assert_eq!(paths, ["modules/00-nd_pmem.ko", "modules/01-nd_e820.ko"]);
    let disk = files.disk.unwrap();
    assert_eq!(disk.bytes % (2 << 20), 0);
    assert_eq!(
        files.arguments,
        [format!("memmap={}!0x400000000", disk.bytes)]
    );
}

#[test]
fn a_root_is_copied_where_the_kernel_cannot() {
    let config = CONFIG.replace("CONFIG_X86_PMEM_LEGACY=m", "# none");
    let Some(written) = written(&config, &["nvdimm/nd_pmem", "block/brd"]) else {
        return;
    };
    let (paths, files) = written.unwrap();
    assert_eq!(paths, ["modules/00-brd.ko", "modules/00-brd.args", "image"]);
    assert_eq!(files.disk, None);
}

#[test]
fn modules_that_are_not_here_change_no_disk() {
    let written = written(CONFIG, &["block/brd"]).unwrap();
    let error = written.unwrap_err();
    assert!(
        error.to_string().contains("CONFIG_BLK_DEV_PMEM=m"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("lsmeter kernel fetch"));
}

#[test]
fn modules_that_benchmarks_want_are_brought_if_they_are_here() {
    let dir = tempfile::tempdir().unwrap();
    let (elf, config) = (module(&[]), CONFIG.as_bytes());
    let files = [
        ("config", config),
        ("modules/kernel/drivers/block/brd.ko", elf.as_slice()),
        ("modules/kernel/fs/overlayfs/overlay.ko", elf.as_slice()),
    ];
    let kernel = kernel(dir.path(), &files);
    let loaded = |wanted: &[&'static str]| -> Vec<String> {
        let guest = Guest {
            modules: wanted,
            ..FileSystem::Ext4.into()
        };
        names(guest, &kernel).unwrap()
    };
    assert_eq!(loaded(&[]), ["brd"]);
    assert_eq!(loaded(&["overlay", "sctp"]), ["brd", "overlay"]);
}
