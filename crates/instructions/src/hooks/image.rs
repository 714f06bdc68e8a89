// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the BTF is in a kernel image.

use super::HookListError;
use crate::symbols::SymbolTable;

const HEADER_LEN: usize = 64;
const SEGMENT_LEN: usize = 56;
const SECTION_LEN: usize = 64;
const EM_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const SHT_NOBITS: u32 = 8;
const SECTION_NAME: &[u8] = b".BTF\0";

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(field.try_into().ok()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

fn slice(bytes: &[u8], offset: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(len)?).ok()?;
    bytes.get(start..end)
}

/// The raw BTF in `bytes`, an x86-64 ELF file: by its section, else by symbols, for
/// images whose section headers were stripped.
pub(super) fn btf<'a>(bytes: &'a [u8], symbols: &SymbolTable) -> Result<&'a [u8], HookListError> {
    let header = bytes
        .get(..HEADER_LEN)
        .filter(|header| header.starts_with(b"\x7fELF"))
        .ok_or(HookListError::NotVmlinux {
            reason: "it does not begin with an ELF header",
        })?;
    // EI_CLASS 2 is 64 bits, EI_DATA 1 is little endian.
    if header[4] != 2 || header[5] != 1 || u16_at(header, 18) != Some(EM_X86_64) {
        return Err(HookListError::NotVmlinux {
            reason: "it is an ELF file for another machine",
        });
    }
    by_section(bytes)
        .or_else(|| by_symbols(bytes, symbols))
        .ok_or(HookListError::NoBtf)
}

fn by_section(bytes: &[u8]) -> Option<&[u8]> {
    let headers = table(bytes, u64_at(bytes, 40)?, bytes.get(58..62)?, SECTION_LEN)?;
    let names = usize::from(u16_at(bytes, 62)?).checked_mul(SECTION_LEN)?;
    let names = section(bytes, headers.get(names..names.checked_add(SECTION_LEN)?)?)?;
    let named = |header: &&[u8]| {
        let at = u32_at(header, 0).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| names.get(at..))
            .is_some_and(|name| name.starts_with(SECTION_NAME))
    };
    headers
        .chunks_exact(SECTION_LEN)
        .find(named)
        .and_then(|header| section(bytes, header))
}

/// The bytes of a section, by its header.
fn section<'a>(bytes: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    if u32_at(header, 4)? == SHT_NOBITS {
        return None;
    }
    slice(bytes, u64_at(header, 24)?, u64_at(header, 32)?)
}

fn by_symbols<'a>(bytes: &'a [u8], symbols: &SymbolTable) -> Option<&'a [u8]> {
    let start = symbols.named("__start_BTF").next()?.address;
    let end = symbols.named("__stop_BTF").next()?.address;
    let len = end.checked_sub(start).filter(|&len| len > 0)?;
    let headers = table(bytes, u64_at(bytes, 32)?, bytes.get(54..58)?, SEGMENT_LEN)?;
    headers.chunks_exact(SEGMENT_LEN).find_map(|header| {
        if u32_at(header, 0)? != PT_LOAD {
            return None;
        }
        let segment = slice(bytes, u64_at(header, 8)?, u64_at(header, 32)?)?;
        slice(segment, start.checked_sub(u64_at(header, 16)?)?, len)
    })
}

/// A table of headers; `shape` is the length of one and their number, 16 bits each.
fn table<'a>(bytes: &'a [u8], offset: u64, shape: &[u8], entry_len: usize) -> Option<&'a [u8]> {
    if usize::from(u16_at(shape, 0)?) != entry_len {
        return None;
    }
    let count = usize::from(u16_at(shape, 2)?);
    slice(bytes, offset, u64::try_from(entry_len * count).ok()?)
}
