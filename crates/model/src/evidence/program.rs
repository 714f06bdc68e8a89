// SPDX-License-Identifier: GPL-2.0-or-later
//! A whole program, from its start to the end of its last task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::program_residual::ProgramResidual;

/// A program that was counted several times. A REP instruction counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Each time that it ran.
    pub runs: Vec<ProgramRun>,
    /// Its tasks in the run that stands for all.
    pub tasks: Vec<ProgramTask>,
    /// What took them into the kernel in that run, the most expensive first.
    pub entries: Vec<ProgramEntry>,
    /// All runs called the same hooks equally often, for as many instructions.
    pub same_hooks: bool,
    /// The hooks of which that does not hold, by name; empty in documents of an older lsmeter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<DifferingHook>,
    /// What that run executed more outside hooks than the baseline's; missing for the baseline
    /// itself, where it was not measured, and in documents of an older lsmeter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<ProgramResidual>,
}

/// A hook that runs of a program called more or less often, for other instructions, or from
/// elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferingHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// Its calls in the run with the fewest.
    pub calls_min: u64,
    /// In the run with the most.
    pub calls_max: u64,
    /// Instructions of its calls that did not come from inside another hook, in the run with the
    /// fewest.
    pub instructions_min: u64,
    /// In the run with the most.
    pub instructions_max: u64,
}

/// A program that ran once, in guest instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramRun {
    pub user: u64,
    pub kernel: u64,
    /// Of interrupts, what they do before they return, and switches to other tasks that
    /// they have asked for.
    pub interrupts: u64,
    /// Of all other tasks, in user mode and in the kernel.
    pub others: u64,
    /// Iterations of REP instructions beyond each first.
    pub rep_iterations: u64,
    /// What the guest's clock went on by, in instructions. Less the sum of all above it is the time in
    /// which the guest had nothing to do; 0 if it was never idle.
    pub idle: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramTask {
    /// In the order in which tasks first ran, from 1.
    pub number: u32,
    /// Who created it; missing for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creator: Option<u32>,
    /// What it was called last, as `/proc/PID/comm` has it, in a run that was traced and not
    /// measured; missing if it could not be told which it was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub user: u64,
    pub kernel: u64,
    /// Of these in hooks, nested ones counted once; missing in documents that did not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooked: Option<u64>,
}

/// A way into the kernel, over all tasks of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramEntry {
    /// A system call (`openat`), or another way in words (`page_fault exception`).
    pub entry: String,
    pub calls: u64,
    pub instructions: u64,
    /// Of these in hooks, nested ones counted once.
    pub hooked: u64,
    /// Its hooks, by name.
    pub hooks: Vec<EntryHook>,
}

/// A hook in one way into the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    pub calls: u64,
    /// Instructions of its calls that did not come from inside another hook.
    pub instructions: u64,
    /// Of these, what each module took, by module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<EntryModule>,
}

/// A module's part of a hook in one way into the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryModule {
    pub module: String,
    pub calls: u64,
    /// Instructions from these calls to their returns.
    pub instructions: u64,
}

impl ProgramRun {
    /// Instructions that the program itself executed, in user mode and kernel.
    #[must_use]
    pub fn own(&self) -> u64 {
        self.user.saturating_add(self.kernel)
    }
}

impl Program {
    pub(super) fn contradiction(&self) -> Option<String> {
        if self.runs.is_empty() {
            return Some("a program that never ran".to_owned());
        }
        let sum = |part: fn(&ProgramTask) -> u64| -> u128 {
            self.tasks.iter().map(|task| u128::from(part(task))).sum()
        };
        let (user, kernel) = (sum(|task| task.user), sum(|task| task.kernel));
        let is_run =
            |run: &ProgramRun| u128::from(run.user) == user && u128::from(run.kernel) == kernel;
        if !self.runs.iter().any(is_run) {
            return Some(format!(
                "its tasks sum up to {user} and {kernel} instructions, which no run has"
            ));
        }
        let entries: u128 = self
            .entries
            .iter()
            .map(|e| u128::from(e.instructions))
            .sum();
        if entries != kernel {
            return Some(format!(
                "{kernel} instructions are in the kernel, its entries sum up to {entries}"
            ));
        }
        let residual = self.residual.as_ref();
        if let Some(message) = residual.and_then(ProgramResidual::contradiction) {
            return Some(message);
        }
        self.entries.iter().find_map(|entry| {
            let hooks: u128 = entry.hooks.iter().map(|h| u128::from(h.instructions)).sum();
            (hooks != u128::from(entry.hooked) || entry.hooked > entry.instructions).then(|| {
                format!(
                    "{} of {} instructions of an entry are in hooks, which sum up to {hooks}",
                    entry.hooked, entry.instructions
                )
            })
        })
    }
}
