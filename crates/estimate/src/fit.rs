// SPDX-License-Identifier: GPL-2.0-or-later
//! From times and counts of the same operations to weights.

use std::collections::BTreeSet;

use compare::judge::GETPPID;
use model::estimate::{FitError, LeftOutStack, Weight, Weights};
use model::{Failure, Subject};
use stats::{Observation, SplitMix64, nonnegative_weights, predicted, rank_correlation};

use crate::counts::{Counted, Counts};
use crate::terms::{LONG_REP, Terms};
use crate::times::{Ns, Times, anywhere, meeting};

const LEAST: usize = 20;
/// How far a weighted sum may be from a measured time by itself: this part of it
const OWN_PART: f64 = 0.15;
/// and so many ns.
const OWN_NS: f64 = 1.0;
/// Operations with more instructions are many system calls, and no measure of one.
const LONG: u64 = 100_000;
/// Where a stack adds fewer instructions nothing is said of its ratio.
const FEW: f64 = 20.0;
/// Draws for the intervals of weights, and their seed.
const DRAWS: usize = 400;
const SEED: u64 = 0x6c73_6d65_7465_7273;

/// An operation of which both are known.
struct Pair<'a> {
    counted: &'a Counted,
    /// What the stack added; of a whole operation, what it took beyond a system call's entry.
    observation: Observation,
    /// What the operation takes under the baseline, in ns.
    base_ns: f64,
    /// It is a whole operation of the baseline.
    whole: bool,
    instructions: f64,
}

/// How far a time may well be from its prediction before it is known how far they are.
fn own_error(ns: f64) -> f64 {
    OWN_NS.hypot(OWN_PART * ns)
}

/// In what distances from estimates are told: small ones are off by ns, large ones by a part.
pub(crate) fn unit(ns: f64) -> f64 {
    FitError::UNIT_NS.hypot(FitError::UNIT_PART * ns)
}

/// Weights with which the sum of the counts comes near the times: of what stacks add, and of the
/// baseline's whole operations less what a system call takes by itself (`getppid`), which tell
/// apart what stacks do not. Of a running kernel these are all that there is; the counts' baseline
/// stands for its stack. Counts of several kernels: those of the version that was timed.
pub fn fit(times: &Times, counts: &Counts, terms: &Terms) -> Result<Weights, Failure> {
    let is_known = |of: &&Counted| !(of.older && terms.has(LONG_REP));
    let counts = counts.of_version(&times.release).filter(is_known);
    let counts: Vec<&Counted> = counts.collect();
    let mut pairs: Vec<Pair<'_>> = counts
        .iter()
        .filter_map(|of| difference(of, times, terms))
        .collect();
    let few = |pairs: &[Pair<'_>]| match pairs.len() {
        pairs if pairs < LEAST => Err(Failure::usage(
            format!(
                "{pairs} operations were both timed and counted with a baseline, {LEAST} are needed"
            ),
            "take both of the same benchmarks, stacks and file system, and count again what an \
             lsmeter counted that told no long REP instructions",
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

/// The baseline's operations, each once.
fn whole_operations<'a>(
    times: &Times,
    counts: &[&'a Counted],
    terms: &Terms,
) -> Result<Vec<Pair<'a>>, Failure> {
    let base_key = |of: &Counted| {
        if times.of_running {
            return anywhere(&of.key);
        }
        let mut key = meeting(&of.key);
        key.stack.clone_from(&of.baseline);
        key.policy = model::Policy::None;
        key.settings = model::Settings::default();
        key
    };
    let is_null = |subject: &Subject| matches!(subject, Subject::Benchmark { benchmark, .. } if benchmark == GETPPID);
    let null = counts.iter().find(|of| is_null(&of.key.subject));
    let null = null.and_then(|of| Some((of, times.whole.get(&base_key(of))?)));
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

/// What was measured of each difference, and what weights say that were fitted without some.
struct Blind<'a> {
    pair: &'a Pair<'a>,
    ns: f64,
}

/// Each difference, predicted without all pairs for which `same` is true.
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

/// Of pairs of the same kind the first one.
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

/// Differences are what estimates are for; of a running kernel there are whole operations only.
fn is_tested(pair: &Pair<'_>, all: &[Pair<'_>]) -> bool {
    !pair.whole || all.iter().all(|of| of.whole)
}

/// What was measured and what was said of it: of differences as parts of what the operation takes.
fn overheads(blind: &[Blind<'_>]) -> Vec<(f64, f64)> {
    let of = |of: &Blind<'_>| {
        let pair = of.pair;
        let whole = if pair.whole { 1.0 } else { pair.base_ns };
        (pair.observation.y / whole, of.ns / whole)
    };
    blind.iter().map(of).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    stats::median(values.filter(|value| value.is_finite()))
}

/// By benchmarks that were left out.
fn error(pairs: &[Pair<'_>]) -> FitError {
    let same = |pair: &Pair<'_>, of: &Counted| benchmark(pair.counted) == benchmark(of);
    let groups = kinds(pairs, |counted| benchmark(counted).to_owned());
    let blind = blind(pairs, &groups, &same);
    let distance = |of: &Blind<'_>| (of.pair.observation.y - of.ns).abs();
    let mut in_errors: Vec<f64> = blind.iter().map(|of| distance(of) / unit(of.ns)).collect();
    in_errors.sort_by(f64::total_cmp);
    let at = (in_errors.len() * 95).div_ceil(100).max(1) - 1;
    let of_instructions = |of: &Blind<'_>| {
        let pair = of.pair;
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
        median_points: 100.0 * median(blind.iter().map(|of| distance(of) / of.pair.base_ns)),
        median_points_of_instructions: pairs.iter().any(|pair| !pair.whole).then(|| {
            let distances = of_instructions.iter().map(|(ns, own)| (ns - own).abs());
            100.0 * median(distances)
        }),
        q95: in_errors.get(at).copied().unwrap_or_default(),
    }
}

/// Each stack by weights that were fitted without it, and the rank correlation of all their overheads.
fn left_out(pairs: &[Pair<'_>]) -> (Vec<LeftOutStack>, Option<f64>) {
    let same =
        |pair: &Pair<'_>, of: &Counted| !pair.whole && pair.counted.key.stack == of.key.stack;
    if pairs.iter().all(|pair| pair.whole) {
        return (Vec::new(), None);
    }
    let groups = kinds(pairs, |counted| counted.key.stack.clone());
    let mut together = Vec::new();
    let mut of_stack = |group: &&Counted| {
        let blind = blind(pairs, &[*group], &same);
        let some: Vec<&Blind<'_>> = blind
            .iter()
            .filter(|of| of.pair.instructions.abs() >= FEW)
            .collect();
        let measured = |of: &&Blind<'_>| of.pair.observation.y;
        let overheads = overheads(&blind);
        together.extend_from_slice(&overheads);
        LeftOutStack {
            stack: group.key.stack.clone(),
            operations: some.len() as u32,
            ratio: median(some.iter().map(|of| measured(of) / of.ns)),
            ns_per_instruction: median(some.iter().map(|of| measured(of) / of.pair.instructions)),
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
        let of = |name| {
            pairs
                .iter()
                .copied()
                .filter(move |pair| benchmark(pair.counted) == name)
        };
        let drawn: Vec<&Pair<'_>> = drawn.flat_map(of).collect();
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
