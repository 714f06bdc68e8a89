// SPDX-License-Identifier: GPL-2.0-or-later

use proptest::collection::vec;
use proptest::prelude::*;

use super::encoder::{LAYOUTS, TEXT, elf, has_percpu, kernel_symbols, segment, sym};
use super::image;
use crate::symbols::{SymbolError, SymbolTable};

fn small_table() -> SymbolTable {
    let symbols = [
        sym(TEXT, 'T', "first"),
        sym(TEXT + 1, 't', "second"),
        sym(TEXT + 1, 't', "alias"),
        sym(u64::MAX, 'b', "last"),
    ];
    SymbolTable::from_vmlinux(&elf(&[0xcc; 64], Some(&symbols))).expect("symbols")
}

#[test]
fn a_map_reads_back() {
    let table = SymbolTable::from_vmlinux(&image(&kernel_symbols(3000, true), &LAYOUTS[0]));
    for table in [table.expect("symbols"), small_table()] {
        let again = SymbolTable::from_map(table.arch(), &table.to_map()).expect("a good map");
        assert_eq!(again, table);
        let names = |t: &SymbolTable| t.with_prefix("").map(|s| s.address).collect::<Vec<_>>();
        assert_eq!(names(&again), names(&table));
    }
}

#[test]
fn an_image_cut_off_anywhere_is_refused() {
    let file = elf(&[0xcc; 64], Some(&kernel_symbols(30, false)));
    let whole = SymbolTable::from_vmlinux(&file).expect("symbols");
    for len in 0..file.len() {
        assert!(SymbolTable::from_vmlinux(&file[..len]).is_err(), "{len}");
    }
    // The kallsyms tables are in the only segment, which must be complete.
    let file = image(&kernel_symbols(2100, false), &LAYOUTS[0]);
    let table = SymbolTable::from_vmlinux(&file).expect("symbols");
    assert!(table.iter().len() > whole.iter().len());
    for len in (0..file.len()).step_by(61) {
        assert!(SymbolTable::from_vmlinux(&file[..len]).is_err(), "{len}");
    }
}

#[test]
fn damaged_headers_never_panic() {
    let file = elf(&[0xcc; 256], Some(&kernel_symbols(60, false)));
    testing::damage(&file, |file| drop(SymbolTable::from_vmlinux(file)));
}

#[test]
fn what_is_no_map_is_refused_by_line() {
    let good = "ffffffff81000000 T _text\n";
    assert!(SymbolTable::from_map(crate::arch::native(), good).is_ok());
    for bad in [
        "T _text",
        "1 _text",
        "1  _text",
        "1 T ",
        "1 TT _text",
        "1 1 _text",
        "10000000000000000 T _text",
        "1 T a b",
        "1 T \u{e4}",
        "",
    ] {
        let error = SymbolTable::from_map(crate::arch::native(), &format!("{good}{bad}\n"))
            .expect_err("refused");
        assert!(matches!(error, SymbolError::NotMap(2)), "{bad}: {error}");
    }
    let long = format!("1 T {}\n", "x".repeat(super::super::MAX_NAME_LEN + 1));
    let error = SymbolTable::from_map(crate::arch::native(), &long).expect_err("refused");
    assert!(matches!(error, SymbolError::TooMany(_)), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damaged_tables_never_panic(
        layout in 0..LAYOUTS.len(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in proptest::option::of(any::<prop::sample::Index>()),
    ) {
        let symbols = kernel_symbols(2100, has_percpu(&LAYOUTS[layout]));
        let mut text = segment(&symbols, &LAYOUTS[layout]);
        // Code before the tables is filler.
        let tables_at = text.iter().rposition(|&byte| byte == 0xcc).unwrap_or(0);
        let tables = &mut text[tables_at / 2..];
        for (at, value) in changes {
            let at = at.index(tables.len());
            tables[at] = value;
        }
        if let Some(cut) = cut {
            let len = cut.index(text.len());
            text.truncate(len);
        }
        if let Ok(table) = SymbolTable::from_vmlinux(&elf(&text, None)) {
            prop_assert!(table.iter().map(|s| s.address).is_sorted());
        }
    }
}
