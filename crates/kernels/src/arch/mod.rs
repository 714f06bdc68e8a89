// SPDX-License-Identifier: GPL-2.0-or-later
//! What an architecture is to lsmeter: one value of [`Arch`], in a file of its own.
//!
//! Its C halves lie beside what they belong to: `lab/guest/arch/NAME/` (how the agent
//! enters the kernel and is compiled) and `instructions/plugin/arch/NAME/` (how the plugin
//! reads instructions). Whatever else differs between architectures stands here, as data;
//! `tests/homes.rs` sees to it that it stands nowhere else.

mod aarch64;
mod x86_64;

use std::fmt;
use std::hash::{Hash, Hasher};

/// An architecture whose kernels are known. Two of the same name are the same.
#[derive(Debug)]
pub struct Arch {
    /// As `uname -m` says it, and what its folders and files are called: `x86_64`.
    pub name: &'static str,
    /// As people write it: `x86-64`.
    pub title: &'static str,
    /// `e_machine` of its ELF files (`include/uapi/linux/elf-em.h`). They are 64 bits wide
    /// and little endian.
    pub elf_machine: u16,
    /// The image that is booted, where that is the kernel as it lies in memory; None: it
    /// holds an ELF file.
    pub flat_image: Option<FlatImage>,
    /// The virtual machine in which a kernel is measured.
    pub machine: Machine,
    /// Where its kernels are entered, and what of their code carries control only.
    pub code: Code,
    /// Where what belongs to it lies in a kernel's tree.
    pub source: Source,
    /// What Debian calls it, and where it has its kernels.
    pub debian: Debian,
    /// What a kernel that is built has besides what it has on every architecture, as lines
    /// of a `.config`.
    pub config: &'static str,
}

/// A virtual machine, as QEMU is told of it.
#[derive(Debug)]
pub struct Machine {
    pub program: &'static str,
    pub package: &'static str,
    /// Its board (`-machine`).
    pub board: &'static str,
    /// What of the board is switched off or on: `,key=value` behind its name, or nothing.
    pub board_options: &'static str,
    /// The processor that is emulated (`-cpu`).
    pub processor: &'static str,
    /// The console, as the kernel's command line names it.
    pub console: &'static str,
    /// The device file of the port through which the agent reports. `guest/arch/NAME/arch.h`
    /// has it, too.
    pub results_port: &'static str,
    /// The device (`-device`) behind that port; None: it is the board's second.
    pub results_device: Option<&'static str>,
    /// How a file is mapped as persistent memory; None: its kernels find none so.
    pub persistent_memory: Option<PersistentMemory>,
    /// Words that the kernel's command line needs on this board.
    pub cmdline: &'static str,
    /// More of them where the processor is emulated.
    pub emulated_cmdline: &'static str,
}

/// A file that the guest has as memory.
#[derive(Debug)]
pub struct PersistentMemory {
    /// The physical address at which it is mapped: behind the memory of the largest guest.
    pub address: u64,
    /// The module that finds such a range, and the option of the kernel's configuration with
    /// which it is there.
    pub driver: (&'static str, &'static str),
    /// What the driver leaves in a kernel that it is built into.
    pub trace: &'static [u8],
}

/// An image without a format but for a header of 64 bytes, which is code, too.
#[derive(Debug)]
pub struct FlatImage {
    /// The four bytes at [`FlatImage::MAGIC_AT`].
    pub magic: [u8; 4],
    /// The address that it is linked to is a multiple of this.
    pub alignment: u64,
    /// The `r_info` of a relocation that adds the distance by which the kernel moved to an
    /// address: those are in the image, and are made before it has its addresses.
    pub relative_relocation: u64,
}

/// What symbols say of a kernel's code.
#[derive(Debug)]
pub struct Code {
    /// No text of the kernel lies below this address.
    pub text_base: u64,
    /// Where the first instruction lies that a system call executes.
    pub syscall_entry: &'static str,
    /// How many bytes behind that symbol.
    pub syscall_entry_offset: u64,
    /// What every system call goes through before its own function, outermost first.
    pub syscall_path: &'static [&'static str],
    /// How the names of system calls' own functions begin.
    pub syscall_prefix: &'static str,
    /// Of those whose functions are called otherwise than they: that name, and the call's.
    pub renamed_syscalls: &'static [(&'static str, &'static str)],
    /// Where the kernel itself is started: code, but not always in a segment marked so.
    pub start: &'static str,
    /// The code that switches from one task's stack to another's.
    pub context_switch: &'static str,
    /// How the names of the entries of synchronous exceptions begin: they belong to the
    /// operation that raises them.
    pub exception_prefixes: &'static [&'static str],
    /// The entries of interrupts, which have nothing to do with the operation that they
    /// hit: the first that is of the kernel at hand.
    pub interrupts: &'static [Interrupts],
    /// Entries inside of symbols, whose names say nothing of them.
    pub slots: &'static [Slot],
    /// Tables of stubs, one a vector: an interrupt begins anywhere in them. Any other entry
    /// begins at its first instruction only.
    pub stub_tables: &'static [&'static str],
    /// How the names of code begin that only carries control to somewhere else: what runs
    /// there belongs to the function that went through it.
    pub thunk_prefixes: &'static [&'static str],
    /// Of these the ones that stand for an indirect branch, if there are such.
    pub indirect_thunk_prefix: Option<&'static str>,
    /// Bytes at a function's begin that calls known at compile time skip.
    pub landing_pad: u64,
}

/// A part of a table of vectors.
#[derive(Debug)]
pub struct Slot {
    pub symbol: &'static str,
    /// Where in it the part begins, in bytes.
    pub offset: u64,
    pub len: u64,
    /// Whether interrupts enter in it; otherwise a synchronous exception of the kernel's own does,
    /// at its first instruction.
    pub is_interrupt: bool,
}

/// How kernels of one time name the entries of interrupts.
#[derive(Debug)]
pub struct Interrupts {
    /// A symbol that all kernels of that time have, and none before; None: any kernel.
    pub since: Option<&'static str>,
    pub prefixes: &'static [&'static str],
    pub names: &'static [&'static str],
    /// Each of `names` may be there once more with this before it.
    pub twin_prefix: Option<&'static str>,
}

#[derive(Debug)]
pub struct Debian {
    pub name: &'static str,
    /// How the names of its cloud kernels' packages end, from a `-` on.
    pub flavour: &'static str,
    /// Where it has C headers besides `/usr/include`.
    pub include: &'static str,
}

/// Where an architecture's own files lie in a kernel's tree.
#[derive(Debug)]
pub struct Source {
    /// Its name there: `$(SRCARCH)`.
    pub name: &'static str,
    /// What make calls the image that is booted.
    pub target: &'static str,
    pub image: &'static str,
    /// All of them, with a `/` at its end.
    pub directory: &'static str,
    /// Its headers, with a `/` at its end.
    pub include: &'static str,
    /// Macros that its compiler or its headers define, and that decide which code there is.
    pub macros: &'static [&'static str],
    /// Options of kernels of other architectures, with `*` for any text at the end.
    pub foreign_options: &'static [&'static str],
    /// Can its kernels be for one processor (`CONFIG_SMP=n`)?
    pub uniprocessor: bool,
    /// System calls that are defined in the tree, but not in this architecture's table.
    pub lacking_syscalls: &'static [&'static str],
}

impl Arch {
    /// How the names of compilers and other tools begin that make its programs, on a machine of
    /// another architecture: `aarch64-linux-gnu-`.
    #[must_use]
    pub fn tool_prefix(&self) -> String {
        format!("{}-linux-gnu-", self.name)
    }

    /// Debian's package of such a tool: `gcc-aarch64-linux-gnu`.
    #[must_use]
    pub fn tool_package(&self, tool: &str) -> String {
        format!("{tool}-{}-linux-gnu", self.name.replace('_', "-"))
    }
}

pub static ALL: &[&Arch] = &[&x86_64::X86_64, &aarch64::AARCH64];

/// The architecture of this machine: what guests are unless their kernel says otherwise.
#[must_use]
pub fn native() -> &'static Arch {
    by_name(std::env::consts::ARCH).unwrap_or(ALL[0])
}

#[must_use]
pub fn by_name(name: &str) -> Option<&'static Arch> {
    ALL.iter().copied().find(|arch| arch.name == name)
}

/// The architecture of ELF files with this `e_machine`.
#[must_use]
pub fn by_elf_machine(machine: u16) -> Option<&'static Arch> {
    ALL.iter().copied().find(|arch| arch.elf_machine == machine)
}

#[must_use]
pub fn by_debian_name(name: &str) -> Option<&'static Arch> {
    ALL.iter().copied().find(|arch| arch.debian.name == name)
}

/// Whether every system call of some architecture goes through a function of this name
/// before its own.
#[must_use]
pub fn is_syscall_path(function: &str) -> bool {
    ALL.iter()
        .any(|arch| arch.code.syscall_path.contains(&function))
}

/// The architectures as a message says what it takes: `x86-64 or AArch64`.
#[must_use]
pub fn titles() -> String {
    let titles: Vec<&str> = ALL.iter().map(|arch| arch.title).collect();
    titles.join(" or ")
}

impl Arch {
    /// Whether it is that of this machine.
    #[must_use]
    pub fn is_native(&self) -> bool {
        self == native()
    }
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

impl PartialOrd for Arch {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arch {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name.cmp(other.name)
    }
}

impl Hash for Arch {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl FlatImage {
    /// Where its magic number lies (`Documentation/arch/arm64/booting.rst`; others have
    /// taken the header over).
    pub const MAGIC_AT: usize = 0x38;

    /// Whether `data` begins as such an image does.
    #[must_use]
    pub fn is_it(&self, data: &[u8]) -> bool {
        data.get(Self::MAGIC_AT..Self::MAGIC_AT + 4) == Some(&self.magic)
    }
}

impl Machine {
    /// The board with its options, for `-machine`.
    #[must_use]
    pub fn board_argument(&self) -> String {
        format!("{}{}", self.board, self.board_options)
    }
}

impl Code {
    /// The system call, if a function of this name is one's own: `openat`.
    #[must_use]
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

    /// How the name of an entry of synchronous exceptions goes on behind its prefix; None if a
    /// function of this name is none.
    #[must_use]
    pub fn exception_of<'n>(&self, function: &'n str) -> Option<&'n str> {
        let mut prefixes = self.exception_prefixes.iter();
        prefixes.find_map(|prefix| function.strip_prefix(prefix))
    }

    /// Whether what runs in a function of this name belongs to whoever went through it.
    #[must_use]
    pub fn is_thunk(&self, name: &str) -> bool {
        self.thunk_prefixes
            .iter()
            .any(|prefix| name.starts_with(prefix))
    }
}
