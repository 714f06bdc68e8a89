// SPDX-License-Identifier: GPL-2.0-or-later
//! Policies of modules in a boot.
//!
//! The files here make the modules' input (a compiled policy, a list of rules). Those in
//! `guest/policy/` load it in the guest and check that it is in force. See `docs/policies.md`.

mod apparmor;
mod denials;
mod first;
mod given;
mod others;
mod selinux;
mod smack;
mod taken;
mod tomoyo;
mod tools;

pub use given::take_in;
pub use selinux::cache_use;
pub use taken::taken;

use std::collections::BTreeMap;
use std::path::Path;

use model::{Configuration, CustomPolicy, Failure, Integrity, Policy, Stack};

use kernels::Kernel;

pub const FILE_LIMIT_BYTES: usize = 64 << 20;

#[derive(Debug)]
pub struct Request<'a> {
    pub configuration: &'a Configuration,
    pub work_dir: Option<&'a str>,
    pub custom: &'a BTreeMap<String, CustomPolicy>,
    /// The programs' root on this machine; None for benchmarks.
    pub root: Option<&'a Path>,
    pub kernel: Option<&'a Kernel>,
    pub cache: &'a Path,
}

/// The benchmarks' default directory in the guest; lsmeter's path-based policies name it.
pub(crate) const WORK_DIR: &str = "/mnt";

impl Request<'_> {
    fn work_dir(&self) -> &str {
        self.work_dir.unwrap_or(WORK_DIR)
    }

    /// A policy of lsmeter with its directory replaced by [`Self::work_dir`].
    fn in_work_dir(&self, policy: &str) -> String {
        policy.replace(WORK_DIR, self.work_dir())
    }

    fn rules(&self) -> Option<(&'static str, u32)> {
        Some(("rules", self.configuration.settings.rules?))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prepared {
    pub keys: Vec<(&'static str, u32)>,
    /// Files in the guest's `/policy/MODULE/`: name and content.
    pub files: Vec<(String, Vec<u8>)>,
    pub kernel_arguments: Vec<String>,
    /// The commands on this machine, one per line, to reproduce by hand.
    pub steps: Vec<String>,
}

impl Prepared {
    fn file(&mut self, name: &str, content: impl Into<Vec<u8>>) {
        self.files.push((name.to_owned(), content.into()));
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The module or this kernel does not support the state: its measurements are unsupported.
    #[error("{0}")]
    Unsupported(String),
    #[error(transparent)]
    Environment(#[from] Failure),
}

const ALWAYS: &str = "it can only allow or deny";

/// Names in `lsm=` and in messages, and why a module has no permissive state; empty if it has one.
const MODULES: &[(&str, &str, &str)] = &[
    ("apparmor", "AppArmor", ""),
    ("bpf", "bpf", "a program can only allow or deny"),
    ("ipe", "IPE", ""),
    (
        "landlock",
        "Landlock",
        "a ruleset denies every handled right that no rule allows",
    ),
    ("loadpin", "LoadPin", ""),
    ("lockdown", "lockdown", ALWAYS),
    ("safesetid", "SafeSetID", ALWAYS),
    ("selinux", "SELinux", ""),
    ("smack", "Smack", ""),
    ("tomoyo", "TOMOYO", ""),
    ("yama", "yama", ALWAYS),
];

fn of_module(
    (name, title, denies): (&str, &str, &str),
    request: &Request<'_>,
) -> Result<Prepared, PolicyError> {
    let state = request.configuration.policy;
    if state == Policy::Permissive && !denies.is_empty() {
        return Err(PolicyError::Unsupported(format!(
            "{title} has no permissive state: {denies}"
        )));
    }
    // SELinux's cache size can change without a policy.
    if state == Policy::None && name != "selinux" {
        return Ok(Prepared::default());
    }
    let of = given::of(request, name);
    if of.is_some() {
        tools::vm_only(request, &format!("a custom policy for {title}"))?;
    }
    // A custom Smack policy is read first, so that its errors are reported on any kernel.
    if name != "smack" {
        tools::need(request, title, &option_of(name))?;
    }
    match (name, of) {
        ("selinux", _) => selinux::prepare(request),
        ("apparmor", Some(of)) => given::apparmor(request, of),
        ("bpf", Some(of)) => given::bpf(of),
        ("landlock", Some(of)) => given::landlock(of),
        ("smack", Some(of)) => given::smack(request, of),
        ("tomoyo", Some(of)) => given::tomoyo(request, of),
        ("apparmor", None) => apparmor::prepare(request),
        ("ipe", _) => others::ipe(),
        ("landlock", None) => Ok(others::landlock(request)),
        ("loadpin", _) => others::loadpin(request),
        ("safesetid", _) => Ok(others::safesetid(request)),
        ("smack", None) => smack::prepare(request),
        ("tomoyo", None) => tomoyo::prepare(request),
        // The guest writes one word or number to lockdown and Yama.
        _ => Ok(Prepared::default()),
    }
}

/// The option that builds a module in.
fn option_of(module: &str) -> String {
    match module {
        "lockdown" => "CONFIG_SECURITY_LOCKDOWN_LSM".to_owned(),
        "bpf" => "CONFIG_BPF_LSM".to_owned(),
        name => format!("CONFIG_SECURITY_{}", name.to_uppercase()),
    }
}

/// Whether a module has a policy. For such modules, [`prepare`] reports a kernel that does not have
/// the module, and names the missing option.
pub fn has_policy(module: &str) -> bool {
    MODULES.iter().any(|(name, ..)| *name == module)
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicySetup {
    pub directives: String,
    /// Files of the initramfs: path without a leading `/`, and content.
    pub files: Vec<(String, Vec<u8>)>,
    pub kernel_arguments: String,
    pub steps: Vec<String>,
}

pub fn prepare(request: &Request<'_>) -> Result<PolicySetup, PolicyError> {
    let configuration = request.configuration;
    let mut setup = PolicySetup::default();
    let mut names = modules_of(&configuration.stack, request.kernel)?;
    // Once Smack confines the agent, it could not write other modules' files. Only Landlock, which
    // does not need files, comes after Smack.
    names.sort_by_key(|name| name == "smack");
    if configuration.settings.denials {
        // This comes first, because modules label the files.
        tools::vm_only(request, "a set of denied files")?;
        setup.add(denials::NAME, Policy::Enforcing, Prepared::default())?;
    }
    let asked = setup.directives.len();
    for name in &names {
        let Some(&module) = MODULES.iter().find(|module| module.0 == name) else {
            continue;
        };
        let name = module.0;
        // A custom policy replaces lsmeter's; BPF has only custom ones.
        let is_given = given::of(request, name).is_some();
        if !is_given && (name == "bpf" || configuration.settings.has_given_modules()) {
            continue;
        }
        // Without a policy, only changed settings need directives.
        if configuration.policy == Policy::None && configuration.settings.is_default_of_modules() {
            continue;
        }
        let prepared = first::add(request, name, of_module(module, request)?)?;
        setup.add(name, configuration.policy, prepared)?;
    }
    first::check(configuration, &setup.directives)?;
    setup.files.extend(given::all_accesses(request));
    for subsystem in &configuration.integrity {
        let prepared = match subsystem {
            Integrity::Audit => others::audit(request),
            Integrity::Ima => others::ima(request),
            Integrity::Evm => others::evm(request),
        }?;
        setup.add(subsystem.as_str(), Policy::Enforcing, prepared)?;
    }
    if configuration.policy != Policy::None && setup.directives.len() == asked {
        return Err(PolicyError::Unsupported(format!(
            "no module in {} has a policy",
            configuration.stack
        )));
    }
    Ok(setup)
}

impl PolicySetup {
    fn add(&mut self, module: &str, state: Policy, prepared: Prepared) -> Result<(), PolicyError> {
        self.directives += &format!("policy {module} {state}");
        for (key, value) in &prepared.keys {
            self.directives += &format!(" {key}={value}");
        }
        self.directives.push('\n');
        for (name, content) in prepared.files {
            if content.len() > FILE_LIMIT_BYTES {
                return Err(PolicyError::Unsupported(format!(
                    "the policy for {module} is too large: {} bytes, at most {FILE_LIMIT_BYTES} \
                     are allowed",
                    content.len()
                )));
            }
            self.files
                .push((format!("policy/{module}/{name}"), content));
        }
        for argument in prepared.kernel_arguments {
            self.kernel_arguments += &argument;
            self.kernel_arguments.push(' ');
        }
        self.steps.extend(prepared.steps);
        Ok(())
    }
}

/// The modules of a stack; the default stack is taken from the kernel's configuration.
fn modules_of(stack: &Stack, kernel: Option<&Kernel>) -> Result<Vec<String>, PolicyError> {
    if stack.is_none() {
        return Ok(Vec::new());
    }
    if !stack.is_default() {
        return Ok(stack.names());
    }
    let Some(kernel) = kernel else {
        return Ok(vec!["landlock".to_owned()]);
    };
    let config = kernel
        .config
        .as_ref()
        .and_then(|path| std::fs::read_to_string(path).ok());
    let list = config.as_deref().and_then(default_modules);
    list.ok_or_else(|| {
        PolicyError::Unsupported(format!(
            "the default stack of {} is unknown without the kernel's configuration: name the stack",
            kernel.name
        ))
    })
}

/// Only the first active one of these can run: LSM_FLAG_EXCLUSIVE (security/security.c).
pub(crate) const EXCLUSIVE: [&str; 3] = ["selinux", "smack", "apparmor"];

/// The active modules of `CONFIG_LSM`, which also lists modules that are not built in.
fn default_modules(config: &str) -> Option<Vec<String>> {
    let line = config
        .lines()
        .find_map(|line| line.strip_prefix("CONFIG_LSM="))?;
    let is_built_in = |name: &str| tools::option_in(config, &option_of(name)) == "y";
    let mut taken = false;
    let names = line.trim_matches('"').split(',').map(str::trim);
    let runs = names.filter(|name| {
        let exclusive = EXCLUSIVE.contains(name);
        // Distributions have no policy for IPE.
        let runs = is_built_in(name) && *name != "ipe" && !(exclusive && taken);
        taken |= runs && exclusive;
        runs
    });
    Some(runs.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_default_stack_runs_what_is_built_in_and_one_exclusive_module() {
        let config = "CONFIG_SECURITY_LOCKDOWN_LSM=y\nCONFIG_SECURITY_YAMA=y\n\
                      # CONFIG_SECURITY_LOADPIN is not set\nCONFIG_SECURITY_SELINUX=y\n\
                      CONFIG_SECURITY_APPARMOR=y\nCONFIG_SECURITY_TOMOYO=y\n\
                      CONFIG_SECURITY_IPE=y\n\
                      CONFIG_LSM=\"lockdown,yama,loadpin,apparmor,selinux,smack,tomoyo,ipe\"\n";
        assert_eq!(
            default_modules(config).unwrap(),
            ["lockdown", "yama", "apparmor", "tomoyo"]
        );
        assert_eq!(default_modules("CONFIG_SECURITY=y\n"), None);
    }
}
