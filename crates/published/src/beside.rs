// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's overheads beside those published.

use std::fmt;

use experiment::comparison::Verdict as Judgement;
use experiment::{Cell, Document, Metric};
use judge::Judgements;
use stats::{Direction, overhead};

use crate::counts::counts;
use crate::lookup::{Cells, Place};
use crate::{Explanation, Figure, Operation, Over, Quantity, Setup, explanations, published};

/// Figures agree up to this part of the published one.
const AGREES_PART: f64 = 0.10;
/// What is published as 0 % is less than half a point.
const AGREES_WITH_NOTHING: f64 = 0.005;
/// What a published decimal cannot tell apart.
const EPSILON: f64 = 1e-9;

/// Everything of a run that something published can be put beside.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// In the order in which the run has its kernels, file systems and metrics; in each
    /// of them that of the figures.
    pub comparisons: Vec<Comparison>,
    /// Published overheads that the run has no cells for, or none with a figure.
    pub unanswered: Vec<&'static Figure>,
    /// How the run's own times came about, if they did not on plain silicon.
    pub caution: Option<&'static str>,
}

/// One published figure beside one of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Theirs.
    pub figure: &'static Figure,
    /// Our kernel, as the user named it.
    pub kernel: String,
    /// Its `uname -r`.
    pub release: String,
    /// Our file system.
    pub filesystem: String,
    /// What ours is made of.
    pub metric: Metric,
    /// Our configuration.
    pub tested: String,
    /// What it was compared with, with its kernel if that is another; None for counts.
    pub baseline: Option<String>,
    /// In what our configuration or baseline differs from theirs.
    pub stands_in: Vec<&'static str>,
    /// Our benchmark: `open:AA`, or `median of 12 of 14`.
    pub benchmark: String,
    /// Ours, in the figure's unit.
    pub ours: f64,
    /// The published lower and upper bound, the same for a value; for this many
    /// components of a path, if the figure is for each.
    pub bounds: [Option<f64>; 2],
    /// The published value, or the nearest to ours of the published range.
    pub theirs: f64,
    /// Ours less theirs.
    pub difference: f64,
    /// What our own cells show may be chance, and no overhead at all.
    pub unclear: bool,
    /// In a word.
    pub verdict: Verdict,
    /// What could explain the difference; empty if they agree.
    pub explanations: Vec<&'static Explanation>,
}

/// How ours and theirs go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Inside the published range, or within a tenth of what is published. Counts of calls: equal,
    /// or inside the published bounds.
    Agrees,
    /// Anything else.
    Differs,
}

impl Verdict {
    /// Of two figures that are no counts of calls; `theirs` is the nearest that is published.
    pub fn of(ours: f64, theirs: f64) -> Verdict {
        let spread = match theirs {
            0.0 => AGREES_WITH_NOTHING,
            theirs => theirs.abs() * AGREES_PART,
        };
        if (ours - theirs).abs() <= spread + EPSILON {
            Verdict::Agrees
        } else {
            Verdict::Differs
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
        })
    }
}

/// Puts what a run measured beside what was published: overheads wherever the run has
/// both cells, and counts of hooks where its cells carry hooks (`--with-hooks`).
///
/// The first of a figure's setups that the run has cells of stands for it, so that one
/// figure is compared once for each kernel, file system, metric and benchmark.
pub fn beside(run: &Document) -> Beside {
    let comparisons = comparisons(run, published());
    let answered = |figure: &&Figure| {
        comparisons
            .iter()
            .any(|c: &Comparison| std::ptr::eq(c.figure, *figure))
    };
    let unanswered = published()
        .iter()
        .filter(|figure| figure.quantity.is_overhead() && !answered(figure))
        .collect();
    let timed = run
        .cells
        .iter()
        .any(|cell| cell.key.metric != Metric::Instructions);
    let emulated = run.environment.qemu.is_some() && !run.environment.kvm;
    Beside {
        comparisons,
        unanswered,
        caution: (timed && emulated).then_some(
            "Our own times and throughputs are those of an emulated processor, which no \
             time on silicon can be compared with.",
        ),
    }
}

/// What a run says of these figures.
pub(crate) fn comparisons(run: &Document, figures: &'static [Figure]) -> Vec<Comparison> {
    let cells = Cells::of(run);
    let places = cells.places.iter();
    let all = places.flat_map(|&place| figures.iter().map(move |figure| (place, figure)));
    let mut judgements = Judgements::of(run);
    let pairs = all
        .clone()
        .flat_map(|(place, figure)| pairs(&cells, place, figure));
    judgements.also(pairs.map(|(_, pair)| (pair.baseline, pair.tested)));
    let mut comparisons = Vec::new();
    for (place, figure) in all {
        if figure.quantity.is_overhead() {
            overheads(&cells, place, figure, &judgements, &mut comparisons);
        } else {
            counts(&cells, place, figure, &mut comparisons);
        }
    }
    comparisons
}

/// Both cells of one operation, and what they stand for.
struct Pair<'a> {
    tested: &'a Cell,
    baseline: &'a Cell,
    setups: [&'static Setup; 2],
}

fn pair<'a>(
    cells: &Cells<'a>,
    place: Place<'a>,
    figure: &'static Figure,
    operation: &'static Operation,
) -> Option<Pair<'a>> {
    figure.tested.iter().find_map(|setup| {
        let tested = cells.tested(place, operation, setup)?;
        figure.baseline.iter().find_map(|base| {
            let baseline = cells.baseline(place, operation, base, tested)?;
            Some(Pair {
                tested,
                baseline,
                setups: [setup, base],
            })
        })
    })
}

/// A throughput says nothing of a latency; what one operation takes says how many fit into a
/// second.
fn is_comparable(figure: &Figure, ours: Metric) -> bool {
    let same = ours != Metric::Throughput || figure.quantity == Quantity::ThroughputOverhead;
    same && figure.kernels.is_none()
}

/// What answers a figure that is an overhead, by operation.
fn pairs<'a>(
    cells: &Cells<'a>,
    place: Place<'a>,
    figure: &'static Figure,
) -> impl Iterator<Item = (&'static Operation, Pair<'a>)> {
    let comparable = figure.quantity.is_overhead() && is_comparable(figure, place.2);
    let operations = figure.ours.iter().filter(move |_| comparable);
    operations.filter_map(move |of| Some((of, pair(cells, place, figure, of)?)))
}

fn overheads<'a>(
    cells: &Cells<'a>,
    place: Place<'a>,
    figure: &'static Figure,
    judgements: &Judgements<'a>,
    comparisons: &mut Vec<Comparison>,
) {
    let pairs = pairs(cells, place, figure).filter_map(|(operation, pair)| {
        let judged = judgements.verdict(pair.baseline, pair.tested)?;
        let unclear = judged.verdict == Judgement::Unclear;
        let ratio = ratio(&pair)?;
        Some((operation, pair, ratio, unclear))
    });
    let mut pairs: Vec<_> = pairs.collect();
    // All of them with one setup: a median over two is a median of neither.
    let Some(setups) = pairs.first().map(|(_, pair, ..)| pair.setups) else {
        return;
    };
    let mut add = |pair: &Pair<'_>, benchmark: String, ratio: f64, unclear: bool| {
        comparisons.extend(compared(figure, place, pair, benchmark, ratio, unclear));
    };
    if figure.over == Over::Each {
        for (operation, pair, ratio, unclear) in &pairs {
            add(pair, operation.to_string(), *ratio, *unclear);
        }
        return;
    }
    pairs.retain(|(_, pair, ..)| pair.setups == setups);
    pairs.sort_by(|a, b| a.2.total_cmp(&b.2));
    let (n, tests) = (pairs.len(), figure.ours.len());
    // What holds of all tests is not told from a few.
    if 2 * n < tests {
        return;
    }
    let (Some((_, middle, low, _)), Some((_, _, high, _))) =
        (pairs.get(n.saturating_sub(1) / 2), pairs.get(n / 2))
    else {
        return;
    };
    let all_unclear = pairs.iter().all(|(.., unclear)| *unclear);
    match figure.over {
        Over::Median => {
            let name = format!("median of {n} of {tests}");
            add(middle, name, f64::midpoint(*low, *high), all_unclear);
        }
        Over::Largest => {
            if let Some((operation, pair, ratio, unclear)) = pairs.last() {
                let name = format!("{operation}, largest of {n} of {tests}");
                add(pair, name, *ratio, *unclear);
            }
        }
        // A mean lacks its meaning if one of its parts does.
        Over::Mean if n == tests => {
            let sum = |side: fn(&Pair<'a>) -> &'a Cell| -> Option<f64> {
                let sides = pairs.iter().map(|(_, pair, ..)| side(pair));
                sides.map(Cell::headline).sum()
            };
            if let (Some(tested), Some(baseline)) = (sum(|p| p.tested), sum(|p| p.baseline)) {
                let names: Vec<String> = figure.ours.iter().map(Operation::to_string).collect();
                let names = format!("mean of {}", names.join(" and "));
                add(middle, names, tested / baseline, all_unclear);
            }
        }
        Over::Mean | Over::Each => {}
    }
}

/// An overhead beside the figure; None if it is no number.
fn compared(
    figure: &'static Figure,
    place: Place<'_>,
    pair: &Pair<'_>,
    benchmark: String,
    ratio: f64,
    unclear: bool,
) -> Option<Comparison> {
    let ours = match figure.quantity {
        Quantity::ThroughputOverhead => 1.0 - 1.0 / ratio,
        _ => ratio - 1.0,
    };
    let ours = if figure.unsigned { ours.abs() } else { ours };
    if !ours.is_finite() {
        return None;
    }
    let bounds = [figure.low, figure.high];
    let mut comparison = comparison(figure, place, pair.tested, benchmark, ours, bounds);
    comparison.verdict = Verdict::of(ours, comparison.theirs);
    comparison.baseline = Some(base_title(pair, place));
    let why = pair.setups.iter().filter_map(|setup| setup.why.as_deref());
    comparison.stands_in = why.collect();
    comparison.unclear = unclear;
    Some(explained(comparison))
}

/// What the tested one costs, as a multiple of the baseline.
fn ratio(pair: &Pair<'_>) -> Option<f64> {
    let direction = pair.tested.key.metric.direction();
    let (tested, baseline) = (pair.tested.headline()?, pair.baseline.headline()?);
    overhead(tested, baseline, direction)?;
    let ratio = match direction {
        Direction::LowerIsBetter => tested / baseline,
        Direction::HigherIsBetter => 1.0 / (tested / baseline),
    };
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

/// A comparison of which the verdict is still to be said.
pub(crate) fn comparison(
    figure: &'static Figure,
    place: Place<'_>,
    cell: &Cell,
    benchmark: String,
    ours: f64,
    bounds: [Option<f64>; 2],
) -> Comparison {
    let theirs = bounds[0].map_or(ours, |low| ours.max(low));
    let theirs = bounds[1].map_or(theirs, |high| theirs.min(high));
    Comparison {
        figure,
        kernel: place.0.to_owned(),
        release: cell.release.clone(),
        filesystem: place.1.to_owned(),
        metric: place.2,
        tested: cell.configuration_title(),
        baseline: None,
        stands_in: Vec::new(),
        benchmark,
        ours,
        bounds,
        theirs,
        difference: ours - theirs,
        unclear: false,
        verdict: Verdict::Differs,
        explanations: Vec::new(),
    }
}

/// The same, with what could explain it.
pub(crate) fn explained(mut comparison: Comparison) -> Comparison {
    if comparison.verdict != Verdict::Agrees {
        let applies = |explanation: &&Explanation| explanation.applies(&comparison);
        comparison.explanations = explanations().iter().filter(applies).collect();
    }
    comparison
}

fn base_title(pair: &Pair<'_>, place: Place<'_>) -> String {
    let title = pair.baseline.configuration_title();
    if pair.baseline.key.kernel == place.0 {
        title
    } else {
        format!("{title} on {}", pair.baseline.key.kernel)
    }
}
