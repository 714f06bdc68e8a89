// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the BTF is in a kernel image.

use super::HookListError;
use crate::symbols::SymbolTable;
use crate::symbols::elf::{machine, section_names, sections, segments, slice};

/// The raw BTF in `bytes`, an ELF file of a known architecture: by its section, else by symbols, for
/// images whose section headers were stripped.
pub(super) fn btf<'a>(bytes: &'a [u8], symbols: &SymbolTable) -> Result<&'a [u8], HookListError> {
    machine(bytes).map_err(|reason| HookListError::NotVmlinux { reason })?;
    by_section(bytes)
        .or_else(|| by_symbols(bytes, symbols))
        .ok_or(HookListError::NoBtf)
}

fn by_section(bytes: &[u8]) -> Option<&[u8]> {
    let sections = sections(bytes)?;
    let names = section_names(bytes, &sections)?;
    let btf = sections
        .iter()
        .find(|section| section.name(names) == Some(".BTF"))?;
    btf.contents(bytes)
}

fn by_symbols<'a>(bytes: &'a [u8], symbols: &SymbolTable) -> Option<&'a [u8]> {
    let start = symbols.named("__start_BTF").next()?.address;
    let end = symbols.named("__stop_BTF").next()?.address;
    let len = end.checked_sub(start).filter(|&len| len > 0)?;
    segments(bytes)?
        .iter()
        .find_map(|segment| slice(segment.bytes, start.checked_sub(segment.address)?, len))
}
