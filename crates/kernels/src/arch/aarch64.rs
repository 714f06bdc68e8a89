// SPDX-License-Identifier: GPL-2.0-or-later

use crate::arch::{Arch, Code, Debian, FlatImage, Interrupts, Machine, Slot, Source};

pub(crate) static AARCH64: Arch = Arch {
    name: "aarch64",
    title: "AArch64",
    elf_machine: 183,
    // arch/arm64/include/asm/image.h.
    flat_image: Some(FlatImage {
        magic: *b"ARM\x64",
        // MIN_KIMG_ALIGN, arch/arm64/include/asm/boot.h.
        alignment: 2 << 20,
        // R_AARCH64_RELATIVE, without a symbol.
        relative_relocation: 0x403,
    }),
    machine: Machine {
        program: "qemu-system-aarch64",
        package: "qemu-system-arm",
        board: "virt",
        board_options: ",gic-version=3",
        // A server core that TCG emulates completely. `max` is four times slower (pointer
        // authentication) and adds SVE instructions to each system call.
        processor: "neoverse-n1",
        // The board's PL011; the kernel finds it without a bus driver.
        console: "ttyAMA0",
        results_port: "/dev/ttyS0",
        results_device: Some("pci-serial"),
        persistent_memory: None,
        // Android's kernels create no 8250 ports unless their number is given.
        cmdline: "randomize_kstack_offset=off 8250.nr_uarts=4",
        // Mitigations branch to separate vectors; under emulation their cost has no meaning.
        emulated_cmdline: "nohlt mitigations=off",
    },
    code: Code {
        // 48-bit virtual addresses; kernels with fewer bits are linked higher
        // (arch/arm64/include/asm/memory.h).
        text_base: 0xffff_8000_0000_0000,
        // The vector for synchronous exceptions from 64-bit EL0: the ninth vector of 128 bytes.
        syscall_entry: "vectors",
        syscall_entry_offset: 0x400,
        syscall_path: &[
            "vectors",
            "el0t_64_sync",
            "el0t_64_sync_handler",
            "el0_sync",
            "el0_sync_handler",
            "el0_svc",
            "do_el0_svc",
            "el0_svc_common",
            "el0_svc_common.constprop.0",
            "invoke_syscall",
            "invoke_syscall.constprop.0",
        ],
        // arch/arm64/include/asm/syscall_wrapper.h.
        syscall_prefix: "__arm64_sys_",
        // include/uapi/asm-generic/unistd.h.
        renamed_syscalls: &[
            ("newfstat", "fstat"),
            ("newuname", "uname"),
            ("sendfile64", "sendfile"),
        ],
        start: "primary_entry",
        context_switch: "cpu_switch_to",
        // Exceptions have no symbols of their own.
        exception_prefixes: &[],
        interrupts: &[HANDLERS, ENTRY],
        slots: &[
            slot(0x200, 0x80, false),
            slot(0x280, 0x180, true),
            slot(0x480, 0x180, true),
        ],
        stub_tables: &[],
        thunk_prefixes: &[],
        indirect_thunk_prefix: None,
        landing_pad: 0,
        page_tables: "swapper_pg_dir",
    },
    source: Source {
        name: "arm64",
        target: "Image",
        image: "arch/arm64/boot/Image",
        directory: "arch/arm64/",
        include: "arch/arm64/include/",
        // arch/arm64/include/uapi/asm/unistd.h.
        macros: &[
            "__aarch64__",
            "__ARCH_WANT_NEW_STAT",
            "__ARCH_WANT_RENAMEAT",
            "__ARCH_WANT_SYS_CLONE",
            "__ARCH_WANT_SYS_CLONE3",
        ],
        foreign_options: &["X86*", "ARM"],
        // arch/arm64/Kconfig: `config SMP` is always y.
        uniprocessor: false,
        // include/uapi/asm-generic/unistd.h has only the newer variants.
        missing_syscalls: &[
            "access",
            "alarm",
            "chmod",
            "chown",
            "creat",
            "dup2",
            "epoll_create",
            "epoll_wait",
            "eventfd",
            "fork",
            "futimesat",
            "getdents",
            "getpgrp",
            "inotify_init",
            "lchown",
            "link",
            "lstat",
            "mkdir",
            "mknod",
            "newlstat",
            "newstat",
            "open",
            "pause",
            "pipe",
            "poll",
            "readlink",
            "rename",
            "rmdir",
            "select",
            "signalfd",
            "stat",
            "symlink",
            "time",
            "unlink",
            "ustat",
            "utime",
            "utimes",
            "vfork",
        ],
    },
    debian: Debian {
        name: "arm64",
        flavour: "-cloud-arm64",
        include: "/usr/include/aarch64-linux-gnu",
    },
    config: include_str!("aarch64.config"),
};

/// 16 vectors of 128 bytes (`SYM_CODE_START(vectors)`, arch/arm64/kernel/entry.S): vectors 5 to 8
/// are for kernel code, and 9 to 12 for 64-bit programs. In each group of four, the first is for
/// synchronous exceptions, and the others are for three kinds of interrupts.
const fn slot(offset: u64, len: u64, is_interrupt: bool) -> Slot {
    Slot {
        symbol: "vectors",
        offset,
        len,
        is_interrupt,
    }
}

/// Since 5.14, `entry_handler` of arch/arm64/kernel/entry.S.
const HANDLERS: Interrupts = Interrupts {
    since: Some("el1h_64_irq"),
    prefixes: &[],
    names: &[
        "el1h_64_irq",
        "el1h_64_fiq",
        "el1h_64_error",
        "el0t_64_irq",
        "el0t_64_fiq",
        "el0t_64_error",
    ],
};

/// Up to 5.13.
const ENTRY: Interrupts = Interrupts {
    since: None,
    prefixes: &[],
    names: &[
        "el1_irq",
        "el1_fiq",
        "el1_error",
        "el0_irq",
        "el0_fiq",
        "el0_error",
        "el0_irq_naked",
    ],
};
