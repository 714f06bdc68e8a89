// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes kernel images with kallsyms tables in every layout that `scripts/kallsyms.c` has had on
//! x86-64 since 5.0.

use testing::elf::{self, CODE, Section, Segment};

use Addresses::{BaseRelative, BaseRelativeOrPercpu, PlaceRelative};
use Order::{AfterAddresses, AfterMarkers, Nowhere};

pub const TEXT: u64 = 0xffff_ffff_8100_0000;
/// Code before the tables in bytes; symbols are spread over it.
const CODE_LEN: usize = 0x2_0000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sym {
    pub address: u64,
    pub kind: char,
    pub name: String,
}

pub fn sym(address: u64, kind: char, name: &str) -> Sym {
    Sym {
        address,
        kind,
        name: name.to_owned(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    BaseRelativeOrPercpu,
    BaseRelative,
    PlaceRelative,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Nowhere,
    AfterMarkers,
    AfterAddresses,
}

/// First release, format of addresses, whether they come first, the order by name, alignment.
pub type Layout = (&'static str, Addresses, bool, Order, usize);

pub const LAYOUTS: [Layout; 6] = [
    ("5.0", BaseRelativeOrPercpu, true, Nowhere, 8),
    ("5.0 UP", BaseRelative, true, Nowhere, 8),
    ("6.2", BaseRelativeOrPercpu, true, AfterMarkers, 8),
    ("6.5", BaseRelativeOrPercpu, false, AfterAddresses, 8),
    ("6.15", BaseRelative, false, AfterAddresses, 8),
    ("7.0", PlaceRelative, false, AfterAddresses, 4),
];

pub fn has_percpu(layout: &Layout) -> bool {
    layout.1 == BaseRelativeOrPercpu
}

/// Codes for several characters. Others are single characters; above 0x7e, nothing.
const LONG_TOKENS: [(u8, &str); 6] = [
    (0x01, "security_"),
    (0x02, "Tsys_"),
    (0x1f, "__"),
    (0x80, "function_"),
    (0x90, "inode_"),
    (0xe0, "tfn"),
];

fn token(code: u8) -> String {
    match LONG_TOKENS.iter().find(|(long, _)| *long == code) {
        Some((_, text)) => (*text).to_owned(),
        None if code.is_ascii_graphic() => char::from(code).to_string(),
        None => String::new(),
    }
}

fn compress(text: &str) -> Vec<u8> {
    let mut codes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let long = LONG_TOKENS.iter().find(|(_, text)| rest.starts_with(text));
        let (code, len) = long.map_or((rest.as_bytes()[0], 1), |(code, text)| (*code, text.len()));
        codes.push(code);
        rest = &rest[len..];
    }
    codes
}

struct Rodata {
    bytes: Vec<u8>,
    align: usize,
}

impl Rodata {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn word(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes()[..4]);
    }

    fn addresses(&mut self, symbols: &[Sym], form: Addresses) {
        self.align(self.align);
        let base = symbols
            .iter()
            .map(|s| s.address)
            .filter(|&a| a >= TEXT)
            .min();
        let base = base.unwrap_or(TEXT);
        for symbol in symbols {
            let place = TEXT + self.bytes.len() as u64;
            let value = match form {
                PlaceRelative => symbol.address.wrapping_sub(place),
                BaseRelative => symbol.address - base,
                BaseRelativeOrPercpu if symbol.address < TEXT => symbol.address,
                BaseRelativeOrPercpu => base.wrapping_sub(symbol.address).wrapping_sub(1),
            };
            self.word(value);
        }
        if matches!(form, BaseRelative | BaseRelativeOrPercpu) {
            self.align(8);
            self.bytes.extend_from_slice(&base.to_le_bytes());
        }
    }

    fn order(&mut self, number: usize) {
        self.align(self.align);
        for i in 0..number {
            let seq = (i * 7919 % number) as u32;
            self.bytes.extend_from_slice(&seq.to_be_bytes()[1..]);
        }
    }

    fn names(&mut self, symbols: &[Sym]) {
        self.align(self.align);
        self.word(symbols.len() as u64);
        self.align(self.align);
        let start = self.bytes.len();
        let mut markers = Vec::new();
        for (i, symbol) in symbols.iter().enumerate() {
            if i % 256 == 0 {
                markers.push((self.bytes.len() - start) as u64);
            }
            let codes = compress(&format!("{}{}", symbol.kind, symbol.name));
            if codes.len() < 0x80 {
                self.bytes.push(codes.len() as u8);
            } else {
                self.bytes.push(codes.len() as u8 | 0x80);
                self.bytes.push((codes.len() >> 7) as u8);
            }
            self.bytes.extend_from_slice(&codes);
        }
        self.align(self.align);
        for marker in markers {
            self.word(marker);
        }
    }

    fn tokens(&mut self) {
        self.align(self.align);
        let mut index = Vec::new();
        let start = self.bytes.len();
        for code in 0..=255 {
            index.push((self.bytes.len() - start) as u16);
            self.bytes.extend_from_slice(token(code).as_bytes());
            self.bytes.push(0);
        }
        self.align(self.align);
        for offset in index {
            self.bytes.extend_from_slice(&offset.to_le_bytes());
        }
    }
}

pub fn segment(symbols: &[Sym], layout: &Layout) -> Vec<u8> {
    let &(_, addresses, is_first, order, align) = layout;
    let bytes = vec![0xcc; CODE_LEN];
    let mut rodata = Rodata { bytes, align };
    if is_first {
        rodata.addresses(symbols, addresses);
    }
    rodata.names(symbols);
    if order == AfterMarkers {
        rodata.order(symbols.len());
    }
    rodata.tokens();
    if !is_first {
        rodata.addresses(symbols, addresses);
    }
    if order == AfterAddresses {
        rodata.order(symbols.len());
    }
    rodata
        .bytes
        .extend_from_slice(b"what comes after the tables");
    rodata.bytes
}

pub fn elf(text: &[u8], symtab: Option<&[Sym]>) -> Vec<u8> {
    let mut sections = vec![Section::new(".text", CODE, text.to_vec())];
    if let Some(symtab) = symtab {
        let entries = symtab.iter().map(|symbol| {
            let binding = match symbol.kind {
                'W' => 2u8,
                kind => u8::from(kind.is_ascii_uppercase()),
            };
            let section = if symbol.kind == 'A' { 0xfff1 } else { 1 };
            (
                symbol.name.as_str(),
                binding << 4 | 2,
                section,
                symbol.address,
            )
        });
        sections.extend(elf::symbols(1, entries));
    }
    let segment = Segment {
        kind: 1,
        flags: 5,
        address: TEXT,
        sections: 1,
    };
    elf::write(2, Some(segment), &sections)
}

/// At least 2,000 symbols, by rising address, with per-CPU symbols at zero if `percpu` is set.
pub fn kernel_symbols(number: usize, percpu: bool) -> Vec<Sym> {
    let mut symbols = Vec::new();
    if percpu {
        symbols.push(sym(0, 'A', "fixed_percpu_data"));
        symbols.push(sym(0, 'A', "__per_cpu_start"));
        symbols.push(sym(0x1000, 'A', "cpu_debug_store"));
    }
    symbols.push(sym(TEXT, 'T', "startup_64"));
    symbols.push(sym(TEXT, 'T', "_stext"));
    symbols.push(sym(TEXT, 'T', "_text"));
    symbols.push(sym(TEXT + 0x10, 't', "__pfx_entry_SYSCALL_64"));
    symbols.push(sym(TEXT + 0x20, 'T', "entry_SYSCALL_64"));
    let mut at = TEXT + 0x40;
    let rest = number - symbols.len() - 3;
    for i in 0..rest {
        let name = match i % 7 {
            0 => format!("security_inode_hook{i}"),
            1 => format!("sys_call{i}"),
            2 => "fn_static".to_owned(),
            3 => format!("__x64_sys_{i}.cold"),
            4 => format!("rust_{}{i}", "long_".repeat(40)),
            5 => format!("function_{i}"),
            _ => format!("fn{i}"),
        };
        symbols.push(sym(at, if i % 7 == 1 { 'T' } else { 't' }, &name));
        at += (i as u64 % 5) * 8;
    }
    symbols.push(sym(at + 16, 'W', "weak_function"));
    symbols.push(sym(at + 32, 'd', "some_data"));
    symbols.push(sym(at + 48, 'B', "_end"));
    symbols
}
