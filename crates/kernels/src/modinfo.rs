// SPDX-License-Identifier: GPL-2.0-or-later

use crate::elf::File;

/// Entries are NUL-terminated `key=value` strings.
const ENTRIES_LIMIT: usize = 10_000;

pub(crate) fn values(elf: &[u8], key: &str) -> Vec<String> {
    let file = File::parse(elf).ok();
    let section = file.and_then(|file| file.section(".modinfo"));
    section
        .unwrap_or_default()
        .split(|&b| b == 0)
        .take(ENTRIES_LIMIT)
        .filter_map(|entry| std::str::from_utf8(entry).ok())
        .filter_map(|entry| entry.strip_prefix(key)?.strip_prefix('='))
        .map(str::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::elf::module;

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
}
