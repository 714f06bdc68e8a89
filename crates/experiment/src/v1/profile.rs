// SPDX-License-Identifier: GPL-2.0-or-later
//! Profile documents of version 1.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Place;
use crate::cell::{Cell, Outcome};
use crate::evidence::{
    Counted, Evidence, FunctionDifference, HookCost, HookedPath, PathCount, Paths, Residual,
};
use crate::metric::Metric;
use crate::words::Status;

/// The profile of a cell.
#[derive(Deserialize)]
pub(super) struct ProfileForm {
    #[serde(flatten)]
    place: Place,
    status: Status,
    reason: Option<String>,
    total: u64,
    rep_iterations: u64,
    hooked: u64,
    hooks: Vec<HookCost>,
    baseline: Option<BaselineForm>,
    residual: Option<i64>,
    #[serde(default)]
    residual_functions: Vec<FunctionDifference>,
    windows: u64,
    path_windows: u64,
    dirty: u64,
}

#[derive(Deserialize)]
struct BaselineForm {
    stack: Vec<String>,
    total: u64,
    hooked: u64,
    hooks: Vec<HookCost>,
    path_windows: u64,
    windows: u64,
}

impl ProfileForm {
    pub(super) fn cell(mut self) -> Result<Cell, String> {
        let place = std::mem::take(&mut self.place).cell(Metric::Instructions);
        Ok(Cell {
            outcome: match self.status {
                Status::Ok => Evidence::from(self.counted()?).into(),
                status => Outcome::without(status, self.reason.unwrap_or_default()),
            },
            ..place
        })
    }

    fn counted(self) -> Result<Counted, &'static str> {
        let modal = PathCount {
            instructions: self.total,
            rep_iterations: self.rep_iterations,
            windows: self.path_windows,
        };
        let residual = match (self.baseline, self.residual) {
            (None, None) if self.residual_functions.is_empty() => None,
            (None, _) => return Err("a residual without a baseline"),
            (Some(_), None) => return Err("a baseline without a residual"),
            (Some(base), Some(instructions)) => Some(Residual {
                stack: base.stack,
                path: HookedPath {
                    system_calls: BTreeMap::new(),
                    events: None,
                    total: base.total,
                    rep_iterations: None,
                    windows: base.path_windows,
                    hooked: base.hooked,
                    hooks: base.hooks,
                    irqs_off: None,
                },
                windows: base.windows,
                instructions,
                functions: self.residual_functions,
            }),
        };
        Ok(Counted {
            estimate: None,
            program: None,
            tree: None,
            later: Vec::new(),
            // Only the path whose hooks are known was kept.
            paths: Some(Paths {
                modal,
                others: Vec::new(),
                windows: self.windows,
                dirty: self.dirty,
                path_hash: None,
            }),
            hooked: Some(HookedPath {
                system_calls: BTreeMap::new(),
                events: None,
                total: self.total,
                rep_iterations: Some(self.rep_iterations),
                windows: self.path_windows,
                hooked: self.hooked,
                hooks: self.hooks,
                irqs_off: None,
            }),
            residual,
            not_compared: self.reason,
        })
    }
}
