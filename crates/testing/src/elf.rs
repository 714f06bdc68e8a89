// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes small ELF files for the architecture of the tests' kernels.

/// Section flags `SHF_ALLOC` and `SHF_EXECINSTR`.
pub const CODE: u64 = 6;
/// Section flag `SHF_ALLOC`.
pub const DATA: u64 = 2;
/// Offset of the first section's bytes in a file.
pub const FIRST_AT: usize = 64 + 56;

const SYMTAB: u32 = 2;
const STRTAB: u32 = 3;

/// The first has number 1.
#[derive(Debug, Clone, Default)]
pub struct Section<'a> {
    pub name: &'a str,
    pub kind: u32,
    pub flags: u64,
    pub address: u64,
    pub bytes: Vec<u8>,
    pub link: u32,
}

impl<'a> Section<'a> {
    pub fn new(name: &'a str, flags: u64, bytes: Vec<u8>) -> Self {
        Self {
            name,
            kind: 1,
            flags,
            bytes,
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub address: u64,
    pub sections: usize,
}

/// `.symtab` and `.strtab`, to follow section number `last`. Symbols: name, type and binding as in
/// `st_info`, section, and value.
pub fn symbols<'n>(
    last: usize,
    symbols: impl Iterator<Item = (&'n str, u8, u16, u64)>,
) -> [Section<'static>; 2] {
    let (mut entries, mut names) = (vec![0; 24], vec![0]);
    for (name, info, section, value) in symbols {
        entries.extend((names.len() as u32).to_le_bytes());
        entries.extend([info, 0]);
        entries.extend(section.to_le_bytes());
        entries.extend(value.to_le_bytes());
        entries.extend([0; 8]);
        names.extend(name.bytes().chain([0]));
    }
    let table = |name, kind, bytes, link| Section {
        name,
        kind,
        bytes,
        link,
        ..Section::default()
    };
    [
        table(".symtab", SYMTAB, entries, last as u32 + 2),
        table(".strtab", STRTAB, names, 0),
    ]
}

/// A file of type `kind` (`ET_*`), with section headers at its end; without any if only the
/// segment's sections are given.
pub fn write(kind: u16, segment: Option<Segment>, sections: &[Section<'_>]) -> Vec<u8> {
    let mut names = vec![0];
    let name_ats: Vec<usize> = sections
        .iter()
        .map(|section| section.name)
        .chain([".shstrtab"])
        .map(|name| {
            names.extend(name.bytes().chain([0]));
            names.len() - name.len() - 1
        })
        .collect();
    let table = Section {
        kind: STRTAB,
        bytes: names,
        ..Section::default()
    };
    let in_segment = segment.map_or(0, |segment| segment.sections);
    let whole = sections.len() > in_segment;
    let mut file = vec![0; FIRST_AT];
    let mut headers = vec![0; 64];
    for (section, &name_at) in sections
        .iter()
        .chain(whole.then_some(&table))
        .zip(&name_ats)
    {
        headers.extend((name_at as u32).to_le_bytes());
        headers.extend(section.kind.to_le_bytes());
        let (at, len) = (file.len() as u64, section.bytes.len() as u64);
        for field in [section.flags, section.address, at, len] {
            headers.extend(field.to_le_bytes());
        }
        headers.extend(section.link.to_le_bytes());
        headers.extend([0; 20]);
        file.extend(&section.bytes);
    }
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\x7fELF\x02\x01\x01");
    put(16, &kind.to_le_bytes());
    put(18, &62u16.to_le_bytes());
    if let Some(segment) = segment {
        put(32, &64u64.to_le_bytes());
        put(54, &56u16.to_le_bytes());
        put(56, &1u16.to_le_bytes());
        put(64, &segment.kind.to_le_bytes());
        put(68, &segment.flags.to_le_bytes());
        put(72, &(FIRST_AT as u64).to_le_bytes());
        put(80, &segment.address.to_le_bytes());
        let loaded = &sections[..segment.sections];
        let len: usize = loaded.iter().map(|section| section.bytes.len()).sum();
        put(96, &(len as u64).to_le_bytes());
        put(104, &(len as u64).to_le_bytes());
    }
    if whole {
        let count = headers.len() as u16 / 64;
        let at = file.len() as u64;
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(40, &at.to_le_bytes());
        put(58, &64u16.to_le_bytes());
        put(60, &count.to_le_bytes());
        put(62, &(count - 1).to_le_bytes());
        file.extend(headers);
    }
    file
}

/// A kernel module without code, with these lines in its section `.modinfo`.
pub fn module(modinfo: &[&str]) -> Vec<u8> {
    let lines = modinfo.iter().flat_map(|line| line.bytes().chain([0]));
    write(1, None, &[Section::new(".modinfo", 0, lines.collect())])
}
