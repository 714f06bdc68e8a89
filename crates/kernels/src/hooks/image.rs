// SPDX-License-Identifier: GPL-2.0-or-later
//! Where the BTF is in a kernel image.

use super::HookListError;
use crate::elf::File;
use crate::symbols::SymbolTable;

/// The BTF of a decompressed `vmlinux`: its section `.BTF`, else, for images whose section
/// headers were stripped, what lies between the symbols `__start_BTF` and `__stop_BTF`
/// (`include/asm-generic/vmlinux.lds.h`).
///
/// # Errors
///
/// [`HookListError::NotVmlinux`] if it is no such file, [`HookListError::NoBtf`] if it has none.
pub fn btf<'a>(bytes: &'a [u8], symbols: &SymbolTable) -> Result<&'a [u8], HookListError> {
    let file = File::parse(bytes).map_err(|reason| HookListError::NotVmlinux { reason })?;
    file.section(".BTF")
        .filter(|btf| !btf.is_empty())
        .or_else(|| by_symbols(&file, symbols))
        .ok_or(HookListError::NoBtf)
}

fn by_symbols<'a>(file: &File<'a>, symbols: &SymbolTable) -> Option<&'a [u8]> {
    let start = symbols.named("__start_BTF").next()?.address;
    let end = symbols.named("__stop_BTF").next()?.address;
    let len = usize::try_from(end.checked_sub(start)?).ok()?;
    let mut found = file
        .segments()?
        .into_iter()
        .filter_map(|s| s.at(start)?.get(..len));
    found.next().filter(|btf| !btf.is_empty())
}
