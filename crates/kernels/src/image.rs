// SPDX-License-Identifier: GPL-2.0-or-later
//! The bzImage and its ELF file (`Documentation/arch/x86/boot.rst`).

use crate::decompress::{self, Format};
use crate::elf::{File, is_elf_image, u16_at, u32_at, u64_at};
use crate::error::Error;

/// In bytes.
pub const IMAGE_LIMIT: u64 = 256 << 20;
/// In bytes.
pub const VMLINUX_LIMIT: usize = 512 << 20;

const HEADER_END: usize = 0x250;
const PAYLOAD_VERSION: u16 = 0x0208;

#[derive(Debug)]
pub struct BzImage<'a> {
    pub release: String,
    payload: &'a [u8],
}

impl<'a> BzImage<'a> {
    pub fn is_bzimage(data: &[u8]) -> bool {
        data.get(0x202..0x206) == Some(b"HdrS") && data.get(0x1fe..0x200) == Some(&[0x55, 0xaa])
    }

    /// Parses the setup header. [`Error::Unsupported`] for boot protocols before 2.08 (2.6.26).
    pub fn parse(data: &'a [u8], what: &str) -> Result<BzImage<'a>, Error> {
        let damaged = |reason: &str| Error::damaged(what, reason);
        if !Self::is_bzimage(data) || data.len() < HEADER_END {
            return Err(damaged("it has no bzImage header"));
        }
        if u16_at(data, 0x206).is_none_or(|version| version < PAYLOAD_VERSION) {
            return Err(Error::unsupported(
                what,
                "its boot protocol is older than 2.08",
            ));
        }
        let sectors = match data[0x1f1] {
            0 => 4,
            n => usize::from(n),
        };
        let setup = (sectors + 1) * 512;
        let field = |at| u32_at(data, at).map_or(0, |v| v as usize);
        let protected = field(0x1f4).saturating_mul(16);
        let expected = setup.saturating_add(protected);
        if expected > data.len() {
            return Err(damaged(&format!(
                "it is truncated: {} of {expected} bytes",
                data.len()
            )));
        }
        let start = setup.saturating_add(field(0x248));
        let end = start.saturating_add(field(0x24c));
        let payload = data
            .get(start..end)
            .filter(|payload| !payload.is_empty())
            .ok_or_else(|| damaged("its payload lies outside the file"))?;
        let version = usize::from(u16_at(data, 0x20e).unwrap_or(0));
        let text = data
            .get(version + 0x200..)
            .filter(|_| version != 0)
            .ok_or_else(|| damaged("it contains no release"))?;
        let text = &text[..text.len().min(256)];
        let end = text.iter().position(|&b| b == 0 || b == b' ');
        let release = end.and_then(|end| release_from(&text[..end]));
        Ok(BzImage {
            release: release.ok_or_else(|| damaged("it contains no release"))?,
            payload,
        })
    }

    /// The ELF file in the image. [`Error::Damaged`] if its length differs from the recorded one.
    pub fn decompress(&self, what: &str) -> Result<Vec<u8>, Error> {
        let payload = self.payload;
        let Some(format) = Format::detect(payload) else {
            if is_elf_image(payload) {
                return Ok(payload.to_vec());
            }
            return Err(Error::unsupported(what, "its compression is unknown"));
        };
        let elf = decompress::payload(format, payload, VMLINUX_LIMIT, what)?;
        // The build appends the length to every format (scripts/Makefile.lib,
        // size_append); gzip's own trailer is the same number.
        let recorded = payload
            .len()
            .checked_sub(4)
            .and_then(|at| u32_at(payload, at));
        if recorded != Some(elf.len() as u32) {
            return Err(Error::damaged(
                what,
                format!(
                    "its trailer does not match the kernel's {} bytes",
                    elf.len()
                ),
            ));
        }
        if !is_elf_image(&elf) {
            return Err(Error::damaged(what, "its payload is not a 64-bit ELF file"));
        }
        Ok(elf)
    }
}

/// Physical entry point of the PVH boot protocol, by which QEMU boots an ELF kernel without setup
/// code: the note `XEN_ELFNOTE_PHYS32_ENTRY` (type 18, name `Xen`; `arch/x86/platform/pvh/head.S`).
/// `None` without `CONFIG_PVH`.
pub fn pvh_entry(elf: &[u8]) -> Option<u64> {
    const PHYS32_ENTRY: u32 = 18;
    let value = File::parse(elf).ok()?.note(b"Xen", PHYS32_ENTRY)?;
    match value.len() {
        4 => u32_at(value, 0).map(u64::from),
        8 => u64_at(value, 0),
        _ => None,
    }
}

pub fn release_in_banner(elf: &[u8]) -> Option<String> {
    const BANNER: &[u8] = b"Linux version ";
    let mut rest = elf;
    while let Some(at) = find(rest, BANNER) {
        rest = &rest[at + BANNER.len()..];
        let end = rest.iter().take(128).position(|&b| b == b' ');
        // Some kernels have format strings (`Linux version %s`) before it.
        if let Some(release) = end.and_then(|end| release_from(&rest[..end])) {
            return Some(release);
        }
    }
    None
}

pub fn embedded_config(elf: &[u8]) -> Option<Vec<u8>> {
    const START: &[u8] = b"IKCFG_ST";
    let at = find(elf, START)? + START.len();
    let data = elf.get(at..)?;
    (Format::detect(data) == Some(Format::Gzip))
        .then(|| decompress::decompress(Format::Gzip, data, 4 << 20).ok())
        .flatten()
}

/// Offset of the first match; `needle` must not be empty.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let (&first, rest) = needle.split_first()?;
    let mut from = 0;
    while let Some(at) = haystack.get(from..)?.iter().position(|&b| b == first) {
        let at = from + at;
        if haystack[at + 1..].starts_with(rest) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// At most 64 bytes (`__NEW_UTS_LEN`); starts with the series.
fn release_from(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+~-".contains(c);
    (text.len() <= 64 && text.chars().all(allowed) && crate::name::series_of(text).is_some())
        .then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{bzimage, bzimage_around, compress, elf};

    #[test]
    fn finds_the_kernel_in_every_compression() {
        let kernel = elf(Some(0x100_0000));
        for format in [
            Some(Format::Gzip),
            Some(Format::Xz),
            Some(Format::Zstd),
            Some(Format::Lz4Legacy),
            Some(Format::Lzma),
            None,
        ] {
            let image = bzimage("6.12.1-test", &kernel, format);
            let parsed = BzImage::parse(&image, "image").unwrap();
            assert_eq!(parsed.release, "6.12.1-test");
            assert_eq!(parsed.decompress("image").unwrap(), kernel, "{format:?}");
        }
    }

    #[test]
    fn truncated_and_wrong_images_are_told() {
        let kernel = elf(None);
        let image = bzimage("6.1.0", &kernel, Some(Format::Gzip));
        for length in [0, 0x202, HEADER_END, image.len() - 16] {
            let error = BzImage::parse(&image[..length], "image").unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{length}: {error}");
        }
        let mut wrong_length = image.clone();
        let last = image.len() - 1;
        let end = image.iter().rposition(|&b| b != 0).unwrap_or(last);
        wrong_length[end] ^= 1;
        let mut payload = compress(Format::Gzip, b"no kernel");
        payload.extend(9u32.to_le_bytes());
        let no_kernel = bzimage_around("6.1.0", &payload);
        let decompress = |image: &[u8]| BzImage::parse(image, "image").unwrap().decompress("image");
        for image in [&wrong_length, &no_kernel] {
            let error = decompress(image).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
        let error = decompress(&bzimage_around("6.1.0", b"BZh91AYxxxx")).unwrap_err();
        assert!(error.to_string().contains("bzip2"), "{error}");
        let other = bzimage_around("../../x", b"BZh");
        assert!(BzImage::parse(&other, "image").is_err());
    }

    #[test]
    fn reads_the_notes_and_the_banner() {
        assert_eq!(pvh_entry(&elf(Some(0x123_4560))), Some(0x123_4560));
        assert_eq!(pvh_entry(&elf(None)), None);
        let whole = elf(Some(0x123_4560));
        for length in 0..whole.len() {
            let entry = pvh_entry(&whole[..length]);
            assert!(entry.is_none_or(|entry| entry == 0x123_4560), "{length}");
        }
        assert_eq!(release_in_banner(&elf(None)).as_deref(), Some("6.6.6-elf"));
        assert_eq!(release_in_banner(b"Linux version %s Linux version "), None);
        let mut data = elf(None);
        assert_eq!(embedded_config(&data), None);
        data.extend(b"IKCFG_ST");
        data.extend(compress(Format::Gzip, b"CONFIG_A=y\n"));
        data.extend(b"IKCFG_ED");
        assert_eq!(embedded_config(&data).unwrap(), b"CONFIG_A=y\n");
    }

    #[test]
    fn hostile_images_never_panic() {
        let kernel = elf(Some(1));
        let image = bzimage("6.1.0", &kernel, Some(Format::Gzip));
        testing::damage(&image, |image| {
            let _ = BzImage::parse(image, "image").map(|parsed| parsed.decompress("image"));
        });
        testing::damage(&kernel, |elf| {
            let _ = (pvh_entry(elf), release_in_banner(elf), embedded_config(elf));
        });
    }
}
