// SPDX-License-Identifier: GPL-2.0-or-later
//! A document's cells, arranged as a table needs them.

use std::collections::HashMap;

use experiment::{Cell, Metric, Policy, Run, Status};
use stats::{overhead, overlap};

/// What a column stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Configuration {
    pub(crate) stack: Vec<String>,
    pub(crate) integrity: Vec<String>,
    pub(crate) policy: Policy,
}

impl Configuration {
    pub(crate) fn of(cell: &Cell) -> Configuration {
        Configuration {
            stack: cell.stack.clone(),
            integrity: cell.integrity.clone(),
            policy: cell.policy,
        }
    }

    /// `capability,selinux`, with what else is at work.
    pub(crate) fn title(&self) -> String {
        let mut title = self.stack.join(",");
        if !self.integrity.is_empty() {
            title += &format!(" +{}", self.integrity.join(","));
        }
        if self.policy != Policy::None {
            title += &format!(" ({})", self.policy);
        }
        title
    }

    /// Its title in few characters beside the baseline's: `+selinux` for the baseline's
    /// stack with selinux added at its end.
    pub(crate) fn short_title(&self, baseline: Option<&Configuration>) -> String {
        if let Some(baseline) = baseline
            && self != baseline
            && let Some(added) = added(&self.stack, &baseline.stack)
        {
            let added = Configuration {
                stack: added.to_vec(),
                ..self.clone()
            };
            return format!("+{}", added.title());
        }
        self.title()
    }
}

/// What a stack has behind `base`, if it is that with something added at its end.
pub(crate) fn added<'a>(stack: &'a [String], base: &[String]) -> Option<&'a [String]> {
    let added = stack.strip_prefix(base)?;
    (base != ["default"] && !added.is_empty()).then_some(added)
}

/// The cells of one kernel, file system and metric: one table.
pub(crate) struct Group<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) filesystem: &'a str,
    pub(crate) metric: Metric,
    /// The baseline first, if it was measured.
    pub(crate) configurations: Vec<Configuration>,
    pub(crate) baseline: Option<Configuration>,
    /// Benchmark and variant, in the order of the document.
    pub(crate) rows: Vec<(&'a str, &'a str)>,
    cells: HashMap<((&'a str, &'a str), Configuration), &'a Cell>,
}

impl<'a> Group<'a> {
    pub(crate) fn cell(&self, row: (&'a str, &'a str), column: &Configuration) -> Option<&'a Cell> {
        self.cells.get(&(row, column.clone())).copied()
    }

    pub(crate) fn baseline_cell(&self, row: (&'a str, &'a str)) -> Option<&'a Cell> {
        self.cell(row, self.baseline.as_ref()?)
    }

    /// Is every figure a count that needs no interval?
    pub(crate) fn is_exact(&self) -> bool {
        self.cells
            .values()
            .all(|cell| cell.status != Status::Ok || is_exact(cell))
    }

    /// Releases that the guests reported, each once.
    pub(crate) fn releases(&self) -> Vec<&'a str> {
        let mut releases: Vec<&str> = Vec::new();
        for row in &self.rows {
            for column in &self.configurations {
                if let Some(cell) = self.cell(*row, column)
                    && !cell.release.is_empty()
                    && !releases.contains(&cell.release.as_str())
                {
                    releases.push(&cell.release);
                }
            }
        }
        releases
    }
}

/// All groups, in the order in which the document has their first cells.
pub(crate) fn groups(run: &Run) -> Vec<Group<'_>> {
    let mut order = Vec::new();
    let mut parts: HashMap<_, Vec<&Cell>> = HashMap::new();
    for cell in &run.cells {
        let key = (cell.kernel.as_str(), cell.filesystem.as_str(), cell.metric);
        let part = parts.entry(key).or_default();
        if part.is_empty() {
            order.push(key);
        }
        part.push(cell);
    }
    order
        .into_iter()
        .filter_map(|key| parts.remove(&key).map(|cells| group(run, key, &cells)))
        .collect()
}

fn group<'a>(run: &Run, key: (&'a str, &'a str, Metric), members: &[&'a Cell]) -> Group<'a> {
    let mut configurations: Vec<Configuration> = Vec::new();
    let mut rows = Vec::new();
    let mut cells = HashMap::new();
    let mut seen = std::collections::HashSet::new();
    for cell in members {
        let configuration = Configuration::of(cell);
        let row = (cell.benchmark.as_str(), cell.variant.as_str());
        if seen.insert(row) {
            rows.push(row);
        }
        if !configurations.contains(&configuration) {
            configurations.push(configuration.clone());
        }
        cells.insert((row, configuration), *cell);
    }
    let wanted: Vec<Vec<String>> = run.experiment.stacks.iter().map(|s| s.names()).collect();
    let base = wanted.get(run.experiment.baseline as usize);
    // As the experiment lists them, but the baseline first: it is what others add to.
    configurations.sort_by_key(|configuration| {
        let position = wanted
            .iter()
            .position(|stack| *stack == configuration.stack);
        (
            Some(&configuration.stack) != base,
            position.unwrap_or(wanted.len()),
        )
    });
    let baseline = configurations
        .first()
        .filter(|c| Some(&c.stack) == base)
        .cloned();
    let (kernel, filesystem, metric) = key;
    Group {
        kernel,
        filesystem,
        metric,
        configurations,
        baseline,
        rows,
        cells,
    }
}

/// What a cell costs against the baseline's cell.
pub(crate) struct Cost {
    /// As a fraction.
    pub(crate) overhead: f64,
    /// Tested over baseline.
    pub(crate) ratio: f64,
    /// The two intervals overlap: no difference is shown.
    pub(crate) unclear: bool,
}

pub(crate) fn cost(tested: &Cell, baseline: &Cell) -> Option<Cost> {
    let (a, b) = (tested.headline()?, baseline.headline()?);
    let overhead = overhead(a, b, tested.metric.direction())?;
    let unclear = !(is_exact(tested) && is_exact(baseline))
        && match (tested.ci95, baseline.ci95) {
            (Some(a), Some(b)) => overlap(a, b),
            // Without an interval nothing is shown.
            _ => true,
        };
    Some(Cost {
        overhead,
        ratio: a / b,
        unclear,
    })
}

/// A count, of an operation that takes one path: no interval is needed.
pub(crate) fn is_exact(cell: &Cell) -> bool {
    cell.metric == Metric::Instructions
        && cell
            .counts
            .as_ref()
            .is_none_or(experiment::Counts::is_stable)
}

/// Why a cell, or a profile, has no figure, as a footnote says it.
pub(crate) fn reason(status: Status, reason: Option<&str>) -> String {
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    let lines: Vec<&str> = reason.unwrap_or("no reason was given").lines().collect();
    let reason = crate::printable(&lines.join("; "), 200);
    match status {
        Status::Unsupported => format!("unsupported: {reason}"),
        Status::Failed => format!("failed: {reason}"),
        Status::Ok => "ok, but without a figure".to_owned(),
    }
}
