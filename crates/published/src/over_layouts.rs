// SPDX-License-Identifier: GPL-2.0-or-later
//! Our figures over layouts of a kernel.

use compare::judge::Layouts;
use model::{Document, Key};
use stats::{Centre, Welch, welch};

use crate::beside::{Pair, Time};
use crate::lookup::{Cells, Place};
use crate::{Figure, Quantity};

#[derive(Debug, Clone, PartialEq)]
pub struct OverLayouts {
    pub count: usize,
    /// Compared with the same layout of the baseline's kernel, or the baseline is on the same
    /// kernel. Else all combinations are.
    pub is_paired: bool,
    /// 95 % interval of our figure over layouts, in its unit.
    pub ci95: [f64; 2],
    /// Added nanoseconds; None for several operations.
    pub added_ns: Option<Centre>,
}

#[derive(Debug, Clone)]
pub(crate) struct Own {
    pub(crate) ratio: f64,
    pub(crate) unclear: bool,
    pub(crate) layouts: Option<OverLayouts>,
}

impl OverLayouts {
    /// Converts the interval to the figure's unit; `to` is monotonic.
    pub(crate) fn in_unit(mut self, to: impl Fn(f64) -> f64, unsigned: bool) -> OverLayouts {
        let [low, high] = self.ci95.map(to);
        self.ci95 = match unsigned {
            true if low <= 0.0 && high >= 0.0 => [0.0, high.max(-low)],
            true if high < 0.0 => [-high, -low],
            _ => [low, high],
        };
        self
    }
}

fn drawn(layouts: &Layouts<'_>, ratio: Centre, added_ns: Option<Centre>) -> Own {
    let [low, high] = ratio.ci95;
    Own {
        ratio: ratio.value,
        unclear: low <= 1.0 && high >= 1.0,
        layouts: Some(OverLayouts {
            count: layouts.count(),
            is_paired: layouts.baseline().is_none_or(|other| other.is_paired),
            ci95: ratio.ci95,
            added_ns,
        }),
    }
}

/// Total time of operations, as a multiple of the baselines'.
pub(crate) fn own(layouts: &Layouts<'_>, pairs: &[&Pair<'_>]) -> Option<Own> {
    let base: Vec<&Key> = pairs.iter().map(|pair| &pair.baseline.key).collect();
    let tested: Vec<&Key> = pairs.iter().map(|pair| &pair.tested.key).collect();
    let ratio = layouts.ratio(&base, &tested)?;
    let added_ns = match (base.as_slice(), tested.as_slice()) {
        ([base], [tested]) => layouts.added(base, tested),
        _ => None,
    };
    Some(drawn(layouts, ratio, added_ns))
}

pub(crate) fn median(layouts: &Layouts<'_>, pairs: &[&Pair<'_>]) -> Option<Own> {
    let keys = pairs
        .iter()
        .map(|pair| (&pair.baseline.key, &pair.tested.key));
    let ratio = layouts.median_ratio(&keys.collect::<Vec<_>>())?;
    Some(drawn(layouts, ratio, None))
}

#[derive(Debug, Clone, PartialEq)]
pub struct OwnTest {
    pub figure: &'static Figure,
    pub of: String,
    /// Mean of the baseline over layouts, in nanoseconds.
    pub baseline_ns: f64,
    pub welch: Welch,
}

pub(crate) fn tests(document: &Document, figures: &'static [Figure]) -> Vec<OwnTest> {
    let cells = Cells::of(document);
    let tested = figures.iter().filter(|figure| figure.of_means.is_some());
    let test = |figure| {
        cells
            .places
            .iter()
            .find_map(|&place| test(&cells, place, figure))
    };
    tested.filter_map(test).collect()
}

fn test(cells: &Cells<'_>, place: Place<'_>, figure: &'static Figure) -> Option<OwnTest> {
    let layouts = cells.layouts(place)?;
    figure.ours.iter().find_map(|operation| {
        figure.tested.iter().find_map(|setup| {
            let cell = cells.tested(place, operation, setup)?;
            let mut setups = figure.baseline.iter();
            let base = setups.find_map(|base| cells.baseline(place, operation, base, cell))?;
            if base.key == cell.key {
                return None;
            }
            let [of_base, of_cell] = [base, cell].map(|cell| layouts.times_ns(&cell.key));
            Some(OwnTest {
                figure,
                of: format!(
                    "ours: {operation}, {} vs {} on {}, {} layouts",
                    cell.configuration_title(),
                    base.configuration_title(),
                    cells.kernel(base),
                    of_cell.len()
                ),
                baseline_ns: of_base.iter().sum::<f64>() / of_base.len() as f64,
                welch: welch(&of_base, &of_cell)?,
            })
        })
    })
}

/// Times, or added times, in a document of layouts next to published ones.
pub(crate) fn times(document: &Document, figures: &'static [Figure]) -> Vec<Time> {
    let cells = Cells::of(document);
    let timed = figures
        .iter()
        .filter(|figure| matches!(figure.quantity, Quantity::Latency | Quantity::AddedLatency));
    timed.filter_map(|figure| time(&cells, figure)).collect()
}

fn time(cells: &Cells<'_>, figure: &'static Figure) -> Option<Time> {
    let added = figure.quantity == Quantity::AddedLatency;
    cells.places.iter().find_map(|&place| {
        let layouts = cells.layouts(place)?;
        figure.ours.iter().find_map(|operation| {
            figure.tested.iter().find_map(|setup| {
                let cell = cells.tested(place, operation, setup)?;
                let mut of = format!("{operation}, {}", cell.configuration_title());
                let ns = if added {
                    let mut setups = figure.baseline.iter();
                    let base =
                        setups.find_map(|base| cells.baseline(place, operation, base, cell))?;
                    let (title, kernel) = (base.configuration_title(), cells.kernel(base));
                    of += &format!(" vs {title} on {kernel}");
                    layouts.added(&base.key, &cell.key)?
                } else {
                    layouts.figure(&cell.key)?
                };
                if let Some(why) = &setup.why {
                    of += &format!(", {why}");
                }
                let [low, high] = ns.ci95;
                let ours = format!("{:.0} ns [{low:.0}, {high:.0}]", ns.value);
                Some(Time { figure, ours, of })
            })
        })
    })
}
