// SPDX-License-Identifier: GPL-2.0-or-later
//! ELF files: segments, sections, notes and symbols.
//!
//! The crate `object` borrows tables and refuses those that extend beyond the file, so headers
//! cannot cause allocations. Names are limited here, because a million symbols could share a name
//! of 500 MB.

use crate::arch::Arch;
use object::LittleEndian as Le;
use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _};

use crate::symbols::MAX_NAME_LEN;

/// Unchecked.
pub(crate) type Section = elf::SectionHeader64<Le>;

const MAX_SEGMENTS: usize = 16;
/// Symbols cannot name more sections without an extra table.
const MAX_SECTIONS: usize = elf::SHN_LORESERVE as usize;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub bytes: &'a [u8],
    pub address: u64,
    pub memory_len: u64,
    pub executable: bool,
}

impl<'a> Segment<'a> {
    pub fn contains(&self, address: u64) -> bool {
        address
            .checked_sub(self.address)
            .is_some_and(|at| at < self.memory_len)
    }

    pub fn at(&self, address: u64) -> Option<&'a [u8]> {
        let start = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(start..).filter(|bytes| !bytes.is_empty())
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RawSymbol<'a> {
    pub section: usize,
    pub value: u64,
    pub name: &'a str,
    pub is_function: bool,
    /// As nm(1) prints it.
    pub letter: u8,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct File<'a> {
    pub arch: &'static Arch,
    bytes: &'a [u8],
    header: &'a elf::FileHeader64<Le>,
}

impl<'a> File<'a> {
    /// Fails with the reason if this is not an ELF file of a known architecture.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let (header, _) = object::from_bytes::<elf::FileHeader64<Le>>(bytes)
            .map_err(|()| "it is shorter than an ELF header")?;
        let ident = &header.e_ident;
        if ident.magic != elf::ELFMAG {
            return Err("it does not begin with the ELF magic");
        }
        let is_layout = (ident.class, ident.data) == (elf::ELFCLASS64, elf::ELFDATA2LSB);
        let arch = crate::arch::by_elf_machine(header.e_machine.get(Le)).filter(|_| is_layout);
        let arch = arch.ok_or("it is an ELF file for another machine")?;
        Ok(Self {
            arch,
            bytes,
            header,
        })
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_relocatable(&self) -> bool {
        self.header.e_type.get(Le) == elf::ET_REL
    }

    fn program_headers(&self) -> Option<&'a [elf::ProgramHeader64<Le>]> {
        let headers = self.header.program_headers(Le, self.bytes).ok()?;
        (headers.len() <= MAX_SEGMENTS).then_some(headers)
    }

    pub fn segments(&self) -> Option<Vec<Segment<'a>>> {
        let loaded = self.program_headers()?.iter();
        loaded
            .filter(|header| header.p_type(Le) == elf::PT_LOAD)
            .map(|header| {
                Some(Segment {
                    bytes: header.data(Le, self.bytes).ok()?,
                    address: header.p_vaddr(Le),
                    memory_len: header.p_memsz(Le),
                    executable: header.p_flags(Le) & elf::PF_X != 0,
                })
            })
            .collect()
    }

    /// `name` without its NUL.
    pub fn note(&self, name: &[u8], kind: u32) -> Option<&'a [u8]> {
        self.program_headers()?.iter().find_map(|header| {
            let mut notes = header.notes(Le, self.bytes).ok()??;
            while let Ok(Some(note)) = notes.next() {
                if note.name() == name && note.n_type(Le) == kind {
                    return Some(note.desc());
                }
            }
            None
        })
    }

    /// `None` if they are outside the file or too many.
    pub fn sections(&self) -> Option<&'a [Section]> {
        let headers = self.header.section_headers(Le, self.bytes).ok()?;
        (headers.len() <= MAX_SECTIONS).then_some(headers)
    }

    /// The numbers and names of sections that have a name.
    pub fn named_sections(
        &self,
    ) -> Option<impl Iterator<Item = (usize, &'a str, &'a Section)> + use<'a>> {
        let sections = self.sections()?;
        let table = usize::from(self.header.e_shstrndx.get(Le));
        let names = self.contents(sections.get(table)?)?;
        let all = sections.iter().enumerate();
        Some(all.filter_map(move |(at, section)| {
            Some((at, name_at(names, section.sh_name(Le))?, section))
        }))
    }

    /// A section's bytes, if they are within the file; empty for one without data.
    pub fn contents(&self, section: &Section) -> Option<&'a [u8]> {
        section.data(Le, self.bytes).ok()
    }

    pub fn section(&self, name: &str) -> Option<&'a [u8]> {
        let mut sections = self.named_sections()?;
        self.contents(sections.find(|(_, other, _)| *other == name)?.2)
    }

    /// Symbols of `.symtab` in loaded sections. As in `scripts/mksysmap` and `scripts/kallsyms.c`,
    /// absolute symbols, compiler labels and export bookkeeping are left out.
    pub fn symbols(&self) -> Option<impl Iterator<Item = RawSymbol<'a>> + use<'a>> {
        let sections = self.sections()?;
        let symtab = sections
            .iter()
            .find(|section| section.sh_type(Le) == elf::SHT_SYMTAB)?;
        let names = self.contents(sections.get(symtab.sh_link(Le) as usize)?)?;
        let symbols = symtab
            .data_as_array::<elf::Sym64<Le>, _>(Le, self.bytes)
            .ok()?;
        Some(symbols.iter().filter_map(move |symbol| {
            let section = usize::from(symbol.st_shndx(Le));
            if matches!(symbol.st_type(), elf::STT_SECTION | elf::STT_FILE)
                || section == 0
                || section >= usize::from(elf::SHN_LORESERVE)
            {
                return None;
            }
            let name = name_at(names, symbol.st_name(Le))?;
            if IGNORED_PREFIXES.iter().any(|p| name.starts_with(p)) {
                return None;
            }
            let header = sections.get(section).filter(|s| is_loaded(s))?;
            Some(RawSymbol {
                section,
                value: symbol.st_value(Le),
                name,
                is_function: symbol.st_type() == elf::STT_FUNC,
                letter: letter(symbol, header),
            })
        }))
    }
}

pub(crate) fn is_elf_image(data: &[u8]) -> bool {
    File::parse(data).is_ok()
}

fn is_loaded(section: &Section) -> bool {
    section.sh_flags(Le) & u64::from(elf::SHF_ALLOC) != 0
}

pub(crate) fn is_code(section: &Section) -> bool {
    is_loaded(section) && section.sh_flags(Le) & u64::from(elf::SHF_EXECINSTR) != 0
}

fn name_at(names: &[u8], start: u32) -> Option<&str> {
    let start = usize::try_from(start).ok()?;
    let end = start.saturating_add(MAX_NAME_LEN + 1);
    let name = names.get(start..end.min(names.len()))?;
    let name = &name[..name.iter().position(|&byte| byte == 0)?];
    if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    str::from_utf8(name).ok()
}

const IGNORED_PREFIXES: [&str; 9] = [
    ".L",
    "$",
    "__crc_",
    "__efistub_",
    "__kcfi_typeid_",
    "__kcrctab_",
    "__kstrtab_",
    "__kstrtabns_",
    "__ksymtab_",
];

fn letter(symbol: &elf::Sym64<Le>, section: &Section) -> u8 {
    if symbol.st_bind() == elf::STB_WEAK {
        return match symbol.st_type() {
            elf::STT_OBJECT => b'V',
            _ => b'W',
        };
    }
    let has = |flag| section.sh_flags(Le) & u64::from(flag) != 0;
    let letter = if has(elf::SHF_EXECINSTR) {
        b't'
    } else if section.sh_type(Le) == elf::SHT_NOBITS {
        b'b'
    } else if has(elf::SHF_WRITE) {
        b'd'
    } else {
        b'r'
    };
    match symbol.st_bind() {
        elf::STB_LOCAL => letter,
        _ => letter.to_ascii_uppercase(),
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::elf::{self as written, CODE};

    fn sample() -> Vec<u8> {
        let mut note = Vec::new();
        for word in [4u32, 8, 18] {
            note.extend(word.to_le_bytes());
        }
        note.extend(b"Xen\0\0\0\0\x01\0\0\0\0");
        let mut sections = vec![
            written::Section::new(".notes", CODE, note),
            written::Section::new(".modinfo", 0, b"a=b\0".to_vec()),
        ];
        sections.extend(written::symbols(2, [("first", 0x12, 1, 16)].into_iter()));
        let segment = written::Segment {
            kind: 4,
            flags: 4,
            address: 0,
            sections: 1,
        };
        written::write(2, Some(segment), &sections)
    }

    fn all(bytes: &[u8]) -> Option<(Vec<String>, Vec<u8>, Vec<u8>)> {
        let file = File::parse(bytes).ok()?;
        file.segments()?;
        let names = file.symbols()?.map(|symbol| symbol.name.to_owned());
        let note = file.note(b"Xen", 18)?.to_vec();
        Some((names.collect(), note, file.section(".modinfo")?.to_vec()))
    }

    #[test]
    fn cut_off_anywhere_it_lacks_something() {
        let file = sample();
        let (names, note, modinfo) = all(&file).unwrap();
        assert_eq!(
            (names, note.len(), &modinfo[..]),
            (vec!["first".to_owned()], 8, &b"a=b\0"[..])
        );
        for len in 0..file.len() {
            assert!(all(&file[..len]).is_none(), "{len}");
        }
    }

    #[test]
    fn damage_never_panics() {
        testing::damage(&sample(), |bytes| drop(all(bytes)));
    }

    #[test]
    fn sections_are_limited() {
        let good = sample();
        // There are more sections than symbols can name, all of them within the file.
        let count = MAX_SECTIONS + 1;
        let mut many = good.clone();
        many[60..62].fill(0);
        many[40..48].copy_from_slice(&(good.len() as u64).to_le_bytes());
        many.resize(good.len() + 64 * count, 0);
        many[good.len() + 32..][..8].copy_from_slice(&(count as u64).to_le_bytes());
        assert!(File::parse(&many).unwrap().sections().is_none());
        many[good.len() + 32..][..8].copy_from_slice(&(count as u64 - 1).to_le_bytes());
        assert_eq!(
            File::parse(&many).unwrap().sections().unwrap().len(),
            count - 1
        );
    }
}
