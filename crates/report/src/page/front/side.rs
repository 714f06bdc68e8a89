// SPDX-License-Identifier: GPL-2.0-or-later
//! What stands beside the map: depths of paths, and hooks.

use maud::{Markup, html};

use crate::format;
use crate::glance::{Depth, Glance, HookShare};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// Most hooks that are listed.
const HOOKS_LIMIT: usize = 10;
/// A sparkline's size, in its own units.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 26.0;

/// Nothing where there is neither.
pub(super) fn side(glance: &Glance<'_, '_>, id: &str) -> Markup {
    let (hooks, lines) = (glance.hooks(), glance.depths());
    if hooks.is_empty() && lines.is_none() {
        return html! {};
    }
    html! {
        div.side tabindex="0" role="region" aria-label={ "Depths and hooks, " (id) } {
            @if let Some((benchmark, lines)) = &lines { (depths(glance, benchmark, lines)) }
            @if !hooks.is_empty() { (dearest(glance, &hooks)) }
        }
    }
}

/// How an operation's cost grows with its path's depth, a line for each configuration.
fn depths(glance: &Glance<'_, '_>, benchmark: &str, lines: &[Depth<'_>]) -> Markup {
    let heights = || {
        lines
            .iter()
            .flat_map(|line| line.points.iter().map(|of| of.1))
    };
    let (least, most) = (
        heights().fold(f64::INFINITY, f64::min),
        heights().fold(0.0, f64::max),
    );
    html! {
        table {
            caption {
                strong { "Depth: " (printable(benchmark, TEXT_LIMIT)) } " in " (glance.group.metric)
                " by components of its path."
            }
            thead {
                tr {
                    th.left scope="col" { "stack" }
                    th.left scope="col" { "growth" }
                    th.right scope="col" { "shallow" }
                    th.right scope="col" { "deep" }
                    th.right scope="col" { "each component" }
                }
            }
            tbody {
                @for line in lines {
                    tr {
                        th.left scope="row" { (printable(&glance.group.heading(line.configuration), TEXT_LIMIT)) }
                        td { (sparkline(line, least, most)) }
                        @for point in [line.points.first(), line.points.last()].into_iter().flatten() {
                            td.right title={ (point.0) " components" } { (format::figure(point.1.round())) }
                        }
                        td.right { (format::figure((line.slope() * 10.0).round() / 10.0)) }
                    }
                }
            }
        }
    }
}

fn sparkline(line: &Depth<'_>, least: f64, most: f64) -> Markup {
    let deepest = line.points.last().map_or(1, |point| point.0).max(2);
    let place = |(depth, figure): &(u32, f64)| {
        let x = 2.0 + f64::from(depth.saturating_sub(1)) / f64::from(deepest - 1) * (WIDTH - 4.0);
        let height = (figure - least) / (most - least).max(f64::MIN_POSITIVE);
        format!("{x:.1},{:.1}", HEIGHT - 3.0 - height * (HEIGHT - 6.0))
    };
    let points: Vec<String> = line.points.iter().map(place).collect();
    html! {
        svg.sparkline viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } aria-hidden="true" {
            polyline points=(points.join(" ")) fill="none" stroke="currentColor" stroke-width="1.5" {}
        }
    }
}

/// The hooks that hold most of the overhead.
fn dearest(glance: &Glance<'_, '_>, hooks: &[HookShare<'_>]) -> Markup {
    let shown = || {
        hooks
            .iter()
            .filter(|hook| hook.adds > 0.0)
            .take(HOOKS_LIMIT)
    };
    let most = shown().map(|hook| hook.adds).fold(0.0, f64::max);
    html! {
        table {
            caption {
                strong { "Hooks that hold most" }
                ": what each adds to an operation, mean of all with one path."
            }
            thead {
                tr {
                    th.left scope="col" { "hook" }
                    th.left scope="col" { "stack" }
                    th.right scope="col" { "adds" }
                    td {}
                }
            }
            tbody {
                @for hook in shown() {
                    tr {
                        th.left scope="row" { (printable(hook.hook, TEXT_LIMIT)) }
                        td.left { (printable(&glance.group.heading(hook.configuration), TEXT_LIMIT)) }
                        td.right { (format::percent(hook.adds)) }
                        td { (bar(hook.adds / most)) }
                    }
                }
            }
        }
    }
}

/// A bar of that part of the whole width.
fn bar(part: f64) -> Markup {
    html! {
        svg.bar viewBox="0 0 60 10" aria-hidden="true" {
            rect width=(format!("{:.1}", 60.0 * part.clamp(0.0, 1.0))) height="10" fill="currentColor" {}
        }
    }
}
