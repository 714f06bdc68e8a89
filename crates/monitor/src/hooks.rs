// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the running kernel's hooks, and modules' implementations of them.

use std::collections::{BTreeMap, BTreeSet};

use model::IRREGULAR_FUNCTIONS;

use kernels::btf::{BtfError, Function, Types};

/// Functions of IMA and EVM that became hooks in 6.8 (`include/linux/ima.h`, `evm.h`). In older
/// kernels each counts as a hook of its own name.
const BESIDE_FRAMEWORK: [&str; 10] = [
    "evm_inode_post_removexattr",
    "evm_inode_post_setattr",
    "ima_file_check",
    "ima_file_free",
    "ima_inode_post_setattr",
    "ima_kexec_cmdline",
    "ima_measure_critical_data",
    "ima_post_create_tmpfile",
    "ima_post_key_create_or_update",
    "ima_post_path_mknod",
];
/// This hook exists only in kernels in which those functions are hooks.
const SINCE_THEN: &str = "inode_post_setattr";

const PREFIXES: [(&str, &str); 3] = [
    ("capability", "cap_"),
    ("landlock", "hook_"),
    ("bpf", "bpf_lsm_"),
];

/// Implementations not named PREFIX_HOOK.
const OTHER_IMPLEMENTATIONS: [(&str, &str, &str); 5] = [
    ("ima", "ima_file_check", "file_post_open"),
    ("loadpin", "loadpin_read_file", "kernel_read_file"),
    ("loadpin", "loadpin_load_data", "kernel_load_data"),
    ("lockdown", "lockdown_is_locked_down", "locked_down"),
    ("safesetid", "safesetid_security_capable", "capable"),
];

pub const PROBES_MAX: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub hook: String,
    /// By the name in `/sys/kernel/security/lsm`; None for the framework's function, which calls
    /// all modules.
    pub module: Option<String>,
    pub function: Function,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Names of hooks; `*` selects all.
    pub hooks: Vec<String>,
    /// Names of modules' functions (`selinux_*`) or of modules (`landlock`).
    pub implementations: Vec<String>,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            hooks: vec!["*".to_owned()],
            implementations: Vec::new(),
        }
    }
}

/// Selected functions of a kernel, hooks first, and selected hooks that have no function.
///
/// [`BtfError`] if the kernel's hooks cannot be read.
pub fn find(
    types: &Types<'_>,
    active: &[String],
    selection: &Selection,
) -> Result<Found, BtfError> {
    let hooks = types.hooks()?.into_iter().map(str::to_owned);
    let known = Known(hooks.collect());
    let any = |patterns: &[String], name: &str| patterns.iter().any(|p| model::glob(p, name));
    let candidates = types.functions(|name| {
        name.starts_with("security_")
            || name == "inode_free_by_rcu"
            || BESIDE_FRAMEWORK.contains(&name)
            || (!selection.implementations.is_empty() && known.module_of(name, active).is_some())
    });
    let mut probes = Vec::new();
    let mut served = BTreeSet::new();
    let mut seen = BTreeMap::new();
    for function in candidates {
        // Static functions with the same name are ambiguous.
        *seen.entry(function.name.clone()).or_insert(0u32) += 1;
        if let Some(hook) = known.hook_of(&function.name) {
            served.insert(hook.clone());
            if any(&selection.hooks, &hook) {
                probes.push(Probe {
                    hook,
                    module: None,
                    function,
                });
            }
        } else if let Some((module, hook)) = known.module_of(&function.name, active)
            && (any(&selection.implementations, &function.name)
                || any(&selection.implementations, module))
            && any(&selection.hooks, &hook)
        {
            probes.push(Probe {
                hook,
                module: Some(module.to_owned()),
                function,
            });
        }
    }
    let (mut probes, twice): (Vec<_>, Vec<_>) = probes
        .into_iter()
        .partition(|probe| seen[&probe.function.name] == 1);
    probes.sort_by(|a, b| {
        (&a.module, &a.hook, &a.function.name).cmp(&(&b.module, &b.hook, &b.function.name))
    });
    probes.truncate(PROBES_MAX);
    let mut unserved = Vec::from_iter(known.0);
    unserved.retain(|hook| !served.contains(hook) && any(&selection.hooks, hook));
    Ok(Found {
        probes,
        ambiguous: twice.into_iter().map(|probe| probe.function.name).collect(),
        unserved,
    })
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    pub probes: Vec<Probe>,
    pub ambiguous: BTreeSet<String>,
    pub unserved: Vec<String>,
}

/// Names of the kernel's hooks.
struct Known(BTreeSet<String>);

impl Known {
    /// The hook of a framework function. `security_compute_av` and other functions of the SELinux
    /// policy server are not hooks.
    fn hook_of(&self, function: &str) -> Option<String> {
        let mut irregular = IRREGULAR_FUNCTIONS.iter();
        if let Some((hook, _)) = irregular.find(|(_, other)| *other == function)
            && self.0.contains(*hook)
        {
            return Some((*hook).to_owned());
        }
        if BESIDE_FRAMEWORK.contains(&function) && !self.0.contains(SINCE_THEN) {
            return Some(function.to_owned());
        }
        let name = function.strip_prefix("security_")?;
        let long = format!("{name}_security");
        for hook in [name, &long] {
            // A function that frees the modules' allocations does so without calling modules; in
            // older kernels it is a hook.
            if self.0.contains(hook) || self.0.contains(&hook.replacen("_free", "_alloc", 1)) {
                return Some(hook.to_owned());
            }
        }
        None
    }

    fn module_of<'a>(&self, function: &str, active: &'a [String]) -> Option<(&'a str, String)> {
        for module in active {
            let other = PREFIXES.iter().find(|(name, _)| name == module);
            let own = format!("{module}_");
            let prefix = other.map_or(own.as_str(), |(_, prefix)| prefix);
            if let Some(hook) = function.strip_prefix(prefix)
                && self.0.contains(hook)
            {
                return Some((module, hook.to_owned()));
            }
            let mut others = OTHER_IMPLEMENTATIONS.iter();
            if let Some((_, _, hook)) =
                others.find(|other| (other.0, other.1) == (&**module, function))
                && self.0.contains(*hook)
            {
                return Some((module, (*hook).to_owned()));
            }
        }
        None
    }
}
