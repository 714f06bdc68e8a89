// SPDX-License-Identifier: GPL-2.0-or-later
//! Series out of the cells of an index.

use std::collections::{HashMap, HashSet};

use experiment::{History, HistoryRun, Metric, Pattern, Series, SeriesPoint, Tool};

use crate::index::{Cell, Index, Indexed};
use crate::names;

/// Which series are wanted, and how changes are found.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Benchmarks and variants; empty: all.
    pub benchmarks: Vec<Pattern>,
    /// Kernels as the user named them; empty: all.
    pub kernels: Vec<String>,
    /// Configurations as tables name them (`capability,selinux (enforcing)`); empty: all.
    pub configurations: Vec<String>,
    /// Metrics; empty: all.
    pub metrics: Vec<Metric>,
    /// Take kernels of different names as one that changes over time, where each run has
    /// one only.
    pub across_kernels: bool,
    /// Only this many runs, the newest; None: all.
    pub last: Option<usize>,
    /// Level of significance of changes in figures that are not exact, above 0.
    pub alpha: f64,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            benchmarks: Vec::new(),
            kernels: Vec::new(),
            configurations: Vec::new(),
            metrics: Vec::new(),
            across_kernels: false,
            last: None,
            alpha: 0.01,
        }
    }
}

impl Selection {
    fn wants(&self, cell: &Cell<&str>) -> bool {
        let among =
            |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
        let fits = |pattern: &Pattern| pattern.matches(cell.benchmark, cell.variant);
        let (excluding, including): (Vec<&Pattern>, Vec<&Pattern>) = self
            .benchmarks
            .iter()
            .partition(|pattern| pattern.excludes());
        among(&self.kernels, cell.kernel)
            && among(&self.configurations, cell.configuration)
            && (self.metrics.is_empty() || self.metrics.contains(&cell.metric))
            && (including.is_empty() || including.iter().any(|pattern| fits(pattern)))
            && !excluding.iter().any(|pattern| fits(pattern))
    }
}

pub(crate) fn history(index: &Index, selection: &Selection) -> History {
    let mut cells = index.cells();
    let single = kernels_are_single(&cells);
    cells.retain(|of| selection.wants(&of.cell));
    let runs = runs(&cells, selection.last);
    let positions: HashMap<&str, usize> = runs
        .iter()
        .enumerate()
        .map(|(position, run)| (run.file.as_str(), position))
        .collect();
    let mut series: Vec<Series> = Vec::new();
    let mut known = HashMap::new();
    for Indexed { file, cell, .. } in &cells {
        let Some(&run) = positions.get(file) else {
            continue;
        };
        let merged = selection.across_kernels && single.contains(file);
        let kernel = if merged { "" } else { cell.kernel };
        let place = (kernel, cell.configuration, cell.filesystem);
        let key = (
            place,
            cell.benchmark,
            cell.variant,
            cell.metric,
            cell.machine,
        );
        let at = *known.entry(key).or_insert_with(|| {
            series.push(empty(cell, kernel));
            series.len() - 1
        });
        series[at].points.push(SeriesPoint {
            run: u32::try_from(run).unwrap_or(u32::MAX),
            release: cell.release.to_owned(),
            figure: cell.figure,
            interval: cell.interval,
            exact: cell.exact,
        });
    }
    for series in &mut series {
        judge::find_changes(series, selection.alpha);
    }
    History {
        tool: Tool::this(),
        alpha: selection.alpha,
        runs,
        series,
    }
}

/// Files of runs that have one kernel.
fn kernels_are_single<'a>(cells: &[Indexed<'a>]) -> HashSet<&'a str> {
    let mut kernels: HashMap<&str, HashSet<&str>> = HashMap::new();
    for of in cells {
        kernels.entry(of.file).or_default().insert(of.cell.kernel);
    }
    let single = kernels.into_iter().filter(|(_, of_run)| of_run.len() == 1);
    single.map(|(file, _)| file).collect()
}

/// The runs of these cells, in their order: the last `last` of them.
fn runs(cells: &[Indexed<'_>], last: Option<usize>) -> Vec<HistoryRun> {
    let mut runs: Vec<HistoryRun> = Vec::new();
    for cell in cells {
        if runs.last().is_none_or(|run| run.file != cell.file) {
            runs.push(HistoryRun {
                file: cell.file.to_owned(),
                label: names::label(cell.file).map(str::to_owned),
                started: cell.started.to_owned(),
            });
        }
    }
    let first = last.map_or(0, |last| runs.len().saturating_sub(last));
    runs.split_off(first)
}

/// A series without points, of what its cells share.
fn empty(cell: &Cell<&str>, kernel: &str) -> Series {
    Series {
        kernel: kernel.to_owned(),
        configuration: cell.configuration.to_owned(),
        filesystem: cell.filesystem.to_owned(),
        benchmark: cell.benchmark.to_owned(),
        variant: cell.variant.to_owned(),
        unit: cell.metric.unit().to_owned(),
        metric: cell.metric,
        machine: cell.machine.to_owned(),
        exact: false,
        points: Vec::new(),
        changes: Vec::new(),
    }
}
