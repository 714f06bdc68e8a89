// SPDX-License-Identifier: GPL-2.0-or-later
//! A whole program, from its start to the end of its last task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::program_residual::ProgramResidual;
use crate::warning::{Warning, WarningKind};

/// A program counted in several runs. A REP instruction counts once.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    pub runs: Vec<ProgramRun>,
    /// Tasks in the representative run.
    pub tasks: Vec<ProgramTask>,
    /// Kernel entries in that run, the most expensive first.
    pub entries: Vec<ProgramEntry>,
    /// Whether all runs called the same hooks equally often, with the same number of instructions.
    pub same_hooks: bool,
    /// Hooks for which `same_hooks` does not hold, by name; empty in result files of older
    /// versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differing: Vec<DifferingHook>,
    /// Accesses that policies denied, as far as modules log them.
    pub denials: Option<Denials>,
    /// Instructions added outside hooks over the baseline's run. Missing for the baseline itself,
    /// if the baseline was not measured, and in result files of older versions.
    pub residual: Option<ProgramResidual>,
}

/// Denied accesses in the kernel's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Denials {
    /// Number of denials in all measured runs together. For Landlock, whose logging has a cost, the
    /// number in one more run.
    pub count: u32,
    /// The first denial, as the module logged it.
    pub first: String,
}

impl Denials {
    pub fn warning(&self, title: &str) -> Warning {
        let denied = match self.count {
            1 => "1 access was denied".to_owned(),
            n => format!("{n} accesses were denied"),
        };
        Warning::new(
            WarningKind::Denials,
            format!("{title}: {denied}; the first: {}", self.first),
        )
    }
}

/// A hook whose calls, callers or instructions differ between runs of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferingHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// Lowest number of calls in a run.
    pub calls_min: u64,
    /// Highest number of calls in a run.
    pub calls_max: u64,
    /// Lowest number of instructions in a run, in calls from outside other hooks.
    pub instructions_min: u64,
    /// Highest number of instructions in a run.
    pub instructions_max: u64,
}

/// One run of a program, in guest instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramRun {
    pub user: u64,
    pub kernel: u64,
    /// In interrupts, in work that they do before they return, and in task switches that they
    /// request.
    pub interrupts: u64,
    /// In all other tasks, in user mode and in the kernel.
    pub others: u64,
    /// Iterations of REP instructions after the first.
    pub rep_iterations: u64,
    /// Elapsed time of the guest's clock, in instructions, minus the sum of all values above: idle
    /// time. 0 if the guest was never idle.
    pub idle: i64,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramTask {
    /// Order in which tasks first ran, from 1.
    pub number: u32,
    /// Its parent task; missing for the first.
    pub creator: Option<u32>,
    /// Its last name in `/proc/PID/comm`, from a traced run that is not measured. Missing if the
    /// task was not identified there.
    pub name: Option<String>,
    pub user: u64,
    pub kernel: u64,
    /// Kernel instructions in hooks; nested hooks count once. Missing in result files of older
    /// versions.
    pub hooked: Option<u64>,
}

/// A kernel entry, over all tasks of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramEntry {
    /// A system call (`openat`), or another entry (`page_fault exception`).
    pub entry: String,
    pub calls: u64,
    pub instructions: u64,
    /// Instructions in hooks; nested hooks count once.
    pub hooked: u64,
    /// Its hooks, by name.
    pub hooks: Vec<EntryHook>,
}

/// A hook in one kernel entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    pub calls: u64,
    /// Instructions of its calls from outside other hooks.
    pub instructions: u64,
    /// Instructions of each module, by module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<EntryModule>,
}

/// A module's part of a hook in one kernel entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EntryModule {
    pub module: String,
    pub calls: u64,
    /// Instructions from these calls to their returns.
    pub instructions: u64,
}

impl ProgramRun {
    /// Instructions of the program itself, in user mode and in the kernel.
    pub fn own(&self) -> u64 {
        self.user.saturating_add(self.kernel)
    }
}

impl Program {
    pub(super) fn contradiction(&self) -> Option<String> {
        if self.runs.is_empty() {
            return Some("a program without runs".to_owned());
        }
        let sum = |part: fn(&ProgramTask) -> u64| -> u128 {
            self.tasks.iter().map(|task| u128::from(part(task))).sum()
        };
        let (user, kernel) = (sum(|task| task.user), sum(|task| task.kernel));
        let is_run =
            |run: &ProgramRun| u128::from(run.user) == user && u128::from(run.kernel) == kernel;
        if !self.runs.iter().any(is_run) {
            return Some(format!(
                "the sums of its tasks, {user} and {kernel} instructions, match no run"
            ));
        }
        let entries: u128 = self
            .entries
            .iter()
            .map(|e| u128::from(e.instructions))
            .sum();
        if entries != kernel {
            return Some(format!(
                "{kernel} instructions are in the kernel, but the sum of its entries is {entries}"
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
                    "{} of {} instructions of an entry are in hooks, but their sum is {hooks}",
                    entry.hooked, entry.instructions
                )
            })
        })
    }
}
