// SPDX-License-Identifier: GPL-2.0-or-later

use super::builder::{BASE, Image, put};
use crate::hooks::built_in_modules;
use crate::symbols::SymbolTable;

const SYMBOLS: [&str; 10] = [
    "^__start_lsm_info",
    "=__lsm_selinux",
    "=__lsm_apparmor",
    "^__end_lsm_info",
    "^__start_early_lsm_info",
    "=__early_lsm_lockdown",
    "=__end_early_lsm_info",
    "=ids",
    "=names",
    "_end",
];
const IDS: u64 = BASE + 4 * 16;
const NAMES: u64 = BASE + 5 * 16;

fn kernel(symbols: &[&str], words: &[(u64, u64)], names: &[u8]) -> (Vec<u8>, SymbolTable) {
    let image = Image {
        symbols: symbols.to_vec(),
        btf_name: ".rodata",
        ..Image::default()
    };
    let mut bytes = image.write();
    let table = SymbolTable::from_vmlinux(&bytes).expect("symbols");
    for (address, word) in words {
        put(&mut bytes, *address, &word.to_le_bytes());
    }
    put(&mut bytes, NAMES, names);
    (bytes, table)
}

const OLD: [(u64, u64); 3] = [
    (BASE, NAMES),
    (BASE + 16, NAMES + 3),
    (BASE + 32, NAMES + 6),
];
const TEXT: &[u8] = b"se\0aa\0ld\0";

fn listed(symbols: &[&str], words: &[(u64, u64)], names: &[u8]) -> Option<Vec<String>> {
    let (bytes, table) = kernel(symbols, words, names);
    Some(built_in_modules(&bytes, &table)?.into_iter().collect())
}

#[test]
fn names_are_those_that_the_modules_are_registered_by() {
    let all = Some(["aa", "ld", "se"].map(str::to_owned).to_vec());
    assert_eq!(listed(&SYMBOLS, &OLD, TEXT), all);
    // From 6.18 on: through a struct lsm_id.
    let mut new = OLD;
    new[1].1 = IDS;
    let new: Vec<(u64, u64)> = new.into_iter().chain([(IDS, NAMES + 3)]).collect();
    assert_eq!(listed(&SYMBOLS, &new, TEXT), all);
}

#[test]
fn a_kernel_that_does_not_tell_all_lists_none() {
    // A module without a symbol of its own.
    for hidden in [1, 2, 5] {
        let mut symbols = SYMBOLS;
        symbols[hidden] = "=hidden";
        assert_eq!(listed(&symbols, &OLD, TEXT), None, "{hidden}");
    }
    let mut symbols = SYMBOLS;
    symbols[4] = "^somewhere";
    assert_eq!(listed(&symbols, &OLD, TEXT), None);
    for (words, names) in [
        (&OLD[..2], TEXT),
        (&OLD[..], b"se\0A!\0ld\0"),
        (&OLD[..], b"se\0\0a\0ld\0"),
        (&[OLD[0], OLD[1], (OLD[2].0, u64::MAX - 3)][..], TEXT),
    ] {
        assert_eq!(listed(&SYMBOLS, words, names), None, "{words:x?}");
    }
    let mut alone = vec!["^__start_lsm_info", "^__end_lsm_info"];
    alone.extend(&SYMBOLS[4..]);
    assert_eq!(listed(&alone, &[(BASE, NAMES)], TEXT), None);
    assert_eq!(listed(&["a", "b", "c", "d", "e", "f"], &[], b""), None);
}

#[test]
fn any_image_does_no_harm() {
    let (bytes, table) = kernel(&SYMBOLS, &OLD, TEXT);
    testing::damage(&bytes, |bytes| drop(built_in_modules(bytes, &table)));
}
