// SPDX-License-Identifier: GPL-2.0-or-later

use rustc_hash::FxHashMap;

use kernels::hooks::{HookList, functions_of};
use kernels::symbols::SymbolTable;

use super::base_name;

/// The functions of one kernel's LSM framework (`security/security.c`) and their hooks.
///
/// Functions with similar names are not included (`security_compute_av` in SELinux's policy
/// server): a function belongs to the framework only if it belongs to a hook. Functions that free a
/// hook's allocation (`security_key_free`) are an exception: they were hooks in older kernels, and
/// count as hooks here, because the modules' memory would otherwise be attributed to other code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framework {
    /// By function, without compiler suffixes.
    hooks: FxHashMap<String, String>,
}

impl Framework {
    #[must_use]
    pub fn new(list: &HookList, symbols: &SymbolTable) -> Self {
        let mut hooks: FxHashMap<String, String> = FxHashMap::default();
        for hook in list.iter() {
            for function in functions_of(hook, symbols) {
                // A hook with exactly that name is more likely.
                let named_so = function.strip_prefix("security_") == Some(hook);
                if named_so || !hooks.contains_key(&function) {
                    hooks.insert(function, hook.to_owned());
                }
            }
        }
        // If modules no longer free what they allocated, the framework's function does so, as a
        // hook without implementations.
        for hook in list.iter() {
            let freed = hook.replacen("_alloc", "_free", 1);
            for function in functions_of(&freed, symbols) {
                hooks.entry(function).or_insert_with(|| freed.clone());
            }
        }
        Self { hooks }
    }

    /// Ignores compiler suffixes. Split-off parts (`security_x.part.0`) also have the function's
    /// hook; [`Self::hook_at`] finds where a hook *begins*.
    #[must_use]
    pub fn hook_of(&self, function: &str) -> Option<&str> {
        self.hooks.get(base_name(function)).map(String::as_str)
    }
}

/// Functions of IMA and EVM before 6.9, which were not LSMs: the kernel calls them directly.
pub(super) fn direct_module(function: &str) -> Option<&'static str> {
    ["ima", "evm"].into_iter().find(|module| {
        function
            .strip_prefix(module)
            .is_some_and(|rest| rest.starts_with('_'))
    })
}
