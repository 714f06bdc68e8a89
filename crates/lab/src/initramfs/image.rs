// SPDX-License-Identifier: GPL-2.0-or-later
//! A file system, empty or with a root, as a file. An initramfs has only its non-zero blocks.

use super::{DiskFile, Error, FileSystem, Tick, child, owners};
use crate::find::find_program;
use crate::root::Root;
use kernels::files::{digest, digest_file};
use kernels::scratch::Scratch;
use rustix::fs::{SeekFrom, seek};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const BLOCK: usize = 4096;
const EXTENT_LIMIT: usize = 1 << 20;
const VERSION: u32 = 1;
/// The number of bytes at the start, and before each extent.
const HEADER: u64 = 16;
const HEADER_OF_EXTENT: u64 = 12;
/// The kernel's unit for mapping persistent memory (`SUBSECTION_SIZE`).
const PERSISTENT_UNIT: u64 = 2 << 20;
const UUID: &str = "6c736d65-7465-4221-8000-6c736d657465";
/// All times in the file system, which are arbitrary, but fixed.
const EPOCH: &str = "1700000000";

/// A program that makes a file system. Blanks separate its arguments; `UUID` stands for [`UUID`].
struct Maker {
    program: &'static str,
    package: &'static str,
    arguments: &'static str,
    from_directory: Option<&'static str>,
    /// Options that disable features that older kernels (5.10) refuse to mount. A program may not
    /// know all of them: the first set that it accepts is used, and the last set is empty.
    compatible: &'static [&'static str],
}

const EXT4: Maker = Maker {
    program: "mkfs.ext4",
    package: "e2fsprogs",
    // Some versions would choose 1 KiB blocks for this size; disks have 4 KiB blocks. The number of
    // inodes is as on a small device, because the tree walk needs 20,000.
    arguments: "-q -F -b 4096 -i 4096 -L lsmeter -U UUID -E hash_seed=UUID,lazy_itable_init=0,\
                lazy_journal_init=0,nodiscard,root_owner=0:0",
    from_directory: Some("-d"),
    // orphan_file needs 5.15; older kernels know metadata_csum_seed, but old e2fsprogs do not.
    compatible: &[
        "-O ^orphan_file,^metadata_csum_seed",
        "-O ^metadata_csum_seed",
        "",
    ],
};

const XFS: Maker = Maker {
    program: "mkfs.xfs",
    package: "xfsprogs",
    arguments: "-q -f -K -L lsmeter -m uuid=UUID",
    from_directory: None,
    // nrext64 needs 5.19, exchange and parent 6.10. 5.10 knows bigtime and inobtcount, which are
    // the default since 5.15.
    compatible: &["-i nrext64=0,exchange=0 -n parent=0", "-i nrext64=0", ""],
};

const BTRFS: Maker = Maker {
    program: "mkfs.btrfs",
    package: "btrfs-progs",
    arguments: "-q -f -K -L lsmeter -U UUID",
    from_directory: Some("--rootdir"),
    // block-group-tree needs 6.1.
    compatible: &["-O ^block-group-tree", ""],
};

#[derive(Debug)]
pub struct Image {
    file: File,
    path: PathBuf,
    size: u64,
    _scratch: Scratch,
}

/// Makes a file system of `kib` KiB with `root` in it, as a temporary file; `None` for tmpfs. Calls
/// `tick` during the work; if `tick` returns an error, the work is cancelled.
pub(super) fn make(
    fs: FileSystem,
    kib: Option<u64>,
    root: Option<&Root>,
    tick: Tick<'_>,
) -> Result<Option<Image>, Error> {
    let Some(maker) = maker(fs) else {
        return Ok(None);
    };
    // The image is the lower layer.
    let fs = match fs {
        FileSystem::Overlay => FileSystem::Ext4,
        fs => fs,
    };
    if let Some(root) = root.filter(|_| fs != FileSystem::Ext4) {
        owners::refuse(root, fs)?;
    }
    let size = kib.unwrap_or(0) * 1024;
    let program = find(maker)?;
    let scratch = Scratch::new().map_err(Error::io("create", &std::env::temp_dir()))?;
    let path = scratch.path().join("image");
    let io = |action| Error::io(action, &path);
    let mut options = File::options();
    let options = options.read(true).write(true).create_new(true);
    let file = options.open(&path).map_err(io("create"))?;
    let mut result = Ok(());
    let mut tick = || tick(allocated(&file));
    for compatible in maker.compatible {
        file.set_len(0).map_err(io("write"))?;
        file.set_len(size).map_err(io("write"))?;
        result = run(maker, &program, compatible, root, &path, &mut tick);
        if !matches!(result, Err(Error::Environment { .. })) {
            break;
        }
    }
    result?;
    if let (Some(root), FileSystem::Ext4) = (root, fs) {
        owners::settle(root, &path, EPOCH, &mut tick)?;
    }
    if root.is_some() {
        // Required if the file is mapped as persistent memory.
        let whole = size.next_multiple_of(PERSISTENT_UNIT);
        file.set_len(whole).map_err(io("write"))?;
    }
    Ok(Some(Image {
        file,
        path,
        size,
        _scratch: scratch,
    }))
}

/// The program that makes an empty file system, with its arguments; None for tmpfs.
pub(super) fn key(fs: FileSystem, kib: Option<u64>) -> Result<Option<String>, Error> {
    let Some(maker) = maker(fs) else {
        return Ok(None);
    };
    let program = digest_file(&find(maker)?)?;
    let made = format!(
        "{program} {} {:?} {kib:?}",
        maker.arguments, maker.compatible
    );
    Ok(Some(digest(made.as_bytes())))
}

fn allocated(file: &File) -> u64 {
    file.metadata().map_or(0, |found| found.blocks() * 512)
}

fn maker(fs: FileSystem) -> Option<&'static Maker> {
    match fs {
        FileSystem::Tmpfs => None,
        FileSystem::Ext4 | FileSystem::Overlay => Some(&EXT4),
        FileSystem::Xfs => Some(&XFS),
        FileSystem::Btrfs => Some(&BTRFS),
    }
}

fn find(maker: &Maker) -> Result<PathBuf, Error> {
    find_program(maker.program).ok_or_else(|| Error::Environment {
        what: format!("{} is not on this machine", maker.program),
        hint: format!("install the package {}", maker.package),
    })
}

fn run(
    maker: &Maker,
    program: &Path,
    compatible: &str,
    root: Option<&Root>,
    path: &Path,
    tick: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let words = [maker.arguments, compatible].map(str::split_whitespace);
    let words = words.into_iter().flatten();
    let mut command = Command::new(program);
    command.args(words.map(|word| word.replace("UUID", UUID)));
    if let Some(root) = root {
        let option = maker.from_directory.ok_or_else(|| Error::Unsupported {
            what: format!("{} cannot add files to its image", maker.program),
            reason: "it has no option for that".to_owned(),
            hint: Some("use ext4 or btrfs".to_owned()),
        })?;
        command.arg(option).arg(root.path());
    }
    command
        .arg(path)
        .env("LC_ALL", "C")
        .env("E2FSPROGS_FAKE_TIME", EPOCH)
        .env("SOURCE_DATE_EPOCH", EPOCH)
        .env("DETERMINISTIC_SEED", "1")
        // Use the program's built-in defaults instead of this machine's configuration.
        .env("MKE2FS_CONFIG", "/nonexistent");
    let (status, text) = child::run(command, program, tick)?;
    if status.success() {
        return Ok(());
    }
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line: String = line
        .unwrap_or("no reason given")
        .chars()
        .take(300)
        .collect();
    Err(Error::Environment {
        what: format!("{} failed: {line}", maker.program),
        hint: format!(
            "reinstall the package {}, and free space in TMPDIR",
            maker.package
        ),
    })
}

impl Image {
    pub(super) fn disk(&self) -> DiskFile {
        DiskFile {
            path: self.path.clone(),
            bytes: self.size.next_multiple_of(PERSISTENT_UNIT),
        }
    }

    pub(super) fn extents(&self) -> Result<Extents, Error> {
        extents(&self.file, self.size).map_err(Error::io("read", &self.path))
    }

    pub(super) fn bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let written = self.write(&self.extents()?, &mut bytes);
        written.map_err(Error::io("read", &self.path))?;
        Ok(bytes)
    }

    pub(super) fn write(&self, extents: &Extents, out: &mut impl Write) -> io::Result<()> {
        extents.write(&self.file, out)
    }
}

#[derive(Debug)]
pub(super) struct Extents {
    size: u64,
    found: Vec<(u64, u32)>,
}

impl Extents {
    /// Bytes in the agent protocol's format.
    pub fn length(&self) -> u64 {
        let bytes = |&(_, length): &(u64, u32)| HEADER_OF_EXTENT + u64::from(length);
        HEADER + self.found.iter().map(bytes).sum::<u64>()
    }

    fn write(&self, mut file: &File, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"LSMX")?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&self.size.to_le_bytes())?;
        for &(offset, length) in &self.found {
            out.write_all(&offset.to_le_bytes())?;
            out.write_all(&length.to_le_bytes())?;
            file.seek(io::SeekFrom::Start(offset))?;
            let copied = io::copy(&mut file.take(u64::from(length)), out)?;
            if copied != u64::from(length) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    fn add(&mut self, offset: u64, length: u32) {
        match self.found.last_mut() {
            Some((at, whole))
                if *at + u64::from(*whole) == offset
                    && (*whole + length) as usize <= EXTENT_LIMIT =>
            {
                *whole += length;
            }
            _ => self.found.push((offset, length)),
        }
    }
}

fn extents(file: &File, size: u64) -> io::Result<Extents> {
    let mut extents = Extents {
        size,
        found: Vec::new(),
    };
    let mut buffer = vec![0u8; EXTENT_LIMIT];
    let mut position = 0;
    while position < size {
        // Skip holes if the temporary file's file system reports them.
        let data = match seek(file, SeekFrom::Data(position)) {
            Ok(data) => data - data % BLOCK as u64,
            Err(rustix::io::Errno::NXIO) => break,
            Err(_) => position,
        };
        position = data.max(position);
        let length = (size - position).min(buffer.len() as u64) as usize;
        let chunk = &mut buffer[..length];
        file.read_exact_at(chunk, position)?;
        for block in chunk.chunks(BLOCK) {
            if block.iter().any(|&b| b != 0) {
                extents.add(position, block.len() as u32);
            }
            position += block.len() as u64;
        }
    }
    Ok(extents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initramfs::filesystem::device_kib;
    use proptest::prelude::*;

    fn expand(image: &[u8]) -> Vec<u8> {
        assert_eq!(&image[..8], b"LSMX\x01\0\0\0");
        let size = u64::from_le_bytes(image[8..16].try_into().unwrap());
        let mut device = vec![0u8; size as usize];
        let mut rest = &image[16..];
        let mut last_end = 0;
        while !rest.is_empty() {
            let offset = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
            assert!(length > 0 && length <= EXTENT_LIMIT && offset >= last_end);
            device[offset..offset + length].copy_from_slice(&rest[12..12 + length]);
            last_end = offset + length;
            rest = &rest[12 + length..];
        }
        device
    }

    fn image(file: &File, size: u64) -> Vec<u8> {
        let extents = extents(file, size).unwrap();
        let mut out = Vec::new();
        extents.write(file, &mut out).unwrap();
        assert_eq!(out.len() as u64, extents.length());
        out
    }

    fn built() -> Result<Vec<u8>, Error> {
        let kib = device_kib(FileSystem::Ext4, None);
        let made = make(FileSystem::Ext4, kib, None, &mut |_| Ok(()))?.unwrap();
        Ok(image(&made.file, made.size))
    }

    fn image_of(device: &[u8]) -> Vec<u8> {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(device, 0).unwrap();
        image(&file, device.len() as u64)
    }

    #[test]
    fn long_runs_are_split() {
        let device = vec![1u8; 2 * EXTENT_LIMIT + BLOCK];
        let image = image_of(&device);
        assert_eq!(image.len(), 16 + device.len() + 3 * 12);
        assert!(expand(&image) == device);
        assert_eq!(image_of(&[0; 8 * BLOCK]).len(), 16);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn nothing_is_lost(
            blocks in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..40),
            holes in 0usize..300,
        ) {
            let mut device = Vec::new();
            for &value in &blocks {
                device.resize(device.len() + BLOCK - 1, 0);
                device.push(value);
            }
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(&device, (holes * BLOCK) as u64).unwrap();
            let size = (holes * BLOCK + device.len()) as u64;
            let image = image(&file, size);
            let mut expected = vec![0u8; holes * BLOCK];
            expected.extend(device);
            prop_assert!(expand(&image) == expected);
        }
    }

    #[test]
    fn ext4_is_the_same_each_time() {
        let Ok(first) = built() else {
            // If e2fsprogs is missing, there is nothing to compare.
            assert!(find(&EXT4).is_err());
            return;
        };
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert!(built().unwrap() == first);
        let device = expand(&first);
        assert_eq!(device[1024 + 0x38..1024 + 0x3a], [0x53, 0xef]);
        assert_eq!(&device[1024 + 0x78..1024 + 0x7f], b"lsmeter");
    }

    #[test]
    fn a_missing_program_names_its_package() {
        let maker = Maker {
            program: "mkfs.of-no-file-system",
            package: "some-progs",
            ..EXT4
        };
        let error = find(&maker).unwrap_err();
        assert!(error.hint().unwrap().contains("some-progs"));
        assert!(matches!(error, Error::Environment { .. }), "{error}");
    }
}
