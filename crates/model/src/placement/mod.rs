// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that system calls can reach, from a kernel's sources, and their result file.

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

/// Hooks that a kernel's system calls can reach: `lsmeter placement --json`. See
/// [`PlacementDocument::read`] and [`PlacementDocument::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter placement result file")]
pub struct PlacementDocument {
    pub tool: Tool,
    /// Path of the tree, with `@` and the revision if there is one.
    pub tree: String,
    /// The version in its Makefile: `6.12.118`.
    pub version: String,
    /// Architecture whose files were read.
    #[serde(default)]
    pub architecture: Architecture,
    pub framework: FrameworkPlacement,
    /// All modules of the tree, by name (Tables 2 and 5 of the paper).
    pub modules: Vec<ModulePlacement>,
    /// System calls, by file system, then in the requested order (Table 7).
    pub syscalls: Vec<SyscallPlacement>,
    /// Hooks called twice on a path, the most certain first.
    #[serde(default)]
    pub redundant: Vec<RedundantCheck>,
    /// Permissions that some modules check and others do not, the most certain first.
    #[serde(default)]
    pub missing: Vec<MissingCheck>,
    /// Causes of unbounded maxima, by file and line. Hooks refer to them by position.
    #[serde(default)]
    pub unbounded: Vec<Unbounded>,
    /// Functions between a system call and a hook that could not be parsed in full.
    pub unparsed: Vec<Unparsed>,
    /// Functions that call each other in a cycle and reach hooks, so that the number of calls is
    /// unbounded.
    pub circles: Vec<Vec<String>>,
    /// Conditions on success paths that neither a fact nor the code decides. The optional part is
    /// skipped for these.
    #[serde(default)]
    pub undecided: Vec<Undecided>,
    /// Facts about code that this tree does not have.
    pub stale_facts: Vec<StaleFact>,
    pub coverage: Coverage,
    /// Milliseconds of each step, and `total`.
    pub timing: BTreeMap<String, u64>,
}

impl PlacementDocument {
    /// Keeps only some system calls, and the findings about them.
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
    /// Hooks outside every `#if` ("general hooks" in the paper).
    pub unconditional: u32,
    /// Lines of code in `security/`, without blank lines and comments.
    pub loc: u64,
    /// The hooks, sorted; empty in result files without a list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl FrameworkPlacement {
    fn contradiction(&self) -> Option<String> {
        let parts = [
            ("unconditional", self.unconditional as usize),
            ("listed", self.names.len()),
        ];
        beyond(&parts, self.hooks)
            .map(|(what, n)| format!("{n} of {} hooks are {what}", self.hooks))
    }
}

fn beyond<'a>(parts: &'a [(&str, usize)], hooks: u32) -> Option<&'a (&'a str, usize)> {
    parts.iter().find(|(_, n)| *n > hooks as usize)
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModulePlacement {
    /// Name as in `lsm=`.
    pub module: String,
    pub hooks: u32,
    /// Hooks outside every `#if`.
    pub unconditional: u32,
    /// Lines of code, without blank lines and comments.
    pub loc: u64,
    /// `loc` / `hooks`, to one decimal.
    pub loc_per_hook: f64,
    /// Number of hooks by category.
    pub categories: BTreeMap<String, u32>,
    /// Hooks in the categories that the paper calls file accessing: inode, dentry, file,
    /// superblock, path, bprm.
    pub file_accessing: u32,
    /// Whether the kernel calls its functions directly, without the framework (IMA and EVM before
    /// 6.9). The functions are then counted instead of hooks.
    #[serde(default)]
    pub direct: bool,
    /// The hooks, in the order of registration.
    pub implements: Vec<String>,
}

impl ModulePlacement {
    fn contradiction(&self) -> Option<String> {
        let parts = [
            ("unconditional", self.unconditional as usize),
            ("file accessing", self.file_accessing as usize),
            ("listed", self.implements.len()),
        ];
        beyond(&parts, self.hooks).map(|(what, n)| {
            let module = printable(&self.module);
            format!("{n} of {} hooks of {module} are {what}", self.hooks)
        })
    }
}

/// Hooks that one system call can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyscallPlacement {
    /// Name as in its manual page: `stat`.
    pub syscall: String,
    /// Variant of the call with its own success path; empty for the plain one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// File system: `ext4`; `fs` in result files of version 1.
    pub filesystem: String,
    /// Hooks, by name.
    pub hooks: Vec<HookPlacement>,
    /// The success path: hooks in call order.
    pub trace: Vec<TraceEntry>,
}

impl SyscallPlacement {
    fn contradiction(&self, causes: usize) -> Option<String> {
        let names: BTreeSet<&str> = self.hooks.iter().map(|hook| hook.hook.as_str()).collect();
        if names.len() < self.hooks.len() {
            return Some("a hook occurs twice".to_owned());
        }
        let unknown = |entry: &&TraceEntry| !names.contains(entry.hook.as_str());
        if let Some(entry) = self.trace.iter().find(unknown) {
            let hook = printable(&entry.hook);
            return Some(format!("the trace contains {hook}, which it cannot reach"));
        }
        let astray = |hook: &&HookPlacement| {
            let mut all = hook.unbounded_by.values().flatten();
            all.any(|&cause| cause as usize >= causes)
        };
        if let Some(hook) = self.hooks.iter().find(astray) {
            let hook = printable(&hook.hook);
            return Some(format!(
                "a cause of {hook} is not among the {causes} in `unbounded`"
            ));
        }
        self.hooks.iter().find_map(|hook| {
            let mut all = hook.parts().map(|(_, reach)| reach);
            let above = all.find(|reach| !reach.success_path.is_within(reach.max))?;
            Some(format!(
                "{} is called {} times on the success path, but its upper bound is {}",
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

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookPlacement {
    /// `inode_permission`; for functions that the kernel calls directly, the function.
    pub hook: String,
    /// Calls on the success path, except those in teardown and inside other hooks.
    pub success_path: Count,
    /// Upper bound of calls, except those in teardown and inside other hooks.
    #[serde(rename = "upper_bound")]
    pub max: Count,
    pub teardown: Reach,
    /// Calls from inside other hooks, by the modules that make them: `ima`. With several modules
    /// (`selinux+ima`) all are required.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nested: BTreeMap<String, Reach>,
    /// Causes of unbounded maxima, as positions in [`PlacementDocument::unbounded`]: of `own`, of
    /// `teardown`, and by the modules of [`Self::nested`]. A maximum is bounded once each cause has
    /// a bound.
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
    /// Upper bound.
    #[serde(rename = "upper_bound")]
    pub max: Count,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceEntry {
    pub hook: String,
    pub times: Count,
    /// Functions from the system call to the caller of the hook.
    pub calls: Vec<String>,
    /// Whether it is called while an object is released.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub teardown: bool,
    /// Modules whose hooks call it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unparsed {
    pub file: String,
    pub function: String,
    pub line: u32,
    /// The part that was not understood.
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
    /// Parsed functions on a chain of names from a system call to a hook.
    pub reachable: usize,
    /// Files not found in the cache.
    pub scanned: usize,
    /// Functions not found in the cache.
    pub parsed: usize,
}
