// SPDX-License-Identifier: GPL-2.0-or-later
//! Documents beside each other, operation by operation.

use std::collections::{BTreeMap, BTreeSet};

use experiment::check::{
    CheckSummary, CheckedBenchmark, CheckedHook, CheckedInstrument, CountedBenchmark,
    CountsDocument, MissingInstrument,
};
use experiment::placement::{ComparedHook, Comparison};
use experiment::{
    ALL_HOOKS, Caches, CheckDocument, Instrument, InstrumentStatus, Profile, ProfileDocument,
    SCHEMA_VERSION, SensitivityDocument, Slope, Status, Tool,
};

use crate::facts::Facts;
use crate::residual::residuals;
use crate::row::{Counts, judge};
use crate::subject::Subject;

/// What is compared. What a document holds of other kernels, stacks and file systems than
/// the subject's is left alone.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// Of what.
    pub subject: Subject,
    /// Hook calls counted by the plugin.
    pub profile: Option<&'a ProfileDocument>,
    /// Hook calls counted by the monitor.
    pub counts: Option<&'a CountsDocument>,
    /// Slopes.
    pub sensitivity: Option<&'a SensitivityDocument>,
    /// Bounds, beside the profile.
    pub placement: Option<&'a Comparison>,
    /// Profiles of further stacks, compared with the subject's.
    pub differences: Option<&'a ProfileDocument>,
    /// Instruments that were not asked or cannot tell, and why.
    pub silent: &'a [CheckedInstrument],
}

/// Benchmark and variant.
type Operation<'a> = (&'a str, &'a str);

/// Compares.
pub fn check(inputs: &Inputs<'_>, facts: &Facts) -> CheckDocument {
    let told = Told::of(inputs);
    let mut used = BTreeSet::new();
    let benchmarks: Vec<CheckedBenchmark> = told
        .operations()
        .into_iter()
        .map(|operation| told.benchmark(operation, facts, &mut used))
        .collect();
    let residuals = inputs.differences.map_or_else(Vec::new, |differences| {
        residuals(differences, &inputs.subject)
    });
    let unused = facts.facts.iter().enumerate();
    let unused = unused.filter(|(position, _)| !used.contains(position));
    CheckDocument {
        schema_version: SCHEMA_VERSION,
        tool: Tool::this(),
        environment: inputs.profile.map(|profile| profile.environment.clone()),
        kernel: inputs.subject.kernel.clone(),
        release: inputs.subject.release.clone(),
        stack: inputs.subject.stack.clone(),
        fs: inputs.subject.fs.clone(),
        instruments: told.instruments(inputs),
        summary: CheckSummary::of(&benchmarks, &residuals),
        benchmarks,
        residuals,
        unused_facts: unused.map(|(_, fact)| fact.name.clone()).collect(),
    }
}

/// What the documents tell of the subject, by operation.
struct Told<'a> {
    /// In the order of the suite.
    order: Vec<Operation<'a>>,
    profiles: BTreeMap<Operation<'a>, &'a Profile>,
    counts: BTreeMap<Operation<'a>, &'a CountedBenchmark>,
    slopes: BTreeMap<Operation<'a>, Vec<&'a Slope>>,
    bounds: BTreeMap<&'a str, Vec<&'a ComparedHook>>,
    skipped: BTreeMap<&'a str, &'a str>,
    /// Hooks that the monitor does not see.
    unseen: BTreeSet<&'a str>,
}

impl<'a> Told<'a> {
    fn of(inputs: &Inputs<'a>) -> Told<'a> {
        let subject = &inputs.subject;
        let mut told = Told {
            order: Vec::new(),
            profiles: BTreeMap::new(),
            counts: BTreeMap::new(),
            slopes: BTreeMap::new(),
            bounds: BTreeMap::new(),
            skipped: BTreeMap::new(),
            unseen: BTreeSet::new(),
        };
        let profiles = inputs.profile.into_iter().flat_map(|d| &d.profiles);
        for profile in profiles.filter(|profile| subject.has_profile(profile)) {
            let operation = (profile.benchmark.as_str(), profile.variant.as_str());
            told.order.push(operation);
            told.profiles.entry(operation).or_insert(profile);
        }
        let counts = inputs.counts.filter(|counts| subject.has_counts(counts));
        for counted in counts.into_iter().flat_map(|counts| &counts.counted) {
            let operation = (counted.benchmark.as_str(), counted.variant.as_str());
            told.order.push(operation);
            told.counts.entry(operation).or_insert(counted);
        }
        let left_out = counts.into_iter().flat_map(|counts| &counts.left_out);
        told.unseen
            .extend(left_out.map(|left| left.name.trim_start_matches("security_")));
        let slopes = inputs.sensitivity.into_iter().flat_map(|d| &d.slopes);
        let slopes = slopes.filter(|slope| subject.has_slope(slope));
        for slope in slopes.filter(|slope| slope.caches == Caches::Warm) {
            let operation = (slope.benchmark.as_str(), slope.variant.as_str());
            told.order.push(operation);
            told.slopes.entry(operation).or_default().push(slope);
        }
        if let Some(placement) = inputs.placement {
            for hook in placement.hooks.iter().filter(|hook| hook.fs == subject.fs) {
                told.bounds.entry(&hook.operation).or_default().push(hook);
            }
            let skipped = placement.skipped.iter();
            told.skipped
                .extend(skipped.map(|(operation, why)| (operation.as_str(), why.as_str())));
        }
        told
    }

    fn operations(&self) -> Vec<Operation<'a>> {
        let mut seen = BTreeSet::new();
        let mut order = self.order.clone();
        order.retain(|operation| seen.insert(*operation));
        order
    }

    fn benchmark(
        &self,
        operation: Operation<'a>,
        facts: &Facts,
        used: &mut BTreeSet<usize>,
    ) -> CheckedBenchmark {
        let profile = self.profiles.get(&operation);
        let profile = profile.filter(|profile| profile.status == Status::Ok);
        let counted = self.counts.get(&operation);
        let counted = counted.filter(|counted| counted.status == Status::Ok);
        let slopes = self.slopes.get(&operation).map_or(&[][..], Vec::as_slice);
        let bounds = self.bounds_of(operation);
        let mut hooks: BTreeMap<&str, Counts> = BTreeMap::new();
        for cost in profile.iter().flat_map(|profile| &profile.hooks) {
            let calls = hooks.entry(&cost.hook).or_default();
            calls.profile = Some(calls.profile.unwrap_or(0).saturating_add(cost.calls));
        }
        for hook in counted.iter().flat_map(|counted| &counted.hooks) {
            let calls = hooks.entry(&hook.hook).or_default();
            calls.monitor = Some(calls.monitor.unwrap_or(0.0) + hook.calls);
        }
        for slope in slopes.iter().filter(|slope| slope.status == Status::Ok) {
            if let [hook] = slope.hooks.as_slice()
                && hook != ALL_HOOKS
            {
                hooks.entry(hook).or_default().slope = Some(slope.slope);
            }
        }
        for bound in bounds {
            let calls = hooks.entry(&bound.hook).or_default();
            calls.nominal = Some(bound.nominal).filter(|nominal| *nominal < u64::MAX);
            calls.maximum = bound.max;
        }
        for (hook, counts) in &mut hooks {
            if profile.is_some() {
                counts.profile.get_or_insert(0);
            }
            match self.unseen.contains(hook) {
                true => counts.monitor = None,
                false if counted.is_some() => _ = counts.monitor.get_or_insert(0.0),
                false => {}
            }
        }
        let delayed = together(slopes, &hooks, (profile.is_some(), counted.is_some()));
        let told = |counts: &Counts| !counts.is_nothing() || counts.slope.is_some();
        let rows = hooks.iter().filter(|(_, counts)| told(counts));
        let rows = rows.map(|(hook, counts)| judge(operation, hook, counts, &[], facts, used));
        let mut rows: Vec<CheckedHook> = rows.collect();
        if let Some(counts) = delayed {
            let delayed = parts(slopes);
            let parts = rows.iter().filter(|row| delayed.contains(&*row.hook));
            let parts: Vec<CheckedHook> = parts.cloned().collect();
            rows.push(judge(operation, ALL_HOOKS, &counts, &parts, facts, used));
        }
        CheckedBenchmark {
            benchmark: operation.0.to_owned(),
            variant: operation.1.to_owned(),
            hooks: rows,
            missing: self.missing(operation),
        }
    }

    fn bounds_of(&self, operation: Operation<'_>) -> &[&'a ComparedHook] {
        let title = format!("{}:{}", operation.0, operation.1);
        self.bounds.get(title.as_str()).map_or(&[], Vec::as_slice)
    }

    /// Instruments that tell of other operations but not of this one.
    fn missing(&self, operation: Operation<'_>) -> Vec<MissingInstrument> {
        let mut missing = Vec::new();
        let mut miss = |instrument, failed, reason: Option<&str>| {
            missing.push(MissingInstrument {
                instrument,
                failed,
                reason: reason.unwrap_or("it was not asked").to_owned(),
            });
        };
        let failed = |status| status == Status::Failed;
        match self.profiles.get(&operation) {
            Some(p) if p.status == Status::Ok => {}
            Some(p) => miss(Instrument::Profile, failed(p.status), p.reason.as_deref()),
            None if self.profiles.is_empty() => {}
            None => miss(Instrument::Profile, false, None),
        }
        match self.counts.get(&operation) {
            Some(c) if c.status == Status::Ok => {}
            Some(c) => miss(Instrument::Monitor, failed(c.status), c.reason.as_deref()),
            None if self.counts.is_empty() => {}
            None => miss(Instrument::Monitor, false, None),
        }
        let whole = |slopes: &Vec<&'a Slope>| slopes.iter().copied().find(|s| s.is_whole());
        match self.slopes.get(&operation).and_then(whole) {
            Some(s) if s.status == Status::Ok => {}
            Some(s) => miss(
                Instrument::Sensitivity,
                failed(s.status),
                s.reason.as_deref(),
            ),
            None if self.slopes.is_empty() => {}
            None => miss(Instrument::Sensitivity, false, None),
        }
        if !self.bounds.is_empty() && self.profiles.contains_key(&operation) {
            let title = experiment::cell_title(operation.0, operation.1);
            let mut skipped = self.skipped.iter();
            let begins = |of: &str| {
                of.strip_prefix(&title)
                    .is_some_and(|on| on.starts_with(" on "))
            };
            if let Some((_, why)) = skipped.find(|(of, _)| begins(of)) {
                miss(Instrument::Placement, false, Some(why));
            }
        }
        missing
    }

    fn instruments(&self, inputs: &Inputs<'_>) -> Vec<CheckedInstrument> {
        let told = |instrument| match instrument {
            Instrument::Profile => (inputs.profile.is_some(), !self.profiles.is_empty()),
            Instrument::Monitor => (inputs.counts.is_some(), !self.counts.is_empty()),
            Instrument::Sensitivity => (inputs.sensitivity.is_some(), !self.slopes.is_empty()),
            Instrument::Placement => (inputs.placement.is_some(), !self.bounds.is_empty()),
        };
        let of = |&instrument: &Instrument| {
            let silent = |s: &&CheckedInstrument| s.instrument == instrument;
            let (status, reason) = match told(instrument) {
                (true, true) => (InstrumentStatus::Used, None),
                (true, false) => {
                    let nothing = format!("its document holds nothing of {}", inputs.subject);
                    (InstrumentStatus::Unavailable, Some(nothing))
                }
                (false, _) => match inputs.silent.iter().find(silent) {
                    Some(silent) => return silent.clone(),
                    None => (InstrumentStatus::Skipped, None),
                },
            };
            CheckedInstrument {
                instrument,
                status,
                reason,
                blind: self.blind(instrument),
            }
        };
        Instrument::ALL.iter().map(of).collect()
    }

    /// Hooks that an instrument cannot see, or not delay, of those that operations call.
    fn blind(&self, instrument: Instrument) -> Vec<String> {
        let called = self.profiles.values().flat_map(|profile| &profile.hooks);
        let called: BTreeSet<&str> = called.map(|cost| cost.hook.as_str()).collect();
        let blind: BTreeSet<&str> = match instrument {
            Instrument::Monitor => {
                let of_no_profile = |hook: &&&str| called.is_empty() || called.contains(**hook);
                self.unseen.iter().filter(of_no_profile).copied().collect()
            }
            Instrument::Sensitivity if !self.slopes.is_empty() => {
                let parts = self.slopes.values().flatten().filter(|slope| slope.part);
                let (able, unable): (Vec<&Slope>, Vec<&Slope>) =
                    parts.partition(|part| part.status != Status::Unsupported);
                let names = |slopes: &[&'a Slope]| -> BTreeSet<&'a str> {
                    let hooks = slopes.iter().flat_map(|slope| &slope.hooks);
                    hooks.map(String::as_str).collect()
                };
                let (able, unable) = (names(&able), names(&unable));
                let unasked = called.difference(&able).copied();
                unable.iter().copied().chain(unasked).collect()
            }
            _ => BTreeSet::new(),
        };
        blind.into_iter().map(str::to_owned).collect()
    }
}

/// Hooks that were delayed together: also one whose own line failed.
fn parts<'a>(slopes: &[&'a Slope]) -> BTreeSet<&'a str> {
    let parts = slopes.iter().filter(|slope| slope.part);
    let parts = parts.filter(|slope| slope.status != Status::Unsupported);
    let hooks = parts.flat_map(|slope| &slope.hooks);
    hooks.map(String::as_str).collect()
}

/// The slope over all hooks that were delayed together, beside the sum of their counts: a
/// hook whose own slope is missing is missing there.
/// `has`: a profile, a monitor's counts.
fn together(
    slopes: &[&Slope],
    hooks: &BTreeMap<&str, Counts>,
    has: (bool, bool),
) -> Option<Counts> {
    let whole = slopes
        .iter()
        .find(|slope| slope.is_whole() && slope.hooks == [ALL_HOOKS])
        .filter(|slope| slope.status == Status::Ok)?;
    let parts = parts(slopes);
    let delayed = || {
        let delayed = hooks.iter().filter(|(hook, _)| parts.contains(*hook));
        delayed.map(|(_, counts)| counts)
    };
    let mut profile = delayed().map(|counts| counts.profile);
    let mut monitor = delayed().map(|counts| counts.monitor);
    Some(Counts {
        profile: profile
            .try_fold(0_u64, |sum, calls| Some(sum.saturating_add(calls?)))
            .filter(|_| has.0),
        monitor: monitor
            .try_fold(0.0, |sum, calls| Some(sum + calls?))
            .filter(|_| has.1),
        slope: Some(whole.slope),
        ..Counts::default()
    })
}
