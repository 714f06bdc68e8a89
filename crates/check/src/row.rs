// SPDX-License-Identifier: GPL-2.0-or-later
//! One hook of one operation: what the instruments say of it, and whether they agree.

use std::collections::BTreeSet;

use experiment::check::{ApartInstruments, CheckedHook};
use experiment::{CheckVerdict, Instrument, Slope};

use crate::facts::{Difference, Facts};

/// Calls that two exact counts may be apart: what is left of a sum of fractions.
const EXACT: f64 = 1e-6;
/// What a slope may be apart for each call, on top of [`Slope::DIFFERENCE`]: delays are kept by
/// the guest's clock, whose rate is known to that. Of fewer than 1,900 calls one that is
/// missing is still found.
const SLOPE_SHARE: f64 = 5e-4;

/// What the instruments say of a hook.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub profile: Option<u64>,
    pub monitor: Option<f64>,
    pub slope: Option<f64>,
    pub nominal: Option<u64>,
    pub maximum: Option<u64>,
}

impl Counts {
    /// A count, or the placement's bound.
    fn of(&self, instrument: Instrument) -> Option<f64> {
        match instrument {
            Instrument::Profile => self.profile.map(|calls| calls as f64),
            Instrument::Monitor => self.monitor,
            Instrument::Sensitivity => self.slope,
            Instrument::Placement => self.maximum.map(|calls| calls as f64),
        }
    }

    /// Does no instrument see or expect a call?
    pub(crate) fn is_nothing(&self) -> bool {
        let any = |calls: Option<u64>| calls.is_some_and(|calls| calls > 0);
        !any(self.profile) && !any(self.nominal) && self.monitor.is_none_or(|calls| calls == 0.0)
    }
}

impl From<&CheckedHook> for Counts {
    fn from(hook: &CheckedHook) -> Counts {
        Counts {
            profile: hook.profile,
            monitor: hook.monitor,
            slope: hook.slope,
            nominal: hook.nominal,
            maximum: hook.maximum,
        }
    }
}

/// Judges a hook. `used` collects positions of facts that explained something. `parts`: those
/// that `hook` is the sum of.
pub(crate) fn judge(
    operation: (&str, &str),
    hook: &str,
    counts: &Counts,
    parts: &[CheckedHook],
    facts: &Facts,
    used: &mut BTreeSet<usize>,
) -> CheckedHook {
    let mut apart = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    let mut compared = 0;
    for (at, &first) in Instrument::ALL.iter().enumerate() {
        for &second in &Instrument::ALL[at + 1..] {
            let Some((a, b)) = counts.of(first).zip(counts.of(second)) else {
                continue;
            };
            compared += 1;
            let tolerance = tolerance(first, second, a.max(b));
            let agrees = match second {
                Instrument::Placement => a <= b + tolerance,
                _ => (a - b).abs() <= tolerance,
            };
            if agrees {
                continue;
            }
            let difference = |instrument, count, other, other_count| Difference {
                benchmark: operation.0,
                variant: operation.1,
                hook,
                instrument,
                count,
                other,
                other_count,
                tolerance,
            };
            let why = facts
                .explain(&difference(first, a, second, b))
                .or_else(|| facts.explain(&difference(second, b, first, a)));
            if let Some((position, fact)) = why {
                used.insert(position);
                reasons.push(&fact.why);
            }
            let by_parts = match why {
                Some(_) => None,
                None => explain_by_parts(parts, (first, second), a - b, tolerance),
            };
            apart.push(ApartInstruments {
                first,
                second,
                explained: why.is_some() || by_parts.is_some(),
            });
            reasons.extend(by_parts.unwrap_or_default());
        }
    }
    let mut seen = BTreeSet::new();
    reasons.retain(|reason| seen.insert(*reason));
    let verdict = match apart.iter().all(|apart| apart.explained) {
        true if compared == 0 => CheckVerdict::Alone,
        true if apart.is_empty() => CheckVerdict::Agree,
        true => CheckVerdict::Explained,
        false => CheckVerdict::Disagree,
    };
    CheckedHook {
        hook: hook.to_owned(),
        profile: counts.profile,
        monitor: counts.monitor,
        slope: counts.slope,
        nominal: counts.nominal,
        maximum: counts.maximum,
        verdict,
        apart,
        explanation: (!reasons.is_empty()).then(|| reasons.join(" ")),
    }
}

/// Why sums differ, if the parts differ by as much, each for a reason that is known.
fn explain_by_parts(
    parts: &[CheckedHook],
    (first, second): (Instrument, Instrument),
    difference: f64,
    tolerance: f64,
) -> Option<Vec<&str>> {
    let is_pair = |apart: &&ApartInstruments| (apart.first, apart.second) == (first, second);
    let mut left = difference;
    let mut reasons = Vec::new();
    for part in parts {
        let Some(apart) = part.apart.iter().find(is_pair) else {
            continue;
        };
        if !apart.explained {
            return None;
        }
        let counts = Counts::from(part);
        let (a, b) = counts.of(first).zip(counts.of(second))?;
        left -= a - b;
        reasons.extend(part.explanation.as_deref());
    }
    (!reasons.is_empty() && left.abs() <= tolerance).then_some(reasons)
}

/// Of two counts, of which the greater is `calls`.
fn tolerance(first: Instrument, second: Instrument, calls: f64) -> f64 {
    match [first, second].contains(&Instrument::Sensitivity) {
        true => Slope::DIFFERENCE + SLOPE_SHARE * calls,
        false => EXACT,
    }
}
