// SPDX-License-Identifier: GPL-2.0-or-later
//! A map of overheads by configuration: classes, which open into benchmarks and variants.

use maud::{Markup, html};

use super::anchor;
use crate::cells::{Configuration, Operation, operation_title};
use crate::format;
use crate::glance::{Glance, Overhead};
use crate::group::grouped;
use crate::text::short;

/// The smallest overhead for each colour; the scale is mirrored for savings.
const STEPS: [(f64, &str); 7] = [
    (1.0, "h6"),
    (0.5, "h5"),
    (0.2, "h4"),
    (0.1, "h3"),
    (0.05, "h2"),
    (0.01, "h1"),
    (-0.01, "h0"),
];

pub(super) fn map(glance: &Glance<'_, '_>, id: &str) -> Markup {
    let group = glance.group;
    let tested: Vec<&Configuration> = group.tested().collect();
    let baseline = group.baseline.as_ref();
    let baseline = baseline.map(|configuration| group.heading(configuration));
    let baseline = short(&baseline.unwrap_or_default());
    html! {
        div.map.scroll tabindex="0" role="region" aria-label={ "Map of overheads, " (id) } {
            table {
                caption {
                    strong { "Overhead over " (baseline) " in " (group.metric) }
                    " Classes: geometric mean over the operations with a dominant path, without \
                     getppid. ~: the difference may be chance."
                }
                thead {
                    tr {
                        th.left scope="col" { "operations" }
                        @for configuration in &tested {
                            th scope="col" { (short(&group.heading(configuration))) }
                        }
                    }
                }
                tbody {
                    @for (class, rows) in glance.classes() {
                        @let name = if class.is_empty() { "other" } else { class };
                        (summary(glance, 0, name, &rows, &tested))
                        @for (benchmark, rows) in grouped(&rows, |row| row.0) {
                            @let rows: Vec<Operation<'_>> = rows.into_iter().copied().collect();
                            @if let [only] = rows[..] {
                                (leaf(glance, id, 1, only, &tested))
                            } @else {
                                (summary(glance, 1, benchmark, &rows, &tested))
                                @for row in rows { (leaf(glance, id, 2, row, &tested)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn summary<'a>(
    glance: &Glance<'a, '_>,
    level: usize,
    name: &str,
    rows: &[Operation<'a>],
    tested: &[&Configuration],
) -> Markup {
    html! {
        tr data-level=(level) {
            th.left scope="row" {
                button.fold type="button" aria-expanded="true" hidden { (short(name)) }
                span.name { (short(name)) }
                " " span.faint { (rows.len()) }
            }
            @for configuration in tested {
                @match glance.group.mean(rows, configuration) {
                    Some((mean, n)) => td class={ "tile " (step(mean)) } title={ "n = " (n) } {
                        (format::percent(mean))
                    },
                    None => td.tile { "~" },
                }
            }
        }
    }
}

fn leaf<'a>(
    glance: &Glance<'a, '_>,
    id: &str,
    level: usize,
    row: Operation<'a>,
    tested: &[&Configuration],
) -> Markup {
    let at = glance.group.rows.iter().position(|other| *other == row);
    let place = |configuration: &Configuration| {
        let mut all = glance.group.configurations.iter();
        all.position(|other| other == configuration).unwrap_or(0)
    };
    html! {
        tr data-level=(level) {
            th.left scope="row" { (operation_title(row)) }
            @for configuration in tested {
                @let link = format!("#{}", anchor(id, at.unwrap_or(0), place(configuration)));
                @match glance.overhead(row, configuration) {
                    Some(Overhead { value, is_shown: true, .. }) => {
                        td class={ "tile " (step(value)) } {
                            a href=(link) { (format::overhead(glance.group.metric, value)) }
                        }
                    }
                    Some(_) => td.tile { a href=(link) { "~" } },
                    None => td.tile { a href=(link) { "-" } },
                }
            }
        }
    }
}

fn step(overhead: f64) -> &'static str {
    let found = STEPS.iter().find(|(from, _)| overhead >= *from);
    match found {
        Some((_, class)) => class,
        None if overhead > -0.1 => "g1",
        None => "g2",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_rise_with_overheads() {
        let steps = [-0.5, -0.02, 0.0, 0.02, 0.07, 0.12, 0.3, 0.7, 4.0].map(step);
        assert_eq!(
            steps,
            ["g2", "g1", "h0", "h1", "h2", "h3", "h4", "h5", "h6"]
        );
    }
}
