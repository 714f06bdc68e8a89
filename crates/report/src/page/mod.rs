// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files as one self-contained HTML page.
//!
//! The macro that makes elements escapes text. Only this crate's drawings (which escape their own
//! text), style and scripts are inserted verbatim.

mod about;
mod compared;
mod figure;
mod front;
mod table;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::Kind;
use sha2::{Digest, Sha256};

use self::front::Maps;
use crate::figure::{Chart, Figure};
use crate::gather::{Content, Gathered, Source, figures};
use crate::kinds::view;
use crate::monitor::monitor_report;
use crate::placement::{PlacementOptions, placement_report};
use crate::profile::{ProfileView, profile_report};
use crate::run::report;
use crate::sensitivity::sensitivity_report;
use crate::table::Report;
use crate::text::short;
use crate::verdict::verdict;

pub use self::compared::comparison_page;

/// More rows of bars are unreadable; a run's map replaces them.
const BARS_LIMIT: usize = 40;

/// Tables of a result file of any kind, as its own command prints them, with the details of a run.
pub fn any_report(source: &Source) -> Report {
    let document = match &source.content {
        Content::Placement(document) => {
            return placement_report(document, &PlacementOptions::default());
        }
        Content::Measured(document) => document,
    };
    match document.kind {
        Kind::Profile => {
            let mut all = profile_report(document, ProfileView::Operations);
            let by_hook = profile_report(document, ProfileView::Hooks);
            all.tables.extend(by_hook.tables);
            all
        }
        Kind::Sensitivity => sensitivity_report(document, None),
        Kind::Recording => monitor_report(document, Some(200)),
        _ => report(document, true),
    }
}

/// For each result file: verdict, warnings, figures, tables, method and environment.
pub fn page(sources: &[Source]) -> String {
    let figures = figures(sources);
    let title = match sources {
        [only] => format!("lsmeter report: {}", short(&only.name)),
        many => format!("lsmeter report: {} result files", many.len()),
    };
    let compared: Vec<&Gathered> = figures.iter().filter(|f| f.source.is_none()).collect();
    let reports: Vec<Report> = sources.iter().map(any_report).collect();
    let content = html! {
        (overview(sources, &figures, &reports))
        @if !compared.is_empty() {
            section #comparison aria-labelledby="comparison-title" {
                h2 #comparison-title { "Kernels side by side" }
                @for gathered in compared.iter().copied() { (figure::figure(&gathered.figure)) }
            }
        }
        @for (at, report) in reports.iter().enumerate() {
            (section(at, &sources[at], report, &figures))
        }
    };
    let navigation = contents(sources, !compared.is_empty());
    whole(&title, &navigation, &content)
}

pub fn tables_page(title: &str, report: &Report) -> String {
    let content = html! {
        section aria-label="Tables" {
            (tables(report, "report"))
        }
    };
    whole(title, &html! {}, &content)
}

fn whole(title: &str, navigation: &Markup, content: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    h1 { (title) }
                    (navigation)
                }
                main #content { (content) }
                @for script in SCRIPTS {
                    script { (PreEscaped(script)) }
                }
            }
        }
    };
    page.into_string()
}

fn contents(sources: &[Source], compared: bool) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul {
                li { a href="#overview" { "Overview" } }
                @if compared { li { a href="#comparison" { "Kernels" } } }
                @for (at, source) in sources.iter().enumerate() {
                    li { a href={ "#document-" (at + 1) } { (name(source)) } }
                }
            }
        }
    }
}

fn leading<'a>(at: usize, source: &Source, figures: &'a [Gathered]) -> Option<&'a Figure> {
    table::lead(&source.content, own(at, figures))
}

fn own(at: usize, figures: &[Gathered]) -> impl Iterator<Item = &Gathered> + Clone {
    let is_own = move |gathered: &&Gathered| gathered.source == Some(at);
    figures.iter().filter(is_own)
}

fn overview(sources: &[Source], figures: &[Gathered], reports: &[Report]) -> Markup {
    html! {
        section #overview aria-labelledby="overview-title" {
            h2 #overview-title.hidden { "Overview" }
            @for (at, source) in sources.iter().enumerate() {
                @let verdict = verdict(&source.content);
                @if sources.len() > 1 { h3 { (name(source)) } }
                @if verdict.findings.is_empty() {
                    p { "It has values, but no baseline." }
                }
                @match &source.content {
                    Content::Measured(run) if front::maps(&source.content) != Maps::None => {
                        (front::front(at, run))
                    }
                    _ => {
                        ul.findings {
                            @for finding in &verdict.findings { li { (finding) } }
                        }
                        @if let Some(figure) = leading(at, source, figures) {
                            (table::front(&source.content, &reports[at], figure, &name(source)))
                        }
                    }
                }
                @if !verdict.doubts.is_empty() {
                    ul.doubts {
                        @for doubt in &verdict.doubts { li { strong { "Doubt: " } (doubt) } }
                    }
                }
            }
        }
    }
}

fn name(source: &Source) -> String {
    let kind = view(&source.content).name;
    format!("{kind}: {}", short(&source.name))
}

fn section(at: usize, source: &Source, report: &Report, figures: &[Gathered]) -> Markup {
    let id = format!("document-{}", at + 1);
    let lead = leading(at, source, figures).map(|figure| &figure.name);

    let has_maps = front::maps(&source.content) == Maps::All;
    let is_on_the_map = |figure: &&Figure| match &figure.chart {
        Chart::Bars(bars) => has_maps && bars.categories.len() > BARS_LIMIT,
        _ => false,
    };
    let figures = own(at, figures).map(|gathered| &gathered.figure);
    let figures = figures.filter(|figure| Some(&figure.name) != lead);
    let (left_out, shown): (Vec<&Figure>, Vec<&Figure>) = figures.partition(is_on_the_map);
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (name(source)) }
            @if !report.warnings.is_empty() {
                h3 { "Warnings" }
                ul.warnings {
                    @for warning in &report.warnings { li { (warning) } }
                }
            }
            @if !shown.is_empty() { h3 { "Figures" } }
            @for figure in shown { (figure::figure(figure)) }
            @if !left_out.is_empty() {
                p.faint {
                    "Bars of more than " (BARS_LIMIT) " operations are left out: the map shows the \
                     same. " code { "lsmeter report --figure" } " draws them."
                }
            }
            @if !report.tables.is_empty() { h3 { "Tables" } }
            (tables(report, &id))
            (about::about(&source.content))
        }
    }
}

fn tables(report: &Report, id: &str) -> Markup {
    html! {
        @for (number, table) in report.tables.iter().enumerate() {
            (table::table(table, &format!("{id}-table-{}", number + 1)))
        }
    }
}

const STYLE: &str = include_str!("page.css");

/// In order: tables, drawings, calls, maps. They communicate only by events: a map sends the opened
/// measurement (`lsmeter-cell`), calls send their drawing (`lsmeter-drawn`).
const SCRIPTS: [&str; 4] = [
    include_str!("table.js"),
    include_str!("figure.js"),
    include_str!("calls.js"),
    include_str!("front.js"),
];

fn policy() -> String {
    let mut policy = "default-src 'none'; base-uri 'none'; form-action 'none'; \
                      style-src 'unsafe-inline'; script-src"
        .to_owned();
    for script in SCRIPTS {
        let hash = STANDARD.encode(Sha256::digest(script));
        policy += &format!(" 'sha256-{hash}'");
    }
    policy
}
