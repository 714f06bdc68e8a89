// SPDX-License-Identifier: GPL-2.0-or-later
//! Images that QEMU does not boot: self-extracting EFI applications (`vmlinuz.efi`; layout in
//! `drivers/firmware/efi/libstub/zboot-header.S`), and an Image in a compression other than gzip.

use crate::arch::FlatImage;
use crate::decompress::{self, Format};
use crate::elf::u32_at;
use crate::error::Error;
use crate::files;
use crate::image::{BzImage, IMAGE_LIMIT};
use std::borrow::Cow;
use std::path::Path;

const HEAD_LEN: u64 = 16;

pub(crate) fn is_wrapped(path: &Path) -> Result<bool, Error> {
    if !path.is_file() {
        return Ok(false);
    }
    let head = files::read_head(path, HEAD_LEN)?;
    let is_packed = Format::detect(&head).is_some_and(|format| format != Format::Gzip);
    Ok(is_zboot(&head) || is_packed)
}

/// Writes the decompressed kernel image of `path` as `vmlinuz` into `entry`; `what` is for errors.
pub(crate) fn unpack(path: &Path, entry: &Path, what: &Path) -> Result<(), Error> {
    let data = files::read(path, IMAGE_LIMIT)?;
    let image = image(&data, &what.display().to_string())?;
    files::write(&entry.join("vmlinuz"), &image)
}

fn image<'a>(data: &'a [u8], what: &str) -> Result<Cow<'a, [u8]>, Error> {
    let inner = if is_zboot(data) {
        zboot(data).ok_or_else(|| Error::damaged(what, "its payload lies outside the file"))?
    } else {
        data
    };
    let image = match Format::detect(inner) {
        None => Cow::Borrowed(inner),
        Some(format) => {
            let whole = decompress::payload(format, inner, IMAGE_LIMIT as usize, what)?;
            Cow::Owned(whole)
        }
    };
    let is_flat = |flat: &FlatImage| flat.matches(&image);
    let mut flats = crate::arch::ALL
        .iter()
        .filter_map(|arch| arch.flat_image.as_ref());
    if !BzImage::is_bzimage(&image) && !flats.any(is_flat) {
        return Err(Error::unsupported(
            what,
            "its payload is neither an Image nor a bzImage",
        ));
    }
    Ok(image)
}

fn is_zboot(data: &[u8]) -> bool {
    data.starts_with(b"MZ") && data.get(4..8) == Some(b"zimg")
}

fn zboot(data: &[u8]) -> Option<&[u8]> {
    let start = u32_at(data, 8)? as usize;
    let len = u32_at(data, 12)? as usize;
    data.get(start..start.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{bzimage, compress, elf, zimg};
    use crate::flat::tests::with_rela;

    #[test]
    fn every_compression_gives_the_image() {
        let flat = with_rela();
        let own = bzimage("6.6.6", &elf(None), Some(Format::Gzip));
        for kernel in [&flat, &own] {
            for format in [Format::Gzip, Format::Zstd] {
                let application = zimg(&compress(format, kernel));
                assert_eq!(&*image(&application, "vmlinuz.efi").unwrap(), kernel);
            }
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
            (zimg(&flat), true),
            (compress(Format::Lz4Legacy, &flat), true),
            (compress(Format::Gzip, &flat), false),
            (flat.clone(), false),
            (elf(None), false),
        ] {
            std::fs::write(&path, data).unwrap();
            assert_eq!(is_wrapped(&path).unwrap(), expected);
        }
        assert!(!is_wrapped(dir.path()).unwrap());
    }

    #[test]
    fn a_file_without_a_kernel_is_refused() {
        let refused = |data: &[u8]| image(data, "x").unwrap_err().to_string();
        assert!(refused(&zimg(b"no kernel")).contains("neither an Image nor a bzImage"));
        let whole = zimg(&compress(Format::Gzip, &with_rela()));
        assert!(refused(&whole[..1000]).contains("its payload lies outside the file"));
    }
}
