// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares addresses of modules' functions with the guest's `/proc/kallsyms`.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kernels::Kernel;
use kernels::symbols::SymbolTable;
use lab::prepare::{Hooks, prepare};
use lab::protocol::ModuleSection;
use lab::qemu::{Accelerator, Qemu};
use lab::session::{AgentEvent, Patience};
use lab::vm::{self, Boot};
use model::FileSystem;

use super::Laboratory;

/// A kernel's symbols without and with modules, the guest's sections, and its lines of
/// `/proc/kallsyms`.
fn boot(
    laboratory: &Laboratory,
    agent: &[u8],
    kernel: &Kernel,
    filesystem: FileSystem,
) -> (SymbolTable, SymbolTable, Vec<ModuleSection>, String) {
    let dir = tempfile::tempdir().unwrap();
    let (store, hooks) = (&laboratory.store, Some(Hooks::default()));
    let bootable = prepare(
        store,
        agent,
        kernel,
        filesystem.into(),
        hooks,
        &laboratory.qemu,
        dir.path(),
    )
    .unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let boot = Boot {
        qemu: &laboratory.qemu,
        bootable: &bootable,
        cmdline: String::new(),
        accelerator: Accelerator::Tcg,
        plugin: None,
        directives: format!("fs {filesystem}\n"),
        machine: 0,
        processors: None,
        files: &[],
        root: None,
        patience: Patience {
            boot: Duration::from_secs(120),
            cell: Duration::from_secs(120),
        },
        scratch: scratch.path().to_owned(),
    };
    let mut sections = Vec::new();
    let log = vm::boot(&boot, &[], &AtomicBool::new(false), &mut |event| {
        if let AgentEvent::Modules(found) = event {
            sections = found;
        }
        Ok(())
    });
    let profiling = bootable.profiling.unwrap();
    let merged = profiling.with_modules(&sections).unwrap();
    (profiling.symbols.clone(), merged, sections, log.unwrap())
}

/// Compares each of the guest's symbols with its address; returns their number.
fn compare(kernel: &SymbolTable, merged: &SymbolTable, log: &str) -> usize {
    for line in log.lines() {
        // The tab was replaced because it is not printable.
        let (symbol, module) = line.split_once('\u{fffd}').unwrap();
        let mut words = symbol.split(' ');
        let address = u64::from_str_radix(words.next().unwrap(), 16).unwrap();
        let name = words.nth(1).unwrap();
        let function = merged.function_at(address).unwrap();
        let found = merged.at(address).any(|symbol| symbol.name == name);
        assert!(found, "{line}: {function:?}");
        assert_eq!(function.range.start, address, "{line}");
        assert!(function.range.end - address < 64 << 10, "{line}");
        assert_eq!(kernel.function_at(address), None, "{module}");
    }
    log.lines().count()
}

#[test]
fn a_comma_in_a_path_does_not_end_an_option() {
    let dir = tempfile::Builder::new().prefix("a,b,,c").tempdir().unwrap();
    let plugin = lab::write_plugin(dir.path()).unwrap();
    let qemu = Qemu::probe(None, &plugin, kernels::arch::native()).unwrap();
    assert!(qemu.plugin_api.is_some(), "{}", qemu.no_plugin());
}

#[test]
fn modules_functions_lie_where_the_guest_says() {
    let laboratory = Laboratory::new();
    let agent = laboratory.agent_with("kallsyms_agent.c");
    for (name, filesystem, module) in [
        ("debian:6.12", FileSystem::Ext4, "brd"),
        ("debian:6.12", FileSystem::Xfs, "xfs"),
        ("debian:6.12", FileSystem::Btrfs, "btrfs"),
        ("debian:6.12", FileSystem::Tmpfs, ""),
        ("debian:6.1", FileSystem::Btrfs, "btrfs"),
    ] {
        let kernel = laboratory.kernel(name);
        let (symbols, merged, sections, log) = boot(&laboratory, &agent, &kernel, filesystem);
        let compared = compare(&symbols, &merged, &log);
        if filesystem == FileSystem::Tmpfs {
            assert!(sections.is_empty() && log.is_empty());
            assert_eq!(merged, symbols);
            continue;
        }
        let text = sections
            .iter()
            .find(|section| section.module == module && section.section == ".text")
            .unwrap_or_else(|| panic!("{name} {filesystem}: {sections:?}"));
        assert!(compared > 0, "{name} {filesystem}");
        // A section ends with its last function.
        let end = format!("{module}.text.end");
        let end = merged.named(&end).next().unwrap().address;
        assert!(merged.function_at(end - 1).is_some());
        let before = merged.function_at(text.address - 1);
        assert!(before.is_none_or(|f| f.range.end <= text.address));
        let module_functions = merged.iter().len() - symbols.iter().len();
        assert!(module_functions > compared, "{module_functions}");
    }
}
