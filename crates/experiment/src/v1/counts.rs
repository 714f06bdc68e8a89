// SPDX-License-Identifier: GPL-2.0-or-later
//! A monitor's counts of version 1.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Place;
use crate::cell::{Cell, Outcome};
use crate::document::{Document, Kind};
use crate::environment::{Environment, Tool};
use crate::evidence::{Evidence, HookCalls};
use crate::metric::Metric;
use crate::monitoring::LeftOutFunction;
use crate::words::Status;

#[derive(Deserialize)]
pub(super) struct CountsForm {
    tool: Tool,
    kernel: String,
    release: String,
    stack: Vec<String>,
    active_lsms: Vec<String>,
    fs: String,
    left_out: Vec<LeftOutFunction>,
    counted: Vec<BenchmarkForm>,
}

#[derive(Deserialize)]
struct BenchmarkForm {
    benchmark: String,
    variant: String,
    syscalls: Vec<String>,
    status: Status,
    reason: Option<String>,
    hooks: Vec<HookForm>,
}

#[derive(Deserialize)]
struct HookForm {
    hook: String,
    calls: f64,
}

pub(super) fn document(mut form: CountsForm) -> Document {
    let counted = std::mem::take(&mut form.counted);
    let cells = counted.into_iter().map(|benchmark| benchmark.cell(&form));
    Document {
        cells: cells.collect(),
        left_out: form.left_out,
        tool: form.tool,
        ..Document::new(Kind::Counts, Environment::unknown())
    }
}

impl BenchmarkForm {
    fn cell(self, of: &CountsForm) -> Cell {
        let place = Place {
            kernel: of.kernel.clone(),
            release: of.release.clone(),
            stack: of.stack.clone(),
            active_lsms: of.active_lsms.clone(),
            filesystem: of.fs.clone(),
            benchmark: self.benchmark,
            variant: self.variant,
            syscalls: self.syscalls,
            ..Place::default()
        };
        let mut hooks: BTreeMap<String, f64> = BTreeMap::new();
        for hook in self.hooks {
            *hooks.entry(hook.hook).or_default() += hook.calls;
        }
        Cell {
            outcome: match self.status {
                Status::Ok => Evidence::HookCalls(HookCalls { hooks }).into(),
                status => Outcome::without(status, self.reason.unwrap_or_default()),
            },
            ..place.cell(Metric::Calls)
        }
    }
}
