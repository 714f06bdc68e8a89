// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of an operation over the delay of a policy's decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::Unit;

/// A line through the costs of operations whose decisions take longer and longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slope {
    /// β2 of the paper's Equation 1: how much longer an operation takes for each unit
    /// that a decision takes longer, which is the number of decisions it asks for.
    #[serde(rename = "per_operation")]
    pub slope: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Cost of an operation whose decisions take no time, in `unit`.
    pub intercept: f64,
    /// Unit of costs. Under the deterministic clock an instruction takes a nanosecond.
    pub unit: Unit,
    /// Share of the variance that the line explains; None where nothing varies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// How far the points are from a straight line: the sag of a parabola fitted to them
    /// as a share of the line's rise, -1 to 1; None if that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bend: Option<f64>,
    /// Largest distance of a point from the line, in `unit`.
    pub residual: f64,
    pub n: u64,
    /// Operations left out because something else ran in them.
    pub dirty: u64,
    /// Operations left out because they lie off the line that most lie on: they took
    /// other paths through the kernel.
    #[serde(default)]
    pub others: u64,
    pub points: Vec<SlopePoint>,
    /// Calls of these hooks per operation as counted without any delay; None if nothing
    /// counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<f64>,
    /// Why slope and count are not the same, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
}

/// Operations under one delay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopePoint {
    /// How much longer each decision took.
    pub delay_ns: u32,
    /// Median cost of an operation, in the slope's unit.
    pub median: f64,
    pub n: u64,
}

impl Slope {
    /// Distance of slope and count, in checks, from which a warning is due.
    pub const DIFFERENCE: f64 = 0.05;

    pub fn differs(&self) -> bool {
        self.difference()
            .is_some_and(|difference| difference.abs() > Slope::DIFFERENCE)
    }

    pub fn difference(&self) -> Option<f64> {
        Some(self.slope - self.counted?)
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        let finite = [self.slope, self.ci95[0], self.ci95[1], self.intercept];
        if finite.iter().any(|figure| !figure.is_finite()) {
            return Some("a figure is not finite".to_owned());
        }
        if self.points.is_empty() {
            return Some("a slope without points".to_owned());
        }
        let n: u128 = self.points.iter().map(|point| u128::from(point.n)).sum();
        (n != u128::from(self.n)).then(|| format!("n is {}, its points hold {n}", self.n))
    }
}
