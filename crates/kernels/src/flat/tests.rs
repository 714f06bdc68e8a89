// SPDX-License-Identifier: GPL-2.0-or-later

use super::*;
use crate::elf::File;
use crate::fixtures::compress;
use proptest::prelude::*;

const BASE: u64 = 0xffff_8000_8000_0000;
const LEN: usize = 3 << 20;
/// Offset of the words to relocate: after a second multiple of the alignment, so that the address
/// is not the next multiple below.
const FIRST_AT: usize = (2 << 20) + 0x100;
const TABLE_AT: usize = 0x8000;
const COUNT: usize = 2000;

fn flat_arch() -> (&'static Arch, &'static FlatImage) {
    let mut all = crate::arch::ALL.iter();
    let found = all.find_map(|arch| Some((*arch, arch.flat_image.as_ref()?)));
    found.expect("an architecture with such images")
}

fn put(image: &mut [u8], at: usize, word: u64) {
    image[at..at + 8].copy_from_slice(&word.to_le_bytes());
}

fn bare() -> Vec<u8> {
    let (_, flat) = flat_arch();
    let mut image = vec![0xd5; LEN];
    image[..HEADER_LEN].fill(0);
    put(&mut image, 16, LEN as u64 + 0x1_0000);
    image[FlatImage::MAGIC_AT..][..4].copy_from_slice(&flat.magic);
    image[0x400..0x400 + 40].copy_from_slice(b"Linux version 6.12.9-flat (x@y) #1 SMP\0\0");
    image
}

fn addend(n: usize) -> u64 {
    BASE + 0x1000 + 16 * n as u64
}

pub(crate) fn with_rela() -> Vec<u8> {
    let (_, flat) = flat_arch();
    let mut image = bare();
    for n in 0..COUNT {
        let entry = TABLE_AT + n * RELA_LEN;
        put(&mut image, entry, BASE + (FIRST_AT + n * 8) as u64);
        put(&mut image, entry + 8, flat.relative_relocation);
        put(&mut image, entry + 16, addend(n));
        put(&mut image, FIRST_AT + n * 8, 0);
    }
    image
}

fn with_relr() -> Vec<u8> {
    let mut image = bare();
    put(&mut image, TABLE_AT, BASE + FIRST_AT as u64);
    let maps = (COUNT - 1) / 63;
    for n in 0..maps {
        put(&mut image, TABLE_AT + 8 + n * 8, u64::MAX);
    }
    put(&mut image, TABLE_AT + 8 + maps * 8, 0);
    for n in 0..=maps * 63 {
        put(&mut image, FIRST_AT + n * 8, addend(n));
    }
    image
}

fn kernel(image: &[u8]) -> Flat {
    read(image, "image").expect("sound").expect("flat")
}

#[test]
fn becomes_an_elf_file_with_its_relocations_made() {
    let (arch, _) = flat_arch();
    let rela = with_rela();
    for image in [
        rela.clone(),
        with_relr(),
        compress(crate::decompress::Format::Gzip, &rela),
    ] {
        let flat = kernel(&image);
        assert_eq!(flat.release, "6.12.9-flat");
        let file = File::parse(&flat.elf).unwrap();
        assert_eq!(file.arch, arch);
        assert!(!file.is_relocatable());
        let segments = file.segments().unwrap();
        assert_eq!(segments.len(), 1);
        assert_eq!(segments[0].address, BASE);
        assert_eq!(segments[0].memory_len, LEN as u64 + 0x1_0000);
        let word = |at: usize| u64_at(segments[0].at(BASE + at as u64).unwrap(), 0).unwrap();
        for n in [0, 1, COUNT / 2] {
            assert_eq!(word(FIRST_AT + n * 8), addend(n), "{n}");
        }
        assert_eq!(segments[0].bytes.len(), LEN);
    }
}

#[test]
fn others_are_none() {
    for data in [&b""[..], b"text", &[0; 64], &crate::fixtures::elf(None)] {
        assert!(read(data, "image").unwrap().is_none());
    }
    let text = compress(crate::decompress::Format::Gzip, b"text");
    assert!(read(&text, "image").unwrap().is_none());
}

#[test]
fn what_is_missing_is_told() {
    let whole = with_rela();
    // A table that points elsewhere does not reveal the address.
    let mut elsewhere = whole.clone();
    elsewhere[FIRST_AT..].fill(0x11);
    for image in [bare(), elsewhere] {
        let error = read(&image, "image").unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.hint().unwrap().contains("CONFIG_RELOCATABLE"));
    }
    let damaged = |image: &[u8], word: &str| {
        let error = read(image, "image").unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(word), "{error}");
    };
    damaged(&whole[..HEADER_LEN - 4], "invalid length");
    let mut image = whole.clone();
    put(&mut image, 16, LEN as u64 - 1);
    damaged(&image, "invalid length");
    put(&mut image, 16, u64::MAX);
    damaged(&image, "invalid length");
    let mut nameless = whole.clone();
    nameless[0x400] = b'l';
    damaged(&nameless, "no release");
    // With an EFI header that names one section, up to the end.
    let mut efi = whole;
    efi[..2].copy_from_slice(b"MZ");
    efi[60..64].copy_from_slice(&0x80u32.to_le_bytes());
    efi[0x86..0x88].copy_from_slice(&1u16.to_le_bytes());
    efi[0x94..0x96].copy_from_slice(&0x10u16.to_le_bytes());
    let section = 0x80 + 24 + 0x10;
    efi[section + 16..section + 20].copy_from_slice(&0x1000u32.to_le_bytes());
    efi[section + 20..section + 24].copy_from_slice(&(LEN as u32 - 0x1000).to_le_bytes());
    kernel(&efi);
    damaged(&efi[..LEN - 1], "truncated");
    efi[60..64].copy_from_slice(&(LEN as u32).to_le_bytes());
    damaged(&efi, "EFI header");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn hostile_images_never_panic(
        words in proptest::collection::vec((0usize..LEN / 8, any::<u64>()), 0..4),
        places in proptest::collection::vec(
            (0usize..COUNT * 3, prop_oneof![any::<u64>(), Just(BASE), Just(u64::MAX - 7)]), 0..64),
        len in 0usize..LEN,
        is_rela in any::<bool>(),
        is_cut in any::<bool>(),
    ) {
        let mut image = if is_rela { with_rela() } else { with_relr() };
        for (at, word) in words {
            put(&mut image, at * 8, word);
        }
        for (at, word) in places {
            put(&mut image, TABLE_AT + at * 8, word);
        }
        if is_cut {
            image.truncate(len);
        }
        if let Ok(Some(flat)) = read(&image, "image") {
            prop_assert_eq!(flat.elf.len(), image.len() + DATA_AT as usize);
        }
    }
}
