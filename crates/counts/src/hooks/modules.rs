// SPDX-License-Identifier: GPL-2.0-or-later
//! Which module a function belongs to that the framework calls.

use super::base_name;

/// Modules whose functions do not begin with their names, or that a kernel calls without
/// listing them as active.
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

/// The module of `function`, which the framework calls for `hook`, in a kernel with these
/// modules; None if it belongs to no module. As in a [`HookCost`](model::HookCost).
#[must_use]
pub fn module_of(function: &str, hook: &str, modules: &[String]) -> Option<String> {
    let known = Modules::new(modules);
    known.of(base_name(function), hook).map(str::to_owned)
}

/// What the functions of each module begin with.
pub(super) struct Modules<'a> {
    /// Longest first.
    prefixes: Vec<(String, &'a str)>,
}

impl<'a> Modules<'a> {
    /// `active` is what `/sys/kernel/security/lsm` lists.
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

    /// The module of `function`, a name without suffixes, which the framework calls for
    /// `hook`; None if it belongs to no module.
    ///
    /// A module that is not known by name is recognised where it calls its function
    /// `<module>_<hook>`, as all do in Linux.
    pub fn of<'f>(&'f self, function: &'f str, hook: &str) -> Option<&'f str> {
        if let Some((_, module)) = self
            .prefixes
            .iter()
            .find(|(prefix, _)| function.starts_with(prefix.as_str()))
        {
            return Some(module);
        }
        let module = function.strip_suffix(hook)?.strip_suffix('_')?;
        // lsm_task_alloc is the framework's own, __vm_enough_memory the kernel's.
        let is_name = module.starts_with(|c: char| c.is_ascii_alphabetic());
        (is_name && !matches!(module, "lsm" | "security")).then_some(module)
    }
}
