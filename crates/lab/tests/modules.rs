// SPDX-License-Identifier: GPL-2.0-or-later
//! Where modules' functions lie, against what the guest itself says of them. SLOW:
//! some boots of a quarter of a minute each.
//!
//! Needs QEMU, a C compiler, the programs that make file systems, and the kernels
//! debian:6.1 and debian:6.12 in the cache of whoever runs the tests (`lsmeter kernel fetch
//! debian:6.1 debian:6.12`).

mod common;

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kernels::Kernel;
use kernels::symbols::SymbolTable;
use lab::module_symbols::symbols_of;
use lab::port::Port;
use lab::process::Process;
use lab::protocol::ModuleSection;
use lab::qemu::{Accelerator, Machine, Qemu};
use lab::session::{AgentEvent, Break, Patience, Session};
use lab::{initramfs, prepare};
use model::{Clock, FileSystem};

const PATIENCE: Duration = Duration::from_secs(120);

/// What a guest says of its modules: sections, and lines of `/proc/kallsyms`.
fn boot(
    qemu: &Qemu,
    agent: &[u8],
    kernel: &Kernel,
    filesystem: FileSystem,
) -> (Vec<ModuleSection>, String) {
    let dir = tempfile::tempdir().unwrap();
    let archive = dir.path().join("initramfs");
    let directives = format!("fs {filesystem}\n");
    let parts = [
        initramfs::build(agent, filesystem, kernel).unwrap(),
        initramfs::with_directives(&directives, &[]).unwrap(),
    ];
    fs::write(&archive, parts.concat()).unwrap();
    let fifo = dir.path().join("agent");
    let port = Port::fifo(&fifo).unwrap();
    let machine = Machine {
        kernel: kernel.vmlinux.as_ref().unwrap_or(&kernel.image),
        initramfs: &archive,
        cmdline: &initramfs::kernel_arguments(filesystem).join(" "),
        accelerator: Accelerator::Tcg(Clock::Fast),
        agent_port: &fifo,
        plugin: None,
        root: None,
        disk: None,
    };
    let mut guest = Process::start(qemu.command(&machine)).unwrap();
    let session = Session {
        port,
        cells: &[],
        patience: Patience {
            boot: PATIENCE,
            cell: PATIENCE,
        },
        process: Some(guest.id()),
        cancel: &AtomicBool::new(false),
    };
    let mut sections = Vec::new();
    let log = session
        .run(
            None,
            &mut || {
                let status = guest.status()?;
                Some(Break::Failed(status.to_string()))
            },
            &mut |event| {
                if let AgentEvent::Modules(found) = event {
                    sections = found;
                }
                Ok(())
            },
        )
        .unwrap_or_else(|end| panic!("{end:?}"));
    guest.end();
    (sections, log)
}

/// Looks for each of the guest's symbols at its address; how many there are.
fn compare(kernel: &SymbolTable, merged: &SymbolTable, log: &str) -> usize {
    let mut compared = 0;
    for line in log.lines() {
        // The tab is not printable.
        let (symbol, module) = line.split_once('\u{fffd}').unwrap();
        let mut words = symbol.split(' ');
        let address = u64::from_str_radix(words.next().unwrap(), 16).unwrap();
        let name = words.nth(1).unwrap();
        assert!(
            merged.at(address).any(|symbol| symbol.name == name),
            "{line}: {:?}",
            merged.function_at(address)
        );
        let function = merged.function_at(address).unwrap();
        assert_eq!(function.range.start, address, "{line}");
        assert!(function.range.end - address < 64 << 10, "{line}");
        assert_eq!(kernel.function_at(address), None, "{module}");
        compared += 1;
    }
    compared
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
    let dir = tempfile::tempdir().unwrap();
    let store = common::store();
    let plugin = lab::write_plugin(dir.path()).unwrap();
    let qemu = Qemu::probe(None, &plugin, kernels::arch::native()).unwrap();
    let agent = common::agent_with("kallsyms_agent.c", dir.path());
    for name in ["debian:6.12", "debian:6.1"] {
        let kernel = store.resolve(&name.parse().unwrap());
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
        let symbols = prepare::symbols(&store, &kernel).unwrap().unwrap();
        let filesystems = [
            (FileSystem::Ext4, "brd"),
            (FileSystem::Xfs, "xfs"),
            (FileSystem::Btrfs, "btrfs"),
            (FileSystem::Tmpfs, ""),
        ];
        // One file system will do of the other kernels.
        let which = if name == "debian:6.12" { 0..4 } else { 2..3 };
        for (filesystem, module) in &filesystems[which] {
            let (filesystem, module) = (*filesystem, *module);
            let (sections, log) = boot(&qemu, &agent, &kernel, filesystem);
            let modules = initramfs::modules(filesystem.into(), &kernel).unwrap();
            let merged = symbols_of(&symbols, &kernel.name, &modules, &sections).unwrap();
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
            // What lies behind a section is no part of it.
            let end = format!("{module}.text.end");
            let end = merged.named(&end).next().unwrap().address;
            assert!(merged.function_at(end - 1).is_some());
            assert!(
                merged
                    .function_at(text.address - 1)
                    .is_none_or(|f| f.range.end <= text.address)
            );
            let module_functions = merged.iter().len() - symbols.iter().len();
            assert!(module_functions > compared, "{module_functions}");
        }
    }
}
