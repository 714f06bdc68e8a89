// SPDX-License-Identifier: GPL-2.0-or-later
//! Placements of many versions: how hooks, lines and what system calls reach have grown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Count, FrameworkPlacement, NameChanges, PlacementDocument, SyscallPlacement};
use crate::document::{DocumentFault, Kind, Stored, all_sound, printable};
use crate::environment::Tool;

/// Placements of many versions: `lsmeter placement history --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter history of placements")]
pub struct PlacementHistory {
    /// What wrote it.
    pub tool: Tool,
    /// In the order in which they were asked for.
    pub versions: Vec<PlacementVersion>,
    /// What could not be analysed.
    #[serde(default)]
    pub skipped: Vec<SkippedVersion>,
}

/// One version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacementVersion {
    /// The tree: a path, with `@` and the revision if there is one.
    pub tree: String,
    /// The version in its Makefile.
    pub version: String,
    /// The framework itself.
    pub framework: FrameworkPlacement,
    /// Hooks that the version before did not have, and those that it had alone.
    pub since: NameChanges,
    /// All modules, by name.
    pub modules: Vec<ModuleSize>,
    /// What system calls reach, in sums.
    pub reach: Vec<SyscallReach>,
}

/// How large a module is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleSize {
    /// As `lsm=` names it.
    pub module: String,
    /// Hooks that it implements.
    pub hooks: u32,
    /// Of these, outside every `#if`.
    pub unconditional: u32,
    /// Of these, on files.
    pub file_accessing: u32,
    /// Lines of code, without blank lines and comments.
    pub loc: u64,
}

/// What a system call reaches, in sums.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyscallReach {
    /// As its manual calls it.
    pub syscall: String,
    /// The way of calling it; empty for the plain one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// File system.
    pub filesystem: String,
    /// Different hooks on the nominal path.
    pub hooks: u32,
    /// Different hooks on any path.
    pub reachable: u32,
    /// Calls on the nominal path.
    pub nominal: Count,
    /// Calls at most of the hooks on the nominal path.
    pub max: Count,
    /// Calls on the nominal path while objects are released.
    pub teardown: Count,
}

/// A version that could not be analysed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedVersion {
    /// The tree.
    pub tree: String,
    /// Why not.
    pub reason: String,
}

impl PlacementVersion {
    /// What contradicts itself in its figures, if anything.
    fn contradiction(&self) -> Option<String> {
        if let Some(message) = self.framework.contradiction() {
            return Some(message);
        }
        let above = |reach: &&SyscallReach| !reach.nominal.is_within(reach.max);
        let reach = self.reach.iter().find(above)?;
        Some(format!(
            "{} calls {} hooks nominally, {} at most",
            printable(&reach.title()),
            reach.nominal,
            reach.max
        ))
    }
}

impl SyscallReach {
    /// `stat`, or `open (missing)` if it is a case of its own.
    pub fn title(&self) -> String {
        super::title(&self.syscall, &self.case)
    }
}

impl SyscallPlacement {
    /// What it reaches, in sums: without teardown and calls from inside hooks, but for
    /// [`SyscallReach::teardown`] and [`SyscallReach::reachable`].
    #[must_use]
    pub fn reach(&self) -> SyscallReach {
        let mut reach = SyscallReach {
            syscall: self.syscall.clone(),
            case: self.case.clone(),
            filesystem: self.filesystem.clone(),
            reachable: u32::try_from(self.hooks.len()).unwrap_or(u32::MAX),
            ..SyscallReach::default()
        };
        for hook in &self.hooks {
            reach.teardown = reach.teardown.plus(hook.teardown.nominal);
            if !hook.nominal.is_zero() {
                reach.hooks += 1;
                reach.nominal = reach.nominal.plus(hook.nominal);
                reach.max = reach.max.plus(hook.max);
            }
        }
        reach
    }
}

impl Default for PlacementHistory {
    fn default() -> Self {
        PlacementHistory {
            tool: Tool::this(),
            versions: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl PlacementHistory {
    /// Adds a version behind those that are there.
    pub fn push(&mut self, document: &PlacementDocument) {
        let since = self
            .versions
            .last()
            .map(|last| NameChanges::of_frameworks(&last.framework, &document.framework));
        let modules = document.modules.iter().map(|module| ModuleSize {
            module: module.module.clone(),
            hooks: module.hooks,
            unconditional: module.unconditional,
            file_accessing: module.file_accessing,
            loc: module.loc,
        });
        self.versions.push(PlacementVersion {
            tree: document.tree.clone(),
            version: document.version.clone(),
            since: since.unwrap_or_default(),
            modules: modules.collect(),
            reach: document
                .syscalls
                .iter()
                .map(SyscallPlacement::reach)
                .collect(),
            framework: document.framework.clone(),
        });
    }
}

impl Stored for PlacementHistory {
    const KIND: Kind = Kind::PlacementHistory;

    fn check(&self) -> Result<(), DocumentFault> {
        all_sound("versions", &self.versions, PlacementVersion::contradiction)
    }
}
