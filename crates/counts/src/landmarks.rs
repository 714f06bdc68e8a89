// SPDX-License-Identifier: GPL-2.0-or-later
//! Kernel addresses for the plugin, as a text file (`plugin/symbols.h`).

use std::fmt::Write as _;

use kernels::btf::Types;
use kernels::symbols::{SymbolTable, context_switch, interrupt_entries};

/// Lines of `KIND START END` in hexadecimal, END exclusive: `interrupt`, `exception`, `switch` and
/// `idle`, at link addresses, so the kernel must be booted with `nokaslr`. Empty if the kernel has
/// no such symbols.
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
    for slot in code.slots {
        let Some(table) = symbols.function(slot.symbol) else {
            continue;
        };
        let start = table.start.saturating_add(slot.offset);
        match slot.is_interrupt {
            true => line("interrupt", start, start.saturating_add(slot.len)),
            false => line("exception", start, start.saturating_add(1)),
        }
    }
    if let Some(range) = context_switch(symbols) {
        line("switch", range.start, range.start + 1);
    }
    // kernel/sched/idle.c; compilers name parts and variants of it `cpu_idle_poll.isra.0`.
    for symbol in symbols.with_prefix("cpu_idle_poll.") {
        let range = symbols.function(symbol.name);
        range
            .into_iter()
            .for_each(|range| line("idle", range.start, range.end));
    }
    for name in ["cpu_idle_poll", "do_idle"] {
        let range = symbols.function(name);
        range
            .into_iter()
            .for_each(|range| line("idle", range.start, range.end));
    }
    text
}

/// More lines, for the names of transferred words (`plugin/objects.c`).
#[must_use]
pub fn memory_landmarks(symbols: &SymbolTable, types: &Types<'_>) -> String {
    let mut text = String::new();
    let address = |name: &str| symbols.named(name).next().map(|symbol| symbol.address);
    let code = &symbols.arch().code;
    for (kind, start, end) in [
        ("image", "_text", Some("_end")),
        ("tables", code.page_tables, None),
        ("percpu", "__per_cpu_start", Some("__per_cpu_end")),
        ("percpu_offset", "__per_cpu_offset", None),
        ("percpu_unit", "pcpu_unit_size", None),
        ("caches", "slab_caches", None),
    ] {
        if let Some(start) = address(start) {
            let end = end.and_then(address).unwrap_or(0);
            let _ = writeln!(text, "{kind} {start:x} {end:x}");
        }
    }
    if let (Some(array), Some(bytes)) = (address("mem_section"), types.size_of("mem_section")) {
        let _ = writeln!(text, "sections {array:x} {bytes:x}");
    }
    for field in ["list", "name", "size", "refcount"] {
        if let Some(offset) = types.offset_of("kmem_cache", field) {
            let _ = writeln!(text, "cache_{field} {offset:x} 0");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, map: &str) -> String {
        let arch = kernels::arch::by_name(name).unwrap();
        landmarks(&SymbolTable::from_map(arch, map).unwrap())
    }

    #[test]
    fn entries_are_told_by_names_or_by_their_place_in_a_table() {
        let map = "ffffffff81000000 T asm_exc_page_fault\nffffffff81000020 T asm_sysvec_reboot\n\
                   ffffffff81000040 T asm_common_interrupt\nffffffff81000060 T __switch_to_asm\n\
                   ffffffff81000080 T irq_entries_start\nffffffff81000100 T _end\n";
        assert_eq!(
            found("x86_64", map),
            "interrupt ffffffff81000020 ffffffff81000021\n\
             interrupt ffffffff81000040 ffffffff81000041\n\
             interrupt ffffffff81000080 ffffffff81000100\n\
             exception ffffffff81000000 ffffffff81000001\n\
             switch ffffffff81000060 ffffffff81000061\n"
        );
        let map = "ffff800080010800 T vectors\nffff800080011000 t el1h_64_sync\n\
                   ffff800080011100 t el1h_64_irq\nffff800080012000 T cpu_switch_to\n\
                   ffff800080012080 T _end\n";
        assert_eq!(
            found("aarch64", map),
            "interrupt ffff800080011100 ffff800080011101\n\
             exception ffff800080010a00 ffff800080010a01\n\
             interrupt ffff800080010a80 ffff800080010c00\n\
             interrupt ffff800080010c80 ffff800080010e00\n\
             switch ffff800080012000 ffff800080012001\n"
        );
        assert_eq!(found("aarch64", "ffff800080012080 T _end\n"), "");
    }
}
