// SPDX-License-Identifier: GPL-2.0-or-later
//! Prepares a kernel for boot: its initramfs, and the plugin's data about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use counts::functions::FunctionTable;
use counts::hooks::Framework;
use counts::landmarks::{landmarks, memory_landmarks};
use model::Failure;

use crate::error::LabError;
use crate::initramfs::{self, Guest};
use crate::module_symbols::symbols_of;
use crate::protocol::ModuleSection;
use crate::qemu::Qemu;
use crate::um;
use crate::vm::Bootable;
use kernels::btf::Types;
use kernels::files::{digest, digest_file, read_sealed, write_sealed};
use kernels::fixups::fixups;
use kernels::hooks::{HookList, btf};
use kernels::symbols::{SymbolError, SymbolTable, syscall_entry};
use kernels::{Kernel, Module, Store};

pub fn elf(kernel: &Kernel) -> Result<Vec<u8>, LabError> {
    let elf = kernel.vmlinux.as_ref().unwrap_or(&kernel.image);
    fs::read(elf).map_err(LabError::io("read", elf))
}

/// What QEMU boots: vmlinux if it has a PVH entry, else bzImage.
pub(crate) fn image(kernel: &Kernel) -> &Path {
    match (&kernel.vmlinux, kernel.pvh_entry) {
        (Some(vmlinux), Some(_)) => vmlinux,
        _ => &kernel.image,
    }
}

/// A kernel's symbols, from the cache if they were read before. Fails without `CONFIG_KALLSYMS`.
pub fn symbols(
    store: &Store,
    kernel: &Kernel,
) -> Result<Result<SymbolTable, SymbolError>, LabError> {
    const LIMIT: u64 = 256 << 20;
    /// Several parts of one command need them.
    static LAST: Mutex<Option<(String, SymbolTable)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, symbols)) = last.as_ref().filter(|(digest, _)| *digest == kernel.digest) {
        return Ok(Ok(symbols.clone()));
    }
    let mut keep = |symbols: SymbolTable| {
        *last = Some((kernel.digest.clone(), symbols.clone()));
        Ok(Ok(symbols))
    };
    let dir = store.dir().join("symbols");
    let cached = dir.join(&kernel.digest);
    if let Some(map) = read_sealed(&cached, LIMIT)
        && let Ok(symbols) = SymbolTable::from_map(kernel.arch(), &String::from_utf8_lossy(&map))
    {
        return keep(symbols);
    }
    let symbols = match SymbolTable::from_vmlinux(&elf(kernel)?) {
        Ok(symbols) => symbols,
        Err(error) => return Ok(Err(error)),
    };
    // A cache that cannot be written, such as another user's, only costs time.
    let _ =
        fs::create_dir_all(&dir).and_then(|()| write_sealed(&cached, symbols.to_map().as_bytes()));
    keep(symbols)
}

/// [`symbols`] of a kernel whose hooks are needed.
pub fn named(store: &Store, kernel: &Kernel) -> Result<SymbolTable, LabError> {
    let unnamed = |error: SymbolError| {
        let name = &kernel.name;
        Failure::environment(
            format!("{name} has no usable symbols ({error}), so hooks cannot be found"),
            error.hint(),
        )
    };
    Ok(symbols(store, kernel)?.map_err(unnamed)?)
}

#[derive(Debug)]
pub struct Profiling {
    pub symbols: SymbolTable,
    pub framework: Framework,
    pub keep_trees: bool,
    pub events: bool,
    pub optional: bool,
    /// The kernel's BTF, if words have names and it has one.
    pub btf: Option<Vec<u8>>,
    kernel: String,
    modules: Vec<Module>,
}

impl Profiling {
    pub fn types(&self) -> Option<Types<'_>> {
        Types::read(self.btf.as_deref()?).ok()
    }

    pub fn with_modules(&self, sections: &[ModuleSection]) -> Result<SymbolTable, LabError> {
        symbols_of(&self.symbols, &self.kernel, &self.modules, sections)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hooks<'a> {
    pub keep_trees: bool,
    pub events: bool,
    /// Whether transferred words have names.
    pub words: bool,
    /// Text of `include/linux/lsm_hook_defs.h`, instead of the kernel's BTF.
    pub definitions: Option<&'a str>,
    pub optional: bool,
}

pub fn profiling(
    store: &Store,
    kernel: &Kernel,
    modules: Vec<Module>,
    hooks: Hooks<'_>,
) -> Result<Profiling, LabError> {
    let symbols = named(store, kernel)?;
    let list = hook_list(kernel, &symbols, hooks.definitions)?;
    Ok(Profiling {
        framework: Framework::new(&list, &symbols),
        symbols,
        keep_trees: hooks.keep_trees,
        events: hooks.events,
        optional: hooks.optional,
        btf: match hooks.words {
            true => btf(&elf(kernel)?).ok().map(<[u8]>::to_vec),
            false => None,
        },
        kernel: kernel.name.clone(),
        modules,
    })
}

pub fn hook_names(
    store: &Store,
    kernel: &Kernel,
    definitions: Option<&str>,
) -> Result<Vec<String>, LabError> {
    let symbols = named(store, kernel)?;
    let list = hook_list(kernel, &symbols, definitions)?;
    Ok(list.iter().map(str::to_owned).collect())
}

/// The list of hooks, from `definitions`, or else from the kernel's BTF, or else from its symbols.
pub fn hook_list(
    kernel: &Kernel,
    symbols: &SymbolTable,
    definitions: Option<&str>,
) -> Result<HookList, LabError> {
    let failed = |why: String| {
        LabError::from(Failure::environment(
            format!("the LSM hooks of {} cannot be listed: {why}", kernel.name),
            "give include/linux/lsm_hook_defs.h from the kernel's tree with --hook-definitions, or \
             build the kernel with CONFIG_DEBUG_INFO_BTF=y",
        ))
    };
    if let Some(text) = definitions {
        return HookList::from_definitions(text).map_err(|error| failed(error.to_string()));
    }
    let elf = elf(kernel)?;
    let described = btf(&elf).and_then(HookList::from_btf);
    described.or_else(|error| {
        HookList::from_symbols(symbols)
            .or_else(|| HookList::of_bare_kernel(symbols))
            .ok_or_else(|| failed(error.to_string()))
    })
}

pub(crate) fn refuse_other(agent: &[u8], kernel: &Kernel) -> Result<(), LabError> {
    let arch = kernel.arch();
    // e_machine in its ELF header. An agent that replaces it in a test may have none.
    let machine = agent
        .get(18..20)
        .map(|at| u16::from_le_bytes([at[0], at[1]]));
    let is_elf = agent.starts_with(b"\x7fELF");
    if !is_elf || machine == Some(arch.elf_machine) {
        return Ok(());
    }
    Err(Failure::environment(
        format!(
            "this command cannot measure {}, a kernel for {arch}",
            kernel.name
        ),
        format!(
            "use `run` or `profile`, or give a kernel for {}",
            kernels::arch::native()
        ),
    )
    .into())
}

pub fn prepare(
    store: &Store,
    agent: &[u8],
    kernel: &Kernel,
    guest: Guest<'_>,
    hooks: Option<Hooks<'_>>,
    qemu: &Qemu,
    dir: &Path,
) -> Result<Bootable, LabError> {
    um::refuse_program(kernel)?;
    refuse_other(agent, kernel)?;
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf, LabError> {
        let path = dir.join(name);
        fs::write(&path, bytes).map_err(LabError::io("write", &path))?;
        Ok(path)
    };
    let symbols = symbols(store, kernel)?;
    let files = initramfs::write(agent, guest, kernel, dir)?;
    let profiling = match hooks.map(|hooks| profiling(store, kernel, files.modules, hooks)) {
        Some(Err(LabError::Environment(_))) if hooks.is_some_and(|hooks| hooks.optional) => None,
        Some(Err(LabError::Environment(why))) => return Err(LabError::NoHooks(why)),
        found => found.transpose()?,
    };
    let mut bootable = Bootable {
        image: image(kernel).to_owned(),
        initramfs: files.initramfs,
        disk: files.disk,
        cmdline: files.arguments.join(" "),
        landmarks: match &symbols {
            Ok(symbols) => {
                let types = profiling.as_ref().and_then(Profiling::types);
                let memory = types.map(|types| memory_landmarks(symbols, &types));
                let text = landmarks(symbols) + &memory.unwrap_or_default();
                Ok(write("landmarks", text.as_bytes())?)
            }
            Err(error) => Err(error.to_string()),
        },
        functions: match (&symbols, guest.root) {
            (Ok(symbols), Some(_)) => {
                let table = FunctionTable::new(symbols, &fixups(&elf(kernel)?));
                Some((
                    write("functions", table.text().as_bytes())?,
                    Arc::new(table),
                ))
            }
            _ => None,
        },
        profiling: profiling.map(Arc::new),
        syscall_entry: symbols.as_ref().ok().and_then(syscall_entry),
        digest: None,
    };
    bootable.digest = digest_of(&bootable, kernel, qemu);
    Ok(bootable)
}

/// A digest of QEMU and all its input files; None if one cannot be read.
fn digest_of(bootable: &Bootable, kernel: &Kernel, qemu: &Qemu) -> Option<String> {
    let disk = bootable.disk.as_ref().map(|disk| &disk.path);
    let functions = bootable.functions.as_ref().map(|(path, _)| path);
    let files = [Some(&bootable.initramfs), disk, functions];
    let files = files.into_iter().chain([bootable.landmarks.as_ref().ok()]);
    let kernel = match &kernel.verified {
        Some(digest) => digest.clone(),
        None => digest_file(&bootable.image).ok()?,
    };
    let mut all = format!("{} {} {kernel} ", qemu.version, qemu.digest()?);
    for file in files {
        let digest = file.map_or(Ok("none".to_owned()), |file| digest_file(file));
        all += &digest.ok()?;
    }
    Some(digest((all + &digest(counts::PLUGIN)).as_bytes()))
}
