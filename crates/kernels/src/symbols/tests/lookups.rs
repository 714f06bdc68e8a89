// SPDX-License-Identifier: GPL-2.0-or-later

use super::encoder::{TEXT, sym};
use super::table_with;
use crate::symbols::{context_switch, interrupt_entries, syscall_entry};

#[test]
fn prefixes_give_all_names_in_order() {
    let table = table_with(&[
        sym(8, 't', "zz"),
        sym(16, 't', "zz_a"),
        sym(24, 't', "zz_b"),
    ]);
    let names = |prefix: &str| -> Vec<String> {
        let found = table.with_prefix(prefix);
        found.map(|s| s.name.to_owned()).collect()
    };
    assert_eq!(names("zz"), ["zz", "zz_a", "zz_b"]);
    assert_eq!(names("zz_"), ["zz_a", "zz_b"]);
    assert_eq!(names("zzz"), Vec::<String>::new());
    assert_eq!(names("").len(), table.iter().len());
    assert_eq!(names("__pfx_").len(), 0);
    let hooks = table.iter().filter(|s| s.name.starts_with("security_"));
    assert_eq!(names("security_").len(), hooks.count());
}

#[test]
fn an_address_belongs_to_the_symbol_before_it() {
    let table = table_with(&[
        sym(0x10, 'd', "alias_data"),
        sym(0x10, 't', "alias_first"),
        sym(0x10, 't', "alias_second"),
        sym(0x40, 't', "follows"),
        sym(0x50, 'd', "data"),
    ]);
    let range = table.function("alias_second").expect("a function");
    assert_eq!(range.end - range.start, 0x30);
    for address in [range.start, range.start + 1, range.end - 1] {
        let function = table.function_at(address).expect("a function");
        assert_eq!(function.name, "alias_first");
        assert_eq!(function.range, range);
    }
    assert_eq!(table.function_at(range.end).expect("next").name, "follows");
    assert_eq!(table.at(range.start).count(), 3);
    assert_eq!(table.at(range.start + 1).count(), 0);

    assert!(table.function_at(range.end + 0x10).is_none(), "data");
    assert!(table.function_at(0).is_none(), "before the first");
    assert!(table.function_at(TEXT - 1).is_none());
    assert!(table.function_at(u64::MAX).is_none(), "after the last");
    assert!(table.function("alias_data").is_none());
    let end = table.named("_end").next().expect("_end").address;
    assert!(table.extent(end).is_none());
}

#[test]
fn a_second_name_for_position_independent_code_is_not_the_function_s() {
    let table = table_with(&[
        sym(0x10, 'T', "__pi_memcpy"),
        sym(0x10, 'W', "memcpy"),
        sym(0x40, 'T', "__pi_alone"),
        sym(0x80, 'T', "last"),
    ]);
    let at = |name| table.function(name).expect("a function").start;
    let name = |address| table.function_at(address).expect("a function").name;
    assert_eq!(name(at("__pi_memcpy")), "memcpy");
    assert_eq!(name(at("__pi_alone")), "__pi_alone");
}

#[test]
fn only_asynchronous_entries_are_interrupts() {
    let table = table_with(&[
        sym(0x100, 'T', "asm_exc_page_fault"),
        sym(0x110, 'T', "asm_exc_general_protection"),
        sym(0x120, 'T', "asm_exc_int3"),
        sym(0x200, 'T', "irq_entries_start"),
        sym(0x280, 'T', "spurious_entries_start"),
        sym(0x2a0, 'T', "asm_exc_nmi"),
        sym(0x2c0, 't', "nested_nmi"),
        sym(0x2e0, 'T', "asm_exc_machine_check"),
        sym(0x300, 'T', "asm_common_interrupt"),
        sym(0x300, 'T', "asm_common_interrupt_alias"),
        sym(0x310, 'T', "asm_sysvec_apic_timer_interrupt"),
        sym(0x320, 'd', "asm_sysvec_not_code"),
        sym(0x330, 't', "common_interrupt"),
        sym(0x340, 't', "nmi"),
        sym(0x350, 'T', "__switch_to_asm"),
        sym(0x3a0, 'T', "__switch_to"),
    ]);
    let base = table.function("asm_exc_page_fault").expect("there").start - 0x100;
    let entries: Vec<_> = interrupt_entries(&table)
        .into_iter()
        .map(|range| (range.start - base, range.end - base))
        .collect();
    assert_eq!(
        entries,
        [
            (0x200, 0x280),
            (0x280, 0x2a0),
            (0x2a0, 0x2c0),
            (0x2e0, 0x300),
            (0x300, 0x310),
            (0x310, 0x320)
        ]
    );
    assert_eq!(syscall_entry(&table), Some(TEXT + 0x20));
    assert_eq!(
        context_switch(&table),
        Some(base + 0x350..base + 0x3a0),
        "up to the next symbol"
    );
}

#[test]
fn older_kernels_have_other_names_for_interrupts() {
    let table = table_with(&[
        sym(0x10, 'T', "irq_entries_start"),
        sym(0x90, 't', "common_interrupt"),
        sym(0xa0, 'T', "apic_timer_interrupt"),
        sym(0xc0, 'T', "page_fault"),
        sym(0xd0, 'T', "smp_apic_timer_interrupt"),
        sym(0xe0, 'T', "nmi"),
    ]);
    let base = table.function("irq_entries_start").expect("there").start - 0x10;
    let starts: Vec<_> = interrupt_entries(&table)
        .into_iter()
        .map(|range| range.start - base)
        .collect();
    assert_eq!(starts, [0x10, 0x90, 0xa0, 0xe0]);
    assert!(context_switch(&table).is_none());
}
