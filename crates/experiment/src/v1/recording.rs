// SPDX-License-Identifier: GPL-2.0-or-later
//! Recordings of version 1.

use serde::Deserialize;

use crate::document::{Document, Kind};
use crate::environment::{Environment, Tool};
use crate::evidence::Interval;
use crate::monitoring::{LeftOutFunction, Monitoring};
use crate::warning::Warning;

#[derive(Deserialize)]
pub(super) struct RecordingForm {
    tool: Tool,
    environment: Environment,
    monitor: MonitoringForm,
    intervals: Vec<Interval>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
struct MonitoringForm {
    #[serde(flatten)]
    monitoring: Monitoring,
    started: String,
    #[serde(default)]
    left_out: Vec<LeftOutFunction>,
}

pub(super) fn document(form: RecordingForm) -> Document {
    let monitoring = form.monitor.monitoring;
    let cells = form.intervals.into_iter().zip(0..);
    let cells = cells.map(|(calls, interval)| monitoring.cell(interval, calls));
    Document {
        started: Some(form.monitor.started),
        cells: cells.collect(),
        left_out: form.monitor.left_out,
        monitor: Some(monitoring),
        tool: form.tool,
        warnings: form.warnings,
        ..Document::new(Kind::Recording, form.environment)
    }
}
