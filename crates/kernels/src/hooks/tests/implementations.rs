// SPDX-License-Identifier: GPL-2.0-or-later
//! Which functions a kernel calls for its hooks.

use testing::btf::Btf;

use super::builder::{BASE, Image, put};
use crate::hooks::{HookListError, implementations};
use crate::symbols::SymbolTable;

/// Where the places of hooks are, what a module has of its hooks, and its functions: 16 bytes each.
const SYMBOLS: [&str; 8] = [
    "=PLACES",
    "=selinux_hooks",
    "=more",
    "=last",
    "selinux_file_open",
    "cap_capable",
    "=no_code",
    "_end",
];
const AT: [u64; 4] = [BASE + 16, BASE + 32, BASE + 48, BASE + 56];
const FILE_OPEN: u64 = BASE + 64;
const CAPABLE: u64 = BASE + 80;
const NO_CODE: u64 = BASE + 96;

/// A kernel whose modules point to places and functions with these words.
fn kernel(
    [structure, variable, pointer]: [&str; 3],
    words: &[(u64, u64)],
) -> (Vec<u8>, SymbolTable) {
    let mut btf = Btf::default();
    btf.laid_out(
        "security_hook_list",
        &[("lsmid", 16), (pointer, 8), ("hook", 0)],
    );
    btf.laid_out(structure, &[("capable", 0), ("file_open", 8)]);
    let mut symbols = SYMBOLS;
    let named = format!("={variable}");
    symbols[0] = &named;
    let image = Image {
        symbols: symbols.to_vec(),
        btf: btf.write(),
        btf_name: ".BTF",
        btf_symbols: false,
    };
    let mut bytes = image.write();
    let table = SymbolTable::from_vmlinux(&bytes).expect("symbols");
    for (address, word) in words {
        put(&mut bytes, *address, &word.to_le_bytes());
    }
    (bytes, table)
}

const STATIC_CALLS: [&str; 3] = ["lsm_static_calls_table", "static_calls_table", "scalls"];
const LISTS: [&str; 3] = ["security_hook_heads", "security_hook_heads", "head"];

const WORDS: [(u64, u64); 8] = [
    (AT[0], FILE_OPEN),
    (AT[0] + 8, BASE + 8),
    (AT[1], CAPABLE),
    (AT[1] + 8, BASE),
    // A place, but nothing that is code, and code, but no place.
    (AT[2], NO_CODE),
    (AT[2] + 8, BASE),
    (AT[3], CAPABLE),
    (AT[3] + 8, BASE + 4),
];

#[test]
fn functions_are_those_that_modules_register() {
    for names in [STATIC_CALLS, LISTS] {
        let (bytes, symbols) = kernel(names, &WORDS);
        let found = implementations(&bytes, &symbols).unwrap().unwrap();
        let found: Vec<(&str, Vec<&str>)> = found
            .iter()
            .map(|(hook, functions)| {
                (
                    hook.as_str(),
                    functions.iter().map(String::as_str).collect(),
                )
            })
            .collect();
        let expected = [
            ("capable", vec!["cap_capable"]),
            ("file_open", vec!["selinux_file_open"]),
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn a_kernel_that_keeps_them_otherwise_tells_none() {
    for names in [
        ["lsm_static_calls_table", "hidden", "scalls"],
        ["other", "static_calls_table", "scalls"],
        ["lsm_static_calls_table", "static_calls_table", "other"],
    ] {
        let (bytes, symbols) = kernel(names, &WORDS);
        assert_eq!(implementations(&bytes, &symbols), Ok(None), "{names:?}");
    }
    let (bytes, symbols) = kernel(STATIC_CALLS, &[]);
    assert_eq!(implementations(&bytes, &symbols), Ok(None));
    let error = implementations(b"none", &symbols).unwrap_err();
    assert!(matches!(error, HookListError::NotVmlinux { .. }));
}

#[test]
fn any_image_does_no_harm() {
    let (bytes, symbols) = kernel(STATIC_CALLS, &WORDS);
    testing::damage(&bytes, |bytes| drop(implementations(bytes, &symbols)));
}
