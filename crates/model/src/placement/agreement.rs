// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares a placement with measurements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Agreement of a measured count with a static one. "Nominal": on the success path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    Exact,
    /// Measured, but fewer calls than on the success path.
    Over,
    /// More calls measured than on the success path, but within the upper bound.
    Under,
    FalseAlarm,
    /// Measured, but not on the success path; within the upper bound.
    Missed,
    /// More calls measured than the upper bound: the analysis is wrong.
    AboveMaximum,
    /// Measured, but not in the static set: the analysis is wrong.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedHook {
    pub operation: String,
    pub filesystem: String,
    pub hook: String,
    pub measured: u64,
    pub success_path: u64,
    #[serde(rename = "upper_bound")]
    pub max: Option<u64>,
    pub agreement: Agreement,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Each hook of each operation that was measured or is on the success path.
    pub hooks: Vec<ComparedHook>,
    #[serde(rename = "counts")]
    pub cells: BTreeMap<Agreement, usize>,
    /// Measured counts of 1 and more.
    pub measured: usize,
    /// Measured counts with a finite upper bound, the only meaningful ones.
    pub bounded: usize,
    /// Exact counts, in percent of the hooks that were measured or are on the success path.
    pub exact_percent: f64,
    /// Hooks that were not measured, in percent of the hooks on the success path.
    pub false_alarm_percent: f64,
    /// Recall: hooks on the success path, in percent of the measured ones.
    pub recall_percent: f64,
    /// Precision: measured hooks, in percent of the hooks on the success path.
    pub precision_percent: f64,
    pub skipped: BTreeMap<String, String>,
}

impl Comparison {
    pub fn new(hooks: Vec<ComparedHook>, skipped: BTreeMap<String, String>) -> Comparison {
        let mut cells: BTreeMap<Agreement, usize> = BTreeMap::new();
        for hook in &hooks {
            *cells.entry(hook.agreement).or_default() += 1;
        }
        let count = |is_counted: &dyn Fn(&ComparedHook) -> bool| {
            hooks.iter().filter(|hook| is_counted(hook)).count()
        };
        let percent = |part: usize, whole: usize| {
            if whole == 0 {
                0.0
            } else {
                part as f64 * 100.0 / whole as f64
            }
        };
        let success_path = count(&|hook| hook.success_path > 0);
        let measured = count(&|hook| hook.measured > 0);
        let both = count(&|hook| hook.success_path > 0 && hook.measured > 0);
        let exact = count(&|hook| hook.agreement == Agreement::Exact);
        let bounded = |hook: &ComparedHook| {
            hook.measured > 0 && hook.max.is_some() && hook.agreement != Agreement::Unknown
        };
        Comparison {
            measured,
            bounded: count(&bounded),
            exact_percent: percent(exact, hooks.len()),
            false_alarm_percent: percent(success_path - both, success_path),
            recall_percent: percent(both, measured),
            precision_percent: percent(both, success_path),
            cells,
            hooks,
            skipped,
        }
    }

    pub fn is_sound(&self) -> bool {
        let wrong = [Agreement::AboveMaximum, Agreement::Unknown];
        wrong
            .iter()
            .all(|agreement| self.cells.get(agreement).is_none_or(|&cells| cells == 0))
    }
}
