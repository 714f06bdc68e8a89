// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeSet;

use crate::elf::{File, Segment, u64_at};
use crate::symbols::SymbolTable;

/// The ranges in which `DEFINE_LSM` and `DEFINE_EARLY_LSM` (`include/linux/lsm_hooks.h`) put
/// `struct lsm_info`, and the prefixes of their names.
const TABLES: [(&str, &str, &str); 2] = [
    ("__start_lsm_info", "__end_lsm_info", "__lsm_"),
    (
        "__start_early_lsm_info",
        "__end_early_lsm_info",
        "__early_lsm_",
    ),
];
/// In bytes; Linux's longest has ten.
const MAX_NAME_LEN: usize = 64;

/// The names that `lsm=` accepts, from the decompressed image `bytes`.
///
/// `None` if unknown: no framework, no `CONFIG_KALLSYMS_ALL`, or another format.
pub fn built_in_modules(bytes: &[u8], symbols: &SymbolTable) -> Option<BTreeSet<String>> {
    let segments = File::parse(bytes).ok()?.segments()?;
    let (mut names, mut lengths) = (BTreeSet::new(), BTreeSet::new());
    for (start, end, prefix) in TABLES {
        let address = |name| Some(symbols.named(name).next()?.address);
        let (start, end) = (address(start)?, address(end)?);
        let mut modules: Vec<u64> = symbols
            .with_prefix(prefix)
            .map(|symbol| symbol.address)
            .filter(|address| (start..end).contains(address))
            .collect();
        modules.sort_unstable();
        if start != end {
            lengths.insert(part_len(&modules, start..end)?);
        }
        for module in modules {
            names.insert(name(&segments, module)?.to_owned());
        }
    }
    // A single entry could hide a second one without a symbol.
    (lengths.len() == 1 && names.len() > 1).then_some(names)
}

/// The size of the equal parts of `range` that start at these addresses. `None` if they do not fill
/// the range, because a module has no symbol.
fn part_len(addresses: &[u64], range: std::ops::Range<u64>) -> Option<u64> {
    let parts = addresses.len() as u64;
    let len = range.end.checked_sub(range.start)?;
    let part = len.checked_div(parts).filter(|part| part * parts == len)?;
    let starts = (0..parts).map(|n| range.start + n * part);
    starts.eq(addresses.iter().copied()).then_some(part)
}

/// `struct lsm_info` begins with a pointer to the name or, from Linux 6.18 on, to a `struct lsm_id`
/// that begins with one.
fn name<'a>(segments: &[Segment<'a>], address: u64) -> Option<&'a str> {
    let word = |address| u64_at(segments.iter().find_map(|s| s.at(address))?, 0);
    let to = word(address)?;
    text(segments, to).or_else(|| text(segments, word(to)?))
}

fn text<'a>(segments: &[Segment<'a>], address: u64) -> Option<&'a str> {
    let bytes = segments.iter().find_map(|segment| segment.at(address))?;
    let mut name = bytes.iter().take(MAX_NAME_LEN + 1);
    let len = name.position(|&byte| byte == 0).filter(|&len| len > 0)?;
    let name = str::from_utf8(&bytes[..len]).ok()?;
    name.bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        .then_some(name)
}
