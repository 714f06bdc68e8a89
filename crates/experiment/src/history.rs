// SPDX-License-Identifier: GPL-2.0-or-later
//! The figures of many runs as series over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{DocumentFault, Kind, Stored, all_sound};
use crate::environment::Tool;
use crate::key::title;
use crate::metric::Metric;

/// What `lsmeter history show --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter history")]
pub struct History {
    /// What wrote it.
    pub tool: Tool,
    /// How often a series without any change shows one nevertheless, as a fraction; for
    /// figures that are not exact.
    pub alpha: f64,
    /// The run documents that series have figures of, in the order of their beginning.
    pub runs: Vec<HistoryRun>,
    /// One for each place, configuration, operation and metric.
    pub series: Vec<Series>,
}

/// A run document of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRun {
    /// Its file's name in the history's directory.
    pub file: String,
    /// What it was called when it was added: a version, a commit.
    pub label: Option<String>,
    /// When measuring began: RFC 3339, UTC.
    pub started: String,
}

/// The same cell in one run after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Kernel as the user named it; empty if kernels are taken together.
    pub kernel: String,
    /// Stack, policy, integrity and sizes: `capability,selinux (enforcing)`.
    pub configuration: String,
    /// File system worked on.
    pub filesystem: String,
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// What was measured.
    pub metric: Metric,
    /// Unit of all figures.
    pub unit: String,
    /// The machine, as far as figures of this metric depend on it: figures of different
    /// machines are no series.
    pub machine: String,
    /// Are all figures exact counts? Then any difference is a change.
    pub exact: bool,
    /// The figures, in the order of `runs`.
    pub points: Vec<SeriesPoint>,
    /// Where the level changes, in order.
    pub changes: Vec<SeriesChange>,
}

/// A figure of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesPoint {
    /// Position in [`History::runs`], from 0.
    pub run: u32,
    /// `uname -r` of the kernel that it was measured on.
    pub release: String,
    /// The cell's figure, in the series' unit.
    pub figure: f64,
    /// Its 95 % interval, where it has one.
    pub interval: Option<[f64; 2]>,
    /// Is it an exact count?
    #[serde(skip)]
    pub exact: bool,
}

/// A change of a series' level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesChange {
    /// Position in [`Series::points`] of the first figure of the new level, from 1.
    pub point: u32,
    /// Median of the figures since the change before, in the series' unit.
    pub before: f64,
    /// Median of the figures up to the next change, in the series' unit.
    pub after: f64,
    /// What the new level costs against the old one, as a fraction, more being worse;
    /// None if the old one is 0.
    pub overhead: Option<f64>,
    /// How often chance alone shows a change as clear; 0 for exact counts.
    pub p: f64,
}

impl Series {
    /// `benchmark:variant`, or `benchmark` if there is only one variant.
    pub fn title(&self) -> String {
        title(&self.benchmark, &self.variant)
    }
}

impl Stored for History {
    const KIND: Kind = Kind::History;

    fn check(&self) -> Result<(), DocumentFault> {
        all_sound("series", &self.series, |series| {
            let mut runs = series.points.iter().map(|point| point.run as usize);
            let mut points = series.changes.iter().map(|change| change.point as usize);
            let beyond = runs.any(|run| run >= self.runs.len())
                || points.any(|point| point >= series.points.len());
            beyond.then(|| "it names a run or a point that is not there".to_owned())
        })
    }
}
