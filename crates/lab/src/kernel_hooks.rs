// SPDX-License-Identifier: GPL-2.0-or-later
//! What a kernel has of hooks, asked before it is booted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use counts::hooks::module_of;
use kernels::hooks::{HookList, implementations};
use kernels::{Kernel, Store};

use crate::built_in::BuiltIn;
use crate::error::LabError;
use crate::policy::option_in;
use crate::prepare::{elf, hook_list, symbols, unnamed};

/// A kernel's hooks, and what its modules have for them.
#[derive(Debug)]
pub struct KernelHooks {
    pub list: HookList,
    /// The modules' functions by hook: module and function. None if the kernel does not tell.
    pub implementations: Option<BTreeMap<String, BTreeSet<(String, String)>>>,
    /// The text of the kernel's `.config`, if it is known.
    config: Option<String>,
}

impl KernelHooks {
    pub fn of(store: &Store, kernel: &Kernel) -> Result<KernelHooks, LabError> {
        let symbols = symbols(store, kernel)?;
        let symbols = symbols.map_err(|error| unnamed(kernel, &error, "found"))?;
        let list = hook_list(kernel, &symbols, None)?;
        let modules = BuiltIn::of(store, kernel)?;
        let modules: Vec<String> = modules.names().map(str::to_owned).collect();
        let module = |hook: &str, function: String| {
            let module = module_of(&function, hook, &modules);
            (module.unwrap_or_else(|| "unknown".to_owned()), function)
        };
        // A kernel without BTF has a list by its symbols, and that is all it tells.
        let found = implementations(&elf(kernel)?, &symbols).unwrap_or(None);
        let implementations = found.map(|found| {
            let hooks = found.into_iter().map(|(hook, functions)| {
                let functions = functions.into_iter();
                let functions = functions.map(|function| module(&hook, function)).collect();
                (hook, functions)
            });
            hooks.collect()
        });
        Ok(KernelHooks {
            list,
            implementations,
            config: kernel
                .config
                .as_ref()
                .and_then(|path| fs::read_to_string(path).ok()),
        })
    }

    /// What the kernel's configuration says of an option: `y`, `m` or a value; empty if it is
    /// not set. None if the configuration is not known.
    pub fn option(&self, name: &str) -> Option<&str> {
        Some(option_in(self.config.as_ref()?, name))
    }
}
