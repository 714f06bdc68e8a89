// SPDX-License-Identifier: GPL-2.0-or-later
//! What the plugin must know of a kernel's addresses, as the text file that it
//! reads (`plugin/symbols.h`).

use std::fmt::Write as _;

use kernels::symbols::{SymbolTable, context_switch, interrupt_entries};

/// What has the plugin count the calls of functions that begin there between the windows of a cell:
/// lines for the end of [`landmarks`], known by their position among each other. At most
/// [`crate::records::MAX_LATER`] of them are watched.
#[must_use]
pub fn later(starts: &[u64]) -> String {
    let mut text = String::new();
    for &start in starts {
        let _ = writeln!(text, "later {start:x} {:x}", start + 1);
    }
    text
}

/// Lines of `KIND START END` in hexadecimal, END exclusive: `interrupt`,
/// `exception` and `switch`. Addresses are as linked: boot with `nokaslr`.
/// Empty if the kernel has no such symbols.
#[must_use]
pub fn landmarks(symbols: &SymbolTable) -> String {
    let mut text = String::new();
    let mut line = |kind: &str, start: u64, end: u64| {
        let _ = writeln!(text, "{kind} {start:x} {end:x}");
    };

    let code = &symbols.arch().code;
    let interrupts = interrupt_entries(symbols);
    for range in &interrupts {
        let is_table = symbols
            .at(range.start)
            .any(|symbol| code.stub_tables.contains(&symbol.name));
        line(
            "interrupt",
            range.start,
            if is_table { range.end } else { range.start + 1 },
        );
    }
    let exceptions = code.exception_prefixes.iter();
    for symbol in exceptions.flat_map(|prefix| symbols.with_prefix(prefix)) {
        let interrupt = interrupts.iter().any(|range| range.start == symbol.address);
        if symbol.is_code() && !interrupt {
            line("exception", symbol.address, symbol.address + 1);
        }
    }
    if let Some(range) = context_switch(symbols) {
        line("switch", range.start, range.start + 1);
    }
    text
}
