// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks of a kernel operations call, and why they do not call the others: what
//! `lsmeter coverage` finds in the cells of its document.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::printable;
use crate::key::title;
use crate::words::{Suite, UnknownWord, words};

words! {
    /// What it would take that a hook is called which no operation calls.
    Need, "need":
    Variant = "variant",
    /// A benchmark: system calls that nothing stands in the way of.
    Benchmark = "benchmark",
    /// A policy, or a module's state, of another kind than the lab's.
    Policy = "policy",
    /// Code that the kernel has in a module which has to be loaded, or was built without.
    Module = "module",
    /// An operation that waits for what runs after it: a grace period, a timer, another task.
    Later = "later",
    /// A device that the lab's machines do not have.
    Hardware = "hardware",
    /// The kernel does it by itself, as when it boots: no system call leads there.
    Kernel = "kernel",
    /// Another configuration: nothing in this kernel calls it.
    Configuration = "configuration",
}

impl Need {
    /// Can user space have the hook called in this kernel, on any machine?
    #[must_use]
    pub fn is_within_reach(self) -> bool {
        match self {
            Need::Variant | Need::Benchmark | Need::Policy | Need::Module | Need::Later => true,
            Need::Hardware | Need::Kernel | Need::Configuration => false,
        }
    }
}

/// Which hooks of a kernel operations call: only of a coverage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageFindings {
    /// The kernel, as the user named it.
    pub kernel: String,
    /// Its `uname -r`.
    pub release: String,
    pub share: CoverageShare,
    /// Modules that are measured unless others are asked for, and that this kernel lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacking: Vec<String>,
    /// Does the kernel tell which functions its modules have for its hooks? If not, only those
    /// that ran are known.
    pub implementations_known: bool,
    /// Every hook of the kernel, by name.
    pub hooks: Vec<CoveredHook>,
    /// What was called and counts as a hook, but is none of the kernel's list: IMA's and EVM's
    /// functions before 6.8, and functions that free what a hook allocated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// Reasons that lsmeter knows and that do not fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleReason>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageShare {
    pub hooks: u32,
    pub called: u32,
    /// Of these, those that are called only after operations; not told where older documents do not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub called_later: u32,
    /// Those that user space can have called, as far as is known: without those that take
    /// hardware, that the kernel calls by itself, or that nothing in it calls.
    pub within_reach: u32,
    /// Those that no operation calls, without a reason that is known.
    pub unexplained: u32,
}

/// One hook of the kernel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// Operations that call it; empty if none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_by: Vec<CallingOperation>,
    /// Operations after which it is called, if none calls it itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_after: Vec<EarlierOperation>,
    /// Functions of modules that the kernel calls for it, by module.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementations: Vec<CoveredImplementation>,
    /// Why no operation calls it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<UnreachedReason>,
    /// System calls that can reach it by the kernel's sources, if those were read; of hooks that
    /// no operation calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system_calls: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallingOperation {
    /// Benchmark: `open`; of a whole program its name.
    pub benchmark: String,
    /// Its variant: `AA/BB`; missing if it has only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// The suite that it is in; missing of whole programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// Calls in one operation, of the configuration with fewest. 0 if the kernel has no function
    /// of the hook's own: then a module's function for it ran.
    pub least: u64,
    /// Calls in one operation, of the configuration with most.
    pub most: u64,
}

/// An operation after which a hook is called, for what the operation left, or what undid it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EarlierOperation {
    /// Benchmark: `bpf`.
    pub benchmark: String,
    /// Its variant: `map-create`; missing if it has only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<Suite>,
    /// Calls between so many operations, of the configuration with most.
    pub calls: u64,
    pub operations: u64,
}

/// A module's function that the kernel calls for a hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoveredImplementation {
    /// The module: `selinux`.
    pub module: String,
    /// The function: `selinux_inode_permission`.
    pub function: String,
    /// What a call of it took; missing if no operation called it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<CostOfCalls>,
}

/// What calls of a function took, in guest kernel instructions of a call: the mean over the calls
/// of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostOfCalls {
    /// In the operation with the cheapest calls.
    pub least: f64,
    /// In the operation with the dearest calls.
    pub most: f64,
    /// Operations that called it, each under each configuration.
    pub operations: u32,
}

/// Why no operation calls a hook: what the kernel's sources say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreachedReason {
    pub needs: Need,
    pub why: String,
    /// Where in the kernel that is seen.
    pub code: String,
}

/// A reason that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleReason {
    pub hook: String,
    /// Is it called? If not, the kernel has no such hook.
    pub called: bool,
}

impl CoverageShare {
    /// Called hooks of those within reach, in per cent; None if none is.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let all = f64::from(self.within_reach);
        (self.within_reach > 0).then(|| f64::from(self.called) / all * 100.0)
    }

    #[must_use]
    pub fn of(hooks: &[CoveredHook]) -> CoverageShare {
        let mut share = CoverageShare::default();
        for hook in hooks {
            let needs = hook.reason.as_ref().map(|reason| reason.needs);
            share.hooks += 1;
            share.called += u32::from(hook.is_called());
            share.called_later += u32::from(hook.is_called() && hook.called_by.is_empty());
            share.within_reach +=
                u32::from(hook.is_called() || needs.is_none_or(Need::is_within_reach));
            share.unexplained += u32::from(!hook.is_called() && needs.is_none());
        }
        share
    }
}

impl CoveredHook {
    /// Does an operation call it, or is it called after one?
    #[must_use]
    pub fn is_called(&self) -> bool {
        !self.called_by.is_empty() || !self.called_after.is_empty()
    }

    /// The suite of each operation that calls it, or after which it is called.
    pub fn suites(&self) -> impl Iterator<Item = Suite> {
        let calling = self.called_by.iter().map(|by| by.suite);
        let earlier = self.called_after.iter().map(|of| of.suite);
        calling.chain(earlier).flatten()
    }

    /// Calls in one operation, least and most over those that call it.
    #[must_use]
    pub fn calls(&self) -> Option<(u64, u64)> {
        let least = self.called_by.iter().map(|by| by.least).min()?;
        let most = self.called_by.iter().map(|by| by.most).max()?;
        Some((least, most))
    }
}

impl CallingOperation {
    /// `open:AA/BB`.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.benchmark, &self.variant)
    }
}

impl EarlierOperation {
    /// `bpf:map-create`.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.benchmark, &self.variant)
    }

    #[must_use]
    pub fn calls_each(&self) -> f64 {
        self.calls as f64 / self.operations.max(1) as f64
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl CoverageFindings {
    /// What contradicts itself, if anything.
    pub(crate) fn contradiction(&self) -> Option<String> {
        let mut seen = BTreeSet::new();
        for hook in &self.hooks {
            let name = printable(&hook.hook);
            if !seen.insert(&hook.hook) {
                return Some(format!("{name} is there twice"));
            }
            if hook.is_called() && hook.reason.is_some() {
                return Some(format!("{name} is called, and has a reason why not"));
            }
            if hook.called_by.iter().any(|by| by.least > by.most) {
                return Some(format!("{name} is called more often at least than at most"));
            }
            let costs = hook.implementations.iter().filter_map(|of| of.ran);
            let odd = |cost: CostOfCalls| {
                !(cost.least.is_finite() && cost.most.is_finite() && cost.least <= cost.most)
            };
            if costs.into_iter().any(odd) {
                return Some(format!("the costs of {name} are none"));
            }
        }
        (self.share != CoverageShare::of(&self.hooks))
            .then(|| "the share is not that of its hooks".to_owned())
    }
}
