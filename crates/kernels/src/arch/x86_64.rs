// SPDX-License-Identifier: GPL-2.0-or-later
//! x86-64 kernels (`arch/x86` with `CONFIG_64BIT`).

use crate::arch::{Arch, Code, Debian, Interrupts, Machine, PersistentMemory, Source};

pub(crate) static X86_64: Arch = Arch {
    name: "x86_64",
    title: "x86-64",
    elf_machine: 62,
    flat_image: None,
    machine: Machine {
        program: "qemu-system-x86_64",
        package: "qemu-system-x86",
        // With a PVH kernel, this board boots faster than q35 because there is no PCIe to scan.
        // Unlike microvm, it has two serial ports.
        board: "pc",
        board_options: ",vmport=off,usb=off",
        // This model boots three times faster than `max` on QEMU 10, and counts agree across QEMU
        // versions. Features that TCG does not support are off, to avoid QEMU's warnings.
        processor: "Haswell-noTSX,-pcid,-x2apic,-tsc-deadline,-invpcid",
        console: "ttyS0",
        results_port: "/dev/ttyS1",
        results_device: None,
        persistent_memory: Some(PersistentMemory {
            address: 16 << 30,
            driver: ("nd_e820", "CONFIG_X86_PMEM_LEGACY"),
            trace: b"\0e820_pmem\0",
        }),
        cmdline: "reboot=t",
        // Without `nolapic_timer`, boots under icount are slow, because the APIC timer's
        // calibration waits for time that only instructions advance.
        emulated_cmdline: "idle=poll nolapic_timer no_timer_check tsc_early_khz=1000000",
    },
    code: Code {
        // `__START_KERNEL_map`, arch/x86/include/asm/page_64_types.h.
        text_base: 0xffff_ffff_8000_0000,
        // The first kernel instruction after `syscall`; it gives the KASLR slide. 4.15 to 4.19 with
        // page-table isolation have a trampoline before it.
        syscall_entry: "entry_SYSCALL_64",
        syscall_entry_offset: 0,
        syscall_path: &[
            "entry_SYSCALL_64",
            "entry_SYSCALL_64_after_hwframe",
            "do_syscall_64",
            "x64_sys_call",
        ],
        // Since 4.17, arch/x86/include/asm/syscall_wrapper.h.
        syscall_prefix: "__x64_sys_",
        // arch/x86/entry/syscalls/syscall_64.tbl.
        renamed_syscalls: &[
            ("newstat", "stat"),
            ("newfstat", "fstat"),
            ("newlstat", "lstat"),
            ("newuname", "uname"),
            ("sendfile64", "sendfile"),
        ],
        start: "startup_64",
        // Since 4.9.
        context_switch: "__switch_to_asm",
        exception_prefixes: &["asm_exc_"],
        interrupts: &[IDTENTRY, ENTRY],
        slots: &[],
        stub_tables: &["irq_entries_start", "spurious_entries_start"],
        // arch/x86/lib/retpoline.S; `__SCT__`: static call trampolines
        // (include/linux/static_call_types.h).
        thunk_prefixes: &[
            "__x86_indirect_",
            "__x86_return_thunk",
            "__SCT__",
            "srso_",
            "retbleed_",
            "its_return_thunk",
            "call_depth_return_thunk",
        ],
        indirect_thunk_prefix: Some("__x86_indirect_"),
        // `endbr64`.
        landing_pad: 4,
        page_tables: "init_top_pgt",
    },
    source: Source {
        name: "x86",
        target: "bzImage",
        image: "arch/x86/boot/bzImage",
        directory: "arch/x86/",
        include: "arch/x86/include/",
        // arch/x86/include/asm/unistd.h, for 64 bit.
        macros: &[
            "__x86_64__",
            "__ARCH_WANT_NEW_STAT",
            "__ARCH_WANT_SYS_ALARM",
            "__ARCH_WANT_SYS_FADVISE64",
            "__ARCH_WANT_SYS_FORK",
            "__ARCH_WANT_SYS_VFORK",
            "__ARCH_WANT_SYS_CLONE",
            "__ARCH_WANT_SYS_CLONE3",
            "__ARCH_WANT_SYS_UTIME",
            "__ARCH_WANT_SYS_GETPGRP",
            "__ARCH_WANT_SYS_PAUSE",
            "__ARCH_WANT_SYS_NICE",
            "__ARCH_WANT_SYS_TIME",
        ],
        foreign_options: &["ARM*"],
        uniprocessor: true,
        missing_syscalls: &[],
    },
    debian: Debian {
        name: "amd64",
        flavour: "-cloud-amd64",
        include: "/usr/include/x86_64-linux-gnu",
    },
    config: include_str!("x86_64.config"),
};

/// Since 5.8, `DEFINE_IDTENTRY_*` in arch/x86/include/asm/idtentry.h. FRED is not supported,
/// because its single entry serves all events.
const IDTENTRY: Interrupts = Interrupts {
    // Some of the older names are C functions in these kernels.
    since: Some("asm_common_interrupt"),
    prefixes: &["asm_sysvec_", "asm_exc_nmi", "asm_exc_machine_check"],
    names: &[
        "asm_common_interrupt",
        "asm_spurious_interrupt",
        "asm_exc_xen_hypervisor_callback",
        "irq_entries_start",
        "spurious_entries_start",
    ],
};

/// Up to 5.7, `apicinterrupt`, `idtentry` and `ENTRY` in arch/x86/entry/entry_64.S.
const ENTRY: Interrupts = Interrupts {
    since: None,
    prefixes: &[],
    names: &[
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
    ],
};
