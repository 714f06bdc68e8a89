// SPDX-License-Identifier: GPL-2.0-or-later
//! What the first screen of a page shows of a run: a sentence for each configuration, a map of
//! overheads, how cost grows with a path's depth, and the hooks that hold most of it.

mod data;
mod map;
mod side;

use experiment::Document;
use judge::Judgements;
use maud::{Markup, html};

use crate::cells::groups;
use crate::glance::Glance;
use crate::layouts::is_one_of;

/// Most configurations of a map beside which something else has room.
const BESIDE_LIMIT: usize = 5;

/// Of a run, whose place among the page's documents is `at`; nothing where nothing is compared.
pub(super) fn front(at: usize, run: &Document) -> Markup {
    let judgements = Judgements::of(run);
    let drawn = judge::Layouts::of(run);
    let groups = groups(run);
    let compared = groups.iter().filter(|group| {
        // Of a kernel that is linked many times each is a group.
        group.baseline.is_some() && group.tested().next().is_some() && !is_one_of(group, &drawn)
    });
    html! {
        @for (number, group) in compared.enumerate() {
            @let glance = Glance { group, judgements: &judgements };
            @let id = format!("glance-{}-{}", at + 1, number + 1);
            div.glance id=(id) {
                p.place { (group.place(run)) }
                ul.findings {
                    @for configuration in group.tested() {
                        @if let Some(sentence) = glance.sentence(configuration) { li { (sentence) "." } }
                    }
                }
                div.front.wide[group.tested().count() > BESIDE_LIMIT] {
                    (map::map(&glance, &id))
                    (side::side(&glance, &id))
                }
                (data::data(&glance, &id))
            }
        }
    }
}

/// What a link to a cell has behind `#`.
fn anchor(glance: &str, operation: usize, configuration: usize) -> String {
    format!("cell={glance}.{operation}.{configuration}")
}
