// SPDX-License-Identifier: GPL-2.0-or-later
//! The data of a figure, independent of any drawing; also written as CSV and JSON.

use serde::Serialize;

use crate::column::{Columns, Records, raw_csv, text};
use crate::gather::position;
use crate::text::short;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// Stable and unique among the figures of its result files: `overhead`, or
    /// `overhead-tmpfs-time` if there are several.
    pub name: String,
    pub title: String,
    pub description: String,
    pub chart: Chart,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chart {
    Bars(Bars),
    Lines(Lines),
    Flame(Flame),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Bars {
    pub axis: String,
    pub category: String,
    pub kind: String,
    pub categories: Vec<String>,
    pub series: Vec<String>,
    /// Palette position of each series, the same in all figures of a result file. Default: the
    /// series' position.
    pub colours: Vec<usize>,
    /// In any order; at most one per category and series.
    pub bars: Vec<Bar>,
    pub stacked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bar {
    pub category: usize,
    pub series: usize,
    pub value: f64,
    pub interval: Option<[f64; 2]>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lines {
    pub x: String,
    pub y: String,
    pub kind: String,
    pub figure: Option<&'static str>,
    pub series: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    pub label: String,
    pub figure: String,
    pub points: Vec<Point>,
    pub fit: Option<[[f64; 2]; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    pub interval: Option<[f64; 2]>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flame {
    pub unit: String,
    pub frames: Vec<Frame>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Frame {
    pub label: String,
    pub depth: usize,
    pub start: f64,
    pub width: f64,
}

pub(crate) const MAGNITUDE_LIMIT: f64 = 1e15;

pub(crate) fn drawable(value: f64) -> bool {
    value.is_finite() && value.abs() <= MAGNITUDE_LIMIT
}

impl Flame {
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

    pub(crate) fn axis(&self) -> &str {
        match self {
            Chart::Bars(bars) => &bars.axis,
            Chart::Lines(lines) => &lines.y,
            Chart::Flame(flame) => &flame.unit,
        }
    }
}

impl Figure {
    /// CSV (RFC 4180) with a heading line. Text that looks like a formula is quoted.
    pub fn csv(&self) -> String {
        let records = match &self.chart {
            Chart::Bars(bars) => bars.records(),
            Chart::Lines(lines) => lines.records(),
            Chart::Flame(flame) => flame.records(),
        };
        let mut bytes = Vec::new();
        raw_csv(records, &mut bytes).expect("memory takes all, and records have one length");
        String::from_utf8(bytes).expect("all fields are UTF-8")
    }

    pub fn json(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

impl Bar {
    /// Without `interval` if its ends cannot be drawn.
    pub(crate) fn new(
        category: usize,
        series: usize,
        value: f64,
        interval: Option<[f64; 2]>,
    ) -> Bar {
        Bar {
            category,
            series,
            value,
            interval: interval.filter(|ends| ends.iter().all(|end| drawable(*end))),
        }
    }
}

impl Series {
    pub(crate) fn new(label: String, points: Vec<Point>) -> Series {
        Series {
            label,
            figure: String::new(),
            points,
            fit: None,
        }
    }
}

impl Bars {
    /// Empty; `axis`, `category` and `kind` name the lengths, categories and series.
    pub(crate) fn new(axis: &str, category: &str, kind: &str) -> Bars {
        Bars {
            axis: axis.to_owned(),
            category: category.to_owned(),
            kind: kind.to_owned(),
            ..Bars::default()
        }
    }

    pub(crate) fn category(&mut self, name: &str) -> usize {
        position(&mut self.categories, short(name))
    }

    /// Adds a bar without an interval; false, and no change, if there is one already.
    pub(crate) fn add(&mut self, category: &str, series: &str, value: f64) -> bool {
        let category = self.category(category);
        let series = position(&mut self.series, short(series));
        let is_taken = |bar: &Bar| (bar.category, bar.series) == (category, series);
        if self.bars.iter().any(is_taken) {
            return false;
        }
        self.bars.push(Bar::new(category, series, value, None));
        true
    }

    pub(crate) fn colour(&self, series: usize) -> usize {
        self.colours.get(series).copied().unwrap_or(series)
    }

    fn records(&self) -> Records<'_> {
        let name = |names: &[String], at: usize| text(names.get(at).map_or("", String::as_str));
        Columns::new()
            .column(&self.category, move |bar: &Bar| {
                name(&self.categories, bar.category)
            })
            .column(&self.kind, move |bar| name(&self.series, bar.series))
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
