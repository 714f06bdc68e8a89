// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the hooks of the framework and of its modules in the text of `security/` and
//! `include/linux` (Tables 2 and 5 of the paper).

mod text;

use std::collections::{BTreeMap, BTreeSet};

use model::Failure;

use crate::error::not_a_tree;
use crate::facts::{ModuleFacts, matches_any};
use crate::scan::number;
use crate::tree::{Tree, is_under};
use crate::{FrameworkPlacement, ModulePlacement};

use text::{calls_of_macro, code_lines};

const MAX_HOOKS: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registration {
    pub(crate) hook: String,
    pub(crate) function: String,
    /// Outside every `#if`.
    pub(crate) unconditional: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) registrations: Vec<Registration>,
    pub(crate) files: BTreeSet<String>,
    /// Lines of code without blank lines and comments.
    pub(crate) loc: u64,
    /// The module does not use `LSM_HOOK_INIT`; the kernel calls its functions directly.
    pub(crate) direct: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Security {
    /// Hook → outside every `#if`.
    pub(crate) hooks: BTreeMap<String, bool>,
    /// Lines of code in all of `security/`.
    pub(crate) loc: u64,
    pub(crate) modules: Vec<Module>,
}

pub(crate) fn security(tree: &Tree, facts: &ModuleFacts) -> Result<Security, Failure> {
    let mut security = Security {
        hooks: framework_hooks(tree)?,
        ..Security::default()
    };
    let mut modules: BTreeMap<String, Module> = BTreeMap::new();
    // Directories without facts; they may not be modules.
    let mut unlisted: BTreeMap<String, Module> = BTreeMap::new();
    for entry in tree.list(&["security/".to_owned()])? {
        let bytes = tree.read(&entry.path)?;
        let source = String::from_utf8_lossy(&bytes);
        let lines = code_lines(&source);
        security.loc += lines;
        let mut sources = facts.sources.iter();
        let known = sources.find(|(_, paths)| is_under(paths, &entry.path));
        let module = match known {
            Some((name, _)) => modules.entry(name.clone()).or_default(),
            None => unlisted
                .entry(directory(&entry.path).to_owned())
                .or_default(),
        };
        module.loc += lines;
        if module.name.is_empty() {
            module.name = known
                .map(|(name, _)| name.clone())
                .or_else(|| lsm_name(&source))
                .unwrap_or_default();
        }
        for registration in registrations(&source, &security.hooks) {
            let same = |known: &&mut Registration| known.hook == registration.hook;
            if let Some(known) = module.registrations.iter_mut().find(same) {
                known.unconditional |= registration.unconditional;
            } else if module.registrations.len() < MAX_HOOKS {
                module.registrations.push(registration);
            }
        }
        module.files.insert(entry.path);
    }
    let named = unlisted
        .into_values()
        .filter(|module| !module.name.is_empty() && !module.registrations.is_empty());
    security.modules = modules.into_values().chain(named).collect();
    security.modules.retain_mut(|module| {
        let registers = !module.registrations.is_empty();
        module.direct = !registers && ["ima", "evm"].contains(&&*module.name);
        module.direct || registers
    });
    Ok(security)
}

fn directory(path: &str) -> &str {
    let rest = path.strip_prefix("security/").unwrap_or(path);
    rest.split_once('/')
        .map_or(path, |(directory, _)| directory)
}

/// From `DEFINE_LSM(x) = { .name = "x" }`.
fn lsm_name(source: &str) -> Option<String> {
    let at = source.find("\nDEFINE_LSM(")?;
    let block = &source[at..];
    let block = &block[..block.find("};").unwrap_or(block.len())];
    let name = block.split_once(".name = \"")?.1;
    Some(name.split('"').next()?.to_owned())
}

fn registrations(source: &str, hooks: &BTreeMap<String, bool>) -> Vec<Registration> {
    let mut found = Vec::new();
    for call in calls_of_macro(source, "LSM_HOOK_INIT") {
        let [hook, function] = &call.arguments[..] else {
            continue;
        };
        if found.len() > MAX_HOOKS {
            break;
        }
        if call.in_macro {
            // `#define LSM_HOOK(…, NAME, …) LSM_HOOK_INIT(NAME, bpf_lsm_##NAME),`
            let prefix = function.split("##").next().unwrap_or_default().trim();
            found.extend(hooks.iter().map(|(hook, unconditional)| Registration {
                hook: hook.clone(),
                function: format!("{prefix}{hook}"),
                unconditional: *unconditional,
            }));
        } else {
            found.push(Registration {
                hook: hook.clone(),
                function: function.clone(),
                unconditional: call.unconditional,
            });
        }
    }
    found
}

/// The hooks of the framework: `include/linux/lsm_hook_defs.h`, before 5.7 the members of
/// `union security_list_options` in `include/linux/lsm_hooks.h`.
fn framework_hooks(tree: &Tree) -> Result<BTreeMap<String, bool>, Failure> {
    let mut hooks = BTreeMap::new();
    if let Ok(bytes) = tree.read("include/linux/lsm_hook_defs.h") {
        for call in calls_of_macro(&String::from_utf8_lossy(&bytes), "LSM_HOOK") {
            if let Some(name) = call.arguments.get(2) {
                hooks.insert(name.clone(), call.unconditional);
            }
        }
    } else if let Ok(bytes) = tree.read("include/linux/lsm_hooks.h") {
        let source = String::from_utf8_lossy(&bytes).into_owned();
        hooks = text::union_members(&source, "union security_list_options");
    }
    if hooks.is_empty() || hooks.len() > MAX_HOOKS {
        let reason = format!("its headers define {} LSM hooks", hooks.len());
        return Err(not_a_tree(tree.path(), reason));
    }
    Ok(hooks)
}

/// `other` if none fits.
pub(crate) fn category<'f>(facts: &'f ModuleFacts, hook: &str) -> &'f str {
    let mut categories = facts.category.iter();
    let found = categories.find(|category| matches_any(&category.hooks, hook));
    found.map_or("other", |category| &category.name)
}

impl Module {
    /// `direct`: functions of a module that is not an LSM, which the kernel calls.
    pub(crate) fn placement(&self, facts: &ModuleFacts, direct: &[String]) -> ModulePlacement {
        let hooks: Vec<&str> = if self.direct {
            direct.iter().map(String::as_str).collect()
        } else {
            self.registrations.iter().map(|r| r.hook.as_str()).collect()
        };
        let mut categories: BTreeMap<String, u32> = BTreeMap::new();
        for &hook in &hooks {
            let mut prefixes = ["ima_", "evm_"].iter().filter(|_| self.direct);
            let bare = prefixes.find_map(|prefix| hook.strip_prefix(prefix));
            let category = category(facts, bare.unwrap_or(hook));
            *categories.entry(category.to_owned()).or_default() += 1;
        }
        let accessing = facts
            .category
            .iter()
            .filter(|category| category.file_accessing);
        let accessing = accessing.filter_map(|category| categories.get(&category.name));
        let unconditional = self.registrations.iter().filter(|r| r.unconditional);
        let tenths = (self.loc as f64 / hooks.len() as f64 * 10.0).round();
        ModulePlacement {
            module: self.name.clone(),
            hooks: number(hooks.len()),
            unconditional: number(match self.direct {
                true => hooks.len(),
                false => unconditional.count(),
            }),
            loc: self.loc,
            loc_per_hook: if hooks.is_empty() { 0.0 } else { tenths / 10.0 },
            file_accessing: accessing.sum(),
            categories,
            direct: self.direct,
            implements: hooks.iter().map(|&hook| hook.to_owned()).collect(),
        }
    }
}

impl Security {
    pub(crate) fn placement(&self) -> FrameworkPlacement {
        let unconditional = self.hooks.values().filter(|&&unconditional| unconditional);
        FrameworkPlacement {
            hooks: number(self.hooks.len()),
            unconditional: number(unconditional.count()),
            loc: self.loc,
            names: self.hooks.keys().cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_registrations() {
        let source = "\nDEFINE_LSM(x) = {\n\t.name = \"yama\",\n};\n";
        assert_eq!(lsm_name(source).as_deref(), Some("yama"));
        let hooks = BTreeMap::from([("a".to_owned(), true), ("b".to_owned(), false)]);
        let source = "static x[] = {\n#define LSM_HOOK(RET, DEFAULT, NAME, ...) \\\n\tLSM_HOOK_INIT(NAME, bpf_lsm_##NAME),\n#include <x>\n\tLSM_HOOK_INIT(c, bpf_c),\n};\n";
        let found: Vec<_> = registrations(source, &hooks)
            .into_iter()
            .map(|r| (r.hook, r.function, r.unconditional))
            .collect();
        let row = |a: &str, b: &str, c| (a.to_owned(), b.to_owned(), c);
        assert_eq!(
            found,
            [
                row("a", "bpf_lsm_a", true),
                row("b", "bpf_lsm_b", false),
                row("c", "bpf_c", true)
            ]
        );
    }
}
