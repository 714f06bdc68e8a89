// SPDX-License-Identifier: GPL-2.0-or-later
//! What a miss of SELinux's access vector cache costs.

use model::{CacheUse, Cell, Document, Estimate, Metric};

use crate::column::Columns;
use crate::format;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

const OPENS: (&str, &str) = ("openat", "random");

/// A row for each cache size; None unless one size was measured in which all opened labels fit.
pub(crate) fn avc(run: &Document) -> Option<Table> {
    let lines: Vec<Line<'_>> = run.cells.iter().filter_map(|c| Line::of(run, c)).collect();
    Columns::new()
        .left("configuration", |of: &Line<'_>| {
            Value::plain(printable(&of.cell.configuration_title(), 2 * TEXT_LIMIT))
        })
        .right("opens", |of| format::count(of.used.opens.into()))
        .right("lookups", |of| format::count(of.used.lookups.into()))
        .right("misses", |of| format::count(of.used.misses.into()))
        .right("median", |of| format::figure(of.estimate.median))
        .right("mean", |of| round(of.estimate.mean))
        .right("most", |of| round(of.estimate.max))
        .right("a miss", |of| {
            of.more(|estimate| Some(estimate.median), 1.0)
        })
        .right("a miss, all in all", |of| {
            let misses = f64::from(of.used.misses) / f64::from(of.used.opens);
            of.more(|estimate| estimate.mean, misses)
        })
        .table("What a miss of SELinux's access vector cache costs", &lines)
        .fixed(1)
        .legend([
            "opens, lookups, misses: what the kernel counted (/sys/fs/selinux/avc/cache_stats) \
             when as many files as labels were opened in turn, all of them opened before. median, \
             mean, most: instructions of openat:random, which opens files in turn, too.",
            "a miss: by how much the median is above that of the smallest cache without misses, \
             where at least half of the opens miss once. all in all: the same of means, by the \
             misses of an open: what the cache throws out to have room is in it.",
        ])
        .if_any()
}

struct Line<'a> {
    cell: &'a Cell,
    used: CacheUse,
    estimate: &'a Estimate,
    fits: Option<&'a Estimate>,
}

impl<'a> Line<'a> {
    fn of(run: &'a Document, cell: &'a Cell) -> Option<Line<'a>> {
        let key = &cell.key;
        let is_asked = (key.benchmark(), key.variant()) == OPENS
            && key.settings.labels.is_some()
            && key.metric == Metric::Instructions;
        let own = is_asked.then(|| used(run, cell)).flatten()?;
        // 512 is the kernel's default size.
        let entries = |of: &Cell| of.key.settings.avc_entries.unwrap_or(512);
        let same = |of: &&Cell| {
            let mut other = of.key.clone();
            other.settings.avc_entries = key.settings.avc_entries;
            other == *key
        };
        let fitting = |of: &&Cell| used(run, of).is_some_and(|of| of.misses == 0);
        let fits = run.cells.iter().filter(same).filter(fitting);
        Some(Line {
            cell,
            used: own,
            estimate: cell.estimate()?,
            fits: fits.min_by_key(|of| entries(of)).and_then(Cell::estimate),
        })
    }

    /// Cost beyond the size in which all labels fit, per miss; empty if fewer than half of the
    /// opens miss.
    fn more(&self, figure: impl Fn(&Estimate) -> Option<f64>, misses: f64) -> String {
        let many = self.used.opens > 0 && 2 * self.used.misses >= self.used.opens;
        let more = self.fits.filter(|_| many).and_then(|fits| {
            let more = figure(self.estimate)? - figure(fits)?;
            Some(more / misses)
        });
        round(more)
    }
}

fn round(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| format::figure(value.round()))
}

fn used(run: &Document, cell: &Cell) -> Option<CacheUse> {
    let key = &cell.key;
    let of = run.setups.iter().find(|proof| {
        let configuration = &proof.configuration;
        proof.kernel == key.kernel
            && configuration.stack.names() == key.stack
            && configuration.integrity == key.integrity
            && configuration.policy == key.policy
            && configuration.settings == key.settings
    })?;
    of.cache
}
