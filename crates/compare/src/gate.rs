// SPDX-License-Identifier: GPL-2.0-or-later
//! The gate: checks whether any measurement is worse than its limit.

use model::Status;
use model::comparison::{
    CellGate, ComparedCell, Gate, GateVerdict, Limit, Method, Side, UnmatchedCell, Verdict,
};

use crate::budget::Budget;

/// Checks every measurement that has a limit. The gate fails if any of them fails; otherwise it is
/// inconclusive if any has no verdict.
pub(crate) fn ask(
    budget: &Budget,
    compared: &mut [ComparedCell],
    unmatched: &[UnmatchedCell],
) -> Gate {
    let mut gate = Gate {
        verdict: GateVerdict::Pass,
        failed: 0,
        inconclusive: 0,
        passed: 0,
        reasons: Vec::new(),
    };
    for cell in compared {
        let Some(limit) = budget.limit(cell) else {
            continue;
        };
        if is_nowhere(cell) {
            continue;
        }
        let (verdict, message) = verdict(cell, limit);
        match verdict {
            GateVerdict::Pass => gate.passed += 1,
            GateVerdict::Fail => gate.failed += 1,
            GateVerdict::Inconclusive => gate.inconclusive += 1,
        }
        cell.gate = Some(CellGate {
            limit,
            verdict,
            message,
        });
    }
    let lost = unmatched.iter().filter(|cell| cell.side == Side::Base);
    if let n @ 1.. = lost.count() {
        let reason = format!("{n} measurements from BASE are missing from NEW");
        gate.reasons.push(reason);
    }
    if gate.failed + gate.inconclusive + gate.passed == 0 {
        gate.reasons.push("no measurement has a limit".to_owned());
    }
    gate.verdict = if gate.failed > 0 {
        GateVerdict::Fail
    } else if gate.inconclusive > 0 || !gate.reasons.is_empty() {
        GateVerdict::Inconclusive
    } else {
        GateVerdict::Pass
    };
    gate
}

pub(crate) fn is_nowhere(cell: &ComparedCell) -> bool {
    cell.base.status == Status::Unsupported && cell.new.status == Status::Unsupported
}

fn verdict(cell: &ComparedCell, limit: Limit) -> (GateVerdict, String) {
    use GateVerdict::{Fail, Inconclusive, Pass};
    let inconclusive = |message: String| (Inconclusive, message);
    if cell.verdict == Verdict::Missing {
        return inconclusive(cell.reason.clone().unwrap_or_default());
    }
    if !cell.doubts.is_empty() {
        return inconclusive(cell.doubts.join("; "));
    }
    if cell.verdict == Verdict::Same && cell.method != Method::Exact {
        return (Pass, "the same".to_owned());
    }
    let Some(excess) = Excess::new(cell, limit) else {
        let reason = cell.reason.as_deref();
        let reason = reason.unwrap_or("there is no confidence interval");
        return inconclusive(reason.to_owned());
    };
    let Excess {
        low, high, figure, ..
    } = &excess;
    if cell.method == Method::Exact {
        if *low > 0.0 {
            let message = format!("worse by {figure}, more than {}", excess.limit);
            return (Fail, message);
        }
        return (Pass, format!("by {figure}, at most {}", excess.limit));
    }
    let range = format!("by {figure}, 95 % interval {}", excess.range);
    if *low > 0.0 && cell.verdict == Verdict::Worse {
        return (Fail, format!("{range}, above {}", excess.limit));
    }
    if *high <= 0.0 {
        return (Pass, format!("{range}, at most {}", excess.limit));
    }
    let why = if *low > 0.0 {
        let reason = cell.reason.as_deref();
        let reason = reason.unwrap_or("the difference may be chance");
        format!("{range} is above {}, but {reason}", excess.limit)
    } else {
        format!("{range} includes {}", excess.limit)
    };
    let detectable = cell.detectable.map(percent);
    let detectable = detectable.map(|size| format!("; the smallest detectable change is {size}"));
    inconclusive(why + detectable.as_deref().unwrap_or(""))
}

struct Excess {
    low: f64,
    high: f64,
    figure: String,
    range: String,
    limit: String,
}

impl Excess {
    fn new(cell: &ComparedCell, limit: Limit) -> Option<Excess> {
        let base = cell.base.value?;
        match limit {
            Limit::Overhead(limit) => {
                // If BASE is 0, any increase is infinite.
                let overhead = cell.overhead.or_else(|| from_zero(cell))?;
                let [low, high] = cell.ci95.or_else(|| from_zero(cell).map(|o| [o; 2]))?;
                Some(Excess {
                    low: low - limit,
                    high: high - limit,
                    figure: percent(overhead),
                    range: format!("{} to {}", percent(low), percent(high)),
                    limit: format!("{} %", limit * 100.0),
                })
            }
            Limit::Difference(limit) => {
                let sign = match cell.metric.direction() {
                    stats::Direction::LowerIsBetter => 1.0,
                    stats::Direction::HigherIsBetter => -1.0,
                };
                let worse = cell.difference? * sign;
                let [low, high] = match cell.method {
                    Method::Exact => [worse; 2],
                    _ => cell.ci95?.map(|end| end * base),
                };
                let unit = &cell.unit;
                Some(Excess {
                    low: low - limit,
                    high: high - limit,
                    figure: format!("{worse:+.1} {unit}"),
                    range: format!("{low:+.1} to {high:+.1} {unit}"),
                    limit: format!("{limit} {unit}"),
                })
            }
        }
    }
}

fn from_zero(cell: &ComparedCell) -> Option<f64> {
    let (base, new) = (cell.base.value?, cell.new.value?);
    let overhead = if new > 0.0 { f64::INFINITY } else { 0.0 };
    (cell.method == Method::Exact && base == 0.0).then_some(overhead)
}

fn percent(fraction: f64) -> String {
    if fraction.is_infinite() {
        return "any percentage, since BASE is 0".to_owned();
    }
    format!("{:+.2} %", fraction * 100.0)
}
