// SPDX-License-Identifier: GPL-2.0-or-later
//! A symbol table as a text file, so that an image is searched once: a line with the
//! format's version and the CRC-32 of what follows, the architecture's name, then lines as
//! `System.map` has them.

use std::io::{self, Read, Write};

use crate::arch::Arch;

use super::table::{Builder, is_kind};
use super::{MAX_NAME_BYTES, MAX_SYMBOLS, SymbolError, SymbolTable};

const HEADER: &str = "lsmeter symbols 2 ";
/// The first two lines, and for each symbol an address, a kind, two blanks and a line's end.
const MAX_LEN: usize = 64 + MAX_SYMBOLS * 20 + MAX_NAME_BYTES;

impl SymbolTable {
    /// The table of a kernel of architecture `arch`, from lines of an address in
    /// hexadecimal, the letter of nm(1) and a name, as `System.map` has them. Those of one
    /// address keep their order.
    ///
    /// [`SymbolError::NotMap`] if a line is another; [`SymbolError::TooMany`] beyond the
    /// limits of a table.
    pub fn from_map(arch: &'static Arch, text: &str) -> Result<Self, SymbolError> {
        let mut builder = Builder::new(arch);
        for (line, symbol) in (1..).zip(text.lines()) {
            let (address, kind, name) = parts(symbol).ok_or(SymbolError::NotMap { line })?;
            builder.push(address, kind, name)?;
        }
        Ok(builder.finish())
    }

    /// Writes the table for [`SymbolTable::read_cache`]. The same table always
    /// gives the same bytes.
    ///
    /// Those of `to`.
    pub fn write_cache(&self, mut to: impl Write) -> io::Result<()> {
        let mut map = format!("{}\n", self.arch().name).into_bytes();
        for symbol in self.iter() {
            writeln!(map, "{:x} {} {}", symbol.address, symbol.kind, symbol.name)?;
        }
        writeln!(to, "{HEADER}{:08x}", crc32fast::hash(&map))?;
        to.write_all(&map)
    }

    /// Reads what [`SymbolTable::write_cache`] wrote. `None` if it cannot be read, was
    /// written by another version, or is damaged in any way: the image has it all.
    #[must_use]
    pub fn read_cache(from: impl Read) -> Option<Self> {
        let mut text = String::new();
        let limit = MAX_LEN as u64 + 1;
        from.take(limit).read_to_string(&mut text).ok()?;
        let (crc, body) = text.strip_prefix(HEADER)?.split_once('\n')?;
        if text.len() > MAX_LEN || crc != format!("{:08x}", crc32fast::hash(body.as_bytes())) {
            return None;
        }
        let (arch, map) = body.split_once('\n')?;
        Self::from_map(crate::arch::by_name(arch)?, map).ok()
    }
}

fn parts(line: &str) -> Option<(u64, u8, &str)> {
    let (address, rest) = line.split_once(' ')?;
    let (kind, name) = rest.split_once(' ')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let &[kind] = kind.as_bytes() else {
        return None;
    };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    (is_name && is_kind(kind)).then_some((address, kind, name))
}
