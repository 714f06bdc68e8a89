// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use testing::elf::{self, CODE, DATA};

use super::encoder::sym;
use super::table_with;
use crate::symbols::{ModuleImage, SymbolError, SymbolTable};

/// The address of modules without KASLR.
const HOME: u64 = 0xffff_ffff_a000_0000;
const FUNC: u8 = 2;
const OBJECT: u8 = 1;
const NOTYPE: u8 = 0;

/// Name, whether it is code, length in bytes.
type Section<'a> = (&'a str, bool, usize);
/// Section index, value, type, name.
type Entry<'a> = (u16, u64, u8, &'a str);

type Loaded<'a> = (&'a str, &'a [u8], &'a [(&'a str, u64)]);

fn ko(sections: &[Section], symbols: &[Entry]) -> Vec<u8> {
    let own = sections.iter().map(|&(name, code, len)| {
        elf::Section::new(name, if code { CODE } else { DATA }, vec![0xcc; len])
    });
    let symbols = symbols
        .iter()
        .map(|&(section, value, kind, name)| (name, kind, section, value));
    let tables = elf::symbols(sections.len(), symbols);
    elf::write(1, None, &own.chain(tables).collect::<Vec<_>>())
}

fn at(places: &[(&str, u64)]) -> BTreeMap<String, u64> {
    let owned = places.iter().map(|&(name, at)| (name.to_owned(), at));
    owned.collect()
}

fn brd() -> Vec<u8> {
    ko(
        &[
            (".text", true, 0x100),
            (".text.unlikely", true, 0x20),
            (".init.text", true, 0x40),
            (".data", false, 0x40),
        ],
        &[
            (1, 0, FUNC, "__pfx_brd_probe"),
            (1, 0x10, FUNC, "brd_probe"),
            (1, 0x80, FUNC, "brd_submit_bio"),
            (1, 0x90, NOTYPE, "a_label"),
            (1, 0x100, FUNC, "behind_the_section"),
            (2, 0, FUNC, "brd_probe.cold"),
            (3, 0, FUNC, "brd_init"),
            (4, 0, OBJECT, "brd_devices"),
            (4, 8, FUNC, "no_code"),
            (9, 0, FUNC, "no_section"),
            (0, 0, FUNC, "undefined"),
            (0xfff1, 0, FUNC, "absolute"),
        ],
    )
}

fn one_function() -> SymbolTable {
    let kernel = super::elf(&[0xcc; 64], Some(&[sym(super::TEXT, 'T', "kernel")]));
    SymbolTable::from_vmlinux(&kernel).expect("symbols")
}

fn merge(table: &SymbolTable, modules: &[Loaded]) -> Result<SymbolTable, SymbolError> {
    let places: Vec<_> = modules.iter().map(|module| at(module.2)).collect();
    let images: Vec<_> = modules
        .iter()
        .zip(&places)
        .map(|(&(name, elf, _), sections)| ModuleImage {
            name,
            elf,
            sections,
        })
        .collect();
    table.with_modules(&images)
}

fn name_at(table: &SymbolTable, address: u64) -> Option<&str> {
    table.function_at(address).map(|function| function.name)
}

#[test]
fn functions_lie_where_their_sections_do() {
    let kernel = table_with(&[]);
    let places = [
        (".text", HOME),
        (".text.unlikely", HOME + 0x1000),
        (".init.text", HOME + 0x2000),
        (".data", HOME + 0x3000),
        (".nowhere", HOME + 0x4000),
    ];
    let table = merge(&kernel, &[("brd", &brd(), &places)]).expect("sound");
    for (address, name) in [
        (HOME - 1, None),
        (HOME + 0xf, None),
        (HOME + 0x10, Some("brd_probe")),
        (HOME + 0x7f, Some("brd_probe")),
        (HOME + 0x80, Some("brd_submit_bio")),
        (HOME + 0xff, Some("brd_submit_bio")),
        (HOME + 0x100, None),
        (HOME + 0x1000, Some("brd_probe.cold")),
        (HOME + 0x1020, None),
        (HOME + 0x2000, None),
        (HOME + 0x3008, None),
        (u64::MAX, None),
    ] {
        assert_eq!(name_at(&table, address), name, "{address:#x}");
    }
    assert_eq!(table.function("brd_probe"), Some(HOME + 0x10..HOME + 0x80));
    let of_kernel = kernel.iter().all(|symbol| {
        table
            .at(symbol.address)
            .any(|other| other.name == symbol.name)
    });
    assert!(of_kernel);
    assert_eq!(table.iter().len(), kernel.iter().len() + 5);
}

#[test]
fn several_modules_stand_side_by_side() {
    let kernel = table_with(&[]);
    let other = ko(
        &[
            (".text", true, 0x40),
            (".text", true, 0x40),
            (".fixup", true, 8),
        ],
        &[
            (1, 0, FUNC, "one"),
            (2, 0, FUNC, "two"),
            (3, 0, FUNC, "three"),
        ],
    );
    let table = merge(
        &kernel,
        &[
            // The kernel hides sections by address 0.
            ("brd", &brd(), &[(".text", HOME), (".text.unlikely", 0)]),
            // If two sections have one name, sysfs may show either.
            (
                "other",
                &other,
                &[(".text", HOME + 0x500), (".fixup", HOME + 0x100)],
            ),
        ],
    )
    .expect("sound");
    assert_eq!(name_at(&table, HOME + 0xff), Some("brd_submit_bio"));
    assert_eq!(name_at(&table, HOME + 0x100), Some("three"));
    assert_eq!(name_at(&table, HOME + 0x500), None);
    assert!(table.named("brd_probe.cold").next().is_none());

    let first = merge(&kernel, &[("brd", &brd(), &[(".text", HOME)])]).expect("sound");
    let second = merge(&first, &[("other", &other, &[(".fixup", HOME + 0x100)])]);
    assert_eq!(second.expect("sound"), table);
    assert_eq!(kernel.with_modules(&[]).expect("sound"), kernel);
}

#[test]
fn a_function_at_the_kernels_end_does_not_reach_the_modules() {
    let table = merge(&one_function(), &[("brd", &brd(), &[(".text", HOME)])]).expect("sound");
    assert_eq!(name_at(&table, HOME - 0x1000), None);
    assert_eq!(name_at(&table, HOME + 0x10), Some("brd_probe"));
}

#[test]
fn a_guest_cannot_put_modules_anywhere() {
    let kernel = table_with(&[]);
    let function = kernel.function("fn_static").expect("there").start;
    let end = kernel.named("_end").next().expect("there").address;
    for (start, why) in [
        (1, "elsewhere"),
        (0x7fff_ffff_f000, "elsewhere"),
        (u64::MAX - 0x10, "elsewhere"),
        (function, "the kernel"),
        (function - 1, "the kernel"),
        (function + 1, "the kernel"),
        (end - 0x40, "the kernel"),
    ] {
        let error = merge(&kernel, &[("brd", &brd(), &[(".text", start)])]).expect_err("refused");
        assert!(error.to_string().contains(why), "{start:#x}: {error}");
        assert!(error.hint().contains("nokaslr"));
        let program = [("bpf_prog_log", start..start.saturating_add(0x100))];
        let error = kernel.with_functions("bpf", &program).expect_err("refused");
        assert!(error.to_string().contains(why), "{start:#x}: {error}");
    }
    for second in [HOME, HOME + 0xff, HOME - 0xff] {
        let twice = [
            ("a", &brd()[..], &[(".text", HOME)][..]),
            ("b", &brd()[..], &[(".text", second)][..]),
        ];
        let error = merge(&kernel, &twice).expect_err("refused");
        assert!(error.to_string().contains("another section"), "{error}");
    }
    assert!(merge(&kernel, &[("brd", &brd(), &[(".text", end + 1)])]).is_ok());
    let programs = [("one", HOME..HOME + 8), ("two", HOME + 8..HOME + 16)];
    let table = kernel.with_functions("bpf", &programs).expect("sound");
    let names = [7, 8, 16].map(|at| name_at(&table, HOME + at));
    assert_eq!(names, [Some("one"), Some("two"), None]);
}

#[test]
fn damaged_modules_are_named() {
    let kernel = table_with(&[]);
    let refused = |name: &str, bytes: &[u8]| {
        let error = merge(&kernel, &[(name, bytes, &[(".text", HOME)])]).expect_err("refused");
        assert!(matches!(error, SymbolError::NotModule { .. }), "{error}");
        error.to_string()
    };
    let whole = brd();
    for name in ["", "b d", "b\u{e4}d", "b\x1b[1m"] {
        let message = refused(name, &whole);
        assert!(message.contains("not a word") && !message.contains('\x1b'));
    }
    assert!(refused("brd", b"text").contains("shorter than"));
    assert!(refused("brd", &[0; 64]).contains("the ELF magic"));
    assert!(refused("brd", &whole[..whole.len() - 1]).contains("cut off"));
    for len in 0..whole.len() {
        refused("brd", &whole[..len]);
    }
    let changed = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        bytes
    };
    assert!(refused("brd", &changed(16, 2)).contains("not a relocatable"));
    assert!(refused("brd", &changed(18, 3)).contains("another machine"));
    assert!(refused("brd", &changed(62, 200)).contains("no names"));
    let headers = whole.len() - 8 * 64;
    assert!(refused("brd", &changed(headers + 64 + 32 + 3, 1)).contains("longer than the file"));
    assert!(refused("brd", &changed(headers + 5 * 64 + 4, 1)).contains("no symbol table"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_names_places_and_damage_never_panic(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        name in ".{0,20}",
        places in btree_map("[.a-z]{1,12}|[.]text", any::<u64>(), 0..6),
    ) {
        let (kernel, mut elf) = (one_function(), brd());
        for (at, value) in changes {
            let at = at.index(elf.len());
            elf[at] = value;
        }
        for name in [&name, "brd"] {
            let module = ModuleImage { name, elf: &elf, sections: &places };
            if let Ok(table) = kernel.with_modules(&[module]) {
                prop_assert!(table.iter().map(|s| s.address).is_sorted());
            }
        }
    }
}
