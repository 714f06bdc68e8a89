// SPDX-License-Identifier: GPL-2.0-or-later
//! Counted instructions, and the hooks in them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::events::Events;
use super::path_tree::PathTree;
use super::program::Program;
use super::timed::Estimate;
use crate::document::printable;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// What all clean measured regions say together; missing in profiles of an older lsmeter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// Its measured regions by their path through the kernel; missing if an instrument counts
    /// without telling paths apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// The hooks on one of these paths, if they were told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooked: Option<HookedPath>,
    /// All calls on that path, if they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathTree>,
    /// What differs from a baseline outside hooks, if it was compared (`--baseline`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<Residual>,
    /// Why it was not compared, though that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
    /// If it is a whole program: all that it executed. `estimate` is of its instructions in
    /// the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The figure in machines that differ only in where memory lies (`--aa`), this one first; empty
    /// if there was one. If they vary, `estimate` is over machines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<f64>,
}

/// Measured regions of a counted cell, grouped by their path through the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paths {
    /// The most frequent path: the cell's figure if it is dominant.
    pub dominant: PathCount,
    /// Other paths, most frequent first, at most [`Paths::LIMIT`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<PathCount>,
    /// Clean measured regions, of all paths; operations, if each is made of many measured regions.
    pub regions: u64,
    /// Measured regions dropped because an interrupt or a context switch fell into them.
    pub dirty: u64,
    /// Hash of the dominant path's control flow, hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hash: Option<String>,
}

impl Paths {
    /// Most paths besides the dominant one that a document keeps.
    pub const LIMIT: usize = 16;

    /// Whether the most frequent path is dominant. If not, it says little about the operation.
    pub fn is_stable(&self) -> bool {
        is_dominant(self.dominant.regions, self.regions)
    }
}

/// At least two thirds of `all` measured regions took it, twice as many as all other paths
/// together. Then the 95 % interval of the median is a single count too, from 30 measured regions
/// on. `docs/instructions.md` has the reasons.
pub fn is_dominant(regions: u64, all: u64) -> bool {
    3 * u128::from(regions) >= 2 * u128::from(all)
}

/// Measured regions that took the same path through the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCount {
    /// Guest kernel instructions per operation, a REP instruction counted once.
    pub instructions: u64,
    /// Iterations of REP instructions per operation, not part of `instructions`.
    pub rep_iterations: u64,
    pub regions: u64,
}

/// The hooks on one path through the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookedPath {
    /// Guest kernel instructions of the path, a REP instruction counted once.
    pub total: u64,
    /// Iterations of REP instructions on it, not part of `total`; missing where an older
    /// lsmeter did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rep_iterations: Option<u64>,
    pub regions: u64,
    /// Instructions inside hooks, nested ones counted once.
    pub hooked: u64,
    /// Every hook that was called, by name.
    pub hooks: Vec<HookCost>,
    /// How often each system call was entered, by name (`openat`); empty in documents of an
    /// older lsmeter, and of programs, which have theirs apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub system_calls: BTreeMap<String, u64>,
    /// What its instructions do, if that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
    /// The longest stretch of it without interrupts, if that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irqs_off: Option<IrqsOff>,
}

/// A stretch of an operation in which the processor takes no interrupt, because an instruction said
/// so; the ways into the kernel and out of it are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IrqsOff {
    /// Its instructions, a REP instruction counted once.
    pub instructions: u64,
    /// The function that switched interrupts off, and its callers; at most four.
    pub functions: Vec<String>,
}

/// One LSM hook in one operation, on one path through the kernel. All figures are
/// guest kernel instructions per operation (a REP instruction counts once), or calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCost {
    /// The hook: `inode_permission`. For what kernels call beside the framework
    /// (`ima_file_check` before 6.8) the function's name.
    pub hook: String,
    /// The function that calls the modules: `security_inode_permission`.
    pub function: String,
    pub calls: u64,
    /// Instructions from its calls to its returns, whatever ran in between.
    pub inclusive: u64,
    pub exclusive: u64,
    /// Placement: `inclusive` less what the modules' implementations took.
    pub dispatch: u64,
    /// The part of `inclusive` of calls that did not come from inside another hook.
    /// Summed over hooks nothing counts twice.
    pub outermost: u64,
    /// What it called of the modules, by module, then by function.
    pub implementations: Vec<Implementation>,
    /// Who called it, by name; empty in documents of an older lsmeter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_by: Vec<HookCaller>,
    /// What the instructions of `inclusive` do, if that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCaller {
    pub function: String,
    pub calls: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Implementation {
    /// The module, as `/sys/kernel/security/lsm` names it: `selinux`.
    pub module: String,
    /// The function: `selinux_inode_permission`.
    pub function: String,
    /// Its calls by the hook.
    pub calls: u64,
    /// Instructions from its calls to its returns.
    pub inclusive: u64,
    /// What they do, if that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Events>,
}

/// What differs from a baseline outside every hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Residual {
    pub stack: Vec<String>,
    /// The baseline's path, and the hooks on it.
    pub path: HookedPath,
    /// The baseline's clean measured regions, of all paths.
    pub regions: u64,
    /// The difference of the totals less that of the hooks, in instructions. 0 proves that
    /// the hooks are all there is.
    pub instructions: i64,
    /// The functions that hold it; their differences sum up to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionDifference>,
}

/// A function whose instructions outside hooks differ from the baseline's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionDifference {
    pub function: String,
    /// Instructions more than in the baseline.
    pub difference: i64,
    /// Why a stack makes a difference there, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

impl Counted {
    pub fn regions(&self) -> u64 {
        let estimated = || self.estimate.as_ref().map_or(0, |estimate| estimate.n);
        self.paths
            .as_ref()
            .map_or_else(estimated, |paths| paths.regions)
    }

    /// Measured regions that were dropped because something else ran in them.
    pub fn dirty(&self) -> u64 {
        self.paths.as_ref().map_or(0, |paths| paths.dirty)
    }

    /// Whether machines that differ only in where memory lies count differently.
    pub fn varies(&self) -> bool {
        self.machines.windows(2).any(|two| two[0] != two[1])
    }

    /// Instructions of the dominant path, else the median of all measured regions. If machines vary,
    /// their median.
    pub fn headline(&self) -> Option<f64> {
        match &self.paths {
            Some(paths) if paths.is_stable() && !self.varies() => {
                Some(paths.dominant.instructions as f64)
            }
            _ => self.estimate.as_ref().map(|estimate| estimate.median),
        }
    }

    /// An exact count, not the median of several paths. For a program: all runs executed equally
    /// many kernel instructions.
    pub fn is_exact(&self) -> bool {
        if self.varies() {
            return false;
        }
        match &self.program {
            Some(program) => program
                .runs
                .windows(2)
                .all(|of| of[0].kernel == of[1].kernel),
            None => self.paths.as_ref().is_none_or(Paths::is_stable),
        }
    }

    /// The path with hook data is dominant, also in the baseline, and at least as many measured
    /// regions were clean as dirty. False without hook data.
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
            return Some("a figure of `machines` is below 0".to_owned());
        }
        if self.paths.is_none() && self.estimate.is_none() {
            return Some(
                "it was measured, but neither n and median nor paths are there".to_owned(),
            );
        }
        if let Some(paths) = &self.paths {
            if paths.others.len() > Paths::LIMIT {
                return Some(format!("there are more than {} other paths", Paths::LIMIT));
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
            .then(|| format!("{hooked} instructions are in hooks, which sum up to {sum}"))
    }
}

impl Residual {
    fn contradiction(&self, own: &HookedPath) -> Option<String> {
        if let Some(message) = self.path.contradiction() {
            return Some(format!("in the baseline {message}"));
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
            .then(|| format!("the residual is {residual}, its functions sum up to {sum}"))
    }
}
