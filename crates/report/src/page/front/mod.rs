// SPDX-License-Identifier: GPL-2.0-or-later
//! The first screen of a run's page: sentences, a map of overheads, cost over path depth, and the
//! most expensive hooks.

mod command;
mod data;
mod map;

use compare::judge::{Judgements, Layouts};
use maud::{Markup, html};
use model::{Document, Kind};

use super::table;
use crate::cells::{Group, groups};
use crate::column::Columns;
use crate::format;
use crate::gather::Content;
use crate::glance::{Glance, HookShare, depth_table};
use crate::layouts::is_one_of;
use crate::table::Table;

/// Wider maps leave no room next to them.
const BESIDE_LIMIT: usize = 5;

const HOOKS_LIMIT: usize = 10;

const SENTENCES_LIMIT: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maps {
    None,
    /// All groups except those without a baseline, and those of a kernel with many layouts (each of
    /// which is a table).
    Some,
    All,
}

pub(super) fn maps(content: &Content) -> Maps {
    let run = match content {
        Content::Measured(run) if run.kind == Kind::Run => run,
        _ => return Maps::None,
    };
    let drawn = Layouts::in_run(run);
    let groups = groups(run);
    let mapped = groups.iter().filter(|group| is_mapped(group, &drawn));
    match mapped.count() {
        0 => Maps::None,
        n if n == groups.len() => Maps::All,
        _ => Maps::Some,
    }
}

fn is_mapped(group: &Group<'_>, drawn: &[Layouts<'_>]) -> bool {
    group.baseline.is_some() && group.tested().next().is_some() && !is_one_of(group, drawn)
}

pub(super) fn front(at: usize, run: &Document) -> Markup {
    let judgements = Judgements::new(run);
    let drawn = Layouts::in_run(run);
    let groups = groups(run);
    let mapped = groups.iter().filter(|group| is_mapped(group, &drawn));
    html! {
        @for (number, group) in mapped.enumerate() {
            @let glance = Glance { group, judgements: &judgements };
            @let id = format!("glance-{}-{}", at + 1, number + 1);
            div.glance id=(id) {
                p.place { (group.place(run)) @if let Some(own) = group.own_policies() { ". " (own) } }
                (sentences(&glance))
                @if let Some(unknown) = glance.unknown() { p.place { (unknown) "." } }
                div.find hidden {
                    label for={ (id) "-find" } { "Find an operation or a hook " }
                    input id={ (id) "-find" } type="search" autocomplete="off";
                }
                div.front.wide[group.tested().count() > BESIDE_LIMIT] {
                    (map::map(&glance, &id))
                    (beside(run, &glance, &id))
                }
                (data::data(run, &glance, &id))
                @if let Some(trees) = data::trees(&glance, &id) { (trees) }
            }
        }
    }
}

fn beside(run: &Document, glance: &Glance<'_, '_>, id: &str) -> Markup {
    let hooks = glance.hooks();
    let hooks = hooks.iter().filter(|hook| hook.adds > 0.0);
    let hooks = Columns::new()
        .left("hook", |share: &HookShare<'_>| share.hook)
        .left("stack", |share| glance.group.heading(share.configuration))
        .right("adds", |share| {
            format::overhead(glance.group.metric, share.adds)
        })
        .table(
            "Most expensive hooks: mean over operations with a dominant path",
            hooks.take(HOOKS_LIMIT),
        )
        .if_any();
    let tables: Vec<Table> = depth_table(run, glance).into_iter().chain(hooks).collect();
    html! {
        @if !tables.is_empty() {
            div {
                @for table in &tables {
                    (table::side(table, &Vec::from_iter(0..table.columns.len()), id))
                }
            }
        }
    }
}

/// One sentence per configuration; their number is limited to keep the map on the first screen.
fn sentences(glance: &Glance<'_, '_>) -> Markup {
    let tested = glance.group.tested();
    let all = tested.filter_map(|configuration| glance.sentence(configuration));
    let all: Vec<String> = all.collect();
    let many = all.len() > SENTENCES_LIMIT;
    let (first, rest) = all.split_at(if many { SENTENCES_LIMIT - 1 } else { all.len() });
    html! {
        ul.findings { @for sentence in first { li { (sentence) "." } } }
        @if !rest.is_empty() {
            details.more {
                summary { (rest.len()) " more configurations" }
                ul.findings { @for sentence in rest { li { (sentence) "." } } }
            }
        }
    }
}

fn anchor(glance: &str, operation: usize, configuration: usize) -> String {
    format!("cell={glance}.{operation}.{configuration}")
}
