// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents of version 1.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Place, contradiction, head};
use crate::aa::AaReport;
use crate::cell::{Cell, Outcome};
use crate::document::{Document, DocumentFault, Kind};
use crate::environment::{Environment, Origin, PolicyProof, Tool};
use crate::evidence::{Counted, Estimate, Evidence, HookCost, HookedPath, PathCount, Paths, Timed};
use crate::experiment::Experiment;
use crate::metric::Metric;
use crate::shard::Share;
use crate::warning::Warning;
use crate::words::{Status, Unit};

#[derive(Deserialize)]
pub(super) struct RunForm {
    tool: Tool,
    environment: Environment,
    #[serde(default)]
    environments: Vec<Origin>,
    share: Option<Share>,
    started: String,
    finished: String,
    experiment: Experiment,
    #[serde(default)]
    kernel_digests: BTreeMap<String, String>,
    #[serde(default)]
    setups: Vec<PolicyProof>,
    aa: Option<AaReport>,
    cells: Vec<CellForm>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct CellForm {
    #[serde(flatten)]
    place: Place,
    #[serde(default)]
    class: String,
    metric: Metric,
    unit: Unit,
    n: Option<u64>,
    median: Option<f64>,
    mean: Option<f64>,
    stddev: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    ci95: Option<[f64; 2]>,
    samples: Option<Vec<f64>>,
    round_medians: Option<Vec<f64>>,
    aa_medians: Option<Vec<f64>>,
    counts: Option<CountsForm>,
    hooks: Option<Vec<HookCost>>,
    batch: Option<u32>,
    seconds: Option<f64>,
    status: Status,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct CountsForm {
    modal: PathCount,
    #[serde(default)]
    paths: Vec<PathCount>,
    windows: u64,
    dirty: u64,
    path_hash: Option<String>,
}

pub(super) fn document(form: RunForm) -> Result<Document, DocumentFault> {
    let cells = form.cells.into_iter().enumerate();
    let cells = cells.map(|(index, cell)| {
        cell.cell()
            .map_err(|message| contradiction(format!("cells[{index}]"), message))
    });
    Ok(Document {
        environments: form.environments,
        share: form.share,
        started: Some(form.started),
        finished: Some(form.finished),
        experiment: Some(form.experiment),
        kernel_digests: form.kernel_digests,
        setups: form.setups,
        aa: form.aa,
        cells: cells.collect::<Result<_, _>>()?,
        ..head(Kind::Run, form.tool, form.environment, form.warnings)
    })
}

impl CellForm {
    fn cell(mut self) -> Result<Cell, String> {
        if self.unit.as_str() != self.metric.unit() {
            return Err(format!(
                "the metric is {}, the unit {}",
                self.metric, self.unit
            ));
        }
        let key = self.place.key(self.metric);
        let place = std::mem::take(&mut self.place.release);
        Ok(Cell {
            key,
            release: place,
            active_lsms: std::mem::take(&mut self.place.active_lsms),
            syscalls: std::mem::take(&mut self.place.syscalls),
            class: std::mem::take(&mut self.class),
            seconds: self.seconds,
            outcome: match self.status {
                Status::Ok => self.evidence()?.into(),
                status => Outcome::without(status, self.reason.unwrap_or_default()),
            },
        })
    }

    fn evidence(self) -> Result<Evidence, String> {
        let (Some(n), Some(median)) = (self.n, self.median) else {
            return Err("the status is ok, but n or median is missing".to_owned());
        };
        let estimate = Estimate {
            n,
            median,
            mean: self.mean,
            stddev: self.stddev,
            min: self.min,
            max: self.max,
            ci95: self.ci95,
            samples: self.samples,
        };
        if self.metric != Metric::Instructions {
            return Ok(Evidence::Timed(Timed {
                estimate,
                rounds: self.round_medians.unwrap_or_default(),
                runs: self.aa_medians.unwrap_or_default(),
                batch: self.batch,
            }));
        }
        let paths = self.counts.map(|counts| Paths {
            modal: counts.modal,
            others: counts.paths,
            windows: counts.windows,
            dirty: counts.dirty,
            path_hash: counts.path_hash,
        });
        // Hooks were those of the modal path.
        let modal = paths.as_ref().map(|paths| paths.modal);
        let hooked = self.hooks.zip(modal).map(|(hooks, modal)| HookedPath {
            total: modal.instructions,
            rep_iterations: Some(modal.rep_iterations),
            windows: modal.windows,
            hooked: hooks
                .iter()
                .fold(0, |sum, hook| sum.saturating_add(hook.outermost)),
            hooks,
        });
        Ok(Evidence::from(Counted {
            estimate: Some(estimate),
            paths,
            hooked,
            ..Counted::default()
        }))
    }
}
