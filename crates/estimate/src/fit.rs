// SPDX-License-Identifier: GPL-2.0-or-later
//! Fits weights to times and counts of the same operations.

use std::collections::BTreeSet;

use compare::judge::GETPPID;
use model::estimate::{FitError, LeftOutStack, Weight, Weights};
use model::{Failure, Subject};
use stats::{Observation, SplitMix64, nonnegative_weights, predicted, rank_correlation};

use crate::counts::{Counted, Counts};
use crate::terms::{LONG_REP, Terms};
use crate::times::{Ns, Times, anywhere, meeting};

const LEAST: usize = 20;
/// The expected error of a prediction is this part of the measured time,
const OWN_PART: f64 = 0.15;
/// plus this many ns.
const OWN_NS: f64 = 1.0;
/// Operations with more instructions consist of many system calls.
const LONG: u64 = 100_000;
/// There is no ratio for a stack that adds fewer instructions.
const FEW: f64 = 20.0;
/// Bootstrap draws for the intervals of weights, with their seed.
const DRAWS: usize = 400;
const SEED: u64 = 0x6c73_6d65_7465_7273;

struct Pair<'a> {
    counted: &'a Counted,
    /// The time that the stack adds; for a whole operation, its time minus that of a system call.
    observation: Observation,
    base_ns: f64,
    whole: bool,
    instructions: f64,
}

/// The assumed error before residuals are known.
fn own_error(ns: f64) -> f64 {
    OWN_NS.hypot(OWN_PART * ns)
}

/// The scale of residuals: absolute for small estimates, relative for large ones.
pub(crate) fn unit(ns: f64) -> f64 {
    FitError::UNIT_NS.hypot(FitError::UNIT_PART * ns)
}

/// Fits weights to the time that stacks add, and to the time of the baseline's whole operations,
/// minus the cost of a system call (`getppid`). Whole operations determine the terms that stacks do
/// not add. A running kernel has only whole operations; the baseline of the counts represents its
/// stack. If there are counts for several kernel versions, those for the timed version are used.
pub fn fit(times: &Times, counts: &Counts, terms: &Terms) -> Result<Weights, Failure> {
    let is_known = |counted: &&Counted| !(counted.older && terms.has(LONG_REP));
    let counts = counts.of_version(&times.release).filter(is_known);
    let counts: Vec<&Counted> = counts.collect();
    let mut pairs: Vec<Pair<'_>> = counts
        .iter()
        .filter_map(|counted| difference(counted, times, terms))
        .collect();
    let few = |pairs: &[Pair<'_>]| match pairs.len() {
        pairs if pairs < LEAST => Err(Failure::usage(
            format!(
                "only {pairs} operations were timed and counted with a baseline; {LEAST} are needed"
            ),
            "time and count the same benchmarks, stacks and file system; repeat counts from an \
             old lsmeter, which did not record long REP instructions",
        )),
        _ => Ok(()),
    };
    if !times.of_running {
        few(&pairs)?;
    }
    let differences = pairs.len();
    pairs.extend(whole_operations(times, &counts, terms)?);
    few(&pairs)?;
    let all: Vec<&Pair<'_>> = pairs.iter().collect();
    let weights = weights_of(&all);
    let intervals = intervals(&all);
    let most = |at: usize| {
        let x = pairs.iter().map(|pair| pair.observation.x[at].abs());
        x.fold(0.0, f64::max)
    };
    let terms = terms.0.iter().enumerate().map(|(at, term)| Weight {
        event: term.name().to_owned(),
        ns: weights[at],
        ci95: intervals[at],
        most: most(at),
    });
    let (left_out, left_out_rank_correlation) = left_out(&pairs);
    Ok(Weights {
        processor: times.processor.clone(),
        releases: [times.release.clone(), counts[0].release.clone()],
        terms: terms.collect(),
        error: error(&pairs),
        differences: differences as u32,
        operations: (pairs.len() - differences) as u32,
        left_out,
        left_out_rank_correlation,
    })
}

fn weights_of(pairs: &[&Pair<'_>]) -> Vec<f64> {
    let observations: Vec<&Observation> = pairs.iter().map(|pair| &pair.observation).collect();
    nonnegative_weights(&observations)
}

fn observation(x: Vec<f64>, time: Ns) -> Observation {
    Observation {
        x,
        y: time.ns,
        error: own_error(time.ns).hypot(time.error),
    }
}

fn difference<'a>(counted: &'a Counted, times: &Times, terms: &Terms) -> Option<Pair<'a>> {
    let key = meeting(&counted.key);
    let added = *times.added.get(&key)?;
    if counted.mixed || counted.base.instructions > LONG {
        return None;
    }
    let more = counted.more(terms);
    let whole = times.whole.get(&key)?;
    Some(Pair {
        counted,
        observation: observation(more.x, added),
        base_ns: whole.ns - added.ns,
        whole: false,
        instructions: counted.own.instructions as f64 - counted.base.instructions as f64,
    })
}

fn whole_operations<'a>(
    times: &Times,
    counts: &[&'a Counted],
    terms: &Terms,
) -> Result<Vec<Pair<'a>>, Failure> {
    let base_key = |counted: &Counted| {
        if times.of_running {
            return anywhere(&counted.key);
        }
        let mut key = meeting(&counted.key);
        key.stack.clone_from(&counted.baseline);
        key.policy = model::Policy::None;
        key.settings = model::Settings::default();
        key
    };
    let is_null = |subject: &Subject| matches!(subject, Subject::Benchmark { benchmark, .. } if benchmark == GETPPID);
    let null = counts.iter().find(|counted| is_null(&counted.key.subject));
    let null = null.and_then(|counted| Some((counted, times.whole.get(&base_key(counted))?)));
    let (null, null_time) = null.ok_or_else(|| {
        Failure::usage(
            "getppid was not both timed and counted",
            "select getppid in both, for instance by the preset suite",
        )
    })?;
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::new();
    for &counted in counts {
        let key = base_key(counted);
        let known = times.whole.get(&key).zip(times.system_calls.get(&key));
        let Some((whole, calls)) = known else {
            continue;
        };
        let (calls, none) = (*calls as u64, model::Events::default());
        let entries = null.base.events * calls;
        let long = counted.base.instructions > LONG;
        if calls == 0 || long || counted.mixed || is_null(&key.subject) || !seen.insert(key) {
            continue;
        }
        let entry = terms.difference((null.base.instructions * calls, &entries), (0, &none), 0);
        let all = terms.difference(counted.base.both(), (0, &none), 0);
        let x = all.x.iter().zip(&entry.x).map(|(all, entry)| all - entry);
        let beyond = Ns {
            ns: whole.ns - null_time.ns * calls as f64,
            error: whole.error,
        };
        let instructions =
            counted.base.instructions as f64 - (null.base.instructions * calls) as f64;
        pairs.push(Pair {
            counted,
            observation: observation(x.collect(), beyond),
            base_ns: whole.ns,
            whole: true,
            instructions,
        });
    }
    Ok(pairs)
}

/// A measured difference, and its prediction with weights that were fitted without it.
struct Blind<'a> {
    pair: &'a Pair<'a>,
    ns: f64,
}

/// Predicts each difference with weights fitted without the pairs for which `same` is true.
fn blind<'a>(
    pairs: &'a [Pair<'a>],
    groups: &[&'a Counted],
    same: &dyn Fn(&Pair<'_>, &Counted) -> bool,
) -> Vec<Blind<'a>> {
    let mut found = Vec::new();
    for group in groups {
        let others: Vec<&Pair<'_>> = pairs.iter().filter(|pair| !same(pair, group)).collect();
        let weights = weights_of(&others);
        let own = pairs
            .iter()
            .filter(|pair| is_tested(pair, pairs) && same(pair, group));
        found.extend(own.map(|pair| Blind {
            pair,
            ns: predicted(&weights, &pair.observation.x),
        }));
    }
    found
}

fn kinds<'a, K: Ord>(pairs: &'a [Pair<'a>], kind: impl Fn(&Counted) -> K) -> Vec<&'a Counted> {
    let mut seen = BTreeSet::new();
    let tested = pairs.iter().filter(|pair| is_tested(pair, pairs));
    tested
        .map(|pair| pair.counted)
        .filter(|counted| seen.insert(kind(counted)))
        .collect()
}

fn benchmark(counted: &Counted) -> &str {
    counted.key.benchmark()
}

/// Estimates are made for differences, but a running kernel has only whole operations.
fn is_tested(pair: &Pair<'_>, all: &[Pair<'_>]) -> bool {
    !pair.whole || all.iter().all(|pair| pair.whole)
}

/// Measured and predicted values; differences relative to the operation's time.
fn overheads(blind: &[Blind<'_>]) -> Vec<(f64, f64)> {
    let overhead = |prediction: &Blind<'_>| {
        let pair = prediction.pair;
        let whole = if pair.whole { 1.0 } else { pair.base_ns };
        (pair.observation.y / whole, prediction.ns / whole)
    };
    blind.iter().map(overhead).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    stats::median(values.filter(|value| value.is_finite()))
}

/// The error of predictions when one benchmark at a time is left out of the fit.
fn error(pairs: &[Pair<'_>]) -> FitError {
    let same = |pair: &Pair<'_>, counted: &Counted| benchmark(pair.counted) == benchmark(counted);
    let groups = kinds(pairs, |counted| benchmark(counted).to_owned());
    let blind = blind(pairs, &groups, &same);
    let distance = |prediction: &Blind<'_>| (prediction.pair.observation.y - prediction.ns).abs();
    let mut in_errors: Vec<f64> = blind
        .iter()
        .map(|prediction| distance(prediction) / unit(prediction.ns))
        .collect();
    in_errors.sort_by(f64::total_cmp);
    let at = (in_errors.len() * 95).div_ceil(100).max(1) - 1;
    let of_instructions = |prediction: &Blind<'_>| {
        let pair = prediction.pair;
        let (ns, instructions) = match pair.whole {
            true => (1.0, 1.0),
            false => (pair.base_ns, pair.counted.base.instructions as f64),
        };
        (pair.observation.y / ns, pair.instructions / instructions)
    };
    let of_instructions: Vec<(f64, f64)> = blind.iter().map(of_instructions).collect();
    FitError {
        rank_correlation: rank_correlation(&overheads(&blind)).unwrap_or_default(),
        rank_correlation_of_instructions: rank_correlation(&of_instructions).unwrap_or_default(),
        median_ns: median(blind.iter().map(distance)),
        median_points: 100.0
            * median(
                blind
                    .iter()
                    .map(|prediction| distance(prediction) / prediction.pair.base_ns),
            ),
        median_points_of_instructions: pairs.iter().any(|pair| !pair.whole).then(|| {
            let distances = of_instructions.iter().map(|(ns, own)| (ns - own).abs());
            100.0 * median(distances)
        }),
        q95: in_errors.get(at).copied().unwrap_or_default(),
    }
}

/// The errors if one stack at a time is not in the fit, and the overheads' rank correlation.
fn left_out(pairs: &[Pair<'_>]) -> (Vec<LeftOutStack>, Option<f64>) {
    let same = |pair: &Pair<'_>, counted: &Counted| {
        !pair.whole && pair.counted.key.stack == counted.key.stack
    };
    if pairs.iter().all(|pair| pair.whole) {
        return (Vec::new(), None);
    }
    let groups = kinds(pairs, |counted| counted.key.stack.clone());
    let mut together = Vec::new();
    let mut of_stack = |group: &&Counted| {
        let blind = blind(pairs, &[*group], &same);
        let some: Vec<&Blind<'_>> = blind
            .iter()
            .filter(|prediction| prediction.pair.instructions.abs() >= FEW)
            .collect();
        let measured = |prediction: &&Blind<'_>| prediction.pair.observation.y;
        let overheads = overheads(&blind);
        together.extend_from_slice(&overheads);
        LeftOutStack {
            stack: group.key.stack.clone(),
            operations: some.len() as u32,
            ratio: median(
                some.iter()
                    .map(|prediction| measured(prediction) / prediction.ns),
            ),
            ns_per_instruction: median(
                some.iter()
                    .map(|prediction| measured(prediction) / prediction.pair.instructions),
            ),
            rank_correlation: rank_correlation(&overheads),
        }
    };
    let stacks = groups.iter().map(&mut of_stack).collect();
    (stacks, rank_correlation(&together))
}

/// Percentiles of weights over benchmarks drawn with replacement.
fn intervals(pairs: &[&Pair<'_>]) -> Vec<[f64; 2]> {
    let names: Vec<&str> = {
        let all: BTreeSet<&str> = pairs.iter().map(|pair| benchmark(pair.counted)).collect();
        all.into_iter().collect()
    };
    let mut random = SplitMix64::new(SEED);
    let mut draws: Vec<Vec<f64>> = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let drawn = (0..names.len()).map(|_| names[random.below(names.len())]);
        let of_benchmark = |name| {
            pairs
                .iter()
                .copied()
                .filter(move |pair| benchmark(pair.counted) == name)
        };
        let drawn: Vec<&Pair<'_>> = drawn.flat_map(of_benchmark).collect();
        draws.push(weights_of(&drawn));
    }
    let terms = draws.first().map_or(0, Vec::len);
    let of_term = |at: usize| {
        let mut weights: Vec<f64> = draws.iter().map(|draw| draw[at]).collect();
        weights.sort_by(f64::total_cmp);
        let at = |part: usize| weights[(DRAWS * part / 1000).min(DRAWS - 1)];
        [at(25), at(975)]
    };
    (0..terms).map(of_term).collect()
}
