// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of documents, and a sweep as one drawing, like the paper's Figure 4.

mod bars;
mod draw;
mod flame;
mod lines;
pub(crate) mod model;
mod pdf;
mod pen;
mod scale;
pub(crate) mod sweep;
mod vega;

use std::collections::{HashMap, HashSet};

use experiment::{Caches, Clock, DelayModule, SensitivityDocument, Slope, Unit};

use crate::group::grouped;
use crate::sensitivity::beside::table6;
use crate::sensitivity::{has_figures, operations, where_swept};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

pub use pdf::{Fonts, PdfError};

pub use model::{Bar, Bars, Chart, Figure, Flame, Frame, Lines, Point, Series};

impl Figure {
    /// What is in the data and not drawn, a sentence.
    pub(crate) fn left_out(&self) -> Option<String> {
        let (n, what) = match &self.chart {
            Chart::Bars(of) => {
                let n = of.categories.len().saturating_sub(bars::CATEGORIES_LIMIT);
                (n, "rows are")
            }
            Chart::Lines(of) => {
                let n = of.series.len().saturating_sub(lines::SERIES_LIMIT);
                (n, "lines are")
            }
            Chart::Flame(of) => {
                let least = of.whole() * flame::NARROWEST;
                let narrow = of.frames.iter().filter(|frame| frame.width < least);
                (
                    narrow.count(),
                    "frames are too narrow to be drawn; they are",
                )
            }
        };
        (n > 0).then(|| format!("{n} more {what} in the data."))
    }

    /// The figure as an SVG that needs nothing else: no script, no font, no style sheet.
    /// The same figure makes the same bytes.
    pub fn svg(&self) -> String {
        match &self.chart {
            Chart::Bars(of) => bars::svg(self, of),
            Chart::Lines(of) => lines::svg(self, of),
            Chart::Flame(of) => flame::svg(self, of),
        }
    }
}

/// Most lines of a panel, which is as many as differ from each other at a glance.
const LINES_LIMIT: usize = 28;
/// Most panels below each other.
const PANELS_LIMIT: usize = 16;
/// Lines of a figure whose operations nobody chose.
const LINES_UNASKED: usize = 12;
/// Most markers on a line; of more points the first, the last and some between are shown.
const POINTS_LIMIT: usize = 100;
/// A figure beyond this cannot be drawn beside others.
const MAGNITUDE_LIMIT: f64 = 1e15;
/// From here on nanoseconds are shown as microseconds.
const MICROSECONDS_FROM_NS: f64 = 10_000.0;

/// What a figure shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FigureOptions {
    /// Operations (`open:AA/BB`) or benchmarks (`open`), at most 28 of them. Empty: the
    /// paths of the paper's Table 6 that the document holds, else its first 12
    /// operations.
    pub operations: Vec<String>,
}

/// One panel for each kernel, module, state of the caches and file system: what
/// operations cost over the time that each decision takes, as an SVG that needs nothing
/// else: no script, no font, no style sheet. The same document makes the same bytes.
pub fn latency_over_delay(document: &SensitivityDocument, options: &FigureOptions) -> String {
    let chosen = Chosen::of(document, options);
    let groups = grouped_slopes(document);
    let deterministic = deterministic(document);
    let mut panels: Vec<Panel> = groups
        .iter()
        .filter_map(|(_, slopes)| panel(slopes, &chosen, deterministic))
        .collect();
    let mut notes = chosen.notes;
    if panels.len() > PANELS_LIMIT {
        notes.push(format!(
            "{} more panels are left out.",
            panels.len() - PANELS_LIMIT
        ));
        panels.truncate(PANELS_LIMIT);
    }
    if panels.is_empty() {
        notes.push("No operation has a line.".to_owned());
    }
    draw::svg(&panels, &notes)
}

/// What all slopes of a panel have in common.
type Place<'a> = (&'a str, DelayModule, Caches, &'a str, Unit);

fn grouped_slopes(document: &SensitivityDocument) -> Vec<(Place<'_>, Vec<&Slope>)> {
    grouped(&document.slopes, |slope| {
        (
            slope.kernel.as_str(),
            slope.module,
            slope.caches,
            slope.filesystem.as_str(),
            slope.unit,
        )
    })
}

fn deterministic(document: &SensitivityDocument) -> bool {
    document.environment.clock == Clock::Deterministic
}

/// The operations that are drawn, and how each looks in all panels.
struct Chosen<'a> {
    styles: HashMap<(&'a str, &'a str), Style>,
    notes: Vec<String>,
}

/// What tells a line from others, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style {
    /// Colour and marker.
    colour: usize,
    /// Dashes, and a filled or a hollow marker.
    dash: usize,
    /// Its place among the chosen.
    position: usize,
}

/// One kernel, module, state of the caches, file system and unit.
struct Panel {
    title: String,
    /// What the vertical axis shows.
    axis: &'static str,
    /// Lines with figures, the highest first; then those without.
    lines: Vec<Line>,
}

struct Line {
    label: String,
    style: Style,
    /// None: there is nothing to draw, as its `slope` says.
    drawn: Option<Drawn>,
    slope: String,
}

/// In microseconds of delay, and in the axis' unit.
struct Drawn {
    points: Vec<[f64; 2]>,
    ends: [[f64; 2]; 2],
}

impl<'a> Chosen<'a> {
    fn of(document: &'a SensitivityDocument, options: &FigureOptions) -> Chosen<'a> {
        let key = |slope: &'a Slope| (slope.benchmark.as_str(), slope.variant.as_str());
        let mut seen = HashSet::new();
        let all: Vec<(&str, &str)> = document
            .slopes
            .iter()
            .map(key)
            .filter(|operation| seen.insert(*operation))
            .collect();
        let mut notes = Vec::new();
        let mut chosen: Vec<(&str, &str)> = Vec::new();
        if options.operations.is_empty() {
            let of_paper = table6().flat_map(|figure| &figure.ours);
            let of_paper: Vec<(&str, &str)> = of_paper
                .map(|ours| (ours.benchmark.as_str(), ours.variant.as_str()))
                .collect();
            chosen.extend(all.iter().filter(|operation| of_paper.contains(operation)));
            chosen.sort_by_key(|operation| of_paper.iter().position(|of| of == operation));
            if chosen.is_empty() {
                chosen.extend(all.iter().take(LINES_UNASKED));
            }
        } else {
            let asked = options.operations.iter();
            for text in asked.take(LINES_LIMIT) {
                let fits = |(benchmark, variant): &&(&str, &str)| {
                    text == benchmark || *text == experiment::cell_title(benchmark, variant)
                };
                let before = chosen.len();
                chosen.extend(all.iter().filter(fits));
                if chosen.len() == before {
                    let text = printable(text, TEXT_LIMIT);
                    notes.push(format!("{text} was not measured."));
                }
            }
            let mut seen = HashSet::new();
            chosen.retain(|operation| seen.insert(*operation));
        }
        if chosen.len() > LINES_LIMIT {
            let n = chosen.len() - LINES_LIMIT;
            notes.push(format!("{n} more operations are left out."));
            chosen.truncate(LINES_LIMIT);
        }
        Chosen {
            styles: styles(&chosen),
            notes,
        }
    }
}

/// A colour for each variant and dashes for each benchmark, if there are enough of them.
fn styles<'a>(chosen: &[(&'a str, &'a str)]) -> HashMap<(&'a str, &'a str), Style> {
    let mut benchmarks: Vec<&str> = Vec::new();
    let mut variants: Vec<&str> = Vec::new();
    for (benchmark, variant) in chosen {
        if !benchmarks.contains(benchmark) {
            benchmarks.push(benchmark);
        }
        if !variants.contains(variant) {
            variants.push(variant);
        }
    }
    let speaking = benchmarks.len() <= draw::DASHES.len() && variants.len() <= draw::COLOURS.len();
    let at = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or(0);
    let style = |(position, operation): (usize, &(&'a str, &'a str))| {
        let (colour, dash) = if speaking {
            (at(&variants, operation.1), at(&benchmarks, operation.0))
        } else {
            let n = draw::COLOURS.len();
            (position % n, position / n % draw::DASHES.len())
        };
        let style = Style {
            colour,
            dash,
            position,
        };
        (*operation, style)
    };
    chosen.iter().enumerate().map(style).collect()
}

fn panel(slopes: &[&Slope], chosen: &Chosen<'_>, deterministic: bool) -> Option<Panel> {
    let first = slopes.first()?;
    let nanoseconds = match first.unit {
        Unit::Ns => true,
        Unit::Instructions => deterministic,
        Unit::OpsPerS => false,
    };
    let shown: Vec<(Style, &Slope)> = operations(slopes)
        .into_iter()
        .filter_map(|(operation, parted)| {
            let style = *chosen.styles.get(&operation)?;
            Some((style, *parted.wholes.first()?))
        })
        .collect();
    let highest = shown
        .iter()
        .filter(|(_, slope)| can_be_drawn(slope))
        .flat_map(|(_, slope)| slope.points.iter().map(|point| point.median))
        .fold(0.0, f64::max);
    let scaled = nanoseconds && highest >= MICROSECONDS_FROM_NS;
    let axis = match first.unit {
        Unit::Ns if scaled => "cost of an operation (µs)",
        Unit::Ns => "cost of an operation (ns)",
        Unit::Instructions if scaled => "cost of an operation (µs of 1,000 instructions)",
        Unit::Instructions => "cost of an operation (instructions)",
        Unit::OpsPerS => "operations per second",
    };
    let unit = if scaled { 1_000.0 } else { 1.0 };
    let mut lines: Vec<Line> = shown
        .iter()
        .map(|(style, slope)| line(slope, *style, unit))
        .collect();
    let height = |line: &Line| line.drawn.as_ref().map(|drawn| drawn.ends[1][1]);
    lines.sort_by(|one, other| {
        let heights = [height(one), height(other)].map(|h| h.unwrap_or(f64::NEG_INFINITY));
        let by_height = heights[1].total_cmp(&heights[0]);
        by_height.then(one.style.position.cmp(&other.style.position))
    });
    (!lines.is_empty()).then(|| Panel {
        title: where_swept(slopes),
        axis,
        lines,
    })
}

/// Where a slope's line ends, in ns of delay.
fn ends(slope: &Slope) -> Option<[[f64; 2]; 2]> {
    let delays = || slope.points.iter().map(|point| point.delay_ns);
    let ends = [delays().min()?, delays().max()?].map(f64::from);
    Some(ends.map(|delay| [delay, slope.intercept + slope.slope * delay]))
}

fn can_be_drawn(slope: &Slope) -> bool {
    let drawable = |figure: f64| figure.abs() <= MAGNITUDE_LIMIT;
    has_figures(slope)
        && slope.points.iter().all(|point| drawable(point.median))
        && ends(slope).is_some_and(|ends| ends.iter().all(|end| drawable(end[1])))
}

fn line(slope: &Slope, style: Style, unit: f64) -> Line {
    let mut line = Line {
        label: printable(&slope.title(), 36),
        style,
        drawn: None,
        slope: match has_figures(slope) {
            true => "not drawable".to_owned(),
            false => slope.status.to_string(),
        },
    };
    let Some(ends) = ends(slope).filter(|_| can_be_drawn(slope)) else {
        return line;
    };
    let every = slope.points.len().div_ceil(POINTS_LIMIT).max(1);
    let last = slope.points.len().saturating_sub(1);
    let point = |[delay_ns, cost]: [f64; 2]| [delay_ns / 1_000.0, cost / unit];
    line.drawn = Some(Drawn {
        points: slope
            .points
            .iter()
            .enumerate()
            .filter(|(at, _)| at % every == 0 || *at == last)
            .map(|(_, of)| point([f64::from(of.delay_ns), of.median]))
            .collect(),
        ends: ends.map(point),
    });
    line.slope = crate::sensitivity::numbers::decimals(slope.slope, 3);
    line
}
