// SPDX-License-Identifier: GPL-2.0-or-later

use super::HookListError;
use crate::elf::{File, u32_at};
use crate::image::find;
use crate::symbols::SymbolTable;

/// The BTF of a decompressed `vmlinux`: the section `.BTF`, else (section headers stripped) the
/// data from `__start_BTF` to `__stop_BTF` (`include/asm-generic/vmlinux.lds.h`), else (kallsyms
/// without data) data that looks like BTF.
pub fn btf<'a>(bytes: &'a [u8], symbols: &SymbolTable) -> Result<&'a [u8], HookListError> {
    let file = File::parse(bytes).map_err(|reason| HookListError::NotVmlinux { reason })?;
    file.section(".BTF")
        .filter(|btf| !btf.is_empty())
        .or_else(|| by_symbols(&file, symbols))
        .or_else(|| by_header(&file))
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

/// The longest BTF by its header: types follow the header, then names, the first of them empty
/// (`include/uapi/linux/btf.h`).
fn by_header<'a>(file: &File<'a>) -> Option<&'a [u8]> {
    const BEGIN: [u8; 8] = [0x9f, 0xeb, 1, 0, HEADER_LEN as u8, 0, 0, 0];
    const HEADER_LEN: usize = 24;
    let mut longest: Option<&[u8]> = None;
    for segment in file.segments()? {
        let mut rest = segment.bytes;
        while let Some(at) = find(rest, &BEGIN) {
            let here = &rest[at..];
            rest = &here[BEGIN.len()..];
            let field = |at| u32_at(here, at).map(|value| value as usize);
            let found = || {
                let (types, names) = (field(12)?, field(20)?);
                if (field(8)?, field(16)?) != (0, types) {
                    return None;
                }
                let names_at = HEADER_LEN.checked_add(types)?;
                let whole = here.get(..names_at.checked_add(names)?)?;
                let names = &whole[names_at..];
                (names.first() == Some(&0) && names.last() == Some(&0)).then_some(whole)
            };
            if let Some(found) = found().filter(|of| longest.is_none_or(|l| l.len() < of.len())) {
                longest = Some(found);
            }
        }
    }
    longest
}
