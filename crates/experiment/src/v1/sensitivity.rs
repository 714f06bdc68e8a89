// SPDX-License-Identifier: GPL-2.0-or-later
//! Sensitivity documents of version 1.

use serde::Deserialize;

use super::Place;
use crate::cell::{Cell, Outcome};
use crate::evidence::{Evidence, Slope};
use crate::key::Delay;
use crate::metric::Metric;
use crate::words::{Caches, DelayModule, Status};

/// A slope of a sweep.
#[derive(Deserialize)]
pub(super) struct SlopeForm {
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

impl SlopeForm {
    pub(super) fn cell(self) -> Result<Cell, String> {
        let mut cell = self.place.cell(Metric::Slope);
        cell.key.delay = Some(Delay {
            module: self.module,
            hooks: self.hooks,
            part: self.part,
            caches: self.caches,
        });
        cell.outcome = match self.status {
            Status::Ok => Evidence::Slope(self.slope).into(),
            status => Outcome::without(status, self.reason.unwrap_or_default()),
        };
        Ok(cell)
    }
}
