// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions of loadable modules, at the addresses where a guest put them.
//!
//! Modules are relocatable: symbols count from the start of their sections, whose addresses the
//! kernel shows in `/sys/module/NAME/sections/` (`kernel/module/sysfs.c`).

use std::collections::BTreeMap;
use std::ops::Range;

use crate::arch::Arch;

use super::table::Builder;
use super::{MAX_NAME_LEN, SymbolError, SymbolTable};
use crate::elf::{File, is_code};
use object::LittleEndian as Le;

/// Start of the kernel's half of the address space on every architecture of [`crate::arch::ALL`].
const KERNEL_HALF: u64 = 1 << 63;
const MARKER_KIND: u8 = b'a';
/// The kernel frees these sections after initialisation (`module_init_section`).
const FREED_PREFIX: &str = ".init";

#[derive(Debug, Clone, Copy)]
pub struct ModuleImage<'a> {
    pub name: &'a str,
    /// Decompressed.
    pub elf: &'a [u8],
    /// Section name → address, minus the slide of the table's kernel. Sections that are missing or
    /// at 0 (hidden by the kernel) have no symbols.
    pub sections: &'a BTreeMap<String, u64>,
}

struct Placed<'a> {
    module: &'a str,
    index: usize,
    section: &'a str,
    range: Range<u64>,
}

impl Placed<'_> {
    fn check_kernels(&self) -> Result<(), SymbolError> {
        if self.range.start < KERNEL_HALF || self.range.end == u64::MAX {
            return Err(self.misplaced("the kernel's addresses are elsewhere"));
        }
        Ok(())
    }

    fn misplaced(&self, reason: &'static str) -> SymbolError {
        SymbolError::Misplaced {
            module: self.module.to_owned(),
            section: self.section.to_owned(),
            address: self.range.start,
            reason,
        }
    }
}

impl SymbolTable {
    /// Adds the functions of `modules`.
    ///
    /// Each section of code is followed by a non-function symbol such as `brd.text.end`, which ends
    /// its last function. Initialisation code is left out: the kernel frees it.
    ///
    /// Returns [`SymbolError::NotModule`] if a file is damaged; [`SymbolError::Misplaced`] if a
    /// section is outside the kernel's half of the address space, or overlaps this table's symbols
    /// or another section; [`SymbolError::TooMany`] beyond the limits of a table.
    pub fn with_modules(&self, modules: &[ModuleImage<'_>]) -> Result<SymbolTable, SymbolError> {
        let mut builder = Builder::from_table(self);
        let mut taken = Vec::new();
        for module in modules {
            let file = parse(module, self.arch())?;
            let placed = place(module, &file)?;
            for section in &placed {
                self.check_free(section)?;
            }
            builder.append(&functions(&file, &placed)?)?;
            for section in &placed {
                let name = format!("{}{}.end", section.module, section.section);
                builder.push(section.range.end, MARKER_KIND, &name)?;
            }
            taken.extend(placed);
        }
        self.finish_with(builder, taken)
    }

    /// Adds functions of `module` that are in no file, such as BPF programs; fails as
    /// [`Self::with_modules`] does.
    pub fn with_functions(
        &self,
        module: &str,
        functions: &[(&str, Range<u64>)],
    ) -> Result<SymbolTable, SymbolError> {
        let mut builder = Builder::from_table(self);
        let mut taken = Vec::new();
        for (name, range) in functions {
            let function = Placed {
                module,
                index: 0,
                section: name,
                range: range.clone(),
            };
            function.check_kernels()?;
            self.check_free(&function)?;
            builder.push(range.start, b't', name)?;
            builder.push(range.end, MARKER_KIND, &format!("{name}.end"))?;
            taken.push(function);
        }
        self.finish_with(builder, taken)
    }

    fn finish_with(
        &self,
        mut builder: Builder,
        mut taken: Vec<Placed<'_>>,
    ) -> Result<SymbolTable, SymbolError> {
        taken.sort_by_key(|section| section.range.start);
        for pair in taken.windows(2) {
            if pair[1].range.start < pair[0].range.end {
                return Err(pair[1].misplaced("another section of a module is there"));
            }
        }
        // This table's last function has no known end; it must not include the module.
        if let Some(last) = self.iter().next_back()
            && self.at(last.address).any(|symbol| symbol.is_code())
            && taken.last().is_some_and(|s| s.range.start > last.address)
        {
            builder.push(last.address + 1, MARKER_KIND, "kernel.end")?;
        }
        Ok(builder.finish())
    }

    fn check_free(&self, section: &Placed<'_>) -> Result<(), SymbolError> {
        let Range { start, end } = section.range;
        let at = |address| self.entries.partition_point(|e| e.address < address);
        // The end symbol of another section is not an overlap.
        let mut inside = self.entries[at(start)..at(end)]
            .iter()
            .filter(|entry| entry.address > start || entry.kind != MARKER_KIND);
        if inside.next().is_some() || self.function_at(start).is_some() {
            return Err(section.misplaced("the kernel has symbols there"));
        }
        Ok(())
    }
}

fn parse<'a>(module: &ModuleImage<'a>, arch: &Arch) -> Result<File<'a>, SymbolError> {
    let bad = |reason| not_module(module.name, reason);
    let is_name = (1..MAX_NAME_LEN).contains(&module.name.len())
        && module.name.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_name {
        return Err(bad("its name is not a word"));
    }
    let file = File::parse(module.elf).map_err(bad)?;
    if file.arch != arch {
        return Err(bad("it is an ELF file for another machine"));
    }
    if !file.is_relocatable() {
        return Err(bad("it is not a relocatable file"));
    }
    Ok(file)
}

/// Code sections with known addresses. If several share a name, sysfs shows one: none is used.
fn place<'a>(module: &ModuleImage<'a>, file: &File<'a>) -> Result<Vec<Placed<'a>>, SymbolError> {
    let bad = |reason| not_module(module.name, reason);
    file.sections()
        .ok_or_else(|| bad("its sections are outside the file (is it cut off?)"))?;
    let sections = file.named_sections();
    let sections = sections.ok_or_else(|| bad("its sections have no names"))?;
    let mut named: BTreeMap<&str, Option<(usize, u64)>> = BTreeMap::new();
    for (index, name, section) in sections.filter(|(.., section)| is_code(section)) {
        let known = named.entry(name);
        let found = Some((index, section.sh_size.get(Le)));
        known.and_modify(|known| *known = None).or_insert(found);
    }
    let mut placed = Vec::new();
    for (name, found) in named {
        let (Some((index, len)), Some(&start)) = (found, module.sections.get(name)) else {
            continue;
        };
        if start == 0 || len == 0 || name.starts_with(FREED_PREFIX) {
            continue;
        }
        if len > file.len() as u64 {
            return Err(bad("a section is longer than the file"));
        }
        let section = Placed {
            module: module.name,
            index,
            section: name,
            range: start..start.saturating_add(len),
        };
        section.check_kernels()?;
        placed.push(section);
    }
    Ok(placed)
}

/// The functions in `placed`; those at the same address in the order of `/proc/kallsyms`.
fn functions(file: &File<'_>, placed: &[Placed<'_>]) -> Result<Builder, SymbolError> {
    let mut builder = Builder::new(file.arch);
    let Some(Placed { module, .. }) = placed.first() else {
        return Ok(builder);
    };
    let symbols = file.symbols();
    let symbols = symbols.ok_or_else(|| not_module(module, "it has no symbol table"))?;
    let ranges = placed.iter().map(|section| (section.index, &section.range));
    let ranges: BTreeMap<_, _> = ranges.collect();
    for symbol in symbols.filter(|symbol| symbol.is_function) {
        let Some(range) = ranges.get(&symbol.section) else {
            continue;
        };
        let address = range.start.saturating_add(symbol.value);
        if range.contains(&address) {
            builder.push(address, symbol.letter, symbol.name)?;
        }
    }
    builder.order_aliases();
    Ok(builder)
}

fn not_module(module: &str, reason: &'static str) -> SymbolError {
    SymbolError::NotModule {
        module: module.escape_debug().take(MAX_NAME_LEN).collect(),
        reason,
    }
}
