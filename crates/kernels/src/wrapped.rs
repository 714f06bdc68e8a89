// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernel images inside of something that QEMU does not boot: Android's `boot.img`, the
//! self-extracting EFI application that some distributions install (`vmlinuz.efi`), and an
//! Image that is compressed by other than gzip.
//!
//! Layouts: `include/bootimg/bootimg.h` of Android's `system/tools/mkbootimg`;
//! `drivers/firmware/efi/libstub/zboot-header.S` of the kernel.

use crate::decompress::{self, Format};
use crate::elf::u32_at;
use crate::error::Error;
use crate::files;
use crate::image::{BzImage, IMAGE_LIMIT};
use arch::FlatImage;
use std::borrow::Cow;
use std::io;
use std::path::Path;

const ANDROID: &[u8] = b"ANDROID!";
const VENDOR: &[u8] = b"VNDRBOOT";
/// Bytes of a file that tell what it is.
const HEAD_LEN: usize = 64;
/// From version 3 of the header on pages have this length, and the header does not say it.
const PAGE_LEN: usize = 4096;
/// Longest page that a header may give.
const MAX_PAGE_LEN: usize = 1 << 20;
const NEWEST_VERSION: u32 = 4;

/// Whether the file at `path` is one of these.
pub(crate) fn is_it(path: &Path) -> Result<bool, Error> {
    if !path.is_file() {
        return Ok(false);
    }
    let head = files::read_head(path, HEAD_LEN as u64)?;
    let is_packed = Format::detect(&head).is_some_and(|format| format != Format::Gzip);
    Ok(head.starts_with(ANDROID) || head.starts_with(VENDOR) || is_zboot(&head) || is_packed)
}

/// Writes the kernel image that the file at `path` holds, decompressed, as `vmlinuz` into
/// the directory `entry`.
///
/// # Errors
/// [`Error::Damaged`] if the file is truncated or does not decompress;
/// [`Error::Unsupported`] if it holds no kernel, or one of an unknown compression.
pub(crate) fn unpack(path: &Path, entry: &Path) -> Result<(), Error> {
    let what = path.display().to_string();
    let data = files::read(path, IMAGE_LIMIT)?;
    let image = image(&data, &what)?;
    files::write(&entry.join("vmlinuz"), &image)
}

fn image<'a>(data: &'a [u8], what: &str) -> Result<Cow<'a, [u8]>, Error> {
    let inner = if data.starts_with(ANDROID) {
        android(data, what)?
    } else if data.starts_with(VENDOR) {
        return Err(Error::Unsupported {
            what: what.to_owned(),
            reason: "it is a vendor_boot image, which holds no kernel".into(),
            hint: Some("the kernel is in boot.img".into()),
        });
    } else if is_zboot(data) {
        zboot(data).ok_or_else(|| Error::damaged(what, "its payload lies outside of it"))?
    } else {
        data
    };
    let image = match Format::detect(inner) {
        None => Cow::Borrowed(inner),
        Some(format) => {
            let whole = decompress::decompress(format, inner, IMAGE_LIMIT as usize);
            Cow::Owned(whole.map_err(|e| match e.kind() {
                io::ErrorKind::Unsupported => Error::unsupported(what, e),
                _ => Error::damaged(what, format!("its {} payload: {e}", format.name())),
            })?)
        }
    };
    let is_flat = |flat: &FlatImage| flat.is_it(&image);
    let mut flats = arch::ALL.iter().filter_map(|arch| arch.flat_image.as_ref());
    if !BzImage::is_bzimage(&image) && !flats.any(is_flat) {
        return Err(Error::unsupported(
            what,
            "what it holds is neither an Image nor a bzImage",
        ));
    }
    Ok(image)
}

/// The kernel in a boot image of Android.
fn android<'a>(data: &'a [u8], what: &str) -> Result<&'a [u8], Error> {
    let field = |at| u32_at(data, at).ok_or_else(|| Error::damaged(what, "it is truncated"));
    let version = field(40)?;
    let len = field(8)? as usize;
    let page = match version {
        0..=2 => field(36)? as usize,
        3..=NEWEST_VERSION => PAGE_LEN,
        _ => {
            let reason = format!("the version of its header is {version}, which is not known");
            return Err(Error::unsupported(what, reason));
        }
    };
    if !(HEAD_LEN..=MAX_PAGE_LEN).contains(&page) || !page.is_power_of_two() {
        return Err(Error::damaged(
            what,
            format!("its header says that pages have {page} bytes"),
        ));
    }
    if len == 0 {
        return Err(Error::Unsupported {
            what: what.to_owned(),
            reason: "this boot image holds no kernel".into(),
            hint: Some("init_boot.img has the ramdisk; the kernel is in boot.img".into()),
        });
    }
    data.get(page..page.saturating_add(len)).ok_or_else(|| {
        let had = data.len().saturating_sub(page);
        Error::damaged(
            what,
            format!("it is truncated: {had} of {len} bytes of kernel"),
        )
    })
}

fn is_zboot(data: &[u8]) -> bool {
    data.starts_with(b"MZ") && data.get(4..8) == Some(b"zimg")
}

/// The compressed image in such an application.
fn zboot(data: &[u8]) -> Option<&[u8]> {
    let start = u32_at(data, 8)? as usize;
    let len = u32_at(data, 12)? as usize;
    data.get(start..start.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{bzimage, compress, elf};
    use crate::flat::tests::with_rela;
    use proptest::prelude::*;

    /// A boot image as `mkbootimg` makes it, with a ramdisk and a footer behind the kernel.
    fn boot(version: u32, kernel: &[u8]) -> Vec<u8> {
        let page = if version < 3 { 2048 } else { PAGE_LEN };
        let mut out = vec![0u8; page];
        out[..8].copy_from_slice(ANDROID);
        let mut put = |at: usize, word: u32| out[at..at + 4].copy_from_slice(&word.to_le_bytes());
        put(8, kernel.len() as u32);
        put(40, version);
        if version < 3 {
            put(36, page as u32);
        }
        out.extend(kernel);
        out.resize(out.len().next_multiple_of(page), 0);
        out.extend(b"ramdisk");
        out.resize(out.len().next_multiple_of(page), 0);
        out.extend(b"AVBf");
        out
    }

    fn zimg(payload: &[u8]) -> Vec<u8> {
        let mut out = vec![0u8; 0x200];
        out[..8].copy_from_slice(b"MZ\0\0zimg");
        out[8..12].copy_from_slice(&0x200u32.to_le_bytes());
        out[12..16].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        out.extend(payload);
        out.extend([0; 64]);
        out
    }

    #[test]
    fn every_version_and_compression_gives_the_image() {
        let flat = with_rela();
        let own = bzimage("6.6.6", &elf(None), Some(Format::Gzip));
        for kernel in [&flat, &own] {
            for version in 0..=4 {
                for format in [None, Some(Format::Gzip), Some(Format::Lz4Legacy)] {
                    let packed = format.map_or(kernel.clone(), |format| compress(format, kernel));
                    let boot = boot(version, &packed);
                    assert_eq!(&*image(&boot, "boot.img").unwrap(), kernel, "{version}");
                }
            }
        }
        for format in [Format::Gzip, Format::Zstd] {
            let application = zimg(&compress(format, &flat));
            assert_eq!(*image(&application, "vmlinuz.efi").unwrap(), flat);
        }
        let packed = compress(Format::Lz4Legacy, &flat);
        assert_eq!(*image(&packed, "Image.lz4").unwrap(), flat);
    }

    #[test]
    fn a_file_tells_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let flat = with_rela();
        for (data, expected) in [
            (boot(4, &flat), true),
            (zimg(&flat), true),
            (compress(Format::Lz4Legacy, &flat), true),
            // These are read as they are.
            (compress(Format::Gzip, &flat), false),
            (flat.clone(), false),
            (elf(None), false),
            (b"ANDROID".to_vec(), false),
        ] {
            std::fs::write(&path, data).unwrap();
            assert_eq!(is_it(&path).unwrap(), expected);
        }
        assert!(!is_it(dir.path()).unwrap());
    }

    #[test]
    fn what_holds_no_kernel_says_where_it_is() {
        for data in [&boot(4, b"")[..], b"VNDRBOOT\x04\0\0\0"] {
            let error = image(data, "x").unwrap_err();
            assert!(error.hint().unwrap().contains("boot.img"), "{error}");
        }
        let told = |data: &[u8]| image(data, "x").unwrap_err().to_string();
        assert!(told(&boot(4, b"no kernel")).contains("neither an Image nor a bzImage"));
        assert!(told(&boot(5, &with_rela())).contains("version of its header is 5"));
        assert!(told(&boot(4, &with_rela())[..100_000]).contains("truncated"));
        assert!(told(ANDROID).contains("truncated"));
    }

    proptest! {
        #[test]
        fn hostile_images_never_panic(
            at in 0usize..64, value in any::<u64>(), length in 0usize..8192, version in 0u32..5,
        ) {
            let kernel = compress(Format::Gzip, b"some kernel");
            for mut data in [boot(version, &kernel), zimg(&kernel)] {
                let at = at.min(data.len() - 8);
                data[at..at + 8].copy_from_slice(&value.to_le_bytes());
                data.truncate(data.len().saturating_sub(length));
                let _ = image(&data, "x");
            }
        }
    }
}
