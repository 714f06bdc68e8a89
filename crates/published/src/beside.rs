// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's overheads next to published ones.

use std::fmt;

use compare::judge::Judgements;
use model::{Cell, Document, Metric};
use stats::{Direction, overhead};

use crate::counts::counts;
use crate::lookup::{Cells, Place};
use crate::over_layouts::{self, Own};
use crate::{
    Explanation, Figure, Operation, Over, OverLayouts, Quantity, Setup, explanations, published,
};

/// Tolerance, as a fraction of the published figure.
const AGREES_PART: f64 = 0.10;
/// Tolerance for a published 0 %: less than half a percentage point.
const AGREES_WITH_NOTHING: f64 = 0.005;
/// Rounding error of a published decimal.
const EPSILON: f64 = 1e-9;

#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// By kernel, file system and metric in the run's order, then in the order of figures.
    pub comparisons: Vec<Comparison>,
    pub unanswered: Vec<&'static Figure>,
    pub times: Vec<Time>,
    /// Set if the run's times are not from plain hardware.
    pub caution: Option<&'static str>,
}

/// A published time next to ours; different machines, so there is no verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    pub figure: &'static Figure,
    pub ours: String,
    pub of: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub figure: &'static Figure,
    pub kernel: String,
    pub release: String,
    pub filesystem: String,
    pub metric: Metric,
    pub tested: String,
    /// With its kernel if that is another; None for counts.
    pub baseline: Option<String>,
    /// Differences of our configuration or baseline from theirs.
    pub stands_in: Vec<&'static str>,
    pub benchmark: String,
    pub ours: f64,
    /// Published lower and upper bound, equal for a value; for this path's components, if the
    /// figure is per component.
    pub bounds: [Option<f64>; 2],
    /// The published value, or the value of the published range nearest to ours.
    pub theirs: f64,
    pub difference: f64,
    pub unclear: bool,
    pub layouts: Option<OverLayouts>,
    pub verdict: Verdict,
    pub explanations: Vec<&'static Explanation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// In the published range, or within a tenth. For counts of calls: equal, or within the bounds.
    Agrees,
    Differs,
}

impl Verdict {
    /// Not for counts of calls; `theirs` is the nearest published value.
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

/// Compares a run with publications: overheads where the run has both cells, counts of hooks where
/// cells have hooks (`--with-hooks`).
///
/// Of a figure's setups the first with cells is used, so a figure is compared once per kernel, file
/// system, metric and benchmark. Layouts that are evaluated together are one kernel.
pub fn beside(run: &Document) -> Beside {
    let comparisons = comparisons(run, published());
    let answered = |figure: &Figure| {
        let mut all = comparisons.iter();
        all.any(|c: &Comparison| std::ptr::eq(c.figure, figure))
    };
    let overheads = published()
        .iter()
        .filter(|figure| figure.quantity.is_overhead());
    let unanswered = overheads.filter(|figure| !answered(figure)).collect();
    let timed = (run.cells.iter()).any(|cell| cell.key.metric != Metric::Instructions);
    let emulated = run.environment.qemu.is_some() && !run.environment.kvm;
    Beside {
        comparisons,
        unanswered,
        times: over_layouts::times(run, published()),
        caution: (timed && emulated).then_some(
            "Our own times and throughputs are those of an emulated processor, which no \
             time on silicon can be compared with.",
        ),
    }
}

pub(crate) fn comparisons(run: &Document, figures: &'static [Figure]) -> Vec<Comparison> {
    let cells = Cells::of(run);
    let places = cells.places.iter();
    let all = places.flat_map(|&place| figures.iter().map(move |figure| (place, figure)));
    let mut judgements = Judgements::of(run);
    let single = all
        .clone()
        .filter(|(place, _)| cells.layouts(*place).is_none());
    let pairs = single.flat_map(|(place, figure)| pairs(&cells, place, figure));
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

pub(crate) struct Pair<'a> {
    pub(crate) tested: &'a Cell,
    pub(crate) baseline: &'a Cell,
    pub(crate) setups: [&'static Setup; 2],
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

/// A throughput does not answer a latency figure; a time per operation answers a throughput figure.
fn is_comparable(figure: &Figure, ours: Metric) -> bool {
    let same = ours != Metric::Throughput || figure.quantity == Quantity::ThroughputOverhead;
    same && figure.tested_kernel.is_none()
}

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
    let layouts = cells.layouts(place);
    let own = |pair: &Pair<'a>| match layouts {
        Some(layouts) => over_layouts::own(layouts, &[pair]),
        None => {
            let judged = judgements.verdict(pair.baseline, pair.tested)?;
            Some(Own {
                ratio: ratio(pair)?,
                unclear: !judged.is_clear(),
                layouts: None,
            })
        }
    };
    let pairs = pairs(cells, place, figure);
    let pairs = pairs.filter_map(|(operation, pair)| own(&pair).map(|own| (operation, pair, own)));
    let mut pairs: Vec<_> = pairs.collect();
    let Some(setups) = pairs.first().map(|(_, pair, _)| pair.setups) else {
        return;
    };
    let mut add = |pair: &Pair<'_>, benchmark: String, own: Own| {
        comparisons.extend(compared(cells, figure, place, pair, benchmark, own));
    };
    if figure.over == Over::Each {
        for (operation, pair, own) in pairs {
            add(&pair, operation.to_string(), own);
        }
        return;
    }
    pairs.retain(|(_, pair, _)| pair.setups == setups);
    pairs.sort_by(|a, b| a.2.ratio.total_cmp(&b.2.ratio));
    let (n, tests) = (pairs.len(), figure.ours.len());
    // A statement on all tests needs at least half of them.
    if 2 * n < tests {
        return;
    }
    let (Some((_, middle, low)), Some((_, _, high))) =
        (pairs.get(n.saturating_sub(1) / 2), pairs.get(n / 2))
    else {
        return;
    };
    let all: Vec<&Pair<'_>> = pairs.iter().map(|(_, pair, _)| pair).collect();
    let single = |ratio: f64| Own {
        ratio,
        unclear: pairs.iter().all(|(.., own)| own.unclear),
        layouts: None,
    };
    match figure.over {
        Over::Median => {
            let drawn = layouts.and_then(|of| over_layouts::median(of, &all));
            let own = drawn.unwrap_or_else(|| single(f64::midpoint(low.ratio, high.ratio)));
            add(middle, format!("median of {n} of {tests}"), own);
        }
        Over::Largest => {
            if let Some((operation, pair, own)) = pairs.last() {
                let name = format!("{operation}, largest of {n} of {tests}");
                add(pair, name, own.clone());
            }
        }
        Over::Mean if n == tests => {
            let sum = |side: fn(&Pair<'a>) -> &'a Cell| -> Option<f64> {
                let sides = pairs.iter().map(|(_, pair, _)| side(pair));
                sides.map(Cell::headline).sum()
            };
            let own = match layouts {
                Some(layouts) => over_layouts::own(layouts, &all),
                None => sum(|p| p.tested)
                    .zip(sum(|p| p.baseline))
                    .map(|(tested, baseline)| single(tested / baseline)),
            };
            if let Some(own) = own {
                let names: Vec<String> = figure.ours.iter().map(Operation::to_string).collect();
                add(middle, format!("mean of {}", names.join(" and ")), own);
            }
        }
        Over::Mean | Over::Each => {}
    }
}

fn compared(
    cells: &Cells<'_>,
    figure: &'static Figure,
    place: Place<'_>,
    pair: &Pair<'_>,
    benchmark: String,
    own: Own,
) -> Option<Comparison> {
    let in_its_unit = |ratio: f64| match figure.quantity {
        Quantity::ThroughputOverhead => 1.0 - 1.0 / ratio,
        _ => ratio - 1.0,
    };
    let ours = in_its_unit(own.ratio);
    let layouts = own
        .layouts
        .map(|of| of.in_unit(in_its_unit, figure.unsigned));
    let ours = if figure.unsigned { ours.abs() } else { ours };
    if !ours.is_finite() {
        return None;
    }
    let bounds = [figure.low, figure.high];
    let mut comparison = comparison(figure, place, pair.tested, benchmark, ours, bounds);
    comparison.verdict = Verdict::of(ours, comparison.theirs);
    comparison.baseline = Some(base_title(cells, pair, place));
    let why = pair.setups.iter().filter_map(|setup| setup.why.as_deref());
    comparison.stands_in = why.collect();
    comparison.unclear = own.unclear;
    comparison.layouts = layouts;
    Some(explained(comparison))
}

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

/// The value in the published range that is nearest to ours.
pub(crate) fn nearest(ours: f64, [low, high]: [Option<f64>; 2]) -> f64 {
    let nearest = low.map_or(ours, |low| ours.max(low));
    high.map_or(nearest, |high| nearest.min(high))
}

pub(crate) fn comparison(
    figure: &'static Figure,
    place: Place<'_>,
    cell: &Cell,
    benchmark: String,
    ours: f64,
    bounds: [Option<f64>; 2],
) -> Comparison {
    let theirs = nearest(ours, bounds);
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
        layouts: None,
        verdict: Verdict::Differs,
        explanations: Vec::new(),
    }
}

pub(crate) fn explained(mut comparison: Comparison) -> Comparison {
    if comparison.verdict != Verdict::Agrees {
        let applies = |explanation: &&Explanation| explanation.applies(&comparison);
        comparison.explanations = explanations().iter().filter(applies).collect();
    }
    comparison
}

fn base_title(cells: &Cells<'_>, pair: &Pair<'_>, place: Place<'_>) -> String {
    let title = pair.baseline.configuration_title();
    match cells.kernel(pair.baseline) {
        here if here == place.0 => title,
        other => format!("{title} on {other}"),
    }
}
