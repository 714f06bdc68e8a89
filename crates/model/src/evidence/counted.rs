// SPDX-License-Identifier: GPL-2.0-or-later
//! Counted instructions, and the hooks in them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::events::Events;
use super::path_tree::PathTree;
use super::program::Program;
use super::timed::Estimate;
use crate::document::printable;

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Statistics over all clean measured regions; missing in profiles of older versions.
    pub estimate: Option<Estimate>,
    /// Measured regions by code path; missing if the method does not distinguish paths.
    pub paths: Option<Paths>,
    /// The hooks on one code path, if paths are distinguished.
    pub hooked: Option<HookedPath>,
    /// All calls on that path, if kept.
    pub tree: Option<PathTree>,
    /// Difference from a baseline outside hooks, if compared (`--baseline`).
    pub residual: Option<Residual>,
    /// Why the baseline was not compared, although requested.
    pub not_compared: Option<String>,
    /// A whole program's execution. `estimate` is then its instructions in the kernel.
    pub program: Option<Program>,
    /// The value in each of several machines that differ only in memory addresses (`--aa`), this
    /// machine first; empty if there was only one. If the values differ, `estimate` is computed
    /// over the machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<f64>,
}

/// Measured regions of a count, grouped by code path.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paths {
    /// The most frequent path: the value of the measurement if it is dominant.
    pub dominant: PathCount,
    /// Other paths, most frequent first, at most [`Paths::LIMIT`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<PathCount>,
    /// Number of clean measured regions, on all paths; the number of operations, if each operation
    /// consists of many measured regions.
    pub regions: u64,
    /// Measured regions dropped because of an interrupt or a context switch.
    pub dirty: u64,
    /// Hash of the dominant path's control flow, hexadecimal.
    pub path_hash: Option<String>,
}

impl Paths {
    /// Maximum number of stored paths other than the dominant one.
    pub const LIMIT: usize = 16;

    /// Whether the most frequent path is dominant. If not, it does not represent the operation.
    pub fn is_stable(&self) -> bool {
        is_dominant(self.dominant.regions, self.regions)
    }
}

/// Whether at least two thirds of `all` measured regions took a path, twice as many as all other
/// paths together. From 30 measured regions on, the 95 % interval of the median is then also a
/// single count. Reasons: `docs/instructions.md`.
pub fn is_dominant(regions: u64, all: u64) -> bool {
    3 * u128::from(regions) >= 2 * u128::from(all)
}

/// Measured regions that took the same code path.
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCount {
    /// Guest kernel instructions per operation; a REP instruction counts once.
    pub instructions: u64,
    /// Iterations of REP instructions per operation, not part of `instructions`.
    pub rep_iterations: u64,
    /// With transfers of words: those of lines of 64 bytes, the median over the regions.
    pub lines: Option<u64>,
    pub regions: u64,
}

/// The hooks on one code path.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookedPath {
    /// Guest kernel instructions of the path; a REP instruction counts once.
    pub total: u64,
    /// Iterations of REP instructions on it, not part of `total`; missing in result files of older
    /// versions.
    pub rep_iterations: Option<u64>,
    pub regions: u64,
    /// Instructions inside hooks; nested hooks count once.
    pub hooked: u64,
    /// Every called hook, by name.
    pub hooks: Vec<HookCost>,
    /// How often each system call was entered, by name (`openat`). Empty for programs, which list
    /// system calls elsewhere, and in result files of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub system_calls: BTreeMap<String, u64>,
    /// Events of its instructions, if counted.
    pub events: Option<Events>,
    /// The longest stretch with interrupts off, if counted.
    pub irqs_off: Option<IrqsOff>,
}

/// A stretch of an operation with interrupts switched off by an instruction. Kernel entry and exit
/// do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IrqsOff {
    /// Its instructions; a REP instruction counts once.
    pub instructions: u64,
    /// The function that switched interrupts off, then its callers; at most four.
    pub functions: Vec<String>,
}

/// One LSM hook in one operation, on one code path, in calls and in guest kernel instructions per
/// operation (a REP instruction counts once).
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCost {
    /// The hook: `inode_permission`. For functions that kernels call directly, without the
    /// framework (`ima_file_check` before 6.9), the function's name.
    pub hook: String,
    /// The function that calls the modules: `security_inode_permission`.
    pub function: String,
    pub calls: u64,
    /// Instructions from its calls to its returns, including everything in between.
    pub inclusive: u64,
    pub exclusive: u64,
    /// Hooking cost: `inclusive` minus the instructions of the modules' implementations.
    pub dispatch: u64,
    /// Part of `inclusive` in calls from outside other hooks. Summing over hooks counts nothing
    /// twice.
    pub outermost: u64,
    /// Module functions that it called, by module, then by function.
    pub implementations: Vec<Implementation>,
    /// Its callers by name; empty in result files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_by: Vec<HookCaller>,
    /// Events of the instructions of `inclusive`, if counted.
    pub events: Option<Events>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCaller {
    pub function: String,
    pub calls: u64,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Implementation {
    /// The module, as `/sys/kernel/security/lsm` names it: `selinux`.
    pub module: String,
    /// The function: `selinux_inode_permission`.
    pub function: String,
    pub calls: u64,
    /// Instructions from its calls to its returns.
    pub inclusive: u64,
    /// Events of its instructions, if counted.
    pub events: Option<Events>,
}

/// Difference from a baseline outside all hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Residual {
    pub stack: Vec<String>,
    /// The baseline's path, and the hooks on it.
    pub path: HookedPath,
    /// The baseline's clean measured regions, on all paths.
    pub regions: u64,
    /// Difference of the totals minus the difference of the hooks, in instructions. 0 shows that
    /// hooks account for all of the difference.
    pub instructions: i64,
    /// The functions that account for it; their differences add up to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionDifference>,
}

/// A function whose instructions outside hooks differ from the baseline's.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionDifference {
    pub function: String,
    /// Instructions added.
    pub difference: i64,
    /// Why the stack makes a difference there, if known.
    pub explanation: Option<String>,
}

impl Counted {
    pub fn regions(&self) -> u64 {
        let estimated = || self.estimate.as_ref().map_or(0, |estimate| estimate.n);
        self.paths
            .as_ref()
            .map_or_else(estimated, |paths| paths.regions)
    }

    /// Measured regions dropped because something else ran in them.
    pub fn dirty(&self) -> u64 {
        self.paths.as_ref().map_or(0, |paths| paths.dirty)
    }

    /// Whether counts differ between machines that differ only in memory addresses.
    pub fn varies(&self) -> bool {
        self.machines.windows(2).any(|two| two[0] != two[1])
    }

    /// Instructions of the dominant path, or else the median of all measured regions. If machines
    /// differ, the median over machines.
    pub fn headline(&self) -> Option<f64> {
        match &self.paths {
            Some(paths) if paths.is_stable() && !self.varies() => {
                Some(paths.dominant.instructions as f64)
            }
            _ => self.estimate.as_ref().map(|estimate| estimate.median),
        }
    }

    /// Whether the value is an exact count rather than the median of several paths. For a program,
    /// whether all runs executed the same number of kernel instructions.
    pub fn is_exact(&self) -> bool {
        if self.varies() {
            return false;
        }
        match &self.program {
            Some(program) => program
                .runs
                .windows(2)
                .all(|pair| pair[0].kernel == pair[1].kernel),
            None => self.paths.as_ref().is_none_or(Paths::is_stable),
        }
    }

    /// Whether the path with hook data is dominant, in the baseline too, and at least half of all
    /// measured regions were clean. False without hook data.
    pub fn is_comparable(&self) -> bool {
        let base = self.residual.as_ref();
        let hooked = self.hooked.as_ref();
        hooked.is_some_and(|path| is_dominant(path.regions, self.regions()))
            && self.regions() >= self.dirty()
            && base.is_none_or(|base| is_dominant(base.path.regions, base.regions))
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        if let Some(message) = self.estimate.as_ref().and_then(Estimate::contradiction) {
            return Some(message);
        }
        if !self.machines.iter().all(|x| x.is_finite() && *x >= 0.0) {
            return Some("a value in `machines` is negative".to_owned());
        }
        if self.paths.is_none() && self.estimate.is_none() {
            return Some("`estimate` and `paths` are both missing".to_owned());
        }
        if let Some(paths) = &self.paths {
            if paths.others.len() > Paths::LIMIT {
                return Some(format!("more than {} other paths", Paths::LIMIT));
            }
            if paths.dominant.regions > paths.regions {
                let (part, all) = (paths.dominant.regions, paths.regions);
                return Some(format!(
                    "{part} of {all} measured regions took the dominant path"
                ));
            }
        }
        if let Some(message) = self.program.as_ref().and_then(Program::contradiction) {
            return Some(message);
        }
        let Some(path) = &self.hooked else {
            let rest = [
                (self.residual.is_some(), "a residual without hooks"),
                (self.tree.is_some(), "a tree of calls without hooks"),
            ];
            let found = rest.iter().find(|(is_there, _)| *is_there);
            return found.map(|(_, what)| (*what).to_owned());
        };
        if self.paths.is_some() && path.regions > self.regions() {
            return Some(format!(
                "{} of {} measured regions took the path",
                path.regions,
                self.regions()
            ));
        }
        path.contradiction()
            .or_else(|| self.tree.as_ref()?.contradiction(path.total))
            .or_else(|| self.residual.as_ref()?.contradiction(path))
    }
}

impl HookedPath {
    fn contradiction(&self) -> Option<String> {
        let (hooked, total) = (self.hooked, self.total);
        if hooked > total {
            return Some(format!("{hooked} of {total} instructions are in hooks"));
        }
        for hook in &self.hooks {
            for (what, part) in [
                ("exclusive", hook.exclusive),
                ("dispatch", hook.dispatch),
                ("outermost", hook.outermost),
            ] {
                if part > hook.inclusive {
                    let (function, all) = (printable(&hook.function), hook.inclusive);
                    return Some(format!("{function}: {what} is {part}, inclusive {all}"));
                }
            }
        }
        let outermost = self.hooks.iter().map(|hook| u128::from(hook.outermost));
        let sum: u128 = outermost.sum();
        (sum != u128::from(hooked))
            .then(|| format!("{hooked} instructions are in hooks, but their sum is {sum}"))
    }
}

impl Residual {
    fn contradiction(&self, own: &HookedPath) -> Option<String> {
        if let Some(message) = self.path.contradiction() {
            return Some(format!("in the baseline: {message}"));
        }
        let outside = |path: &HookedPath| i128::from(path.total) - i128::from(path.hooked);
        let difference = outside(own) - outside(&self.path);
        let residual = i128::from(self.instructions);
        if residual != difference {
            return Some(format!(
                "the residual is {residual}, but outside hooks the totals differ by {difference}"
            ));
        }
        let functions = self.functions.iter();
        let sum: i128 = functions.map(|f| i128::from(f.difference)).sum();
        (residual != sum)
            .then(|| format!("the residual is {residual}, but its functions add up to {sum}"))
    }
}
