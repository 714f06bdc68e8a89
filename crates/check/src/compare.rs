// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares documents, operation by operation.

use std::collections::{BTreeMap, BTreeSet};

use experiment::check::{
    CheckSummary, CheckedBenchmark, CheckedHook, CheckedInstrument, MissingInstrument,
};
use experiment::placement::{ComparedHook, Comparison};
use experiment::{
    ALL_HOOKS, Caches, Cell, CheckDocument, Delay, Document, HookCost, Instrument,
    InstrumentStatus, Status, Tool,
};

use crate::facts::Facts;
use crate::residual::residuals;
use crate::row::{Counts, judge};
use crate::subject::Subject;

/// What is compared. Cells of other kernels, stacks and file systems than the subject's are
/// left alone.
#[derive(Debug)]
pub struct Inputs<'a> {
    /// The kernel, stack and file system.
    pub subject: Subject,
    /// Hook calls counted by the plugin.
    pub profile: Option<&'a Document>,
    /// Hook calls counted by the monitor.
    pub counts: Option<&'a Document>,
    /// Slopes.
    pub sensitivity: Option<&'a Document>,
    /// Bounds, beside the profile.
    pub placement: Option<&'a Comparison>,
    /// Profiles of further stacks, compared with the subject's.
    pub differences: Option<&'a Document>,
    /// Instruments that were not used, and why.
    pub silent: &'a [CheckedInstrument],
}

/// Benchmark and variant.
type Operation<'a> = (&'a str, &'a str);

/// Compares what the instruments say, operation by operation.
pub fn check(inputs: &Inputs<'_>, facts: &Facts) -> CheckDocument {
    let readings = Readings::of(inputs);
    let mut used = BTreeSet::new();
    let benchmarks: Vec<CheckedBenchmark> = readings
        .operations()
        .into_iter()
        .map(|operation| readings.benchmark(operation, facts, &mut used))
        .collect();
    let residuals = inputs.differences.map_or_else(Vec::new, |differences| {
        residuals(differences, &inputs.subject)
    });
    let unused = facts.facts.iter().enumerate();
    let unused = unused.filter(|(position, _)| !used.contains(position));
    CheckDocument {
        tool: Tool::this(),
        environment: inputs.profile.map(|profile| profile.environment.clone()),
        kernel: inputs.subject.kernel.clone(),
        release: inputs.subject.release.clone(),
        stack: inputs.subject.stack.clone(),
        filesystem: inputs.subject.fs.clone(),
        instruments: readings.instruments(inputs),
        summary: CheckSummary::of(&benchmarks, &residuals),
        benchmarks,
        residuals,
        unused_facts: unused.map(|(_, fact)| fact.name.clone()).collect(),
    }
}

/// A cell of a sweep.
#[derive(Clone, Copy)]
struct Delayed<'a> {
    cell: &'a Cell,
    delay: &'a Delay,
}

impl Delayed<'_> {
    fn slope(&self) -> Option<f64> {
        self.cell.headline()
    }

    /// Is it of one hook, which could be delayed?
    fn is_delayed_part(&self) -> bool {
        self.delay.part && self.cell.status() != Status::Unsupported
    }
}

/// Hooks of an operation, as a profile counted them.
fn costs(cell: &Cell) -> &[HookCost] {
    let path = cell.counted().and_then(|counted| counted.hooked.as_ref());
    path.map_or(&[], |path| &path.hooks)
}

/// What the documents hold of the subject, by operation.
#[derive(Default)]
struct Readings<'a> {
    /// In the order of the suite.
    order: Vec<Operation<'a>>,
    profiles: BTreeMap<Operation<'a>, &'a Cell>,
    counts: BTreeMap<Operation<'a>, &'a Cell>,
    slopes: BTreeMap<Operation<'a>, Vec<Delayed<'a>>>,
    bounds: BTreeMap<&'a str, Vec<&'a ComparedHook>>,
    skipped: BTreeMap<&'a str, &'a str>,
    /// Hooks that the monitor does not see.
    unseen: BTreeSet<&'a str>,
}

impl<'a> Readings<'a> {
    fn of(inputs: &Inputs<'a>) -> Readings<'a> {
        let subject = &inputs.subject;
        let mut readings = Readings::default();
        let cells = |document: Option<&'a Document>| {
            let cells = document.into_iter().flat_map(|document| &document.cells);
            cells
                .filter(|cell| subject.has(cell))
                .map(|cell| ((cell.key.benchmark(), cell.key.variant()), cell))
        };
        for (operation, cell) in cells(inputs.profile) {
            readings.order.push(operation);
            readings.profiles.entry(operation).or_insert(cell);
        }
        for (operation, cell) in cells(inputs.counts) {
            readings.order.push(operation);
            readings.counts.entry(operation).or_insert(cell);
        }
        if !readings.counts.is_empty() {
            let left_out = inputs.counts.iter().flat_map(|counts| &counts.left_out);
            let names = left_out.map(|left| left.name.trim_start_matches("security_"));
            readings.unseen.extend(names);
        }
        for (operation, cell) in cells(inputs.sensitivity) {
            if let Some(delay) = &cell.key.delay
                && delay.caches == Caches::Warm
            {
                readings.order.push(operation);
                let slopes = readings.slopes.entry(operation).or_default();
                slopes.push(Delayed { cell, delay });
            }
        }
        if let Some(placement) = inputs.placement {
            let hooks = placement.hooks.iter();
            for hook in hooks.filter(|hook| hook.filesystem == subject.fs) {
                let bounds = readings.bounds.entry(&hook.operation).or_default();
                bounds.push(hook);
            }
            let skipped = placement.skipped.iter();
            readings
                .skipped
                .extend(skipped.map(|(operation, why)| (operation.as_str(), why.as_str())));
        }
        readings
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
        let ok = |cell: &&&'a Cell| cell.status() == Status::Ok;
        let profile = self.profiles.get(&operation).filter(ok);
        let counted = self.counts.get(&operation).filter(ok);
        let slopes = self.slopes.get(&operation).map_or(&[][..], Vec::as_slice);
        let bounds = self.bounds_of(operation);
        let mut hooks: BTreeMap<&str, Counts> = BTreeMap::new();
        for cost in profile.iter().flat_map(|profile| costs(profile)) {
            let calls = hooks.entry(&cost.hook).or_default();
            calls.profile = Some(calls.profile.unwrap_or(0).saturating_add(cost.calls));
        }
        let calls = counted.and_then(|counted| counted.hook_calls());
        for (hook, calls) in calls.iter().flat_map(|calls| &calls.hooks) {
            hooks.entry(hook).or_default().monitor = Some(*calls);
        }
        for of in slopes {
            if let [hook] = of.delay.hooks.as_slice()
                && hook != ALL_HOOKS
                && let Some(slope) = of.slope()
            {
                hooks.entry(hook).or_default().slope = Some(slope);
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
        let has_figures = |counts: &Counts| !counts.is_nothing() || counts.slope.is_some();
        let rows = hooks.iter().filter(|(_, counts)| has_figures(counts));
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

    /// Instruments that have figures of other operations but not of this one.
    fn missing(&self, operation: Operation<'_>) -> Vec<MissingInstrument> {
        let mut missing = Vec::new();
        let mut miss = |instrument, failed, reason: Option<&str>| {
            missing.push(MissingInstrument {
                instrument,
                failed,
                reason: reason.unwrap_or("it was not asked").to_owned(),
            });
        };
        let whole = |slopes: &Vec<Delayed<'a>>| {
            let mut wholes = slopes.iter().filter(|of| of.delay.is_whole());
            wholes.next().map(|of| of.cell)
        };
        let slope = self.slopes.get(&operation).and_then(whole);
        for (instrument, cell, silent) in [
            (
                Instrument::Profile,
                self.profiles.get(&operation).copied(),
                self.profiles.is_empty(),
            ),
            (
                Instrument::Monitor,
                self.counts.get(&operation).copied(),
                self.counts.is_empty(),
            ),
            (Instrument::Sensitivity, slope, self.slopes.is_empty()),
        ] {
            match cell {
                Some(cell) if cell.status() == Status::Ok => {}
                Some(cell) => miss(instrument, cell.status() == Status::Failed, cell.reason()),
                None if silent => {}
                None => miss(instrument, false, None),
            }
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
        let found = |instrument| match instrument {
            Instrument::Profile => (inputs.profile.is_some(), !self.profiles.is_empty()),
            Instrument::Monitor => (inputs.counts.is_some(), !self.counts.is_empty()),
            Instrument::Sensitivity => (inputs.sensitivity.is_some(), !self.slopes.is_empty()),
            Instrument::Placement => (inputs.placement.is_some(), !self.bounds.is_empty()),
        };
        let of = |&instrument: &Instrument| {
            let silent = |s: &&CheckedInstrument| s.instrument == instrument;
            let (status, reason) = match found(instrument) {
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
        let called = self.profiles.values().flat_map(|profile| costs(profile));
        let called: BTreeSet<&str> = called.map(|cost| cost.hook.as_str()).collect();
        let blind: BTreeSet<&str> = match instrument {
            Instrument::Monitor => {
                let of_no_profile = |hook: &&&str| called.is_empty() || called.contains(**hook);
                self.unseen.iter().filter(of_no_profile).copied().collect()
            }
            Instrument::Sensitivity if !self.slopes.is_empty() => {
                let parts = self.slopes.values().flatten().filter(|of| of.delay.part);
                let (delayed, refused): (Vec<&Delayed<'_>>, Vec<&Delayed<'_>>) =
                    parts.partition(|of| of.is_delayed_part());
                let names = |slopes: &[&Delayed<'a>]| -> BTreeSet<&'a str> {
                    let hooks = slopes.iter().flat_map(|of| &of.delay.hooks);
                    hooks.map(String::as_str).collect()
                };
                let (delayed, refused) = (names(&delayed), names(&refused));
                let unasked = called.difference(&delayed).copied();
                refused.iter().copied().chain(unasked).collect()
            }
            _ => BTreeSet::new(),
        };
        blind.into_iter().map(str::to_owned).collect()
    }
}

/// Hooks that were delayed together: also one whose own line failed.
fn parts<'a>(slopes: &[Delayed<'a>]) -> BTreeSet<&'a str> {
    let parts = slopes.iter().filter(|of| of.is_delayed_part());
    let hooks = parts.flat_map(|of| &of.delay.hooks);
    hooks.map(String::as_str).collect()
}

/// The slope over all hooks that were delayed together, beside the sum of their counts: a
/// hook whose own slope is missing is missing there.
/// `has`: a profile, a monitor's counts.
fn together(
    slopes: &[Delayed<'_>],
    hooks: &BTreeMap<&str, Counts>,
    has: (bool, bool),
) -> Option<Counts> {
    let mut wholes = slopes
        .iter()
        .filter(|of| of.delay.is_whole() && of.delay.hooks == [ALL_HOOKS]);
    let whole = wholes.next()?.slope()?;
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
        slope: Some(whole),
        ..Counts::default()
    })
}
