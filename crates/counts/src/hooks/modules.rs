// SPDX-License-Identifier: GPL-2.0-or-later
//! Maps functions called by the framework to modules.

use super::base_name;

/// Modules whose functions have another prefix, or which are called without being active.
const SPELLINGS: [(&str, &str); 8] = [
    ("aa_", "apparmor"),
    ("cap_", "capability"),
    ("hook_", "landlock"),
    ("landlock_", "landlock"),
    ("bpf_lsm_", "bpf"),
    ("ima_", "ima"),
    ("evm_", "evm"),
    ("integrity_", "integrity"),
];

/// The module of `function`, which the framework calls for `hook`, named as in a
/// [`HookCost`](model::HookCost).
#[must_use]
pub fn module_of(function: &str, hook: &str, modules: &[String]) -> Option<String> {
    let known = Modules::new(modules);
    known.find(base_name(function), hook).map(str::to_owned)
}

pub(super) struct Modules<'a> {
    /// Longest first.
    prefixes: Vec<(String, &'a str)>,
}

impl<'a> Modules<'a> {
    /// `active`: from `/sys/kernel/security/lsm`.
    pub fn new(active: &'a [String]) -> Self {
        let mut prefixes: Vec<(String, &'a str)> = SPELLINGS
            .iter()
            .map(|&(prefix, module)| (prefix.to_owned(), module))
            .collect();
        for module in active.iter().filter(|module| !module.is_empty()) {
            let mut prefix: String = module
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect();
            prefix.push('_');
            prefixes.push((prefix, module));
        }
        prefixes.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Self { prefixes }
    }

    /// The module of `function` (without suffixes), which the framework calls for `hook`. None if
    /// it is not a module's function.
    ///
    /// Unknown modules are recognised by functions named `<module>_<hook>`, as in all of Linux.
    pub fn find<'f>(&'f self, function: &'f str, hook: &str) -> Option<&'f str> {
        if let Some((_, module)) = self
            .prefixes
            .iter()
            .find(|(prefix, _)| function.starts_with(prefix.as_str()))
        {
            return Some(module);
        }
        let module = function.strip_suffix(hook)?.strip_suffix('_')?;
        // lsm_task_alloc belongs to the framework, and __vm_enough_memory to the kernel.
        let is_name = module.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_name && !matches!(module, "lsm" | "security")).then_some(module)
    }
}
