// SPDX-License-Identifier: GPL-2.0-or-later

use super::HookListError;
use crate::elf::{File, u32_at};
use crate::image::find;

/// The BTF of a decompressed `vmlinux`: the section `.BTF`, else (section headers stripped) data
/// that looks like BTF.
pub fn btf(bytes: &[u8]) -> Result<&[u8], HookListError> {
    let file = File::parse(bytes).map_err(HookListError::NotVmlinux)?;
    file.section(".BTF")
        .filter(|btf| !btf.is_empty())
        .or_else(|| by_header(&file))
        .ok_or(HookListError::NoBtf)
}

/// The longest BTF, found by its header. The header is followed by types and then by names, the
/// first of which is empty (`include/uapi/linux/btf.h`).
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
            if let Some(found) = found().filter(|btf| longest.is_none_or(|l| l.len() < btf.len())) {
                longest = Some(found);
            }
        }
    }
    longest
}
