// SPDX-License-Identifier: GPL-2.0-or-later
//! Results of a measurement, in one form per method.

mod calls;
mod counted;
mod events;
mod path_tree;
mod program;
mod program_residual;
mod slope;
mod timed;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::Metric;

pub use calls::{
    Bucket, Calls, Interval, Percentiles, WatchedHook, WatchedSystemCall, WholeSystemCall,
};
pub use counted::{
    Counted, FunctionDifference, HookCaller, HookCost, HookedPath, Implementation, IrqsOff,
    PathCount, Paths, Residual, is_dominant,
};
pub use events::{EventKind, Events};
pub use path_tree::{PathCall, PathTree};
pub use program::{
    Denials, DifferingHook, EntryHook, EntryModule, Program, ProgramEntry, ProgramRun, ProgramTask,
};
pub use program_residual::ProgramResidual;
pub use slope::{Slope, SlopePoint};
pub use timed::{Estimate, Timed};

/// The values of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Counted in measured regions, by code path.
    Counted(Box<Counted>),
    Timed(Timed),
    /// Cost of an operation over the delay of a policy's decisions.
    #[serde(rename = "checks")]
    Slope(Slope),
    /// Hook calls on a live machine in a time interval.
    Calls(Interval),
}

impl From<Counted> for Evidence {
    fn from(counted: Counted) -> Evidence {
        Evidence::Counted(Box::new(counted))
    }
}

impl Evidence {
    /// Whether this form of evidence suits a metric.
    pub(crate) fn suits(&self, metric: Metric) -> bool {
        match self {
            Evidence::Counted(_) => metric.is_counted(),
            Evidence::Timed(_) => metric.is_timed(),
            Evidence::Slope(_) => metric == Metric::Slope,
            Evidence::Calls(_) => metric == Metric::Calls,
        }
    }

    /// Sums use types that cannot overflow with a malicious file.
    pub(crate) fn contradiction(&self) -> Option<String> {
        match self {
            Evidence::Counted(counted) => counted.contradiction(),
            Evidence::Timed(timed) => timed.contradiction(),
            Evidence::Slope(slope) => slope.contradiction(),
            Evidence::Calls(interval) => interval.contradiction(),
        }
    }
}
