// SPDX-License-Identifier: GPL-2.0-or-later

mod built_in;
mod definitions;
mod image;

#[cfg(test)]
mod tests;

pub use built_in::built_in_modules;
pub use definitions::{arguments, without_comments};
pub use image::btf;

use std::collections::{BTreeMap, BTreeSet};

use model::IRREGULAR_FUNCTIONS;

use crate::btf::{BtfError, Types};
use crate::symbols::{Symbol, SymbolTable};

/// Linux 7.2 has 275.
pub const MAX_HOOKS: usize = 4096;
/// In bytes; the longest of Linux 7.2 has 27.
pub const MAX_HOOK_NAME_LEN: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookListError {
    #[error("the kernel image is not an {archs} vmlinux: {0}", archs = crate::arch::titles())]
    NotVmlinux(&'static str),
    #[error("the kernel image has no BTF")]
    NoBtf,
    #[error("the kernel's BTF cannot be read: {0}")]
    BadBtf(#[from] BtfError),
    #[error("invalid hook definitions at line {line}: {reason}")]
    BadDefinitions {
        reason: &'static str,
        /// Counted from 1.
        line: usize,
    },
    /// Where lsmeter looked for hooks.
    #[error("no LSM hook in {0}")]
    NoHooks(&'static str),
    /// Where lsmeter found the hooks.
    #[error("more than {MAX_HOOKS} LSM hooks in {0}")]
    TooMany(&'static str),
}

/// Sorted names of a kernel's LSM hooks: `inode_permission`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookList {
    names: BTreeSet<String>,
}

impl HookList {
    /// From BTF: the function pointers in `union security_list_options`, else the lists in `struct
    /// security_hook_heads` (`include/linux/lsm_hooks.h`).
    pub fn from_btf(btf: &[u8]) -> Result<Self, HookListError> {
        let hooks = Types::read(btf)?.hooks()?;
        Self::collect(hooks.into_iter().map(str::to_owned), "the kernel's BTF")
    }

    /// Hooks with code of their own: a static call (`lsm_static_call_inode_permission_0`, from 6.12
    /// on) or, with `CONFIG_BPF_LSM`, a function for BPF programs (`bpf_lsm_inode_permission`).
    /// Helpers of `kernel/bpf/bpf_lsm.c` share that prefix, so those count only if a framework
    /// function calls them.
    ///
    /// `None` if there is no hook, or if there are more than [`MAX_HOOKS`].
    pub fn from_symbols(symbols: &SymbolTable) -> Option<Self> {
        let calls = symbols
            .with_prefix(STATIC_CALL)
            .filter_map(|symbol| static_call_hook(symbol.name));
        let functions = symbols
            .with_prefix(BPF_LSM)
            // Helpers may be static; hooks' functions never are.
            .filter(|symbol| symbol.is_code() && symbol.kind != 't')
            .filter_map(|symbol: Symbol<'_>| symbol.name.strip_prefix(BPF_LSM))
            .filter(|hook| is_hook_name(hook) && !functions_of(hook, symbols).is_empty());
        Self::collect(calls.chain(functions).map(str::to_owned), "the symbols").ok()
    }

    /// An empty list for a kernel without the framework (`CONFIG_SECURITY=n`), recognised by
    /// `security_inode_permission()`: it is inline there and has no symbol. `None` for other
    /// kernels.
    pub fn of_bare_kernel(symbols: &SymbolTable) -> Option<Self> {
        let names = BTreeSet::new();
        symbols
            .function("security_inode_permission")
            .is_none()
            .then_some(Self { names })
    }

    /// From the text of `include/linux/lsm_hook_defs.h` (Linux 5.7 and later): `LSM_HOOK(int, 0,
    /// inode_permission, …)`. Includes hooks that are not configured.
    pub fn from_definitions(text: &str) -> Result<Self, HookListError> {
        Self::collect(definitions::hooks(text)?, "the hook definitions")
    }

    pub fn contains(&self, hook: &str) -> bool {
        self.names.contains(hook)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    fn collect(
        hooks: impl IntoIterator<Item = String>,
        source_name: &'static str,
    ) -> Result<Self, HookListError> {
        let mut names = BTreeSet::new();
        for hook in hooks {
            names.insert(hook);
            if names.len() > MAX_HOOKS {
                return Err(HookListError::TooMany(source_name));
            }
        }
        if names.is_empty() {
            return Err(HookListError::NoHooks(source_name));
        }
        Ok(Self { names })
    }
}

/// BTF ids of the functions that BPF LSM programs attach to, by hook: `bpf_lsm_inode_permission`.
/// Helpers of `kernel/bpf/bpf_lsm.c` share the prefix.
pub fn bpf_attach_ids(btf: &[u8]) -> Result<BTreeMap<String, u32>, HookListError> {
    fn hook(name: &str) -> Option<&str> {
        name.strip_prefix(BPF_LSM).filter(|hook| is_hook_name(hook))
    }
    let functions = Types::read(btf)?.functions(|name| hook(name).is_some());
    let functions = functions.iter().take(MAX_HOOKS);
    let named = functions.filter_map(|found| Some((hook(&found.name)?.to_owned(), found.id)));
    Ok(named.collect())
}

const BPF_LSM: &str = "bpf_lsm_";
/// Trampolines in `security/security.c` for each hook and slot.
const STATIC_CALL: &str = "__SCT__lsm_static_call_";

fn static_call_hook(symbol: &str) -> Option<&str> {
    let (hook, slot) = symbol.strip_prefix(STATIC_CALL)?.rsplit_once('_')?;
    let numbered = !slot.is_empty() && slot.bytes().all(|b| b.is_ascii_digit());
    (numbered && is_hook_name(hook)).then_some(hook)
}

pub(crate) fn is_hook_name(name: &str) -> bool {
    name.len() <= MAX_HOOK_NAME_LEN
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The framework's functions for `hook`; the most regular name is preferred.
pub fn functions_of(hook: &str, symbols: &SymbolTable) -> Vec<String> {
    // Sometimes only clones or parts exist: security_x.constprop.0.
    let exists = |function: &str| {
        let whole = symbols.named(function);
        let mut all = whole.chain(symbols.with_prefix(&format!("{function}.")));
        all.any(|symbol| symbol.is_code())
    };
    let mut functions = Vec::new();
    let regular = format!("security_{hook}");
    if exists(&regular) {
        functions.push(regular);
    } else if let Some(short) = hook.strip_suffix("_security") {
        // bprm_check_security, inode_alloc_security, sk_free_security, …
        let short = format!("security_{short}");
        if exists(&short) {
            functions.push(short);
        }
    }
    for (_, function) in IRREGULAR_FUNCTIONS
        .iter()
        .filter(|(other, _)| *other == hook)
    {
        if exists(function) && !functions.iter().any(|known| known == function) {
            functions.push((*function).to_owned());
        }
    }
    functions
}
