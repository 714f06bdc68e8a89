// SPDX-License-Identifier: GPL-2.0-or-later
//! Agreement of a placement with measurements.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Of a measured count with a static one. "Nominal" is on the success path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    Exact,
    /// Measured, but less often than nominal.
    Over,
    /// Measured more often than nominal, within the maximum.
    Under,
    FalseAlarm,
    /// Measured, not nominal, within the maximum.
    Missed,
    /// Measured more often than the maximum: the analysis is wrong.
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
    /// Each hook of each operation that was measured or is nominal.
    pub hooks: Vec<ComparedHook>,
    #[serde(rename = "counts")]
    pub cells: BTreeMap<Agreement, usize>,
    /// Measured counts of 1 and more.
    pub measured: usize,
    /// Of these, those with a finite maximum, the only meaningful ones.
    pub bounded: usize,
    /// Exact cells, of those measured or nominal, in percent.
    pub exact_percent: f64,
    /// Nominal cells that were not measured, of those nominal, in percent.
    pub false_alarm_percent: f64,
    /// Recall: nominal, of the measured hooks, in percent.
    pub recall_percent: f64,
    /// Precision: measured, of the nominal hooks, in percent.
    pub precision_percent: f64,
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

    #[must_use]
    pub fn is_sound(&self) -> bool {
        let wrong = [Agreement::AboveMaximum, Agreement::Unknown];
        wrong
            .iter()
            .all(|agreement| self.cells.get(agreement).is_none_or(|&cells| cells == 0))
    }
}
