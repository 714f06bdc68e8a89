// SPDX-License-Identifier: GPL-2.0-or-later
//! Which functions of the running kernel are hooks, or modules' implementations of them.

use std::collections::{BTreeMap, BTreeSet};

use model::IRREGULAR_FUNCTIONS;

use kernels::btf::{BtfError, Function, Types};

/// Functions of IMA and EVM that the kernel called beside the framework until they became
/// hooks in 6.8 (`include/linux/ima.h`, `evm.h`): each stands for a hook of its own name.
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
/// A hook of kernels in which they are hooks.
const SINCE_THEN: &str = "inode_post_setattr";

/// What the functions of modules begin with, where that is not the module's name.
const PREFIXES: [(&str, &str); 3] = [
    ("capability", "cap_"),
    ("landlock", "hook_"),
    ("bpf", "bpf_lsm_"),
];

/// Implementations whose names are not a prefix and a hook.
const OTHER_IMPLEMENTATIONS: [(&str, &str, &str); 5] = [
    ("ima", "ima_file_check", "file_post_open"),
    ("loadpin", "loadpin_read_file", "kernel_read_file"),
    ("loadpin", "loadpin_load_data", "kernel_load_data"),
    ("lockdown", "lockdown_is_locked_down", "locked_down"),
    ("safesetid", "safesetid_security_capable", "capable"),
];

/// Most functions that are probed at once.
pub const PROBES_MAX: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// Whose function it is, by the module's name in `/sys/kernel/security/lsm`; None for the
    /// framework's: all modules' decision.
    pub module: Option<String>,
    /// The function, as the kernel has it.
    pub function: Function,
}

/// Which functions are wanted, as patterns ([`model::glob`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Names of hooks. `*` stands for all.
    pub hooks: Vec<String>,
    /// Names of modules' functions (`selinux_*`) or of modules (`landlock`); empty if
    /// none is wanted.
    pub implementations: Vec<String>,
}

impl Default for Selection {
    /// All hooks, no implementation.
    fn default() -> Selection {
        Selection {
            hooks: vec!["*".to_owned()],
            implementations: Vec::new(),
        }
    }
}

/// The functions that a kernel has and that are selected, hooks first, and hooks that
/// are selected and that no function serves: inlined, or configured out.
///
/// [`BtfError`] if the kernel's hooks cannot be read.
pub fn find(
    types: &Types<'_>,
    active: &[String],
    selection: &Selection,
) -> Result<Found, BtfError> {
    let hooks = types.hooks()?.into_iter().map(str::to_owned);
    let known = Known {
        hooks: hooks.collect(),
    };
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
        // Static functions of one name cannot be told apart.
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
    let unserved = known
        .hooks
        .iter()
        .filter(|hook| !served.contains(*hook) && any(&selection.hooks, hook));
    Ok(Found {
        probes,
        ambiguous: twice.into_iter().map(|probe| probe.function.name).collect(),
        unserved: unserved.cloned().collect(),
    })
}

/// What [`find`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    pub probes: Vec<Probe>,
    pub ambiguous: BTreeSet<String>,
    /// Hooks without a function of their own.
    pub unserved: Vec<String>,
}

struct Known {
    hooks: BTreeSet<String>,
}

impl Known {
    /// The hook that a function of the framework serves. `security_compute_av` and
    /// others of SELinux's policy server serve none.
    fn hook_of(&self, function: &str) -> Option<String> {
        if let Some((hook, _)) = IRREGULAR_FUNCTIONS
            .iter()
            .find(|(_, other)| *other == function)
            && self.hooks.contains(*hook)
        {
            return Some((*hook).to_owned());
        }
        if BESIDE_FRAMEWORK.contains(&function) && !self.hooks.contains(SINCE_THEN) {
            return Some(function.to_owned());
        }
        let name = function.strip_prefix("security_")?;
        let long = format!("{name}_security");
        for hook in [name, &long] {
            if self.hooks.contains(hook) {
                return Some(hook.to_owned());
            }
            // It frees alone what modules allocated; older kernels have it as a hook.
            let allocates = hook.replacen("_free", "_alloc", 1);
            if allocates != hook && self.hooks.contains(&allocates) {
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
                && self.hooks.contains(hook)
            {
                return Some((module, hook.to_owned()));
            }
            let named = OTHER_IMPLEMENTATIONS
                .iter()
                .find(|(of, name, _)| of == module && *name == function);
            if let Some((_, _, hook)) = named
                && self.hooks.contains(*hook)
            {
                return Some((module, (*hook).to_owned()));
            }
        }
        None
    }
}
