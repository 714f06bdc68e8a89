// SPDX-License-Identifier: GPL-2.0-or-later

use crate::arch::Arch;

use super::table::{Builder, is_kind};
use super::{Symbol, SymbolError, SymbolTable};

impl SymbolTable {
    /// Reads lines of hexadecimal address, nm(1) letter and name. Equal addresses keep their order.
    pub fn from_map(arch: &'static Arch, text: &str) -> Result<Self, SymbolError> {
        let mut builder = Builder::new(arch);
        for (line, symbol) in (1..).zip(text.lines()) {
            let (address, kind, name) = parts(symbol).ok_or(SymbolError::NotMap(line))?;
            builder.push(address, kind, name)?;
        }
        Ok(builder.finish())
    }

    pub fn to_map(&self) -> String {
        let line =
            |symbol: Symbol<'_>| format!("{:x} {} {}\n", symbol.address, symbol.kind, symbol.name);
        self.iter().map(line).collect()
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
