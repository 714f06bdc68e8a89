// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's cells for programs, one row each.

use compare::judge::Baselines;
use model::{Cell, Document};

use crate::cells::cost;
use crate::column::{Columns, Records};

/// What was measured, and on what: columns that [`run_records`] and the export of runs share.
pub(crate) fn cell_columns<'a>() -> Columns<'a, &'a Cell> {
    Columns::new()
        .column("release", |cell: &Cell| &cell.release)
        .column("stack", |cell| cell.key.stack.join(","))
        .column("active_lsms", |cell| cell.active_lsms.join(","))
        .column("integrity", |cell| joined(cell.key.integrity.iter()))
        .column("policy", |cell| cell.key.policy.to_string())
        .column("tuning", |cell| {
            let pairs = cell.key.tuning.pairs().into_iter();
            joined(pairs.map(|(key, value)| format!("{key}={value}")))
        })
        .column("filesystem", |cell| &cell.key.filesystem)
        .column("benchmark", |cell| cell.key.benchmark())
        .column("variant", |cell| cell.key.variant())
        .column("class", |cell| &cell.class)
        .column("syscalls", |cell| cell.syscalls.join(","))
        .column("metric", |cell| cell.key.metric.to_string())
        .column("unit", |cell| cell.key.metric.unit().to_owned())
}

/// What all samples of a cell come to, in its unit; shared likewise.
pub(crate) fn sample_columns<'a>() -> Columns<'a, &'a Cell> {
    Columns::new()
        .column("n", |cell: &Cell| Some(cell.estimate()?.n))
        .column("median", |cell| Some(cell.estimate()?.median))
        .column("mean", |cell| cell.estimate()?.mean)
        .column("stddev", |cell| cell.estimate()?.stddev)
        .column("min", |cell| cell.estimate()?.min)
        .column("max", |cell| cell.estimate()?.max)
        .column("ci95_low", |cell| cell.estimate()?.ci95.map(|[low, _]| low))
        .column("ci95_high", |cell| {
            cell.estimate()?.ci95.map(|[_, high]| high)
        })
}

/// A row for each cell, in the document's order. A later version may append columns; it keeps
/// these.
///
/// - `kernel` to `status`: as in the run document; lists are joined by commas.
/// - `value`: the cell's figure in `unit`: the modal path's instructions, or the median.
/// - `overhead`: of `value` against the baseline's, as a fraction (0.319 is 31.9 %),
///   positive when worse; empty for the baseline itself and where there is none.
/// - `n` to `ci95_high`: of all samples, in `unit`.
/// - `rep_iterations`, `modal_windows`, `windows`, `dirty`, `other_paths`: only for
///   instructions.
/// - `batch`: operations per sample; `seconds`: wall-clock time that the cell took.
/// - `reason`: why there is no figure.
pub fn run_records(run: &Document) -> Records<'_> {
    let baselines = Baselines::of(run);
    let overhead = move |cell: &Cell| Some(cost(cell, baselines.baseline(cell)?)?.0);
    Columns::new()
        .column("kernel", |cell: &Cell| &cell.key.kernel)
        .all(cell_columns(), |cell| cell)
        .column("status", |cell| cell.status().to_string())
        .column("value", |cell| cell.headline())
        .column("overhead", overhead)
        .all(sample_columns(), |cell| cell)
        .column("rep_iterations", |cell| {
            Some(cell.paths()?.modal.rep_iterations)
        })
        .column("modal_windows", |cell| Some(cell.paths()?.modal.windows))
        .column("windows", |cell| Some(cell.paths()?.windows))
        .column("dirty", |cell| Some(cell.paths()?.dirty))
        .column("other_paths", |cell| Some(cell.paths()?.others.len()))
        .column("batch", |cell| cell.timed()?.batch)
        .column("seconds", |cell| cell.seconds)
        .column("reason", |cell| cell.reason())
        .records(&run.cells)
}

fn joined(words: impl Iterator<Item = impl ToString>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    words.join(",")
}
