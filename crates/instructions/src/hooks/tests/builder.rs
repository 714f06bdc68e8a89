// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes small kernel images with symbols and BTF.

use crate::symbols::SymbolTable;

pub const BASE: u64 = 0xffff_ffff_8100_0000;
/// Where in the file the bytes at [`BASE`] are.
pub const CODE_AT: usize = 120;

/// An image to write.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// Global functions, 16 bytes each; a name that begins with `-` is a static one, with `=`
    /// data, with `^` data at the address of the next one.
    pub symbols: Vec<String>,
    pub btf: Option<Vec<u8>>,
    /// The section's name.
    pub btf_name: &'static str,
    /// Adds `__start_BTF` and `__stop_BTF`.
    pub btf_symbols: bool,
}

struct Section {
    name: &'static str,
    kind: u32,
    flags: u64,
    address: u64,
    bytes: Vec<u8>,
    link: u32,
}

pub fn words(fields: &[u32]) -> Vec<u8> {
    fields
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect()
}

fn symbol(names: &mut Vec<u8>, name: &str, info: u8, section: u16, address: u64) -> Vec<u8> {
    let mut entry = words(&[names.len() as u32]);
    names.extend(name.bytes().chain([0]));
    entry.extend([info, 0]);
    entry.extend(section.to_le_bytes());
    entry.extend(address.to_le_bytes());
    entry.extend(8_u64.to_le_bytes());
    entry
}

impl Image {
    pub fn write(&self) -> Vec<u8> {
        let code = vec![0xcc; 16 * (self.symbols.len() + 1)];
        let btf = self.btf.clone().unwrap_or_default();
        let btf_at = BASE + code.len() as u64;
        let (mut symtab, mut strtab) = (vec![0; 24], vec![0]);
        let mut at = BASE;
        for name in &self.symbols {
            let (name, info, len) = match name.as_bytes()[0] {
                b'-' => (&name[1..], 0x02, 16),
                b'=' => (&name[1..], 0x11, 16),
                b'^' => (&name[1..], 0x11, 0),
                _ => (&name[..], 0x12, 16),
            };
            let section = if info == 0x11 { 5 } else { 1 };
            symtab.extend(symbol(&mut strtab, name, info, section, at));
            at += len;
        }
        if self.btf_symbols {
            let end = btf_at + btf.len() as u64;
            symtab.extend(symbol(&mut strtab, "__start_BTF", 0x11, 5, btf_at));
            symtab.extend(symbol(&mut strtab, "__stop_BTF", 0x11, 5, end));
        }
        let mut sections = [
            section("", 0, 0, 0, Vec::new()),
            section(".text", 1, 6, BASE, code),
            section(self.btf_name, 1, 2, btf_at, btf),
            section(".symtab", 2, 0, 0, symtab),
            section(".strtab", 3, 0, 0, strtab),
            section(".data", 1, 3, btf_at, Vec::new()),
            section(".shstrtab", 3, 0, 0, Vec::new()),
        ];
        sections[3].link = 4;
        let mut offsets = Vec::new();
        for at in 0..sections.len() {
            offsets.push(sections[6].bytes.len() as u32);
            let name = sections[at].name;
            sections[6].bytes.extend(name.bytes().chain([0]));
        }
        let loaded = (sections[1].bytes.len() + sections[2].bytes.len()) as u64;
        let mut body: Vec<u8> = Vec::new();
        let mut headers = Vec::new();
        for (section, &name_at) in sections.iter().zip(&offsets) {
            headers.extend(words(&[name_at, section.kind]));
            let place = (CODE_AT + body.len()) as u64;
            for field in [
                section.flags,
                section.address,
                place,
                section.bytes.len() as u64,
            ] {
                headers.extend(field.to_le_bytes());
            }
            headers.extend(words(&[section.link, 0]));
            headers.extend([0; 16]);
            body.extend(&section.bytes);
        }
        let mut file = vec![0; CODE_AT];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[18..20].copy_from_slice(&62_u16.to_le_bytes());
        file[32..40].copy_from_slice(&64_u64.to_le_bytes());
        let table = (CODE_AT + body.len()) as u64;
        file[40..48].copy_from_slice(&table.to_le_bytes());
        for (at, field) in [(54, 56_u16), (56, 1), (58, 64), (60, 7), (62, 6)] {
            file[at..at + 2].copy_from_slice(&field.to_le_bytes());
        }
        file[64..72].copy_from_slice(&words(&[1, 7]));
        for (at, field) in [
            (72, CODE_AT as u64),
            (80, BASE),
            (88, BASE),
            (96, loaded),
            (104, loaded),
        ] {
            file[at..at + 8].copy_from_slice(&field.to_le_bytes());
        }
        file.extend(body);
        file.extend(headers);
        file
    }
}

fn section(name: &'static str, kind: u32, flags: u64, address: u64, bytes: Vec<u8>) -> Section {
    Section {
        name,
        kind,
        flags,
        address,
        bytes,
        link: 0,
    }
}

/// The symbols of a kernel with these functions.
pub fn symbols(names: &[&str]) -> SymbolTable {
    let mut image = Image {
        symbols: names.iter().map(|&name| name.to_owned()).collect(),
        btf_name: ".rodata",
        ..Image::default()
    };
    // A table without a symbol is an error.
    image.symbols.push("_end".to_owned());
    SymbolTable::from_vmlinux(&image.write()).expect("symbols")
}

/// BTF in the making. Types have ids from 1, in the order of adding.
#[derive(Debug, Clone)]
pub struct Btf {
    pub types: Vec<u8>,
    pub strings: Vec<u8>,
    ids: u32,
}

impl Default for Btf {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            strings: vec![0],
            ids: 0,
        }
    }
}

impl Btf {
    pub fn string(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(name.bytes().chain([0]));
        at
    }

    /// A type of `kind` with `count` entries, which are in `rest`; its id.
    pub fn add(&mut self, kind: u32, name: &str, count: u32, refers: u32, rest: &[u32]) -> u32 {
        let name = self.string(name);
        self.types
            .extend(words(&[name, kind << 24 | count, refers]));
        self.types.extend(words(rest));
        self.ids += 1;
        self.ids
    }

    pub fn pointer(&mut self, to: u32) -> u32 {
        self.add(2, "", 0, to, &[])
    }

    /// A pointer to a function of two parameters.
    pub fn hook(&mut self) -> u32 {
        let function = self.add(13, "", 2, 0, &[0, 1, 0, 1]);
        self.pointer(function)
    }

    /// A structure (4) or union (5) with members of these types.
    pub fn members(&mut self, kind: u32, name: &str, members: &[(&str, u32)]) -> u32 {
        let mut rest = Vec::new();
        for &(name, id) in members {
            let name = self.string(name);
            rest.extend([name, id, 0]);
        }
        self.add(kind, name, members.len() as u32, 8, &rest)
    }

    pub fn write(&self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        let mut bytes = words(&[0x0001_eb9f, 24, 0, types, types, strings]);
        bytes.extend(&self.types);
        bytes.extend(&self.strings);
        bytes
    }
}
