// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that system calls can reach, from a kernel's sources, and the document of them.

mod agreement;
mod checks;
mod count;
mod difference;
mod unbounded;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentFault, Kind, Stored, all_sound, printable, sound};
use crate::environment::Tool;
use crate::words::Architecture;

pub use agreement::{Agreement, ComparedHook, Comparison};
pub use checks::{Confidence, MissingCheck, RedundantCheck};
pub use count::{Count, CountError};
pub use difference::{
    HookChange, HookDifference, HookPart, ModuleDifference, NameChanges, PlacementDifference,
    PlacementSide, Side, SyscallDifference,
};
pub use unbounded::{BoundlessCause, Unbounded};

/// Which hooks a kernel's system calls can reach: `lsmeter placement --json`. See
/// [`PlacementDocument::read`] and [`PlacementDocument::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter placement document")]
pub struct PlacementDocument {
    pub tool: Tool,
    /// The tree that was read: a path, with `@` and the revision if there is one.
    pub tree: String,
    /// The version in its Makefile: `6.12.117`.
    pub version: String,
    /// Of which architecture's kernels: the others' own files are not read.
    #[serde(default)]
    pub architecture: Architecture,
    pub framework: FrameworkPlacement,
    /// All modules of the tree, by name (Tables 2 and 5 of the paper).
    pub modules: Vec<ModulePlacement>,
    /// System calls, by file system, then as asked for (Table 7).
    pub syscalls: Vec<SyscallPlacement>,
    /// Hooks that are asked twice on a path; the most certain first.
    #[serde(default)]
    pub redundant: Vec<RedundantCheck>,
    /// What some modules check and others do not; the most certain first.
    #[serde(default)]
    pub missing: Vec<MissingCheck>,
    /// What makes maxima unbounded, by file and line: hooks refer to it by its place here.
    #[serde(default)]
    pub unbounded: Vec<Unbounded>,
    /// Functions that lie between a system call and a hook, and did not parse in full.
    pub unparsed: Vec<Unparsed>,
    /// Functions that call each other in circles and reach hooks: those have no bound.
    pub circles: Vec<Vec<String>>,
    /// Decisions on success paths that neither a fact nor the code itself made: what is
    /// optional is then not done.
    #[serde(default)]
    pub undecided: Vec<Undecided>,
    /// Facts that speak of code that this tree does not have.
    pub stale_facts: Vec<StaleFact>,
    pub coverage: Coverage,
    /// Milliseconds of each step, and of all of them: `total`.
    pub timing: BTreeMap<String, u64>,
}

impl PlacementDocument {
    /// Keeps some system calls, and only findings about them.
    pub fn retain(&mut self, keep: impl Fn(&SyscallPlacement) -> bool) {
        self.syscalls.retain(keep);
        let titles: BTreeSet<String> = self.syscalls.iter().map(|call| call.full_title()).collect();
        for check in &mut self.redundant {
            check.syscalls.retain(|title| titles.contains(title));
        }
        for check in &mut self.missing {
            check.syscalls.retain(|title| titles.contains(title));
        }
        self.redundant.retain(|check| !check.syscalls.is_empty());
        self.missing.retain(|check| !check.syscalls.is_empty());
        unbounded::drop_unused(&mut self.unbounded, &mut self.syscalls);
    }
}

impl Stored for PlacementDocument {
    const KIND: Kind = Kind::Placement;

    fn check(&self) -> Result<(), DocumentFault> {
        sound("framework", self.framework.contradiction())?;
        all_sound("modules", &self.modules, ModulePlacement::contradiction)?;
        let causes = self.unbounded.len();
        all_sound("syscalls", &self.syscalls, |call| {
            call.contradiction(causes)
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FrameworkPlacement {
    pub hooks: u32,
    /// Those outside every `#if` ("general hooks" in the paper).
    pub unconditional: u32,
    /// Lines of code in `security/`, without blank lines and comments.
    pub loc: u64,
    /// The hooks, sorted; empty if whoever wrote the document did not list them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl FrameworkPlacement {
    fn contradiction(&self) -> Option<String> {
        let parts = [
            ("unconditional", self.unconditional as usize),
            ("listed", self.names.len()),
        ];
        let beyond = parts.iter().find(|(_, n)| *n > self.hooks as usize);
        beyond.map(|(what, n)| format!("{n} of {} hooks are {what}", self.hooks))
    }
}

/// What one module implements.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModulePlacement {
    /// As `lsm=` names it.
    pub module: String,
    pub hooks: u32,
    /// Of these, outside every `#if`.
    pub unconditional: u32,
    /// Lines of code, without blank lines and comments.
    pub loc: u64,
    /// `loc` by `hooks`, to a tenth.
    pub loc_per_hook: f64,
    /// Hooks by category.
    pub categories: BTreeMap<String, u32>,
    /// Hooks in the categories that the paper calls file accessing: inode, dentry, file,
    /// superblock, path, bprm.
    pub file_accessing: u32,
    /// The kernel calls its functions beside the framework (IMA and EVM before 6.8): these
    /// are then counted in place of hooks.
    #[serde(default)]
    pub direct: bool,
    /// The hooks, in the order of their registration.
    pub implements: Vec<String>,
}

impl ModulePlacement {
    fn contradiction(&self) -> Option<String> {
        let parts = [
            ("unconditional", self.unconditional as usize),
            ("file accessing", self.file_accessing as usize),
            ("listed", self.implements.len()),
        ];
        let beyond = parts.iter().find(|(_, n)| *n > self.hooks as usize);
        beyond.map(|(what, n)| {
            let module = printable(&self.module);
            format!("{n} hooks of {module} are {what}, of {}", self.hooks)
        })
    }
}

/// What one system call can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyscallPlacement {
    /// As its manual calls it: `stat`.
    pub syscall: String,
    /// A way of calling it that has a success path of its own; empty for the plain one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// File system: `ext4`; documents of version 1 call it `fs`.
    pub filesystem: String,
    /// Hooks, by name.
    pub hooks: Vec<HookPlacement>,
    /// The success path: hooks in the order of their calls.
    pub trace: Vec<TraceEntry>,
}

impl SyscallPlacement {
    fn contradiction(&self, causes: usize) -> Option<String> {
        let names: BTreeSet<&str> = self.hooks.iter().map(|hook| hook.hook.as_str()).collect();
        if names.len() < self.hooks.len() {
            return Some("a hook is there twice".to_owned());
        }
        let unknown = |entry: &&TraceEntry| !names.contains(entry.hook.as_str());
        if let Some(entry) = self.trace.iter().find(unknown) {
            let hook = printable(&entry.hook);
            return Some(format!("the trace calls {hook}, which it cannot reach"));
        }
        let astray = |hook: &&HookPlacement| {
            let mut all = hook.unbounded_by.values().flatten();
            all.any(|&cause| cause as usize >= causes)
        };
        if let Some(hook) = self.hooks.iter().find(astray) {
            let hook = printable(&hook.hook);
            return Some(format!(
                "{hook} is unbounded by what is not among the {causes} in `unbounded`"
            ));
        }
        self.hooks.iter().find_map(|hook| {
            let mut all = hook.parts().map(|(_, reach)| reach);
            let above = all.find(|reach| !reach.success_path.is_within(reach.max))?;
            Some(format!(
                "{} is called {} times on the success path, {} at most",
                printable(&hook.hook),
                above.success_path,
                above.max
            ))
        })
    }

    pub fn full_title(&self) -> String {
        format!("{} on {}", self.title(), self.filesystem)
    }

    /// `stat`, or `close (missing)` for a separate case.
    pub fn title(&self) -> String {
        title(&self.syscall, &self.case)
    }
}

fn title(syscall: &str, case: &str) -> String {
    if case.is_empty() {
        syscall.to_owned()
    } else {
        format!("{syscall} ({case})")
    }
}

/// One hook of a system call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookPlacement {
    /// `inode_permission`; of what the kernel calls beside the framework, the function.
    pub hook: String,
    /// Calls on the success path, without those in teardown and inside other hooks.
    pub success_path: Count,
    /// Calls at most, without those in teardown and inside other hooks.
    #[serde(rename = "upper_bound")]
    pub max: Count,
    pub teardown: Reach,
    /// Calls from inside other hooks, by the modules that make them: `ima`. With several
    /// modules (`selinux+ima`) it needs all of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nested: BTreeMap<String, Reach>,
    /// What makes its maxima unbounded, as places in [`PlacementDocument::unbounded`]: of
    /// `own`, of `teardown`, and of what the modules of [`Self::nested`] call. Each of them
    /// needs a bound before the maximum has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unbounded_by: BTreeMap<String, Vec<u32>>,
    pub modules: Vec<String>,
}

impl HookPlacement {
    pub fn parts(&self) -> impl Iterator<Item = (HookPart, Reach)> {
        let own = Reach {
            success_path: self.success_path,
            max: self.max,
        };
        let inside = self.nested.iter();
        let inside = inside.map(|(modules, reach)| (HookPart::Inside(modules.clone()), *reach));
        let all = [(HookPart::Own, own), (HookPart::Teardown, self.teardown)];
        all.into_iter().chain(inside)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reach {
    pub success_path: Count,
    /// At most.
    #[serde(rename = "upper_bound")]
    pub max: Count,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEntry {
    pub hook: String,
    pub times: Count,
    /// Functions from the system call to the one that calls the hook.
    pub calls: Vec<String>,
    /// Is it called while an object is released?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub teardown: bool,
    /// The modules from within which it is called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
}

/// A function that did not parse in full.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unparsed {
    pub file: String,
    pub function: String,
    /// Its first line, from 1.
    pub line: u32,
    /// What was not understood.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Undecided {
    pub file: String,
    pub function: String,
    /// The condition, without `!`.
    pub code: String,
}

/// A fact that matches nothing in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleFact {
    pub function: String,
    pub code: String,
    /// Why it does not match.
    pub reason: String,
    pub why: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub files: usize,
    pub functions: usize,
    /// Of these, by the names in them between a system call and a hook, and so parsed.
    pub reachable: usize,
    /// Files that were not in the cache.
    pub scanned: usize,
    /// Functions that were not in the cache.
    pub parsed: usize,
}
