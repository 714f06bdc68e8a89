// SPDX-License-Identifier: GPL-2.0-or-later
//! A sweep's panels as lines of their own: cost over delay.

use experiment::SensitivityDocument;

use super::model::{Lines, Point, Series};
use super::{Chosen, FigureOptions, deterministic, grouped_slopes, panel};

/// One kernel, module, state of the caches, file system and unit.
pub(crate) struct SweepPanel {
    /// Its kernel, module, caches, file system and unit.
    pub(crate) subjects: Vec<String>,
    pub(crate) title: String,
    pub(crate) lines: Lines,
    pub(crate) notes: Vec<String>,
}

/// Of the operations that are drawn unasked: see [`FigureOptions::operations`].
pub(crate) fn panels(document: &SensitivityDocument) -> Vec<SweepPanel> {
    let chosen = Chosen::of(document, &FigureOptions::default());
    let mut panels = Vec::new();
    for ((kernel, module, caches, filesystem, unit), slopes) in grouped_slopes(document) {
        let Some(of) = panel(&slopes, &chosen, deterministic(document)) else {
            continue;
        };
        let mut notes = chosen.notes.clone();
        let mut series = Vec::new();
        for line in of.lines {
            let Some(drawn) = line.drawn else {
                notes.push(format!("{}: {}.", line.label, line.slope));
                continue;
            };
            let point = |place: &[f64; 2]| Point {
                x: place[0],
                y: place[1],
                interval: None,
            };
            series.push(Series {
                label: line.label,
                figure: line.slope,
                points: drawn.points.iter().map(point).collect(),
                fit: Some(drawn.ends),
            });
        }
        panels.push(SweepPanel {
            subjects: vec![
                kernel.to_owned(),
                module.to_string(),
                caches.to_string(),
                filesystem.to_owned(),
                unit.to_string(),
            ],
            title: of.title,
            lines: Lines {
                x: "delay of each decision (µs)".to_owned(),
                y: of.axis.to_owned(),
                kind: "operation".to_owned(),
                figure: Some("slope"),
                series,
            },
            notes,
        });
    }
    panels
}
