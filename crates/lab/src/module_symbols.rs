// SPDX-License-Identifier: GPL-2.0-or-later
//! Symbols of loaded modules: section addresses from the guest, functions from files on the host.
//! BPF programs are functions whose names come from the guest.

use std::collections::BTreeMap;
use std::ops::Range;

use kernels::Module;
use kernels::symbols::{ModuleImage, SymbolTable};
use model::Failure;

use crate::error::LabError;
use crate::protocol::ModuleSection;

/// Stands for BPF programs in the agent's list of modules.
const PROGRAMS: &str = "bpf";

/// Adds BPF programs and the functions of the initramfs's modules ([`crate::initramfs::modules`])
/// to a kernel's symbols, at the addresses in `sections` ([`crate::session::AgentEvent::Modules`]).
/// Other modules, and sections missing from their files, are ignored.
pub fn symbols_of(
    symbols: &SymbolTable,
    kernel: &str,
    modules: &[Module],
    sections: &[ModuleSection],
) -> Result<SymbolTable, LabError> {
    if sections.is_empty() {
        return Ok(symbols.clone());
    }
    let mut addresses: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for section in sections {
        addresses
            .entry(&section.module)
            .or_default()
            .insert(section.section.clone(), section.address);
    }
    let images: Vec<ModuleImage<'_>> = modules
        .iter()
        .filter_map(|module| {
            Some(ModuleImage {
                name: &module.name,
                elf: &module.elf,
                sections: addresses.get(module.name.as_str())?,
            })
        })
        .collect();
    let programs = addresses.get(PROGRAMS).map(programs).unwrap_or_default();
    let named = symbols.with_modules(&images);
    let named = named.and_then(|table| table.with_functions(PROGRAMS, &programs));
    named.map_err(|error| {
        let what = format!("cannot read the symbols of {kernel}'s modules: {error}");
        Failure::environment(what, error.hint()).into()
    })
}

/// The functions whose start and end the agent listed; addresses that the kernel hides are 0.
fn programs(sections: &BTreeMap<String, u64>) -> Vec<(&str, Range<u64>)> {
    sections
        .iter()
        .filter_map(|(name, &start)| {
            let end = *sections.get(&format!("{name}.end"))?;
            (start < end && start != 0).then_some((name.as_str(), start..end))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> SymbolTable {
        let map = "ffffffff81000000 T _text\nffffffff81000010 B _end\n";
        SymbolTable::from_map(kernels::arch::ALL[0], map).unwrap()
    }

    fn section(module: &str) -> ModuleSection {
        ModuleSection {
            module: module.to_owned(),
            section: ".text".to_owned(),
            address: 1,
        }
    }

    fn module(name: &str, elf: Vec<u8>) -> [Module; 1] {
        let name = name.to_owned();
        [Module { name, elf }]
    }

    #[test]
    fn what_the_initramfs_does_not_bring_is_ignored() {
        let kernel = kernel();
        let brd = module("brd", testing::elf::module(&[]));
        let sections = ["rootkit", "brd", "\u{1b}"].map(section);
        assert_eq!(symbols_of(&kernel, "k", &brd, &sections).unwrap(), kernel);
        // The address is hidden, or the function has no end.
        let at = |name: &str, address| ModuleSection {
            section: name.to_owned(),
            address,
            ..section("bpf")
        };
        let hidden = [at("one", 0), at("one.end", 0), at("two", 1)];
        assert_eq!(symbols_of(&kernel, "k", &brd, &hidden).unwrap(), kernel);
        let unplaced = module("xfs", b"damaged".to_vec());
        assert_eq!(
            symbols_of(&kernel, "k", &unplaced, &sections).unwrap(),
            kernel
        );
    }

    #[test]
    fn a_damaged_module_names_the_kernel_and_itself() {
        let damaged = module("xfs", b"damaged".to_vec());
        let error = symbols_of(&kernel(), "debian:6.12", &damaged, &[section("xfs")]).unwrap_err();
        let message = error.to_string();
        let names = |text: &str| message.contains(text);
        assert!(names("debian:6.12") && names("xfs"), "{message}");
        assert!(model::Fault::hint(&error).is_some());
    }
}
