// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost of an operation over the depth of its path, as a sparkline per stack in a terminal.

use compare::judge::Judgements;
use model::Document;

use crate::cells::groups;
use crate::column::Columns;
use crate::format;
use crate::glance::{Depth, Glance};
use crate::table::{Table, Value};
use crate::text::short;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A table per kernel, file system and metric for operations with a dominant path at two depths or
/// more.
pub fn depth_tables(run: &Document) -> Vec<Table> {
    let judgements = Judgements::of(run);
    let groups = groups(run);
    let glances = groups.iter().map(|group| Glance {
        group,
        judgements: &judgements,
    });
    glances.filter_map(|glance| table(run, &glance)).collect()
}

pub(crate) fn table(run: &Document, glance: &Glance<'_, '_>) -> Option<Table> {
    let group = glance.group;
    let (benchmark, lines) = glance.depths()?;
    let figures = || {
        lines
            .iter()
            .flat_map(|line| line.points.iter().map(|of| of.1))
    };
    let scale = [
        figures().fold(f64::INFINITY, f64::min),
        figures().fold(f64::NEG_INFINITY, f64::max),
    ];
    let at = |end: Option<&(u32, f64)>| end.map(|of| Value::plain(format::figure(of.1.round())));
    let table = Columns::new()
        .left("stack", |line: &Depth<'_>| {
            group.heading(line.configuration)
        })
        .left("growth", move |line| Value::plain(sparkline(line, scale)))
        .right("shallow", move |line| {
            at(line.points.first()).unwrap_or_default()
        })
        .right("deep", move |line| {
            at(line.points.last()).unwrap_or_default()
        })
        .right("each component", |line| {
            Value::plain(format::figure((line.slope() * 10.0).round() / 10.0))
        })
        .table(
            format!(
                "Depth: {}, {}: {}",
                short(benchmark),
                group.place(run),
                format::measured(group.metric)
            ),
            &lines,
        )
        .legend([
            "growth: the figure at each depth of the path, on one scale for all stacks; each \
             component: what one more adds.",
        ]);
    Some(table)
}

fn sparkline(line: &Depth<'_>, [least, most]: [f64; 2]) -> String {
    let block = |(_, figure): &(u32, f64)| {
        let part = (figure - least) / (most - least).max(f64::MIN_POSITIVE);
        let place = (part * (BLOCKS.len() - 1) as f64).round();
        BLOCKS[(place as usize).min(BLOCKS.len() - 1)]
    };
    line.points.iter().map(block).collect()
}
