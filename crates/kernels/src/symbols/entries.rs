// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernel entries by system calls and asynchronous interrupts, named in [`crate::arch::Code`].

use std::ops::Range;

use super::{Symbol, SymbolTable};

/// Entry code of asynchronous interrupts, by rising link address. If an instruction in one of these
/// ranges follows one outside them, the operation was interrupted.
pub fn interrupt_entries(symbols: &SymbolTable) -> Vec<Range<u64>> {
    let mut starts: Vec<u64> = Vec::new();
    let mut add = |found: &mut dyn Iterator<Item = Symbol<'_>>| {
        starts.extend(found.filter(Symbol::is_code).map(|symbol| symbol.address));
    };
    let mut kinds = symbols.arch().code.interrupts.iter();
    let is_there = |name: &str| symbols.named(name).next().is_some();
    if let Some(kind) = kinds.find(|kind| kind.since.is_none_or(is_there)) {
        for prefix in kind.prefixes {
            add(&mut symbols.with_prefix(prefix));
        }
        for name in kind.names {
            add(&mut symbols.named(name));
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
        .into_iter()
        .filter_map(|start| symbols.extent(start))
        .collect()
}

/// Link address of a system call's first instruction.
pub fn syscall_entry(symbols: &SymbolTable) -> Option<u64> {
    let code = &symbols.arch().code;
    let mut found = symbols.named(code.syscall_entry);
    let symbol = found.find(Symbol::is_code)?;
    symbol.address.checked_add(code.syscall_entry_offset)
}

pub fn context_switch(symbols: &SymbolTable) -> Option<Range<u64>> {
    symbols.function(symbols.arch().code.context_switch)
}
