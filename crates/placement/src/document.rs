// SPDX-License-Identifier: GPL-2.0-or-later
//! The result of an analysis.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::count::Count;

/// The version of this form of the document.
pub const SCHEMA_VERSION: u32 = 1;

/// Which hooks a kernel's system calls can reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlacementDocument {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// The tree that was read: a path, with `@` and the revision if there is one.
    pub tree: String,
    /// The version in its Makefile: `6.12.117`.
    pub version: String,
    /// The framework itself.
    pub framework: FrameworkPlacement,
    /// All modules of the tree, by name (Tables 2 and 5 of the paper).
    pub modules: Vec<ModulePlacement>,
    /// System calls, by file system, then as asked for (Table 7).
    pub syscalls: Vec<SyscallPlacement>,
    /// Functions that lie between a system call and a hook, and did not parse in full.
    pub unparsed: Vec<Unparsed>,
    /// Functions that call each other in circles and reach hooks: those have no bound.
    pub circles: Vec<Vec<String>>,
    /// Decisions on nominal paths that neither a fact nor the code itself made: what is
    /// optional is then not done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Undecided>,
    /// Facts that speak of code that this tree does not have.
    pub stale_facts: Vec<StaleFact>,
    /// What was read.
    pub coverage: Coverage,
    /// Milliseconds of each step.
    pub timing: BTreeMap<String, u64>,
}

/// The hooks of the framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameworkPlacement {
    /// All hooks.
    pub hooks: u32,
    /// Those outside every `#if` ("general hooks" in the paper).
    pub unconditional: u32,
    /// Lines of code in `security/`, without blank lines and comments.
    pub loc: u64,
}

/// What one module implements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModulePlacement {
    /// As `lsm=` names it.
    pub module: String,
    /// Hooks that it implements.
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

/// What one system call can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyscallPlacement {
    /// As its manual calls it: `stat`.
    pub syscall: String,
    /// A way of calling it that has a nominal path of its own; empty for the plain one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// File system: `ext4`.
    pub fs: String,
    /// Hooks, by name.
    pub hooks: Vec<HookPlacement>,
    /// The nominal path: hooks in the order of their calls.
    pub trace: Vec<TraceEntry>,
}

/// One hook of a system call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookPlacement {
    /// `inode_permission`; of what the kernel calls beside the framework, the function.
    pub hook: String,
    /// Calls on the nominal path, without those in teardown and inside other hooks.
    pub nominal: Count,
    /// Calls at most, without those in teardown and inside other hooks.
    pub max: Count,
    /// Calls while objects are released.
    pub teardown: Reach,
    /// Calls from inside other hooks, by the modules that make them: `ima`. With several
    /// modules (`selinux+ima`) it needs all of them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nested: BTreeMap<String, Reach>,
    /// Modules that implement it.
    pub modules: Vec<String>,
}

/// A nominal count and a maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// On the nominal path.
    pub nominal: Count,
    /// At most.
    pub max: Count,
}

/// A hook on the nominal path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// The hook.
    pub hook: String,
    /// How often it is called there.
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unparsed {
    /// Its file.
    pub file: String,
    /// Its name.
    pub function: String,
    /// Its first line, from 1.
    pub line: u32,
    /// What was not understood.
    pub reason: String,
}

/// A condition that nothing decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Undecided {
    /// File.
    pub file: String,
    /// Function.
    pub function: String,
    /// The condition, without `!`.
    pub code: String,
}

/// A fact that matches nothing in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleFact {
    /// The functions that it speaks of.
    pub function: String,
    /// The code that it speaks of.
    pub code: String,
    /// Why it does not match.
    pub reason: String,
    /// What it says.
    pub why: String,
}

/// How much was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Files.
    pub files: usize,
    /// Functions and macros in them.
    pub functions: usize,
    /// Of these, by the names in them between a system call and a hook, and so parsed.
    pub reachable: usize,
    /// Files that were not in the cache.
    pub scanned: usize,
    /// Functions that were not in the cache.
    pub parsed: usize,
}
