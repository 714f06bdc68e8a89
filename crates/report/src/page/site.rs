// SPDX-License-Identifier: GPL-2.0-or-later
//! Pages of a site besides those of documents: what is on it, and how a benchmark's figures went.

use experiment::{History, Series};
use maud::{Markup, html};

use super::{figure, tables, whole};
use crate::figure::model::drawable;
use crate::figure::{Chart, Figure, Lines, Point, Series as Line};
use crate::format;
use crate::gather::{Mean, Source, means};
use crate::group::{distinct, grouped};
use crate::history::{HistoryOptions, history_report};
use crate::table::TEXT_LIMIT;
use crate::text::printable;
use crate::verdict::verdict;

/// A document with a page of its own.
#[derive(Debug, Clone)]
pub struct SitePage {
    /// The page's file, without a directory.
    pub file: String,
    /// What the document is called.
    pub name: String,
    /// What kind of document it is.
    pub kind: String,
    /// What it says, in sentences.
    pub findings: Vec<String>,
    /// What stacks cost in it, if it is a run.
    means: Vec<Mean>,
}

impl SitePage {
    /// Of a document whose page is in `file`.
    #[must_use]
    pub fn of(source: &Source, file: &str) -> SitePage {
        SitePage {
            file: file.to_owned(),
            name: source.name.clone(),
            kind: experiment::Kind::title(Some(source.content.kind())).to_owned(),
            findings: verdict(&source.content).findings,
            means: means(std::slice::from_ref(source)),
        }
    }
}

/// What is on a site.
#[derive(Debug, Clone, Default)]
pub struct SiteIndex {
    /// Benchmarks whose figures were measured again and again, and their pages' files.
    pub benchmarks: Vec<(String, String)>,
    /// Documents.
    pub pages: Vec<SitePage>,
    /// Files that have no page, and why.
    pub left_out: Vec<(String, String)>,
}

/// The page that a site begins with.
#[must_use]
pub fn site_index(title: &str, index: &SiteIndex) -> String {
    let costs = costs(&index.pages);
    let content = html! {
        @if !costs.is_empty() {
            section #costs aria-label="What stacks cost" {
                @for drawing in &costs { (figure::alone(drawing, usize::MAX)) }
            }
        }
        section #documents aria-labelledby="documents-title" {
            h2 #documents-title { "Documents" }
            @if index.pages.is_empty() { p { "There are none." } }
            @for page in &index.pages {
                h3 { a href=(page.file) { (printable(&page.name, TEXT_LIMIT)) } }
                p { (page.kind) }
                ul.findings { @for finding in &page.findings { li { (finding) } } }
            }
        }
        @if !index.benchmarks.is_empty() {
            section #benchmarks aria-labelledby="benchmarks-title" {
                h2 #benchmarks-title { "Benchmarks over time" }
                p {
                    @for (benchmark, file) in &index.benchmarks {
                        a href=(file) { (printable(benchmark, TEXT_LIMIT)) } " "
                    }
                }
            }
        }
        @if !index.left_out.is_empty() {
            section #left-out aria-labelledby="left-out-title" {
                h2 #left-out-title { "Files without a page" }
                ul {
                    @for (file, why) in &index.left_out {
                        li { (printable(file, TEXT_LIMIT)) ": " (printable(why, 300)) }
                    }
                }
            }
        }
    };
    whole(&printable(title, TEXT_LIMIT), &html! {}, &content)
}

/// What stacks cost in one document after another: a drawing for each file system, metric, baseline
/// and machine that two documents or more are of.
fn costs(pages: &[SitePage]) -> Vec<Figure> {
    let all = pages.iter().enumerate();
    let all: Vec<(usize, &Mean)> = all
        .flat_map(|(at, page)| page.means.iter().map(move |mean| (at, mean)))
        .filter(|(_, mean)| drawable(mean.overhead))
        .collect();
    let of_one = grouped(&all, |(_, mean)| &mean.place);
    let several = of_one.into_iter().filter(|(_, means)| {
        let first = means.first().map(|(at, _)| at);
        means.iter().any(|(at, _)| Some(at) != first)
    });
    several
        .enumerate()
        .map(|(number, (place, means))| {
            let (filesystem, metric, baseline, machine) = place;
            let named = distinct(means.iter().map(|(at, _)| *at)).into_iter();
            let named: Vec<String> = named
                .map(|at| format!("{} {}", at + 1, printable(&pages[at].name, 40)))
                .collect();
            let lines = grouped(means, |(_, mean)| &mean.configuration);
            Figure {
                name: format!("costs-{}", number + 1),
                title: format!(
                    "What stacks cost over {}: {metric} on {} ({})",
                    printable(baseline, TEXT_LIMIT),
                    printable(filesystem, TEXT_LIMIT),
                    printable(machine, 2 * TEXT_LIMIT)
                ),
                description:
                    "The geometric mean of the overheads of operations that have a dominant path, \
                              without getppid, in one document after another; of a document with several kernels \
                              those of the first."
                        .to_owned(),
                chart: Chart::Lines(Lines {
                    x: shortened(&named),
                    y: format!("overhead, geometric mean (%), {metric}"),
                    kind: "configuration".to_owned(),
                    figure: None,
                    series: lines
                        .into_iter()
                        .map(|(name, of)| course(name, &of))
                        .collect(),
                }),
                notes: Vec::new(),
            }
        })
        .collect()
}

/// A configuration's means, one for each document.
fn course(configuration: &str, means: &[&(usize, &Mean)]) -> Line {
    let mut points: Vec<Point> = means
        .iter()
        .map(|(at, mean)| Point {
            x: *at as f64 + 1.0,
            y: mean.overhead * 100.0,
            interval: None,
        })
        .collect();
    points.dedup_by(|next, before| next.x == before.x);
    Line {
        label: printable(configuration, TEXT_LIMIT),
        figure: String::new(),
        points,
        fit: None,
    }
}

/// How a benchmark's figures went over the runs of a history: a drawing for each of its variants, with a
/// line for each configuration, and where they changed. `index`: the file of the page that leads here.
#[must_use]
pub fn history_page(benchmark: &str, history: &History, index: &str) -> String {
    let report = history_report(history, &HistoryOptions { unchanged: true });
    let content = html! {
        section aria-label="Drawings" {
            @for drawing in courses(history) { (figure::alone(&drawing, usize::MAX)) }
        }
        section aria-label="Tables" { (tables(&report, "history")) }
    };
    let title = format!("{} over time", printable(benchmark, TEXT_LIMIT));
    whole(&title, &back(index), &content)
}

/// A drawing for each operation and place, with a line for each configuration.
fn courses(history: &History) -> Vec<Figure> {
    let of_one = grouped(&history.series, |series| {
        let place = (series.kernel.as_str(), series.filesystem.as_str());
        (
            place,
            series.metric,
            series.machine.as_str(),
            series.title(),
        )
    });
    let drawn = of_one.into_iter().enumerate();
    drawn
        .filter_map(|(number, ((place, metric, _, operation), series))| {
            let lines = series.iter().map(|series| Line {
                label: printable(&series.configuration, TEXT_LIMIT),
                figure: String::new(),
                points: points(series),
                fit: None,
            });
            let place = [place.0, place.1].map(|of| printable(of, TEXT_LIMIT));
            let place: Vec<String> = place.into_iter().filter(|of| !of.is_empty()).collect();
            let lines: Vec<Line> = lines.filter(|line| line.points.len() > 1).collect();
            (!lines.is_empty()).then(|| Figure {
                name: format!("course-{}", number + 1),
                title: format!(
                    "{}, {}: {}",
                    printable(&operation, TEXT_LIMIT),
                    place.join(", "),
                    format::measured(metric)
                ),
                description: "The figure of each configuration in one run after another."
                    .to_owned(),
                chart: Chart::Lines(Lines {
                    x: runs(history, &series),
                    y: printable(&series[0].unit, TEXT_LIMIT),
                    kind: "configuration".to_owned(),
                    figure: None,
                    series: lines,
                }),
                notes: Vec::new(),
            })
        })
        .collect()
}

fn points(series: &Series) -> Vec<Point> {
    let points = series.points.iter();
    let points = points.filter(|point| drawable(point.figure));
    let points = points.map(|point| Point {
        x: f64::from(point.run) + 1.0,
        y: point.figure,
        interval: point.interval,
    });
    points.collect()
}

/// What the runs are called: their labels, or the kernels that they were of.
fn runs(history: &History, series: &[&Series]) -> String {
    let named = history.runs.iter().enumerate().filter_map(|(at, run)| {
        let mut points = series.iter().flat_map(|series| &series.points);
        let point = points.find(|point| point.run as usize == at)?;
        let name = run.label.as_ref().unwrap_or(&point.release);
        Some(format!("{} {}", at + 1, printable(name, 40)))
    });
    shortened(&named.collect::<Vec<String>>())
}

/// Of many names the first and the last.
fn shortened(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 6 => format!("{first}, … {last}"),
        _ => names.join(", "),
    }
}

fn back(index: &str) -> Markup {
    html! {
        nav aria-label="Site" { ul { li { a href=(index) { "All documents" } } } }
    }
}
