// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of sweeps.

use experiment::{SensitivityDocument, Slope, path_depth};

use super::Draft;
use crate::figure::model::drawable;
use crate::figure::{Chart, Lines, Point, Series, sweep};
use crate::group::grouped;
use crate::sensitivity::has_figures;
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// The paper's Figure 4, and decisions over the depth of paths.
pub(super) fn drafts(document: &SensitivityDocument) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = sweep::panels(document)
        .into_iter()
        .map(|panel| Draft {
            base: "latency-over-delay",
            subjects: panel.subjects,
            title: format!("Cost by the time of each decision: {}", panel.title),
            description: "Points and fitted lines: the cost of operations over how much longer \
                          each decision of a policy takes. The slope of a line is the number of \
                          decisions that the operation asks for."
                .to_owned(),
            chart: Chart::Lines(panel.lines),
            notes: panel.notes,
        })
        .collect();
    drafts.extend(by_depth(document));
    drafts
}

fn by_depth(document: &SensitivityDocument) -> Vec<Draft> {
    let whole = |slope: &&Slope| slope.is_whole() && has_figures(slope) && drawable(slope.slope);
    let slopes = document.slopes.iter().filter(whole);
    let groups = grouped(slopes, |slope| {
        (
            slope.kernel.as_str(),
            slope.module,
            slope.caches,
            slope.filesystem.as_str(),
            &slope.hooks,
        )
    });
    let mut drafts = Vec::new();
    for ((kernel, module, caches, filesystem, hooks), slopes) in groups {
        let mut series = Vec::new();
        for (benchmark, of) in grouped(slopes, |slope| slope.benchmark.as_str()) {
            let mut points: Vec<Point> = of
                .iter()
                .filter_map(|slope| {
                    Some(Point {
                        x: f64::from(path_depth(&slope.variant)?),
                        y: slope.slope,
                        interval: Some(slope.ci95).filter(|ci| ci.iter().all(|v| drawable(*v))),
                    })
                })
                .collect();
            points.sort_by(|one, other| one.x.total_cmp(&other.x));
            points.dedup_by_key(|point| point.x as u32);
            if points.len() > 1 {
                series.push(Series {
                    label: printable(benchmark, TEXT_LIMIT),
                    figure: String::new(),
                    points,
                    fit: None,
                });
            }
        }
        if series.is_empty() {
            continue;
        }
        let hooks = hooks.join(",");
        drafts.push(Draft {
            base: "decisions-by-depth",
            subjects: vec![
                kernel.to_owned(),
                module.to_string(),
                caches.to_string(),
                filesystem.to_owned(),
                hooks.clone(),
            ],
            title: format!(
                "Decisions by the depth of the path: {}, {}, {module}, {caches} caches, hooks: {}",
                printable(kernel, TEXT_LIMIT),
                printable(filesystem, TEXT_LIMIT),
                printable(&hooks, TEXT_LIMIT)
            ),
            description: "Lines: how many decisions an operation asks for over the number of \
                          components of its path, by the slopes of a sweep."
                .to_owned(),
            chart: Chart::Lines(Lines {
                x: "components of the path".to_owned(),
                y: "decisions per operation".to_owned(),
                kind: "operation".to_owned(),
                figure: None,
                series,
            }),
            notes: Vec::new(),
        });
    }
    drafts
}
