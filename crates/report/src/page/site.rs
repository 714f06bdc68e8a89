// SPDX-License-Identifier: GPL-2.0-or-later
//! Pages of a site besides those of documents: what is on it, and how a benchmark's figures went.

use experiment::History;
use maud::{Markup, html};

use super::{figure, tables, whole};
use crate::gather::Source;
use crate::history::{HistoryOptions, history_figures, history_report};
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
    let content = html! {
        @if !index.benchmarks.is_empty() {
            section #benchmarks aria-labelledby="benchmarks-title" {
                h2 #benchmarks-title { "Benchmarks over time" }
                ul {
                    @for (benchmark, file) in &index.benchmarks {
                        li { a href=(file) { (printable(benchmark, TEXT_LIMIT)) } }
                    }
                }
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

/// How a benchmark's figures went over the runs of a history: a drawing for each kernel, file system
/// and metric, and where they changed. `index`: the file of the page that leads here.
#[must_use]
pub fn history_page(benchmark: &str, history: &History, index: &str) -> String {
    let report = history_report(history, &HistoryOptions { unchanged: true });
    let content = html! {
        section aria-label="Drawings" {
            @for drawing in history_figures(history, true) { (figure::figure(&drawing)) }
        }
        section aria-label="Tables" { (tables(&report, "history")) }
    };
    let title = format!("{} over time", printable(benchmark, TEXT_LIMIT));
    whole(&title, &back(index), &content)
}

fn back(index: &str) -> Markup {
    html! {
        nav aria-label="Site" { ul { li { a href=(index) { "All documents" } } } }
    }
}
