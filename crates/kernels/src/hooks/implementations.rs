// SPDX-License-Identifier: GPL-2.0-or-later
//! Which functions of modules a kernel calls for each hook, read from its image before it is
//! booted.

use std::collections::{BTreeMap, BTreeSet};

use super::HookListError;
use super::image::btf;
use crate::btf::Types;
use crate::elf::{File, u64_at};
use crate::symbols::SymbolTable;

/// What has a place for each hook: the structure, the variable of it, and the member of
/// `struct security_hook_list` that points into it (`include/linux/lsm_hooks.h`). From 6.12 on
/// there are static calls, before that lists.
const PLACES: [(&str, &str, &str); 2] = [
    ("lsm_static_calls_table", "static_calls_table", "scalls"),
    ("security_hook_heads", "security_hook_heads", "head"),
];
/// What a module has for each of its hooks (`LSM_HOOK_INIT`).
const ENTRY: &str = "security_hook_list";
/// The member of it that points to the module's function.
const FUNCTION: &str = "hook";
const WORD: usize = 8;
/// Most functions that are taken; Linux 7.2 has some 900.
const LIMIT: usize = 1 << 16;

/// The functions of modules by hook, sorted, of the kernel whose decompressed image is `bytes`:
/// all that it was built with, whichever `lsm=` chooses. `None` if the kernel does not tell: it
/// was built without `CONFIG_KALLSYMS_ALL`, or keeps its modules in another way.
///
/// [`HookListError`] if it is no kernel's image, or its BTF is missing or damaged.
pub fn implementations(
    bytes: &[u8],
    symbols: &SymbolTable,
) -> Result<Option<BTreeMap<String, BTreeSet<String>>>, HookListError> {
    let file = File::parse(bytes).map_err(|reason| HookListError::NotVmlinux { reason })?;
    let types = Types::read(btf(bytes, symbols)?)?;
    let Some(entry) = types.offsets(ENTRY)? else {
        return Ok(None);
    };
    let offset = |name| entry.iter().find(|(of, _)| *of == name).map(|(_, at)| *at);
    for (structure, variable, pointer) in PLACES {
        let (Some(to_place), Some(to_function)) = (offset(pointer), offset(FUNCTION)) else {
            continue;
        };
        let variable = symbols.named(variable).next();
        if let (Some(hooks), Some(variable)) = (types.offsets(structure)?, variable) {
            let place = |(hook, at): (_, u64)| Some((variable.address.checked_add(at)?, hook));
            let places = hooks.into_iter().filter_map(place).collect();
            let found = entries(&file, symbols, &places, [to_place, to_function]);
            return Ok((!found.is_empty()).then_some(found));
        }
    }
    Ok(None)
}

/// What points to a hook's place and, at a fixed distance, to a function: wherever that lies in
/// the image, since a module calls its tables what it likes.
fn entries(
    file: &File<'_>,
    symbols: &SymbolTable,
    places: &BTreeMap<u64, &str>,
    [to_place, to_function]: [u64; 2],
) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let bounds = places.first_key_value().zip(places.last_key_value());
    let Some(((&first, _), (&last, _))) = bounds else {
        return found;
    };
    let mut taken = 0;
    for segment in file.segments().unwrap_or_default() {
        let aligned = segment.address.next_multiple_of(WORD as u64) - segment.address;
        let words = segment.bytes.get(aligned as usize..).unwrap_or_default();
        for (number, word) in words.as_chunks::<WORD>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            if !(first..=last).contains(&word) {
                continue;
            }
            let function = || {
                let at = segment.address + aligned + (number * WORD) as u64;
                let at = at.checked_sub(to_place)?.checked_add(to_function)?;
                let address = u64_at(segment.at(at)?, 0)?;
                let name = symbols.at(address).find(|symbol| symbol.is_code())?.name;
                Some((*places.get(&word)?, name.to_owned()))
            };
            if let Some((hook, function)) = function()
                && taken < LIMIT
            {
                taken += 1;
                found.entry(hook.to_owned()).or_default().insert(function);
            }
        }
    }
    found
}
