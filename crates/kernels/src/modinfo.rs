// SPDX-License-Identifier: GPL-2.0-or-later
//! What a module says of itself, in its ELF section `.modinfo`.

use crate::image::{le16, le32, le64};

/// Entries are `key=value` strings, each ended by NUL.
const ENTRIES_LIMIT: usize = 10_000;

/// The values of `key` in the module `elf`; empty if it is no sound module.
pub(crate) fn values(elf: &[u8], key: &str) -> Vec<String> {
    let section = section(elf, b".modinfo").unwrap_or_default();
    section
        .split(|&b| b == 0)
        .take(ENTRIES_LIMIT)
        .filter_map(|entry| std::str::from_utf8(entry).ok())
        .filter_map(|entry| entry.strip_prefix(key)?.strip_prefix('='))
        .map(str::to_string)
        .collect()
}

fn section<'a>(elf: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    const HEADER: usize = 64;
    if !crate::image::is_elf64(elf) {
        return None;
    }
    let table = usize::try_from(le64(elf, 40)?).ok()?;
    let count = usize::from(le16(elf, 60)?);
    let names = usize::from(le16(elf, 62)?);
    if usize::from(le16(elf, 58)?) != HEADER {
        return None;
    }
    let header = |i: usize| elf.get(table.checked_add(i * HEADER)?..);
    let content = |i: usize| -> Option<&'a [u8]> {
        let header = header(i)?;
        let offset = usize::try_from(le64(header, 24)?).ok()?;
        let size = usize::try_from(le64(header, 32)?).ok()?;
        elf.get(offset..offset.checked_add(size)?)
    };
    let names = content(names)?;
    (0..count).find_map(|i| {
        let at = le32(header(i)?, 0)? as usize;
        let rest = names.get(at..)?.strip_prefix(name)?;
        (rest.first() == Some(&0)).then(|| content(i)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use testing::module;

    #[test]
    fn reads_repeated_keys() {
        let elf = module(&[
            "license=GPL",
            "depends=a,b",
            "softdep=pre: c",
            "softdep=post: d",
        ]);
        assert_eq!(values(&elf, "depends"), ["a,b"]);
        assert_eq!(values(&elf, "softdep"), ["pre: c", "post: d"]);
        assert!(values(&elf, "dep").is_empty());
        assert!(values(b"\x7fELF", "depends").is_empty());
    }

    proptest! {
        #[test]
        fn damaged_modules_never_panic(at in 0usize..300, value in any::<u64>()) {
            let mut elf = module(&["depends=a,b"]);
            let at = at.min(elf.len() - 8);
            elf[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let _ = values(&elf, "depends");
        }
    }
}
