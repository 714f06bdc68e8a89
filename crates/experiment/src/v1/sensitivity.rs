// SPDX-License-Identifier: GPL-2.0-or-later
//! Sensitivity documents of version 1.

use serde::Deserialize;

use super::{Place, contradiction, head};
use crate::cell::{Cell, Outcome};
use crate::document::{Document, DocumentFault, Kind};
use crate::environment::{Environment, PolicyProof, Tool};
use crate::evidence::{Evidence, Slope};
use crate::key::Delay;
use crate::metric::Metric;
use crate::sweep::{DepthRule, Prediction, RepeatedQuestion, SweepFindings};
use crate::warning::Warning;
use crate::words::{Caches, DelayModule, Status};

#[derive(Deserialize)]
pub(super) struct SensitivityForm {
    tool: Tool,
    environment: Environment,
    #[serde(default)]
    setups: Vec<PolicyProof>,
    slopes: Vec<SlopeForm>,
    #[serde(default)]
    rules: Vec<DepthRule>,
    #[serde(default)]
    predictions: Vec<Prediction>,
    #[serde(default)]
    repeated: Vec<RepeatedQuestion>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct SlopeForm {
    #[serde(flatten)]
    place: Place,
    module: DelayModule,
    hooks: Vec<String>,
    #[serde(default)]
    part: bool,
    caches: Caches,
    status: Status,
    reason: Option<String>,
    #[serde(flatten)]
    slope: Slope,
}

pub(super) fn document(form: SensitivityForm) -> Result<Document, DocumentFault> {
    let slopes = form.slopes.into_iter().enumerate();
    let cells = slopes.map(|(index, slope)| {
        let figures = [slope.slope.slope, slope.slope.intercept];
        if figures.iter().any(|figure| !figure.is_finite()) {
            let path = format!("slopes[{index}]");
            return Err(contradiction(path, "a figure is not finite"));
        }
        Ok(slope.cell())
    });
    let cells = cells.collect::<Result<_, _>>()?;
    Ok(Document {
        setups: form.setups,
        cells,
        sweep: Some(SweepFindings {
            rules: form.rules,
            predictions: form.predictions,
            repeated: form.repeated,
        }),
        ..head(
            Kind::Sensitivity,
            form.tool,
            form.environment,
            form.warnings,
        )
    })
}

impl SlopeForm {
    fn cell(mut self) -> Cell {
        let mut key = self.place.key(Metric::Slope);
        key.delay = Some(Delay {
            module: self.module,
            hooks: self.hooks,
            part: self.part,
            caches: self.caches,
        });
        Cell {
            key,
            release: self.place.release,
            active_lsms: Vec::new(),
            syscalls: self.place.syscalls,
            class: String::new(),
            seconds: None,
            outcome: match self.status {
                Status::Ok => Evidence::Slope(self.slope).into(),
                status => Outcome::without(status, self.reason.unwrap_or_default()),
            },
        }
    }
}
