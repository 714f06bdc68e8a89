// SPDX-License-Identifier: GPL-2.0-or-later
//! The symbols of a kernel, read on the host from its decompressed image.
//!
//! Distribution kernels have no `.symtab`, but they carry their own table for
//! `/proc/kallsyms`, which [`SymbolTable::from_vmlinux`] finds and decodes.
//! Addresses are those the kernel is linked at; with KASLR a guest runs at
//! these plus one slide. The functions of modules lie where a guest put them:
//! [`SymbolTable::with_modules`] adds them to those of its kernel.

use crate::elf::{File, Segment};
use table::Builder;

mod addresses;
mod entries;
mod kallsyms;
mod map;
mod modules;
mod table;
mod tokens;

#[cfg(test)]
mod tests;

pub use entries::{context_switch, interrupt_entries, syscall_entry};
pub use modules::ModuleImage;
pub use table::{Function, Symbol, SymbolTable};

/// Most symbols a table may have; Debian's cloud kernels have 87,000 (6.1)
/// to 187,000 (7.2, of which 54,000 are `__pfx_*`).
pub const MAX_SYMBOLS: usize = 4 << 20;
/// Longest symbol name in bytes; the kernel's own limit is 512
/// (`KSYM_NAME_LEN`, `include/linux/kallsyms.h`).
pub const MAX_NAME_LEN: usize = 1024;
/// Most bytes that all names together may take.
const MAX_NAME_BYTES: usize = 128 << 20;

/// Why the symbols of a kernel image or of a module cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolError {
    /// The bytes are not an ELF file of a known architecture that can be loaded.
    #[error(
        "the kernel image is not an {} vmlinux: {reason}",
        crate::arch::titles()
    )]
    NotVmlinux { reason: &'static str },
    /// Neither a kallsyms table nor a `.symtab`.
    #[error("the vmlinux has no symbols: {reason}, and it has no .symtab")]
    NoSymbols {
        /// How far the search for kallsyms came.
        reason: &'static str,
    },
    /// More symbols or longer names than any kernel has.
    #[error("the kernel has too many symbols: {what}")]
    TooMany { what: &'static str },
    /// The text is no `System.map`.
    #[error("line {line} of the symbols is not an address, a kind and a name")]
    NotMap {
        /// Which line, from 1.
        line: usize,
    },
    /// The bytes are no module of a known architecture.
    #[error("the module {module} is not a sound .ko file: {reason}")]
    NotModule {
        module: String,
        reason: &'static str,
    },
    /// A section of a module at an address where it cannot be.
    #[error("the section {section} of the module {module} cannot be at {address:#x}: {reason}")]
    Misplaced {
        module: String,
        section: String,
        /// Where the guest says it put it.
        address: u64,
        /// Why it cannot be there.
        reason: &'static str,
    },
}

impl SymbolError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotVmlinux { .. } => {
                "give the decompressed kernel (an ELF file), not a bzImage; fetch it again if it is cut off"
            }
            Self::NoSymbols { .. } => {
                "build the kernel with CONFIG_KALLSYMS=y, or give the unstripped vmlinux of its build directory"
            }
            Self::TooMany { .. } => "the image is damaged: fetch or build it again",
            Self::NotMap { .. } => "give what nm(1) prints of a vmlinux",
            Self::NotModule { .. } => "the file is damaged: fetch or build the kernel again",
            Self::Misplaced { .. } => {
                "the guest says so: see that its kernel and modules are of one build and boot with nokaslr"
            }
        }
    }
}

/// Where a kernel's image lies in memory.
fn segments<'a>(file: &File<'a>) -> Result<Vec<Segment<'a>>, SymbolError> {
    let segments = file.segments().ok_or(SymbolError::NotVmlinux {
        reason: "its program headers point outside the file (is it cut off?)",
    })?;
    if segments.is_empty() {
        return Err(SymbolError::NotVmlinux {
            reason: "it has no loadable segment",
        });
    }
    Ok(segments)
}

impl SymbolTable {
    /// Reads the symbols of `bytes`, a decompressed `vmlinux`, from
    /// the kallsyms tables in it or else from its `.symtab`.
    ///
    /// [`SymbolError`] if it is no such file, or has neither.
    pub fn from_vmlinux(bytes: &[u8]) -> Result<Self, SymbolError> {
        let file = File::parse(bytes).map_err(|reason| SymbolError::NotVmlinux { reason })?;
        let missing = match kallsyms::read(&file, &segments(&file)?) {
            Ok(builder) => return Ok(builder.finish()),
            Err(missing) => missing,
        };
        let mut builder = Builder::new(file.arch);
        for symbol in file.symbols().into_iter().flatten() {
            builder.push(symbol.value, symbol.letter, symbol.name)?;
        }
        if builder.is_empty() {
            let reason = missing.reason();
            return Err(SymbolError::NoSymbols { reason });
        }
        builder.order_aliases();
        Ok(builder.finish())
    }
}
