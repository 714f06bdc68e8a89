// SPDX-License-Identifier: GPL-2.0-or-later
//! A kernel's symbols, from its decompressed image.
//!
//! Distribution kernels have no `.symtab`, but a table for `/proc/kallsyms`, which
//! [`SymbolTable::from_vmlinux`] decodes. Addresses are link addresses; with KASLR a guest adds one
//! slide. [`SymbolTable::with_modules`] adds functions of modules where a guest put them.

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

/// Debian's cloud kernels have 87,000 (6.1) to 187,000 (7.2, with 54,000 `__pfx_*`).
pub const MAX_SYMBOLS: usize = 4 << 20;
/// In bytes; the kernel's limit is 512 (`KSYM_NAME_LEN`, `include/linux/kallsyms.h`).
pub const MAX_NAME_LEN: usize = 1024;
/// Total of all names.
const MAX_NAME_BYTES: usize = 128 << 20;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SymbolError {
    #[error("the kernel image is not an {archs} vmlinux: {0}", archs = crate::arch::titles())]
    NotVmlinux(&'static str),
    /// How far the search for kallsyms got.
    #[error("the vmlinux has neither a .symtab nor complete kallsyms tables: {0}")]
    NoSymbols(&'static str),
    #[error("the kernel has too many symbols: {0}")]
    TooMany(&'static str),
    /// The line, counted from 1.
    #[error("line {0} of the symbols is not an address, a kind and a name")]
    NotMap(usize),
    #[error("the module {module} is not a valid .ko file: {reason}")]
    NotModule {
        module: String,
        reason: &'static str,
    },
    #[error("the section {section} of the module {module} cannot be at {address:#x}: {reason}")]
    Misplaced {
        module: String,
        section: String,
        address: u64,
        reason: &'static str,
    },
}

impl SymbolError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotVmlinux(_) => {
                "give the decompressed kernel (an ELF file), not a bzImage; fetch it again if it is cut off"
            }
            Self::NoSymbols(_) => {
                "build the kernel with CONFIG_KALLSYMS=y, or give the unstripped vmlinux of its build directory"
            }
            Self::TooMany(_) => "the image is damaged: fetch or build it again",
            Self::NotMap(_) => "give the output of nm(1) for a vmlinux",
            Self::NotModule { .. } => "the file is damaged: fetch or build the kernel again",
            Self::Misplaced { .. } => {
                "use a kernel and modules of the same build, and boot with nokaslr"
            }
        }
    }
}

fn segments<'a>(file: &File<'a>) -> Result<Vec<Segment<'a>>, SymbolError> {
    let segments = file.segments().ok_or(SymbolError::NotVmlinux(
        "its program headers point outside the file (is it cut off?)",
    ))?;
    if segments.is_empty() {
        return Err(SymbolError::NotVmlinux("it has no loadable segment"));
    }
    Ok(segments)
}

impl SymbolTable {
    /// From the kallsyms tables of a decompressed `vmlinux`, else from its `.symtab`.
    pub fn from_vmlinux(bytes: &[u8]) -> Result<Self, SymbolError> {
        let file = File::parse(bytes).map_err(SymbolError::NotVmlinux)?;
        let missing = match kallsyms::read(&file, &segments(&file)?) {
            Ok(builder) => return Ok(builder.finish()),
            Err(missing) => missing,
        };
        let mut builder = Builder::new(file.arch);
        for symbol in file.symbols().into_iter().flatten() {
            builder.push(symbol.value, symbol.letter, symbol.name)?;
        }
        if builder.is_empty() {
            return Err(SymbolError::NoSymbols(missing.reason()));
        }
        builder.order_aliases();
        Ok(builder.finish())
    }
}
