// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of an operation as a function of the delay of a policy's decisions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::words::Unit;

/// A line fitted to an operation's cost over increasing delays.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slope {
    /// β2 of the paper's Equation 1: the increase in cost per operation divided by the increase in
    /// delay per decision. It is the number of permission checks per operation.
    #[serde(rename = "per_operation")]
    pub slope: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Cost of an operation without delays, in `unit`.
    pub intercept: f64,
    /// Unit of costs. Under the deterministic clock an instruction takes a nanosecond.
    pub unit: Unit,
    /// Coefficient of determination; None where nothing varies.
    pub r2: Option<f64>,
    /// Deviation of the points from a straight line: the sag of a fitted parabola as a fraction of
    /// the line's rise, -1 to 1. None if it cannot be determined.
    pub bend: Option<f64>,
    /// Largest distance of a point from the line, in `unit`.
    pub residual: f64,
    pub n: u64,
    /// Operations left out because something else ran in them.
    pub dirty: u64,
    /// Operations left out because they took other code paths, so that they are not on the line of
    /// most others.
    #[serde(default)]
    pub others: u64,
    pub points: Vec<SlopePoint>,
    /// Calls of the delayed hooks per operation, counted without delays; None if not counted.
    pub counted: Option<f64>,
    /// Why slope and count differ, if they do.
    pub explanation: Option<String>,
}

/// Operations with one delay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlopePoint {
    /// Delay of each decision.
    pub delay_ns: u32,
    /// Median cost of an operation, in the slope's unit.
    pub median: f64,
    pub n: u64,
}

impl Slope {
    /// If slope and count differ by more than this number of checks, a warning is given.
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
            return Some("a value is not finite".to_owned());
        }
        if self.points.is_empty() {
            return Some("a slope without points".to_owned());
        }
        let n: u128 = self.points.iter().map(|point| u128::from(point.n)).sum();
        (n != u128::from(self.n)).then(|| format!("n is {}, but its points add up to {n}", self.n))
    }
}
