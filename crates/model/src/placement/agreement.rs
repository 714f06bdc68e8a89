// SPDX-License-Identifier: GPL-2.0-or-later
//! How a placement agrees with what was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a measured count and a static one agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// Nominal and measured are the same.
    Exact,
    /// Measured, but less often than nominally.
    Over,
    /// Measured more often than nominally, not above the maximum.
    Under,
    /// Nominal, but not measured.
    FalseAlarm,
    /// Measured, not nominal, but not above the maximum.
    Missed,
    /// Measured more often than at most: the analysis is wrong.
    AboveMaximum,
    /// Measured, but not in the static set: the analysis is wrong.
    Unknown,
}

/// One hook of one measured operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedHook {
    /// `benchmark:variant`.
    pub operation: String,
    pub filesystem: String,
    pub hook: String,
    pub measured: u64,
    pub success_path: u64,
    /// Calls at most; `None` without a bound.
    #[serde(rename = "upper_bound")]
    pub max: Option<u64>,
    pub agreement: Agreement,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Each hook of each operation that was measured or is nominal.
    pub hooks: Vec<ComparedHook>,
    #[serde(rename = "counts")]
    pub cells: BTreeMap<Agreement, usize>,
    /// Counts that were measured: those of 1 and more.
    pub measured: usize,
    /// Of these, those whose maximum is a number: only of them does a maximum say anything.
    pub bounded: usize,
    /// Exact cells, of those measured or nominal, in percent.
    pub exact_percent: f64,
    /// Nominal cells that were not measured, of those nominal, in percent.
    pub false_alarm_percent: f64,
    /// Hooks measured that are nominal, of those measured, in percent: recall.
    pub recall_percent: f64,
    /// Hooks nominal that were measured, of those nominal, in percent: precision.
    pub precision_percent: f64,
    /// Operations that could not be compared, and why.
    pub skipped: BTreeMap<String, String>,
}

impl Comparison {
    #[must_use]
    pub fn new(hooks: Vec<ComparedHook>, skipped: BTreeMap<String, String>) -> Comparison {
        let mut cells: BTreeMap<Agreement, usize> = BTreeMap::new();
        for hook in &hooks {
            *cells.entry(hook.agreement).or_default() += 1;
        }
        let count = |wanted: &dyn Fn(&ComparedHook) -> bool| {
            hooks.iter().filter(|hook| wanted(hook)).count()
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

    /// Was every hook in the static set, and none above its maximum?
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let wrong = [Agreement::AboveMaximum, Agreement::Unknown];
        wrong
            .iter()
            .all(|agreement| self.cells.get(agreement).is_none_or(|&cells| cells == 0))
    }
}
