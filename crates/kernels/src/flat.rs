// SPDX-License-Identifier: GPL-2.0-or-later
//! Converts raw kernel images (`Documentation/arch/arm64/booting.rst`) to ELF files.
//!
//! The link address is not recorded. It follows from the relocations, which the kernel applies
//! itself when it starts (`arch/arm64/kernel/pi/relocate.c`): a RELA table, whose addends are the
//! only addresses where the linker left zeros, and from 6.19 on a RELR table, whose words are in
//! place.

use crate::arch::{Arch, FlatImage};
use crate::decompress::{self, Format};
use crate::elf::{u16_at, u32_at, u64_at};
use crate::error::Error;
use crate::image::{IMAGE_LIMIT, VMLINUX_LIMIT, release_in_banner};
use object::elf;
use std::borrow::Cow;
use std::ops::Range;

const HEADER_LEN: usize = 64;
/// Place, `r_info`, addend.
const RELA_LEN: usize = 24;
const WORD: u64 = 8;
/// The smallest number of relocations in a table; kernels have tens of thousands.
const LEAST: usize = 16;
/// The largest number of runs of words that are tried as a RELR table.
const MAX_TABLES: usize = 16;
/// The number of relocations that are used to check an address.
const SAMPLES: usize = 256;
const DATA_AT: u64 = 0x1000;

#[derive(Debug)]
pub(crate) struct Flat {
    pub release: String,
    /// An ELF file of one segment, with relocations applied.
    pub elf: Vec<u8>,
}

/// Reads a raw image, possibly compressed with gzip as by the kernel's makefiles; `None` if it is
/// not one. [`Error::Unsupported`] if its address cannot be found.
pub(crate) fn read(data: &[u8], what: &str) -> Result<Option<Flat>, Error> {
    let data = match Format::detect(data) {
        Some(Format::Gzip) => {
            let limit = IMAGE_LIMIT as usize;
            Cow::Owned(decompress::payload(Format::Gzip, data, limit, what)?)
        }
        _ => Cow::Borrowed(data),
    };
    let known = crate::arch::ALL.iter().find_map(|arch| {
        let flat = arch.flat_image.as_ref()?;
        flat.matches(&data).then_some((*arch, flat))
    });
    let Some((arch, flat)) = known else {
        return Ok(None);
    };
    let memory_len = memory_len(&data).map_err(|reason| Error::damaged(what, reason))?;
    let release =
        release_in_banner(&data).ok_or_else(|| Error::damaged(what, "it contains no release"))?;
    let tables = Tables::find(&data, arch, flat);
    let base = tables
        .base(&data, memory_len, arch, flat)
        .ok_or_else(|| Error::Unsupported {
            what: what.to_owned(),
            reason: "its relocations do not show its link address".into(),
            hint: Some("build it with CONFIG_RELOCATABLE=y".into()),
        })?;
    let mut elf = elf_header(arch, base, data.len() as u64, memory_len);
    elf.extend_from_slice(&data);
    tables.relocate(&mut elf[DATA_AT as usize..], base);
    Ok(Some(Flat { release, elf }))
}

fn memory_len(data: &[u8]) -> Result<u64, &'static str> {
    let len = u64_at(data, 16).unwrap_or(0);
    if data.len() < HEADER_LEN || len < data.len() as u64 || len > VMLINUX_LIMIT as u64 {
        return Err("its header has an invalid length");
    }
    match is_whole(data) {
        Some(true) => Ok(len),
        Some(false) => Err("it is truncated"),
        None => Err("its EFI header is outside the file"),
    }
}

/// Whether the file has all sections of its EFI header, if it has one; the other header does not
/// state the file's length. `None` if cut off.
fn is_whole(data: &[u8]) -> Option<bool> {
    if !data.starts_with(b"MZ") {
        return Some(true);
    }
    let pe = u32_at(data, 60)? as usize;
    let header = data.get(pe..pe.checked_add(24)?)?;
    let number = usize::from(u16_at(header, 6)?);
    let sections = pe + 24 + usize::from(u16_at(header, 20)?);
    let end = |at: usize| {
        let section = data.get(at..at.checked_add(40)?)?;
        Some(u64::from(u32_at(section, 16)?) + u64::from(u32_at(section, 20)?))
    };
    for n in 0..number {
        if end(sections + n * 40)? > data.len() as u64 {
            return Some(false);
        }
    }
    Some(true)
}

struct Tables<'a> {
    rela: &'a [u8],
    relr: Vec<&'a [[u8; 8]]>,
}

impl<'a> Tables<'a> {
    fn find(data: &'a [u8], arch: &Arch, flat: &FlatImage) -> Self {
        Self {
            rela: longest_rela(data, flat.relative_relocation),
            relr: relr_tables(data, arch.code.text_base),
        }
    }

    fn rela(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        let entries = self.rela.chunks_exact(RELA_LEN);
        entries.map(|entry| {
            let word = |at| u64_at(entry, at).unwrap_or(0);
            (word(0), word(16))
        })
    }

    /// The link address of the image's start.
    fn base(&self, data: &[u8], memory_len: u64, arch: &Arch, flat: &FlatImage) -> Option<u64> {
        let lowest = arch.code.text_base;
        let by_rela = || {
            let named = self.rela().flat_map(|(place, addend)| [place, addend]);
            let first = named.filter(|&address| address >= lowest).min()?;
            let tried: Vec<_> = every(self.rela(), self.rela().len()).collect();
            let fits = |_, word, addend| word == 0 || word == addend;
            base_below(data, first..lowest, flat, &tried, fits)
        };
        let by_relr = |words: &&[[u8; 8]]| {
            let first = relr_places(words).next()?;
            let places = relr_places(words).map(|place| (place, 0));
            let tried: Vec<_> = every(places, relr_places(words).count()).collect();
            let fits = |base, word: u64, _| word.wrapping_sub(base) <= memory_len;
            base_below(data, first..lowest, flat, &tried, fits)
        };
        // If there is a RELR table, RELA contains only the relocations that do not fit into it.
        let mut relr = self.relr.iter();
        relr.find_map(by_relr).or_else(by_rela)
    }

    fn relocate(&self, image: &mut [u8], base: u64) {
        for (place, addend) in self.rela() {
            let at = usize::try_from(place.wrapping_sub(base)).ok();
            let word = at.and_then(|at| image.get_mut(at..at.checked_add(8)?));
            if let Some(word) = word {
                word.copy_from_slice(&addend.to_le_bytes());
            }
        }
    }
}

/// At most [`SAMPLES`] of `number`, evenly spread.
fn every<T>(all: impl Iterator<Item = T>, number: usize) -> impl Iterator<Item = T> {
    all.step_by(number.div_ceil(SAMPLES).max(1))
}

/// The highest possible start address, searched downwards from the range's first address to its
/// second. With the right address, at nearly all relocated places in `tried`, the addend `fits` a
/// word in the image.
fn base_below(
    data: &[u8],
    Range { start, end }: Range<u64>,
    flat: &FlatImage,
    tried: &[(u64, u64)],
    fits: impl Fn(u64, u64, u64) -> bool,
) -> Option<u64> {
    let mut base = start - start % flat.alignment;
    while base >= end && start - base < data.len() as u64 {
        let word = |place: u64| u64_at(data, usize::try_from(place.checked_sub(base)?).ok()?);
        let fit = |&&(place, addend): &&(u64, u64)| {
            word(place).is_some_and(|word| fits(base, word, addend))
        };
        // Some addresses, such as those of ends, are rightly outside the image.
        if tried.iter().filter(fit).count() * 16 >= tried.len() * 15 {
            return Some(base);
        }
        base = base.checked_sub(flat.alignment)?;
    }
    None
}

fn longest_rela(data: &[u8], info: u64) -> &[u8] {
    let is_entry = |at: usize| u64_at(data, at + 8) == Some(info) && at + RELA_LEN <= data.len();
    let mut longest = 0..0;
    let mut at = 0;
    while at + RELA_LEN <= data.len() {
        let start = at;
        while is_entry(at) {
            at += RELA_LEN;
        }
        if at - start > longest.len() {
            longest = start..at;
        }
        at += WORD as usize;
    }
    match longest.len() / RELA_LEN >= LEAST {
        true => &data[longest],
        false => &[],
    }
}

/// Possible RELR tables of addresses not below `lowest`, the longest first. An even word is an
/// address; an odd one is a bitmap of the 63 words after the last address.
fn relr_tables(data: &[u8], lowest: u64) -> Vec<&[[u8; 8]]> {
    let (words, _) = data.as_chunks::<{ WORD as usize }>();
    let mut tables: Vec<(usize, &[[u8; 8]])> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (len, maps) = relr_len(&words[at..], lowest, data.len() as u64);
        let shortest = tables.last().map_or(0, |table| table.0);
        if maps >= LEAST && (tables.len() < MAX_TABLES || maps > shortest) {
            tables.truncate(MAX_TABLES - 1);
            tables.push((maps, &words[at..at + len]));
            tables.sort_by_key(|table| std::cmp::Reverse(table.0));
        }
        at += len.max(1);
    }
    tables.into_iter().map(|(_, words)| words).collect()
}

/// The number of leading words that could be one table for an image of `span` bytes, and how many
/// of them are bit maps.
fn relr_len(words: &[[u8; 8]], lowest: u64, span: u64) -> (usize, usize) {
    let first = words.first().map_or(0, |word| u64::from_le_bytes(*word));
    if first < lowest || !first.is_multiple_of(WORD) {
        return (0, 0);
    }
    let (mut next, mut maps) = (first, 0);
    for (len, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        if word % 2 == 1 {
            next = next.saturating_add(63 * WORD);
            maps += 1;
        } else if word >= next && word % WORD == 0 {
            next = word.saturating_add(WORD);
        } else {
            return (len, maps);
        }
        if next - first > span.saturating_add(63 * WORD) {
            return (len, maps);
        }
    }
    (words.len(), maps)
}

fn relr_places(words: &[[u8; 8]]) -> impl Iterator<Item = u64> {
    let mut next = 0u64;
    words.iter().flat_map(move |word| {
        let word = u64::from_le_bytes(*word);
        let (first, bits) = match word % 2 {
            0 => (word, 1),
            _ => (next, word >> 1),
        };
        next = first.wrapping_add(if word % 2 == 0 { 1 } else { 63 } * WORD);
        let set = (0..63).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| first.wrapping_add(bit * WORD))
    })
}

/// The header in front of an image of `len` bytes that makes it an ELF file loaded at `base`.
fn elf_header(arch: &Arch, base: u64, len: u64, memory_len: u64) -> Vec<u8> {
    let mut header = vec![0; DATA_AT as usize];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &elf::ELFMAG);
    put(4, &[elf::ELFCLASS64, elf::ELFDATA2LSB, elf::EV_CURRENT]);
    // Type, machine; the lengths of both headers, and one segment.
    for (at, number) in [
        (16, elf::ET_EXEC),
        (18, arch.elf_machine),
        (52, 64),
        (54, 56),
        (56, 1),
    ] {
        put(at, &number.to_le_bytes());
    }
    let flags = elf::PF_R | elf::PF_W | elf::PF_X;
    for (at, number) in [(20, 1), (64, elf::PT_LOAD), (68, flags)] {
        put(at, &number.to_le_bytes());
    }
    for (at, number) in [
        // The entry, and where the segment's header is.
        (24, base),
        (32, 64),
        // The segment's place, addresses, lengths and alignment.
        (72, DATA_AT),
        (80, base),
        (88, base),
        (96, len),
        (104, memory_len),
        (112, DATA_AT),
    ] {
        put(at, &number.to_le_bytes());
    }
    header
}

#[cfg(test)]
pub(crate) mod tests;
