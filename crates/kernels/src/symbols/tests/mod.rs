// SPDX-License-Identifier: GPL-2.0-or-later

mod encoder;
mod lookups;
mod modules;
mod untrusted;

use super::{SymbolError, SymbolTable};
use encoder::{LAYOUTS, Layout, Sym, TEXT, elf, has_percpu, kernel_symbols, segment, sym};

fn image(symbols: &[Sym], layout: &Layout) -> Vec<u8> {
    elf(&segment(symbols, layout), None)
}

fn expected(symbols: &[Sym]) -> Vec<Sym> {
    let kept = symbols.iter().filter(|s| !s.name.starts_with("__pfx_"));
    kept.cloned().collect()
}

fn read_back(table: &SymbolTable) -> Vec<Sym> {
    table
        .iter()
        .map(|s| sym(s.address, s.kind, s.name))
        .collect()
}

fn table_with(symbols: &[Sym]) -> SymbolTable {
    let mut all = kernel_symbols(2048, false);
    let end = all.pop().expect("the last symbol");
    let base = end.address;
    for symbol in symbols {
        all.push(sym(base + symbol.address, symbol.kind, &symbol.name));
    }
    let last = all.last().map_or(base, |s| s.address);
    all.push(sym(last + 0x100, 'B', "_end"));
    SymbolTable::from_vmlinux(&image(&all, &LAYOUTS[0])).expect("an image with symbols")
}

#[test]
fn every_layout_reads_back() {
    for layout in &LAYOUTS {
        // Numbers around a multiple of 256, both odd and even.
        for number in [2047, 2048, 2049, 3000, 3001] {
            let symbols = kernel_symbols(number, has_percpu(layout));
            let table = SymbolTable::from_vmlinux(&image(&symbols, layout))
                .unwrap_or_else(|error| panic!("{} {number}: {error}", layout.0));
            assert_eq!(
                read_back(&table),
                expected(&symbols),
                "{} {number}",
                layout.0
            );
        }
    }
}

#[test]
fn decoys_before_the_tables_do_not_mislead() {
    let symbols = kernel_symbols(2500, true);
    let mut text = segment(&symbols, &LAYOUTS[3]);
    for (i, pair) in text[0x100..0x300].chunks_exact_mut(2).enumerate() {
        pair.copy_from_slice(&(i as u16 * 3).to_le_bytes());
    }
    let table = SymbolTable::from_vmlinux(&elf(&text, None)).expect("symbols");
    assert_eq!(read_back(&table), expected(&symbols));
}

#[test]
fn a_symtab_serves_where_kallsyms_lacks() {
    let symbols = kernel_symbols(2500, true);
    let with_kallsyms = elf(&segment(&symbols, &LAYOUTS[0]), None);
    let mut stray = symbols.clone();
    stray.push(sym(TEXT + 0x24, 't', ".Lloop"));
    stray.push(sym(TEXT + 0x28, 't', "__ksymtab_sys_call"));
    let with_symtab = elf(&[0xcc; 0x1000], Some(&stray));

    let functions = |bytes: &[u8]| {
        let table = SymbolTable::from_vmlinux(bytes).expect("symbols");
        let code = table.iter().filter(super::Symbol::is_code);
        let mut functions: Vec<_> = code.map(|s| (s.address, s.name.to_owned())).collect();
        functions.retain(|(_, name)| name != "some_data" && name != "_end");
        functions.sort();
        functions
    };
    assert_eq!(functions(&with_kallsyms), functions(&with_symtab));
}

#[test]
fn kallsyms_comes_before_a_symtab() {
    let symbols = kernel_symbols(2500, false);
    let other = [sym(TEXT, 'T', "only_in_symtab")];
    let table = SymbolTable::from_vmlinux(&elf(&segment(&symbols, &LAYOUTS[5]), Some(&other)));
    assert_eq!(read_back(&table.expect("symbols")), expected(&symbols));
}

#[test]
fn aliases_in_a_symtab_are_ordered_as_the_kernel_does() {
    let symbols = [
        sym(TEXT, 'W', "weak"),
        sym(TEXT, 'T', "__under"),
        sym(TEXT, 'T', "plain"),
        sym(TEXT + 16, 'T', "end"),
    ];
    let table = SymbolTable::from_vmlinux(&elf(&[0xcc; 64], Some(&symbols))).expect("symbols");
    let names: Vec<_> = table.iter().map(|s| s.name).collect();
    assert_eq!(names, ["plain", "__under", "weak", "end"]);
}

#[test]
fn addresses_that_fall_or_are_elsewhere_than_the_elf_file_says_are_refused() {
    let mut falling = kernel_symbols(2500, false);
    falling[1300].address = falling[1200].address - 8;
    let mut elsewhere = kernel_symbols(2500, false);
    elsewhere.iter_mut().for_each(|s| s.address += 0x1000_0000);
    for symbols in [falling, elsewhere] {
        for layout in &LAYOUTS {
            let error = SymbolTable::from_vmlinux(&image(&symbols, layout)).expect_err("refused");
            assert!(error.to_string().contains("no address table"), "{error}");
        }
    }
}

#[test]
fn each_way_of_having_no_symbols_is_told_apart() {
    let refusal = |bytes: &[u8]| SymbolTable::from_vmlinux(bytes).expect_err("no symbols");
    for junk in [&b""[..], b"MZ", &[0x4d; 4096]] {
        assert!(matches!(refusal(junk), SymbolError::NotVmlinux(_)));
    }
    let empty = refusal(&elf(&[0xcc; 4096], None));
    assert!(empty.to_string().contains("no token table"));
    assert!(empty.hint().contains("CONFIG_KALLSYMS"));

    let symbols = kernel_symbols(2500, false);
    let text = segment(&symbols, &LAYOUTS[0]);
    let mut whole = elf(&text, None);
    whole.truncate(whole.len() - 1);
    assert!(refusal(&whole).to_string().contains("outside the file"));

    // Changing the first length byte of the names shifts all later entries.
    let entry = first_entry_at(&text);
    let mut shifted = text.clone();
    shifted[entry] += 1;
    assert!(
        refusal(&elf(&shifted, None))
            .to_string()
            .contains("no names")
    );
}

fn first_entry_at(text: &[u8]) -> usize {
    let entry = b"\x0bTstartup_64";
    let found = text.windows(entry.len()).position(|window| window == entry);
    found.expect("the first entry")
}
