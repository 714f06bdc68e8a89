// SPDX-License-Identifier: GPL-2.0-or-later
//! What a figure shows, before any drawing: the same data is drawn and written as CSV and
//! JSON.

use serde::Serialize;

use crate::column::{Columns, Records};
use crate::csv::{raw_csv, text};
use crate::gather::position;
use crate::text::short;

/// One figure of a document. All of its text is printable.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Stable, unique among the figures of its documents: `overhead`, or
    /// `overhead-tmpfs-time` where there are several.
    pub name: String,
    pub title: String,
    /// How it is read, for those who cannot see it too.
    pub description: String,
    pub chart: Chart,
    /// What is missing or left out, a sentence each.
    pub notes: Vec<String>,
}

/// The data of a figure, by the way it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    Bars(Bars),
    Lines(Lines),
    /// Frames on top of each other.
    Flame(Flame),
}

/// Bars: beside each other, or stacked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bars {
    /// What the bars' lengths are, with their unit.
    pub axis: String,
    /// What the categories are: `operation`.
    pub category: String,
    /// What the series are: `configuration`.
    pub kind: String,
    /// From top to bottom.
    pub categories: Vec<String>,
    /// What stands beside each other, or follows each other.
    pub series: Vec<String>,
    /// The colour of each series, as its position in the palette: the same series has the
    /// same colour in all figures of a document. Where it is missing, the series' position.
    pub colours: Vec<usize>,
    /// In any order; at most one for each category and series.
    pub bars: Vec<Bar>,
    /// The series of a category follow each other in one bar.
    pub stacked: bool,
}

/// One bar, or one part of a stacked bar.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bar {
    /// Position in `categories`.
    pub category: usize,
    /// Position in `series`.
    pub series: usize,
    /// Its length, in the axis' unit; finite.
    pub value: f64,
    /// Its 95 % interval, if it has one; finite.
    pub interval: Option<[f64; 2]>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lines {
    /// What the horizontal axis shows, with its unit.
    pub x: String,
    /// What the vertical axis shows, with its unit.
    pub y: String,
    /// What the lines are: `configuration`.
    pub kind: String,
    /// What each line's `figure` is, if it has one: `slope`.
    pub figure: Option<&'static str>,
    pub series: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    pub label: String,
    /// A figure of its own, behind the name.
    pub figure: String,
    /// In the order of x; finite.
    pub points: Vec<Point>,
    /// The ends of a line fitted to the points; else points are connected.
    pub fit: Option<[[f64; 2]; 2]>,
}

/// One point of a line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// Its 95 % interval, if it has one; finite.
    pub interval: Option<[f64; 2]>,
}

/// A flame graph: what is above another is part of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flame {
    /// What widths are: `instructions`.
    pub unit: String,
    /// A frame comes before those above it.
    pub frames: Vec<Frame>,
}

/// One frame of a flame graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frame {
    pub label: String,
    pub depth: usize,
    /// Where it begins, in the unit.
    pub start: f64,
    /// How wide it is, in the unit.
    pub width: f64,
}

/// A magnitude beyond which nothing can be drawn beside others.
pub(crate) const MAGNITUDE_LIMIT: f64 = 1e15;

/// Can it be drawn?
pub(crate) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= MAGNITUDE_LIMIT
}

impl Flame {
    /// Where the last frame ends, in the unit.
    pub(crate) fn whole(&self) -> f64 {
        let ends = self.frames.iter().map(|frame| frame.start + frame.width);
        ends.fold(0.0, f64::max)
    }
}

impl Chart {
    pub fn is_empty(&self) -> bool {
        match self {
            Chart::Bars(bars) => bars.bars.is_empty(),
            Chart::Lines(lines) => lines.series.iter().all(|line| line.points.is_empty()),
            Chart::Flame(flame) => flame.frames.is_empty(),
        }
    }

    /// What its marks' values are, with their unit.
    pub(crate) fn axis(&self) -> &str {
        match self {
            Chart::Bars(bars) => &bars.axis,
            Chart::Lines(lines) => &lines.y,
            Chart::Flame(flame) => &flame.unit,
        }
    }
}

impl Figure {
    /// Its data as CSV (RFC 4180), a heading line first. Text that a spreadsheet would
    /// take for a formula is quoted.
    pub fn csv(&self) -> String {
        let records = match &self.chart {
            Chart::Bars(bars) => bars.records(),
            Chart::Lines(lines) => lines.records(),
            Chart::Flame(flame) => flame.records(),
        };
        let mut bytes = Vec::new();
        // Memory takes all that is written, in records as long as their heading.
        let written = raw_csv(records, &mut bytes);
        written.map_or_else(
            |_| String::new(),
            |()| String::from_utf8(bytes).unwrap_or_default(),
        )
    }

    /// The figure's data as JSON: its name, title, description and notes, and of its chart
    /// what is drawn and what is not.
    pub fn json(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

impl Bars {
    /// None yet: what their lengths, categories and series are.
    pub(crate) fn new(axis: &str, category: &str, kind: &str) -> Bars {
        Bars {
            axis: axis.to_owned(),
            category: category.to_owned(),
            kind: kind.to_owned(),
            categories: Vec::new(),
            series: Vec::new(),
            colours: Vec::new(),
            bars: Vec::new(),
            stacked: false,
        }
    }

    /// The position of a category, at the end if it is new.
    pub(crate) fn category(&mut self, name: &str) -> usize {
        position(&mut self.categories, short(name))
    }

    /// Adds a bar without an interval. Where there is one already, that stays: false.
    pub(crate) fn add(&mut self, category: &str, series: &str, value: f64) -> bool {
        let category = self.category(category);
        let series = position(&mut self.series, short(series));
        let is_taken = |bar: &Bar| (bar.category, bar.series) == (category, series);
        if self.bars.iter().any(is_taken) {
            return false;
        }
        self.bars.push(Bar {
            category,
            series,
            value,
            interval: None,
        });
        true
    }

    /// A series' colour, as its position in the palette.
    pub(crate) fn colour(&self, series: usize) -> usize {
        self.colours.get(series).copied().unwrap_or(series)
    }

    fn records(&self) -> Records<'_> {
        let of = |names: &[String], at: usize| text(names.get(at).map_or("", String::as_str));
        Columns::new()
            .column(&self.category, move |bar: &Bar| {
                of(&self.categories, bar.category)
            })
            .column(&self.kind, move |bar| of(&self.series, bar.series))
            .column(&self.axis, |bar| bar.value)
            .column("ci95_low", |bar| bar.interval.map(|[low, _]| low))
            .column("ci95_high", |bar| bar.interval.map(|[_, high]| high))
            .records(&self.bars)
    }
}

impl Lines {
    fn records(&self) -> Records<'_> {
        let points = self.series.iter().flat_map(|line| {
            let points = line.points.iter();
            points.map(move |point| (line, point))
        });
        Columns::new()
            .column(&self.kind, |(line, _): (&Series, &Point)| text(&line.label))
            .column(&self.x, |(_, point)| point.x)
            .column(&self.y, |(_, point)| point.y)
            .column("ci95_low", |(_, point)| Some(point.interval?[0]))
            .column("ci95_high", |(_, point)| Some(point.interval?[1]))
            .column(self.figure.unwrap_or("figure"), |(line, _)| &line.figure)
            .records(points)
    }
}

impl Flame {
    fn records(&self) -> Records<'_> {
        Columns::new()
            .column("frame", |frame: &Frame| text(&frame.label))
            .column("depth", |frame| frame.depth)
            .column("start", |frame| frame.start)
            .column(&self.unit, |frame| frame.width)
            .records(&self.frames)
    }
}
