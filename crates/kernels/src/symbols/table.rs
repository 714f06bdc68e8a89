// SPDX-License-Identifier: GPL-2.0-or-later

use std::ops::Range;

use crate::arch::Arch;

use super::{MAX_NAME_BYTES, MAX_NAME_LEN, MAX_SYMBOLS, SymbolError};

/// Prefix of aliases for code that runs before relocation (`SYM_PIC_ALIAS` in
/// `arch/x86/include/asm/linkage.h`, `SYM_FUNC_ALIAS` of arm64).
const POSITION_INDEPENDENT: &str = "__pi_";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// Link address: the guest's address minus the KASLR slide. Per-CPU variables before 6.15 are
    /// offsets from zero.
    pub address: u64,
    pub name: &'a str,
    /// nm(1)'s letter: `T` and `t` are code, `W` is weak, upper case is global; `?` is unknown,
    /// such as `__nosave_begin` in a section without contents.
    pub kind: char,
}

impl Symbol<'_> {
    /// Code, or a weak definition.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, 'T' | 't' | 'W' | 'w')
    }
}

pub(super) fn is_kind(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'?'
}

/// A code symbol and the addresses up to the next symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function<'a> {
    /// If several are at the same address, the first in the kernel's table.
    pub name: &'a str,
    /// Link addresses, including padding after the code.
    pub range: Range<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub address: u64,
    pub name_at: u32,
    pub name_len: u16,
    pub kind: u8,
}

/// A kernel's symbols by address; equal addresses keep the kernel's order. `__pfx_*` (padding
/// before functions) is left out.
#[derive(Debug, Clone)]
pub struct SymbolTable {
    arch: &'static Arch,
    pub(super) entries: Vec<Entry>,
    pub(super) names: String,
    /// Indices of `entries`, sorted by name, then address.
    by_name: Vec<u32>,
}

impl PartialEq for SymbolTable {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for SymbolTable {}

impl SymbolTable {
    pub fn arch(&self) -> &'static Arch {
        self.arch
    }

    /// By rising address.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Symbol<'_>> + DoubleEndedIterator {
        self.entries.iter().map(|entry| self.symbol(entry))
    }

    /// Symbols called `name`, by rising address: static functions of different files can share one.
    pub fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = Symbol<'a>> + use<'a> {
        let start = self.first_by_name(|other| other < name);
        let end = self.first_by_name(|other| other <= name);
        self.by_name_range(start..end)
    }

    /// By name, then by address.
    pub fn with_prefix<'a>(&'a self, prefix: &str) -> impl Iterator<Item = Symbol<'a>> + use<'a> {
        let start = self.first_by_name(|other| other < prefix);
        let end = self.first_by_name(|other| other < prefix || other.starts_with(prefix));
        self.by_name_range(start..end)
    }

    /// In the kernel's order.
    pub fn at(&self, address: u64) -> impl Iterator<Item = Symbol<'_>> {
        let start = self.entries.partition_point(|e| e.address < address);
        self.entries[start..]
            .iter()
            .take_while(move |e| e.address == address)
            .map(|entry| self.symbol(entry))
    }

    /// The nearest symbol at or below `address`.
    #[must_use]
    pub fn below(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self.entries.partition_point(|e| e.address <= address);
        self.at(self.entries[..after].last()?.address).next()
    }

    /// The function that contains `address`: the nearest symbols at or below it, if one is code;
    /// aliases for position-independent code come last. None after the last symbol, whose end is
    /// unknown.
    pub fn function_at(&self, address: u64) -> Option<Function<'_>> {
        let after = self.entries.partition_point(|e| e.address <= address);
        let end = self.entries.get(after)?.address;
        let start = self.entries[..after].last()?.address;
        let code = || self.at(start).filter(Symbol::is_code);
        let first = code().find(|symbol| !symbol.name.starts_with(POSITION_INDEPENDENT));
        let symbol = first.or_else(|| code().next())?;
        Some(Function {
            name: symbol.name,
            range: start..end,
        })
    }

    pub fn function(&self, name: &str) -> Option<Range<u64>> {
        self.named(name)
            .filter(Symbol::is_code)
            .find_map(|symbol| self.extent(symbol.address))
    }

    pub fn extent(&self, address: u64) -> Option<Range<u64>> {
        let after = self.entries.partition_point(|e| e.address <= address);
        Some(address..self.entries.get(after)?.address)
    }

    fn symbol(&self, entry: &Entry) -> Symbol<'_> {
        Symbol {
            address: entry.address,
            name: self.name(entry),
            kind: char::from(entry.kind),
        }
    }

    pub(super) fn name(&self, entry: &Entry) -> &str {
        name_of(&self.names, entry)
    }

    fn first_by_name(&self, before: impl Fn(&str) -> bool) -> usize {
        self.by_name
            .partition_point(|&at| before(self.name(&self.entries[at as usize])))
    }

    fn by_name_range(&self, range: Range<usize>) -> impl Iterator<Item = Symbol<'_>> {
        self.by_name[range]
            .iter()
            .map(|&at| self.symbol(&self.entries[at as usize]))
    }
}

/// Names are ASCII and complete, so the range is valid. A wrong range gives an empty name.
fn name_of<'n>(names: &'n str, entry: &Entry) -> &'n str {
    let start = entry.name_at as usize;
    names
        .get(start..start + usize::from(entry.name_len))
        .unwrap_or_default()
}

/// A name's first bytes, which decide most comparisons.
fn begin(name: &str) -> u128 {
    let mut first = [0; 16];
    let length = name.len().min(first.len());
    first[..length].copy_from_slice(&name.as_bytes()[..length]);
    u128::from_be_bytes(first)
}

#[derive(Debug)]
pub(super) struct Builder {
    pub arch: &'static Arch,
    entries: Vec<Entry>,
    names: String,
}

impl Builder {
    pub fn new(arch: &'static Arch) -> Self {
        Self {
            arch,
            entries: Vec::new(),
            names: String::new(),
        }
    }

    pub fn from_table(table: &SymbolTable) -> Self {
        Self {
            arch: table.arch,
            entries: table.entries.clone(),
            names: table.names.clone(),
        }
    }

    pub fn append(&mut self, other: &Self) -> Result<(), SymbolError> {
        other
            .entries
            .iter()
            .try_for_each(|e| self.push(e.address, e.kind, name_of(&other.names, e)))
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// `name` must be printable ASCII.
    pub fn push(&mut self, address: u64, kind: u8, name: &str) -> Result<(), SymbolError> {
        debug_assert!(name.is_ascii());
        if self.entries.len() >= MAX_SYMBOLS {
            return Err(SymbolError::TooMany("more than 4 million"));
        }
        let name_len = u16::try_from(name.len())
            .ok()
            .filter(|&len| usize::from(len) <= MAX_NAME_LEN)
            .ok_or(SymbolError::TooMany("a name longer than 1 KiB"))?;
        let name_at = u32::try_from(self.names.len())
            .ok()
            .filter(|_| self.names.len() + name.len() <= MAX_NAME_BYTES)
            .ok_or(SymbolError::TooMany("names longer than 128 MiB together"))?;
        self.names.push_str(name);
        self.entries.push(Entry {
            address,
            name_at,
            name_len,
            kind,
        });
        Ok(())
    }

    /// In the order in which the symbols were added.
    pub fn set_addresses(&mut self, addresses: &[u64]) {
        for (entry, &address) in self.entries.iter_mut().zip(addresses) {
            entry.address = address;
        }
    }

    pub fn positions(&self, name: &str) -> Vec<usize> {
        (0..self.entries.len())
            .filter(|&at| name_of(&self.names, &self.entries[at]) == name)
            .collect()
    }

    /// Orders symbols of one address like `compare_symbols` of `scripts/kallsyms.c`: strong before
    /// weak, few underscores before many.
    pub fn order_aliases(&mut self) {
        let names = &self.names;
        self.entries.sort_by_cached_key(|entry| {
            let name = name_of(names, entry);
            let weak = matches!(entry.kind, b'W' | b'w' | b'V' | b'v');
            let underscores = name.len() - name.trim_start_matches('_').len();
            (entry.address, weak, underscores, entry.name_at)
        });
    }

    pub fn finish(self) -> SymbolTable {
        let Self {
            arch,
            mut entries,
            names,
        } = self;
        entries.retain(|entry| !name_of(&names, entry).starts_with("__pfx_"));
        entries.sort_by_key(|entry| entry.address);
        // MAX_SYMBOLS fits 32 bits.
        let name = |at: u32| name_of(&names, &entries[at as usize]);
        let mut by_name: Vec<(u128, u32)> = (0..entries.len() as u32)
            .map(|at| (begin(name(at)), at))
            .collect();
        by_name.sort_unstable_by(|&(a_begin, a), &(b_begin, b)| {
            a_begin
                .cmp(&b_begin)
                .then_with(|| (name(a), a).cmp(&(name(b), b)))
        });
        let by_name = by_name.into_iter().map(|(_, at)| at).collect();
        SymbolTable {
            arch,
            entries,
            names,
            by_name,
        }
    }
}
