// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeSet;

use model::IRREGULAR_FUNCTIONS;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{CutFacts, FunctionFact, matches_any};
use crate::modules::Security;
use crate::program::{FunctionId, NameId, Program};
use crate::series::{Series, applies_in};
use crate::tree::is_under;

pub(crate) type HookId = u16;

/// Limited by the bits of [`crate::context::Key`].
const MAX_MODULES: usize = 31;

#[derive(Default)]
pub(crate) struct Framework {
    /// Includes functions that the kernel calls without the framework.
    pub(crate) hooks: Vec<String>,
    pub(crate) of_function: FxHashMap<FunctionId, HookId>,
    /// IMA and EVM functions called by the kernel directly, and their module.
    pub(crate) direct: FxHashMap<FunctionId, (HookId, u8)>,
    /// (module, function) for each hook.
    implementations: FxHashMap<HookId, Vec<(u8, FunctionId)>>,
    /// [`Program::own`].
    own: u32,
    pub(crate) modules: Vec<String>,
}

impl Framework {
    pub(crate) fn new(program: &Program<'_>, security: &Security, generic: &[String]) -> Self {
        let modules = security.modules.iter().take(MAX_MODULES);
        let mut framework = Self {
            hooks: security.hooks.keys().cloned().collect(),
            own: program.own,
            modules: modules.map(|module| module.name.clone()).collect(),
            ..Self::default()
        };
        framework.find_functions(program);
        framework.find_direct(program, security, generic);
        framework.find_implementations(program, security);
        framework
    }

    fn hook(&mut self, name: &str) -> HookId {
        let at = self.hooks.iter().position(|hook| hook == name);
        let at = at.unwrap_or_else(|| {
            self.hooks.push(name.to_owned());
            self.hooks.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    fn find_functions(&mut self, program: &Program<'_>) {
        for id in (0u32..).take(program.functions.len()) {
            if program.path(id) != "security/security.c" {
                continue;
            }
            let name = program.name(id);
            let regular = name.strip_prefix("security_").unwrap_or_default();
            let long = format!("{regular}_security");
            let other = IRREGULAR_FUNCTIONS.iter().find(|other| other.1 == name);
            let other = other.map_or("", |(hook, _)| hook);
            let known = |hook: &str| self.hooks.iter().any(|known| known == hook);
            // The framework frees the modules' blobs.
            let freed =
                |hook: &str| hook.contains("_free") && known(&hook.replacen("_free", "_alloc", 1));
            let found = [
                (regular, known(regular)),
                (&long, known(&long) || freed(&long)),
                (other, known(other)),
                (regular, freed(regular)),
            ];
            if let Some((hook, _)) = found.into_iter().find(|(_, is_hook)| *is_hook) {
                let hook = self.hook(hook);
                self.of_function.insert(id, hook);
            }
        }
    }

    pub(crate) fn is_hook(&self, id: FunctionId) -> bool {
        self.of_function.contains_key(&id) || self.direct.contains_key(&id)
    }

    /// (module, function) of the hook that this framework function calls; empty for other
    /// functions.
    pub(crate) fn implementations(&self, id: FunctionId) -> impl Iterator<Item = (u8, FunctionId)> {
        let hook = self.of_function.get(&id);
        let all = hook.and_then(|hook| self.implementations.get(hook));
        let layer = id - id % self.own;
        let all = all.into_iter().flatten();
        all.map(move |&(module, to)| (module, layer + to))
    }

    /// Before 6.9, IMA and EVM have no hooks, so calls of their functions in `generic` files count.
    fn find_direct(&mut self, program: &Program<'_>, security: &Security, generic: &[String]) {
        for (number, module) in (0u8..).zip(security.modules.iter().take(MAX_MODULES)) {
            if !module.direct {
                continue;
            }
            let prefix = format!("{}_", module.name);
            let mut called: FxHashSet<NameId> = FxHashSet::default();
            for id in (0u32..).take(program.functions.len()) {
                let path = program.path(id);
                if !path.starts_with("security/integrity/") && is_under(generic, path) {
                    called.extend(program.globals(id, &program.function(id).calls));
                }
            }
            for id in (0u32..).take(program.functions.len()) {
                let name = program.name(id);
                let place = program.functions[id as usize];
                let its = module.files.contains(program.path(id)) && name.starts_with(&prefix);
                if its && program.path(id).ends_with(".c") && called.contains(&place.name) {
                    let hook = self.hook(name);
                    self.direct.insert(id, (hook, number));
                }
            }
        }
    }

    fn find_implementations(&mut self, program: &Program<'_>, security: &Security) {
        for (number, module) in (0u8..).zip(security.modules.iter().take(MAX_MODULES)) {
            for registration in &module.registrations {
                let mut all = program.all(&registration.function).iter().copied();
                let Some(id) = all.find(|&id| module.files.contains(program.path(id))) else {
                    continue;
                };
                let hook = self.hook(&registration.hook);
                let implementations = self.implementations.entry(hook).or_default();
                implementations.push((number, id));
            }
        }
    }

    pub(crate) fn direct_of(&self, module: &str) -> Vec<String> {
        let number = self.modules.iter().position(|name| name == module);
        let direct = self.direct.values();
        let direct = direct.filter(|(_, module)| Some(usize::from(*module)) == number);
        let names = direct.map(|(hook, _)| self.hooks[usize::from(*hook)].clone());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// Calls that are not followed, and functions whose hooks are teardown.
#[derive(Default)]
pub(crate) struct Cuts {
    cut: FxHashSet<NameId>,
    /// Calls that are cut only from some callers: names, callers.
    cut_from: Vec<(FxHashSet<NameId>, FxHashSet<NameId>)>,
    teardown: FxHashSet<NameId>,
    /// For each file, the group of files that cannot be called from outside; 0 if there is none.
    groups: Vec<u16>,
}

struct Defined<'p, 'a> {
    program: &'p Program<'a>,
    sorted: Vec<(&'a str, NameId)>,
}

impl Defined<'_, '_> {
    fn matching(&self, pattern: &str) -> Vec<NameId> {
        let start = pattern.strip_suffix('*');
        if let Some(start) = start.filter(|start| !start.starts_with('*')) {
            let from = self.sorted.partition_point(|(name, _)| *name < start);
            let all = self.sorted[from..].iter();
            let all = all.take_while(|(name, _)| name.starts_with(start));
            return all.map(|&(_, id)| id).collect();
        }
        if pattern.contains('*') {
            let fits = |(name, _): &&(&str, NameId)| matches_any(&[pattern], name);
            return self.sorted.iter().filter(fits).map(|&(_, id)| id).collect();
        }
        let id = self.program.id(pattern);
        let defined = id.filter(|_| !self.program.all(pattern).is_empty());
        defined.into_iter().collect()
    }
}

impl Cuts {
    /// Also returns the patterns that should match in a tree of this series but do not.
    pub(crate) fn new(
        facts: &CutFacts,
        program: &Program<'_>,
        series: Option<Series>,
    ) -> (Self, Vec<(String, String)>) {
        let functions = program.functions.iter();
        let names = functions.map(|place| (program.names[place.name as usize], place.name));
        let names: BTreeSet<_> = names.collect();
        let sorted = names.into_iter().collect();
        let defined = Defined { program, sorted };
        let mut unused = Vec::new();
        let mut names = |patterns: &[String], fact: &FunctionFact| -> FxHashSet<NameId> {
            let mut found = FxHashSet::default();
            let expected = applies_in(fact.since, fact.until, series);
            for pattern in patterns {
                let matching = defined.matching(pattern);
                if matching.is_empty() && expected {
                    unused.push((pattern.clone(), fact.why.clone()));
                }
                found.extend(matching);
            }
            found
        };
        let mut cuts = Self {
            groups: vec![0; program.files.len()],
            ..Self::default()
        };
        for (group, fact) in (1u16..).zip(&facts.cut) {
            for (file, data) in program.files.iter().enumerate() {
                if is_under(&fact.files, &data.path) {
                    cuts.groups[file] = group;
                }
            }
            let functions = names(&fact.functions, fact);
            if fact.callers.is_empty() {
                cuts.cut.extend(functions);
            } else {
                cuts.cut_from.push((functions, names(&fact.callers, fact)));
            }
        }
        for fact in &facts.teardown {
            cuts.teardown.extend(names(&fact.functions, fact));
        }
        (cuts, unused)
    }

    pub(crate) fn is_cut(&self, name: NameId, caller: NameId) -> bool {
        let mut some = self.cut_from.iter();
        self.cut.contains(&name)
            || some.any(|(names, callers)| names.contains(&name) && callers.contains(&caller))
    }

    pub(crate) fn is_apart(&self, from: u32, to: u32) -> bool {
        let group = self.groups[to as usize];
        group != 0 && group != self.groups[from as usize]
    }

    pub(crate) fn is_teardown(&self, name: NameId) -> bool {
        self.teardown.contains(&name)
    }
}
