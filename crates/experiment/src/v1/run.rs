// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents of version 1.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Place;
use crate::cell::{Cell, Outcome};
use crate::evidence::{Counted, Estimate, Evidence, HookCost, HookedPath, Paths, Timed};
use crate::metric::Metric;
use crate::words::{Status, Unit};

/// A cell of a run.
#[derive(Deserialize)]
pub(super) struct CellForm {
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
    counts: Option<Paths>,
    hooks: Option<Vec<HookCost>>,
    batch: Option<u32>,
    seconds: Option<f64>,
    status: Status,
    reason: Option<String>,
}

impl CellForm {
    pub(super) fn cell(mut self) -> Result<Cell, String> {
        if self.unit.as_str() != self.metric.unit() {
            return Err(format!(
                "the metric is {}, the unit {}",
                self.metric, self.unit
            ));
        }
        let place = std::mem::take(&mut self.place).cell(self.metric);
        Ok(Cell {
            class: std::mem::take(&mut self.class),
            seconds: self.seconds,
            outcome: match self.status {
                Status::Ok => self.evidence()?.into(),
                status => Outcome::without(status, self.reason.unwrap_or_default()),
            },
            ..place
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
                rounds: self.round_medians.unwrap_or_default(),
                runs: self.aa_medians.unwrap_or_default(),
                batch: self.batch,
                ..Timed::of(estimate)
            }));
        }
        // Hooks were those of the modal path.
        let modal = self.counts.as_ref().map(|paths| paths.modal);
        let hooked = self.hooks.zip(modal).map(|(hooks, modal)| HookedPath {
            system_calls: BTreeMap::new(),
            events: None,
            total: modal.instructions,
            rep_iterations: Some(modal.rep_iterations),
            windows: modal.windows,
            hooked: hooks
                .iter()
                .fold(0, |sum, hook| sum.saturating_add(hook.outermost)),
            hooks,
            irqs_off: None,
        });
        Ok(Evidence::from(Counted {
            estimate: Some(estimate),
            paths: self.counts,
            hooked,
            ..Counted::default()
        }))
    }
}
