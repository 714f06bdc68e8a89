// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of result files: their data, and one drawing as SVG.

mod bars;
mod flame;
mod lines;
pub(crate) mod model;
mod scale;
mod sheet;

use sheet::Sheet;

pub(crate) use lines::SERIES_LIMIT as LINES_LIMIT;
pub use model::{Bar, Bars, Chart, Figure, Flame, Frame, Lines, Point, Series};

impl Figure {
    pub(crate) fn left_out(&self) -> Option<String> {
        let (n, what) = match &self.chart {
            Chart::Bars(bars) => {
                let n = bars.categories.len().saturating_sub(bars::CATEGORIES_LIMIT);
                (n, "rows are")
            }
            Chart::Lines(lines) => {
                let n = lines.series.len().saturating_sub(lines::SERIES_LIMIT);
                (n, "lines are")
            }
            Chart::Flame(flame) => {
                let least = flame.whole() * flame::NARROWEST;
                let narrow = flame.frames.iter().filter(|frame| frame.width < least);
                let what = "frames are too narrow to be drawn; they are";
                (narrow.count(), what)
            }
        };
        (n > 0).then(|| format!("{n} more {what} in the data."))
    }

    /// The figure with at most the first `rows` rows of bars; a note counts the others.
    pub(crate) fn first(&self, rows: usize) -> Figure {
        let mut first = self.clone();
        let Chart::Bars(bars) = &mut first.chart else {
            return first;
        };
        let more = bars.categories.len().saturating_sub(rows);
        if more > 0 {
            bars.categories.truncate(rows);
            bars.bars.retain(|bar| bar.category < rows);
            first
                .notes
                .push(format!("{more} more rows are in the data."));
        }
        first
    }

    pub(crate) fn largest(&self, rows: usize) -> Figure {
        let mut sorted = self.clone();
        let Chart::Bars(bars) = &mut sorted.chart else {
            return sorted;
        };
        if bars.categories.len() <= rows {
            return sorted;
        }
        let mut sums = vec![0.0; bars.categories.len()];
        for bar in &bars.bars {
            sums[bar.category] += bar.value.abs();
        }
        let mut order: Vec<usize> = (0..sums.len()).collect();
        order.sort_by(|one, other| sums[*other].total_cmp(&sums[*one]));
        let mut places = vec![0; order.len()];
        for (place, at) in order.iter().enumerate() {
            places[*at] = place;
        }
        let sorted_names = order.iter().map(|at| bars.categories[*at].clone());
        bars.categories = sorted_names.collect();
        for bar in &mut bars.bars {
            bar.category = places[bar.category];
        }
        sorted.first(rows)
    }

    pub fn svg(&self) -> String {
        let mut sheet = Sheet::screen();
        sheet.heading(&self.title);
        self.draw(&mut sheet);
        sheet.notes(self.notes.iter().chain(&self.left_out()));
        self.finish(sheet)
    }

    /// The figure without title and notes, for a paper, which has a caption.
    pub fn svg_for_paper(&self, width_mm: f64) -> String {
        let mut sheet = Sheet::paper(width_mm);
        self.draw(&mut sheet);
        self.finish(sheet)
    }

    fn draw(&self, sheet: &mut Sheet) {
        match &self.chart {
            Chart::Bars(bars) => bars::draw(sheet, bars),
            Chart::Lines(lines) => lines::draw(sheet, lines),
            Chart::Flame(flame) => flame::draw(sheet, flame),
        }
    }

    fn finish(&self, sheet: Sheet) -> String {
        let axis = self.chart.axis();
        sheet.svg(&self.name, &self.title, &self.description, axis)
    }
}
