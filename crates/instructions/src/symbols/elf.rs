// SPDX-License-Identifier: GPL-2.0-or-later
//! The few parts of an ELF file that finding symbols needs: where its bytes
//! are loaded, its sections, and its `.symtab` when it still has one.

use arch::Arch;

use super::SymbolError;
use super::table::Builder;

const PT_LOAD: u32 = 1;
const PF_X: u32 = 1;
const SHT_SYMTAB: u32 = 2;
const SHT_NOBITS: u32 = 8;
const SHF_WRITE: u64 = 1;
const SHF_ALLOC: u64 = 2;
const SHF_EXECINSTR: u64 = 4;
const STT_OBJECT: u8 = 1;
const STT_FUNC: u8 = 2;
const STT_SECTION: u8 = 3;
const STT_FILE: u8 = 4;
const STB_LOCAL: u8 = 0;
const STB_WEAK: u8 = 2;
const SHN_LORESERVE: u16 = 0xff00;

const HEADER_LEN: usize = 64;
const SEGMENT_LEN: usize = 56;
const SECTION_LEN: usize = 64;
const SYMBOL_LEN: usize = 24;
/// Kernels have three to five segments.
const MAX_SEGMENTS: usize = 16;

/// A loaded part of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
    pub bytes: &'a [u8],
    pub address: u64,
    pub memory_len: u64,
    pub executable: bool,
}

impl Segment<'_> {
    pub fn contains(&self, address: u64) -> bool {
        address
            .checked_sub(self.address)
            .is_some_and(|at| at < self.memory_len)
    }
}

/// A section, as its header describes it: nothing of it is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    name_at: u32,
    kind: u32,
    flags: u64,
    offset: u64,
    pub len: u64,
    link: u32,
}

impl Section {
    fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC != 0
    }

    pub fn is_code(&self) -> bool {
        self.is_loaded() && self.flags & SHF_EXECINSTR != 0
    }

    pub fn bytes<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        slice(file, self.offset, self.len)
    }

    /// Its bytes, if it has any in the file.
    pub fn contents<'a>(&self, file: &'a [u8]) -> Option<&'a [u8]> {
        self.bytes(file).filter(|_| self.kind != SHT_NOBITS)
    }

    pub fn name<'a>(&self, names: &'a [u8]) -> Option<&'a str> {
        name_at(names, self.name_at)
    }
}

/// A defined symbol of `.symtab` that is worth a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawSymbol<'a> {
    info: u8,
    /// Position of the section that it is in.
    pub section: usize,
    pub value: u64,
    pub name: &'a str,
}

impl RawSymbol<'_> {
    pub fn is_function(&self) -> bool {
        self.info & 15 == STT_FUNC
    }

    /// The letter nm(1) prints for it.
    pub fn letter(&self, section: &Section) -> u8 {
        letter(self.info >> 4, self.info & 15, section)
    }
}

/// An ELF file of a known architecture.
#[derive(Debug)]
pub(super) struct Image<'a> {
    pub arch: &'static Arch,
    bytes: &'a [u8],
    pub segments: Vec<Segment<'a>>,
    sections: Vec<Section>,
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(field.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

/// `bytes[offset..offset + len]`, or nothing if any of it is outside.
pub(crate) fn slice(bytes: &[u8], offset: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    let end = usize::try_from(offset.checked_add(len)?).ok()?;
    bytes.get(start..end)
}

impl<'a> Image<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SymbolError> {
        let arch = machine(bytes).map_err(|reason| SymbolError::NotVmlinux { reason })?;
        let segments = segments(bytes).ok_or(SymbolError::NotVmlinux {
            reason: "its program headers point outside the file (is it cut off?)",
        })?;
        if segments.is_empty() {
            return Err(SymbolError::NotVmlinux {
                reason: "it has no loadable segment",
            });
        }
        // A stripped or damaged section table only costs us `.symtab`.
        let sections = sections(bytes).unwrap_or_default();
        Ok(Self {
            arch,
            bytes,
            segments,
            sections,
        })
    }

    /// Length of the file in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether `address` is where the file loads code.
    pub fn is_code(&self, address: u64) -> bool {
        self.segments
            .iter()
            .any(|segment| segment.executable && segment.contains(address))
    }

    /// Whether `address` is loaded from the file or cleared at boot.
    pub fn is_loaded(&self, address: u64) -> bool {
        self.segments
            .iter()
            .any(|segment| segment.contains(address))
    }

    /// Whether a segment starts at `address`.
    pub fn starts_segment(&self, address: u64) -> bool {
        self.segments
            .iter()
            .any(|segment| segment.address == address)
    }

    /// The symbols of `.symtab`, or `None` if there is no usable one.
    pub fn symtab(&self) -> Option<Result<Builder, SymbolError>> {
        let mut builder = Builder::new(self.arch);
        for symbol in symbols(self.bytes, &self.sections)? {
            let Some(section) = self.sections.get(symbol.section).filter(|s| s.is_loaded()) else {
                continue;
            };
            if let Err(error) = builder.push(symbol.value, symbol.letter(section), symbol.name) {
                return Some(Err(error));
            }
        }
        builder.order_aliases();
        (!builder.is_empty()).then_some(Ok(builder))
    }
}

/// The architecture that it is an ELF file for; otherwise what it is.
pub(crate) fn machine(bytes: &[u8]) -> Result<&'static Arch, &'static str> {
    let ident = bytes
        .get(..HEADER_LEN)
        .ok_or("it is shorter than an ELF header")?;
    if !ident.starts_with(b"\x7fELF") {
        return Err("it does not begin with the ELF magic");
    }
    // EI_CLASS 2 is 64 bits, EI_DATA 1 is little endian.
    u16_at(ident, 18)
        .filter(|_| ident[4] == 2 && ident[5] == 1)
        .and_then(arch::by_elf_machine)
        .ok_or("it is an ELF file for another machine")
}

/// The symbols of `.symtab`, if there is one within the file.
///
/// What `scripts/mksysmap` and `scripts/kallsyms.c` leave out is left out here
/// too: absolute symbols, compiler labels, export bookkeeping.
pub(super) fn symbols<'a>(
    bytes: &'a [u8],
    sections: &[Section],
) -> Option<impl Iterator<Item = RawSymbol<'a>> + use<'a>> {
    let symtab = sections.iter().find(|s| s.kind == SHT_SYMTAB)?;
    let names = sections.get(symtab.link as usize)?.bytes(bytes)?;
    let symbols = symtab.bytes(bytes)?.chunks_exact(SYMBOL_LEN);
    Some(symbols.filter_map(move |symbol| {
        let (info, section) = (*symbol.get(4)?, u16_at(symbol, 6)?);
        if matches!(info & 15, STT_SECTION | STT_FILE) || section == 0 || section >= SHN_LORESERVE {
            return None;
        }
        let name = name_at(names, u32_at(symbol, 0)?)?;
        if IGNORED_PREFIXES.iter().any(|p| name.starts_with(p)) {
            return None;
        }
        Some(RawSymbol {
            info,
            section: usize::from(section),
            value: u64_at(symbol, 8)?,
            name,
        })
    }))
}

/// The printable name at `start` of a string table, which ends with NUL.
fn name_at(names: &[u8], start: u32) -> Option<&str> {
    let start = usize::try_from(start).ok()?;
    let end = start.saturating_add(super::MAX_NAME_LEN + 1);
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

fn letter(binding: u8, kind: u8, section: &Section) -> u8 {
    if binding == STB_WEAK {
        return if kind == STT_OBJECT { b'V' } else { b'W' };
    }
    let letter = if section.flags & SHF_EXECINSTR != 0 {
        b't'
    } else if section.kind == SHT_NOBITS {
        b'b'
    } else if section.flags & SHF_WRITE != 0 {
        b'd'
    } else {
        b'r'
    };
    if binding == STB_LOCAL {
        letter
    } else {
        letter.to_ascii_uppercase()
    }
}

/// The segments that are loaded, if they are within the file.
pub(crate) fn segments(bytes: &[u8]) -> Option<Vec<Segment<'_>>> {
    let table = u64_at(bytes, 32)?;
    let (entry_len, count) = (u16_at(bytes, 54)?, u16_at(bytes, 56)?);
    if usize::from(entry_len) != SEGMENT_LEN || usize::from(count) > MAX_SEGMENTS {
        return None;
    }
    let table = slice(bytes, table, u64::from(entry_len) * u64::from(count))?;
    let mut segments = Vec::new();
    for header in table.chunks_exact(SEGMENT_LEN) {
        if u32_at(header, 0)? != PT_LOAD {
            continue;
        }
        segments.push(Segment {
            bytes: slice(bytes, u64_at(header, 8)?, u64_at(header, 32)?)?,
            address: u64_at(header, 16)?,
            memory_len: u64_at(header, 40)?,
            executable: u32_at(header, 4)? & PF_X != 0,
        });
    }
    Some(segments)
}

/// The section headers, if they are within the file.
pub(crate) fn sections(bytes: &[u8]) -> Option<Vec<Section>> {
    let table = u64_at(bytes, 40)?;
    let (entry_len, count) = (u16_at(bytes, 58)?, u16_at(bytes, 60)?);
    if usize::from(entry_len) != SECTION_LEN {
        return None;
    }
    let table = slice(bytes, table, u64::from(entry_len) * u64::from(count))?;
    table
        .chunks_exact(SECTION_LEN)
        .map(|header| {
            Some(Section {
                name_at: u32_at(header, 0)?,
                kind: u32_at(header, 4)?,
                flags: u64_at(header, 8)?,
                offset: u64_at(header, 24)?,
                len: u64_at(header, 32)?,
                link: u32_at(header, 40)?,
            })
        })
        .collect()
}

/// The names of all sections: the string table that the header points to.
pub(crate) fn section_names<'a>(bytes: &'a [u8], sections: &[Section]) -> Option<&'a [u8]> {
    let table = usize::from(u16_at(bytes, 62)?);
    sections.get(table)?.bytes(bytes)
}
