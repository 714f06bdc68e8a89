// SPDX-License-Identifier: GPL-2.0-or-later
//! A compact file form of a symbol table, so that an image is searched once.
//!
//! Little endian: the magic; in 32 bits each a version, the `e_machine` of the kernel's
//! architecture, the number of symbols and the length of all names; then for each symbol the distance to the address before it
//! (ULEB128), its kind (one byte) and the length of its name (16 bits); then
//! the names; then the CRC-32 of everything before.

use std::io::{self, Read, Write};

use super::elf::{u16_at, u32_at};
use super::table::{Builder, is_kind};
use super::{MAX_NAME_BYTES, MAX_SYMBOLS, SymbolError, SymbolTable};

const MAGIC: &[u8; 8] = b"lsmesyms";
const VERSION: u32 = 2;
const HEADER_LEN: usize = MAGIC.len() + 16;
const CRC_LEN: usize = 4;
/// Ten bytes of ULEB128, the kind, the length of the name.
const MAX_ENTRY_LEN: usize = 13;
const MAX_LEN: usize = HEADER_LEN + MAX_SYMBOLS * MAX_ENTRY_LEN + MAX_NAME_BYTES + CRC_LEN;

/// Why a cached symbol table cannot be used: make it again from the image.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Reading failed.
    #[error("cannot read the cached symbol table")]
    Io(#[from] io::Error),
    /// Written by another version of this program.
    #[error("the cached symbol table has format {found}, this program reads {VERSION}")]
    Version {
        /// The version in it.
        found: u32,
    },
    /// Cut off, changed or no symbol table at all.
    #[error("the cached symbol table is damaged: {reason}")]
    Damaged {
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl CacheError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        "remove the file: it is made again from the kernel image"
    }
}

fn damaged(reason: &'static str) -> CacheError {
    CacheError::Damaged { reason }
}

impl SymbolTable {
    /// Writes the table for [`SymbolTable::read_cache`]. The same table always
    /// gives the same bytes.
    ///
    /// # Errors
    ///
    /// Those of `to`.
    pub fn write_cache(&self, mut to: impl Write) -> io::Result<()> {
        let names_len: usize = self.iter().map(|symbol| symbol.name.len()).sum();
        let mut bytes = Vec::with_capacity(HEADER_LEN + self.len() * 6 + names_len + CRC_LEN);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        let machine = u32::from(self.arch().elf_machine);
        bytes.extend_from_slice(&machine.to_le_bytes());
        // Both are within the limits that every table was built with.
        bytes.extend_from_slice(&(self.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(names_len as u32).to_le_bytes());
        let mut last = 0;
        for entry in &self.entries {
            push_uleb128(&mut bytes, entry.address - last);
            last = entry.address;
            bytes.push(entry.kind);
            bytes.extend_from_slice(&entry.name_len.to_le_bytes());
        }
        for symbol in self.iter() {
            bytes.extend_from_slice(symbol.name.as_bytes());
        }
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        to.write_all(&bytes)
    }

    /// Reads what [`SymbolTable::write_cache`] wrote.
    ///
    /// # Errors
    ///
    /// [`CacheError`] if reading fails, or if it was written by another
    /// version, or is damaged in any way.
    pub fn read_cache(from: impl Read) -> Result<Self, CacheError> {
        let mut bytes = Vec::new();
        from.take(MAX_LEN as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MAX_LEN {
            return Err(damaged("it is too long"));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(damaged("it does not begin as one"));
        }
        let short = || damaged("it is cut off");
        let version = u32_at(&bytes, MAGIC.len()).ok_or_else(short)?;
        if version != VERSION {
            return Err(CacheError::Version { found: version });
        }
        let body_len = bytes.len().checked_sub(CRC_LEN).ok_or_else(short)?;
        let (body, crc) = bytes.split_at(body_len);
        if u32_at(crc, 0) != Some(crc32fast::hash(body)) {
            return Err(damaged("its checksum does not fit"));
        }
        decode(body)
    }
}

fn decode(body: &[u8]) -> Result<SymbolTable, CacheError> {
    let short = || damaged("it ends too early");
    let machine = u32_at(body, MAGIC.len() + 4).ok_or_else(short)?;
    let arch = u16::try_from(machine).ok().and_then(arch::by_elf_machine);
    let arch = arch.ok_or_else(|| damaged("it is of no known architecture"))?;
    let number = u32_at(body, MAGIC.len() + 8).ok_or_else(short)? as usize;
    let names_len = u32_at(body, MAGIC.len() + 12).ok_or_else(short)? as usize;
    let names_at = body.len().checked_sub(names_len).ok_or_else(short)?;
    let mut entries = body.get(HEADER_LEN..names_at).ok_or_else(short)?;
    let names = str::from_utf8(&body[names_at..]).ok();
    let mut names = names
        .filter(|names| names.bytes().all(|byte| byte.is_ascii_graphic()))
        .ok_or_else(|| damaged("a name is not printable ASCII"))?;

    let mut builder = Builder::new(arch);
    let mut address = 0u64;
    for _ in 0..number {
        let distance = take_uleb128(&mut entries).ok_or_else(short)?;
        address = address
            .checked_add(distance)
            .ok_or_else(|| damaged("an address is above 64 bits"))?;
        let (kind, name_len) = match (entries.first(), u16_at(entries, 1)) {
            (Some(&kind), Some(name_len)) if is_kind(kind) => (kind, name_len),
            (Some(_), Some(_)) => return Err(damaged("a kind is none of nm(1)'s")),
            _ => return Err(short()),
        };
        entries = &entries[3..];
        let (name, rest) = names
            .split_at_checked(usize::from(name_len))
            .ok_or_else(short)?;
        names = rest;
        builder
            .push(address, kind, name)
            .map_err(|error| match error {
                SymbolError::TooMany { what } => damaged(what),
                _ => damaged("a symbol is out of bounds"),
            })?;
    }
    if !entries.is_empty() || !names.is_empty() {
        return Err(damaged("something is left over"));
    }
    Ok(builder.finish())
}

fn push_uleb128(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn take_uleb128(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
