// SPDX-License-Identifier: GPL-2.0-or-later
//! Everything architecture-specific: one [`Arch`] value per file.
//!
//! The C parts are in `lab/guest/arch/NAME/` and `counts/plugin/arch/NAME/`. `tests/homes.rs`
//! checks that no other place depends on the architecture.

mod aarch64;
mod x86_64;

use std::fmt;

#[derive(Debug)]
pub struct Arch {
    /// The name in `uname -m`: `x86_64`. Also the name of the architecture's folders and files.
    pub name: &'static str,
    pub title: &'static str,
    /// `e_machine` (`include/uapi/linux/elf-em.h`); all are 64-bit little-endian.
    pub elf_machine: u16,
    /// The boot image, if its layout is that of the kernel in memory; None if it has an ELF file.
    pub flat_image: Option<FlatImage>,
    pub machine: Machine,
    /// Kernel entry points, and code that only transfers control.
    pub code: Code,
    pub source: Source,
    pub debian: Debian,
    /// Lines of a `.config`.
    pub config: &'static str,
}

#[derive(Debug)]
pub struct Machine {
    pub program: &'static str,
    pub package: &'static str,
    pub board: &'static str,
    /// `,key=value` after the board's name, or empty.
    pub board_options: &'static str,
    pub processor: &'static str,
    pub console: &'static str,
    /// Device file of the port through which the agent reports; also in `guest/arch/NAME/arch.h`.
    pub results_port: &'static str,
    /// The device (`-device`) for that port; None means the board's second port.
    pub results_device: Option<&'static str>,
    /// How a file is mapped as persistent memory; None if this is not supported.
    pub persistent_memory: Option<PersistentMemory>,
    pub cmdline: &'static str,
    pub emulated_cmdline: &'static str,
}

#[derive(Debug)]
pub struct PersistentMemory {
    /// A physical address above the memory of the largest guest.
    pub address: u64,
    /// The module that finds the range, and its configuration option.
    pub driver: (&'static str, &'static str),
    /// A byte string in kernels with the driver built in.
    pub trace: &'static [u8],
}

/// A raw image with a header of 64 bytes, which is also code.
#[derive(Debug)]
pub struct FlatImage {
    pub magic: [u8; 4],
    pub alignment: u64,
    /// `r_info` of relocations that add the load offset to an address; the image contains them, and
    /// they are applied before it runs at its addresses.
    pub relative_relocation: u64,
}

#[derive(Debug)]
pub struct Code {
    pub text_base: u64,
    pub syscall_entry: &'static str,
    pub syscall_entry_offset: u64,
    /// Functions that every system call goes through before its own, outermost first.
    pub syscall_path: &'static [&'static str],
    pub syscall_prefix: &'static str,
    /// (function's name without the prefix, system call's name), for calls where they differ.
    pub renamed_syscalls: &'static [(&'static str, &'static str)],
    pub start: &'static str,
    pub context_switch: &'static str,
    /// Prefixes of the entries of synchronous exceptions, which are part of the operation.
    pub exception_prefixes: &'static [&'static str],
    /// Entries of interrupts, which do not belong to the interrupted operation. The first that
    /// matches the kernel is used.
    pub interrupts: &'static [Interrupts],
    /// Entries inside symbols whose names do not show them.
    pub slots: &'static [Slot],
    /// Tables of stubs, one per vector. An interrupt can begin anywhere in these tables, but
    /// elsewhere only at a symbol's first instruction.
    pub stub_tables: &'static [&'static str],
    /// Prefixes of code that only transfers control; it is attributed to its caller.
    pub thunk_prefixes: &'static [&'static str],
    pub indirect_thunk_prefix: Option<&'static str>,
    /// The number of bytes at a function's start that direct calls skip.
    pub landing_pad: u64,
    /// Symbol of the kernel's page tables.
    pub page_tables: &'static str,
}

#[derive(Debug)]
pub struct Slot {
    pub symbol: &'static str,
    pub offset: u64,
    pub len: u64,
    /// If false, a synchronous exception of the kernel itself enters at the first instruction.
    pub is_interrupt: bool,
}

/// Names of interrupt entries in kernels of one period.
#[derive(Debug)]
pub struct Interrupts {
    /// A symbol that only kernels from this period on have; None for any kernel.
    pub since: Option<&'static str>,
    pub prefixes: &'static [&'static str],
    pub names: &'static [&'static str],
}

#[derive(Debug)]
pub struct Debian {
    pub name: &'static str,
    /// Suffix of cloud kernel packages, with its `-`.
    pub flavour: &'static str,
    pub include: &'static str,
}

#[derive(Debug)]
pub struct Source {
    pub name: &'static str,
    pub target: &'static str,
    pub image: &'static str,
    /// With a `/` at the end.
    pub directory: &'static str,
    pub include: &'static str,
    /// Macros that the compiler or the headers define, and that decide which code is compiled.
    pub macros: &'static [&'static str],
    /// Options of other architectures; a `*` at the end matches any text.
    pub foreign_options: &'static [&'static str],
    pub uniprocessor: bool,
    /// System calls defined in the tree, but not in this architecture's table.
    pub missing_syscalls: &'static [&'static str],
}

impl Arch {
    /// For example `aarch64-linux-gnu-`.
    pub fn tool_prefix(&self) -> String {
        format!("{}-linux-gnu-", self.name)
    }

    /// For example `gcc-aarch64-linux-gnu`.
    pub fn tool_package(&self, tool: &str) -> String {
        format!("{tool}-{}-linux-gnu", self.name.replace('_', "-"))
    }

    pub fn is_native(&self) -> bool {
        self == native()
    }
}

pub static ALL: &[&Arch] = &[&x86_64::X86_64, &aarch64::AARCH64];

/// This machine's architecture, the default of guests.
pub fn native() -> &'static Arch {
    by_name(std::env::consts::ARCH).unwrap_or(ALL[0])
}

pub fn by_name(name: &str) -> Option<&'static Arch> {
    ALL.iter().copied().find(|arch| arch.name == name)
}

pub fn by_elf_machine(machine: u16) -> Option<&'static Arch> {
    ALL.iter().copied().find(|arch| arch.elf_machine == machine)
}

pub fn by_debian_name(name: &str) -> Option<&'static Arch> {
    ALL.iter().copied().find(|arch| arch.debian.name == name)
}

pub fn is_syscall_path(function: &str) -> bool {
    ALL.iter()
        .any(|arch| arch.code.syscall_path.contains(&function))
}

/// For messages: `x86-64 or AArch64`.
pub fn titles() -> String {
    let titles: Vec<&str> = ALL.iter().map(|arch| arch.title).collect();
    titles.join(" or ")
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl PartialEq for Arch {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Arch {}

impl FlatImage {
    /// `Documentation/arch/arm64/booting.rst`; other architectures use the same header.
    pub const MAGIC_AT: usize = 0x38;

    pub fn matches(&self, data: &[u8]) -> bool {
        data.get(Self::MAGIC_AT..Self::MAGIC_AT + 4) == Some(&self.magic)
    }
}

impl Machine {
    pub fn board_argument(&self) -> String {
        format!("{}{}", self.board, self.board_options)
    }
}

impl Code {
    pub fn syscall_of<'n>(&self, function: &'n str) -> Option<&'n str> {
        let name = function.strip_prefix(self.syscall_prefix)?;
        let renamed = self.renamed_syscalls.iter();
        Some(
            renamed
                .copied()
                .find_map(|(function, call)| (function == name).then_some(call))
                .unwrap_or(name),
        )
    }

    pub fn exception_of<'n>(&self, function: &'n str) -> Option<&'n str> {
        let mut prefixes = self.exception_prefixes.iter();
        prefixes.find_map(|prefix| function.strip_prefix(prefix))
    }

    pub fn is_thunk(&self, name: &str) -> bool {
        self.thunk_prefixes
            .iter()
            .any(|prefix| name.starts_with(prefix))
    }
}
