// SPDX-License-Identifier: GPL-2.0-or-later
//! Limits by benchmark.

use std::collections::BTreeMap;

use model::comparison::{ComparedCell, Limit};
use model::{Failure, Metric, Pattern, excerpt};
use serde::Deserialize;

pub const BUDGET_LIMIT_BYTES: u64 = 1 << 20;

/// A hundred times the baseline.
const PERCENT_MAX: f64 = 10_000.0;
const UNITS_MAX: f64 = 1e15;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Budget {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    /// None means every measurement.
    pattern: Option<Pattern>,
    limit: Limit,
    /// None for a limit in per cent, which applies to any unit.
    unit: Option<String>,
}

fn no_budget(why: impl ToString) -> Failure {
    let how = "write `default = \"1%\"`, and under [limits] PATTERN = LIMIT, such as \
               \"open:*\" = \"20 instructions\" or read = \"2%\"";
    Failure::usage(why, how)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<String>,
    #[serde(default)]
    limits: BTreeMap<String, String>,
}

impl Budget {
    pub fn of_all(limit: &str) -> Result<Budget, Failure> {
        let mut budget = Budget::default();
        budget.add(None, limit)?;
        Ok(budget)
    }

    /// Reads TOML: `default`, a limit for all measurements, and `[limits]` by pattern. The longest
    /// matching pattern decides; of several equally long ones, the strictest limit applies.
    pub fn parse(toml: &str) -> Result<Budget, Failure> {
        let file: File = toml::from_str(toml).map_err(no_budget)?;
        let mut budget = Budget::default();
        if let Some(limit) = &file.default {
            budget.add(None, limit)?;
        }
        for (pattern, limit) in &file.limits {
            budget.add(Some(pattern.parse().map_err(no_budget)?), limit)?;
        }
        if budget.rules.is_empty() {
            return Err(no_budget("the budget has no limit"));
        }
        Ok(budget)
    }

    /// `self` has precedence over `other`.
    pub fn over(self, other: Budget) -> Budget {
        let mut rules = self.rules;
        let general = rules.iter().any(|rule| rule.pattern.is_none());
        let more = other.rules.into_iter();
        rules.extend(more.filter(|rule| !general || rule.pattern.is_some()));
        Budget { rules }
    }

    fn add(&mut self, pattern: Option<Pattern>, text: &str) -> Result<(), Failure> {
        let refuse = |why| Err(no_budget(format!("limit `{}`: {why}", excerpt(text))));
        if let Some(pattern) = &pattern {
            if pattern.excludes() {
                return refuse("its pattern excludes benchmarks; remove the `!`");
            }
            if pattern.suite().is_some() {
                return refuse("result files do not record suites; name benchmarks");
            }
        }
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        let Ok(number) = number.parse::<f64>() else {
            return refuse("it must begin with a number, 0 or greater");
        };
        let (limit, unit) = match unit.trim() {
            "" => return refuse("it has no unit; write 1%, 20 instructions, 50 ns or 100 ops/s"),
            "%" if number <= PERCENT_MAX => (Limit::Overhead(number / 100.0), None),
            "%" => return refuse("it is above 10000 %"),
            unit if Metric::ALL.iter().any(|metric| metric.unit() == unit) => {
                if number > UNITS_MAX {
                    return refuse("it is above 1e15");
                }
                (Limit::Difference(number), Some(unit.to_owned()))
            }
            _ => {
                return refuse(
                    "unknown unit; use %, instructions, ns, ops/s, calls, calls/s, ns/call or \
                     decisions",
                );
            }
        };
        self.rules.push(Rule {
            pattern,
            limit,
            unit,
        });
        Ok(())
    }

    /// The limit of a measurement: that of the longest matching pattern, or the strictest if
    /// several are equally long. Limits in other units are ignored.
    pub fn limit(&self, cell: &ComparedCell) -> Option<Limit> {
        let fits = |rule: &&Rule| {
            let unit = rule.unit.as_ref().is_none_or(|unit| *unit == cell.unit);
            let pattern = rule.pattern.as_ref();
            unit && pattern.is_none_or(|p| p.matches(&cell.benchmark, &cell.variant))
        };
        let length = |rule: &Rule| rule.pattern.as_ref().map_or(0, |p| p.to_string().len());
        let size = |rule: &Rule| match rule.limit {
            Limit::Overhead(limit) => limit,
            Limit::Difference(limit) => limit / cell.base.value.unwrap_or(1.0).max(1e-9),
        };
        self.rules
            .iter()
            .filter(fits)
            .max_by(|a, b| {
                let by_size = size(b).total_cmp(&size(a));
                length(a).cmp(&length(b)).then(by_size)
            })
            .map(|rule| rule.limit)
    }
}
