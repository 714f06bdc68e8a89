// SPDX-License-Identifier: GPL-2.0-or-later
//! Where an x86-64 kernel is entered: by system calls, and by interrupts that
//! have nothing to do with the operation they hit.
//!
//! The names are those of `arch/x86/entry/entry_64.S` and of
//! `arch/x86/include/asm/idtentry.h`. Synchronous exceptions
//! (`asm_exc_page_fault` …) are not here: they belong to the operation that
//! raises them. Nor is FRED, whose one entry serves everything.

use std::ops::Range;

use super::{Symbol, SymbolTable};

/// Since 5.8, `DEFINE_IDTENTRY_*`: any name that begins so.
const PREFIXES: [&str; 3] = ["asm_sysvec_", "asm_exc_nmi", "asm_exc_machine_check"];
/// Since 5.8, whole names.
const NAMES: [&str; 5] = [
    "asm_common_interrupt",
    "asm_spurious_interrupt",
    "asm_exc_xen_hypervisor_callback",
    "irq_entries_start",
    "spurious_entries_start",
];
/// Since 5.8 always there; before, some of [`OLD_NAMES`] are C functions.
const NEW_STYLE: &str = "asm_common_interrupt";

/// Up to 5.7, `apicinterrupt`, `idtentry` and `ENTRY` in `entry_64.S`.
const OLD_NAMES: [&str; 28] = [
    "acrn_hv_callback_vector",
    "apic_timer_interrupt",
    "call_function_interrupt",
    "call_function_single_interrupt",
    "common_interrupt",
    "common_spurious",
    "deferred_error_interrupt",
    "error_interrupt",
    "hv_stimer0_callback_vector",
    "hyperv_callback_vector",
    "hyperv_reenlightenment_vector",
    "irq_entries_start",
    "irq_move_cleanup_interrupt",
    "irq_work_interrupt",
    "kvm_posted_intr_ipi",
    "kvm_posted_intr_nested_ipi",
    "kvm_posted_intr_wakeup_ipi",
    "machine_check",
    "nmi",
    "reboot_interrupt",
    "reschedule_interrupt",
    "spurious_entries_start",
    "spurious_interrupt",
    "thermal_interrupt",
    "threshold_interrupt",
    "uv_bau_message_intr1",
    "x86_platform_ipi",
    "xen_hvm_callback_vector",
];
/// Up to 4.14 the entries taken while interrupts are traced.
const OLD_TRACE_PREFIX: &str = "trace_";

/// The code by which asynchronous interrupts enter the kernel, by rising
/// address, as linked: an instruction in one of the ranges that follows one
/// outside means that the operation was interrupted.
#[must_use]
pub fn interrupt_entries(symbols: &SymbolTable) -> Vec<Range<u64>> {
    let mut starts: Vec<u64> = Vec::new();
    let mut add = |found: &mut dyn Iterator<Item = Symbol<'_>>| {
        starts.extend(found.filter(Symbol::is_code).map(|symbol| symbol.address));
    };
    if symbols.named(NEW_STYLE).next().is_some() {
        for prefix in PREFIXES {
            add(&mut symbols.with_prefix(prefix));
        }
        for name in NAMES {
            add(&mut symbols.named(name));
        }
    } else {
        for name in OLD_NAMES {
            add(&mut symbols.named(name));
            let traced = format!("{OLD_TRACE_PREFIX}{name}");
            add(&mut symbols.named(&traced));
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
        .into_iter()
        .filter_map(|start| symbols.extent(start))
        .collect()
}

/// The first instruction of a 64-bit system call, as linked. It is the first
/// kernel instruction after `syscall`, which gives the KASLR slide; only 4.15
/// to 4.19 with page-table isolation go through a trampoline before.
#[must_use]
pub fn syscall_entry(symbols: &SymbolTable) -> Option<u64> {
    let mut found = symbols.named("entry_SYSCALL_64");
    found.find(Symbol::is_code).map(|symbol| symbol.address)
}

/// The code that switches from one task's stack to another's
/// (`__switch_to_asm`, since 4.9), as linked.
#[must_use]
pub fn context_switch(symbols: &SymbolTable) -> Option<Range<u64>> {
    symbols.function("__switch_to_asm")
}
