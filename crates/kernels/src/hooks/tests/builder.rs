// SPDX-License-Identifier: GPL-2.0-or-later

use testing::elf::{self, CODE, DATA, FIRST_AT, Section, Segment};

pub const BASE: u64 = 0xffff_ffff_8100_0000;

#[derive(Debug, Clone, Default)]
pub struct Image<'a> {
    /// Global functions of 16 bytes each. The prefix `=` makes a symbol data, and `^` makes it data
    /// at the address of the next symbol.
    pub symbols: Vec<&'a str>,
    pub btf: Vec<u8>,
    pub btf_name: &'static str,
}

pub fn put(image: &mut [u8], address: u64, what: &[u8]) {
    let at = FIRST_AT + (address - BASE) as usize;
    image[at..at + what.len()].copy_from_slice(what);
}

impl Image<'_> {
    pub fn write(&self) -> Vec<u8> {
        let code = vec![0xcc; 16 * (self.symbols.len() + 1)];
        let mut at = BASE;
        let mut symbols = Vec::new();
        for name in &self.symbols {
            let (name, info, len) = match name.as_bytes()[0] {
                b'=' => (&name[1..], 0x11, 16),
                b'^' => (&name[1..], 0x11, 0),
                _ => (*name, 0x12, 16),
            };
            symbols.push((name, info, if info == 0x11 { 2 } else { 1 }, at));
            at += len;
        }
        let mut sections = vec![
            Section::new(".text", CODE, code),
            Section::new(self.btf_name, DATA, self.btf.clone()),
        ];
        sections.extend(elf::symbols(2, symbols.into_iter()));
        let segment = Segment {
            kind: 1,
            flags: 7,
            address: BASE,
            sections: 2,
        };
        elf::write(2, Some(segment), &sections)
    }
}
