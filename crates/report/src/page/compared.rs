// SPDX-License-Identifier: GPL-2.0-or-later
//! The page of a comparison: whether NEW is worse, by what, and which hook holds it; what changed;
//! and folded away, all else.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::ComparisonDocument;

use super::rows::Rows;
use super::{figure, table, whole};
use crate::comparison::{Answer, Cause, Folded, Found, changed, folded, gate_word};
use crate::format;
use crate::table::{TEXT_LIMIT, Tone};
use crate::text::printable;

/// Most bars that are drawn: what one sees at once.
const BARS_SHOWN: usize = 16;
/// Most functions that are listed.
const CAUSES_LIMIT: usize = 12;
/// Most doubts of changed cells that are told before all else.
const DOUBTS_LIMIT: usize = 3;

/// A comparison as a page that needs nothing else. The same document makes the same bytes.
#[must_use]
pub fn comparison_page(document: &ComparisonDocument) -> String {
    let found = Found::all(document);
    let [base, new] = [&document.base, &document.new].map(|of| printable(&of.name, TEXT_LIMIT));
    let title = match document.across {
        Some(axis) => format!("lsmeter compare: {new} against {base}, along the {axis}"),
        None => format!("lsmeter compare: {new} against {base}"),
    };
    let folded = folded(document, &found);
    let is_alone = found.len() == 1;
    let content = html! {
        section #overview aria-labelledby="overview-title" {
            h2 #overview-title.hidden { "Overview" }
            @for of in &found { (answer(&of.answer(document))) }
            (gate(document))
            (doubts(&found))
            @for of in &found {
                @if !of.changed.is_empty() {
                    div.front {
                        (figure::alone(&of.picture(name(of, is_alone)), BARS_SHOWN))
                        (causes(of))
                    }
                }
            }
        }
        section #changed aria-labelledby="changed-title" {
            h2 #changed-title { "What changed" }
            @let tables: Vec<_> = found.iter().filter_map(changed).collect();
            @if tables.is_empty() { p { "Nothing." } }
            @for (number, of) in tables.iter().enumerate() {
                (table::table(of, &format!("changed-table-{}", number + 1)))
            }
        }
        section #rest aria-labelledby="rest-title" {
            h2 #rest-title { "All else" }
            @for (number, of) in folded.iter().enumerate() { (fold(number, of)) }
            (notes(document))
        }
    };
    let navigation = html! {
        nav aria-label="Contents" {
            ul {
                li { a href="#overview" { "Overview" } }
                li { a href="#changed" { "What changed" } }
                li { a href="#rest" { "All else" } }
            }
        }
    };
    whole(&title, &navigation, &content)
}

/// `changes`, or `changes-time` where there are several.
fn name(found: &Found<'_>, is_alone: bool) -> String {
    match is_alone {
        true => "changes".to_owned(),
        false => format!("changes-{}", found.metric).replace(|c: char| !is_plain(c), "-"),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn answer(answer: &Answer) -> Markup {
    html! {
        p.answer {
            strong class=(tone(answer.tone)) { (answer.word) ":" } " " (answer.sentence)
        }
    }
}

fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Worse => "worse",
        Tone::Better => "better",
        Tone::Missing => "missing",
        Tone::Plain | Tone::Faint => "same",
    }
}

/// What the gate says, if there is one.
fn gate(document: &ComparisonDocument) -> Markup {
    html! {
        @if let Some(gate) = &document.gate {
            p {
                "Gate " strong { (gate_word(gate.verdict)) } ": "
                (gate.passed) " within their limit, " (gate.failed) " above it, "
                (gate.inconclusive) " of which it cannot be told."
            }
        }
    }
}

/// Why changes may not be trusted.
fn doubts(found: &[Found<'_>]) -> Markup {
    let changed = found.iter().flat_map(|of| &of.changed);
    let doubts: BTreeSet<&str> = changed
        .flat_map(|of| of.cell.doubts.iter().map(String::as_str))
        .collect();
    let more = doubts.len().saturating_sub(DOUBTS_LIMIT);
    html! {
        @if !doubts.is_empty() {
            ul.doubts {
                @for doubt in doubts.iter().take(DOUBTS_LIMIT) {
                    li { strong { "Doubt: " } (printable(doubt, 200)) }
                }
                @if more > 0 { li { (more) " more: see the verdicts below." } }
            }
        }
    }
}

fn causes(found: &Found<'_>) -> Markup {
    let causes = found.causes();
    let held: usize = causes.iter().map(|cause| cause.cells).sum();
    let unknown = found.changed.len() - held;
    let rows = Rows {
        title: "What holds them",
        says: "the function that holds most of a change, and in how many operations.".to_owned(),
        columns: &["function", "module", "each", "operations"],
        left: 2,
        rows: causes.iter().take(CAUSES_LIMIT).map(cause).collect(),
        all: causes.len(),
    };
    html! {
        div {
            @if !causes.is_empty() { (rows.markup(&found.metric.to_string())) }
            @if unknown > 0 && found.metric.is_of_instructions() {
                p.faint {
                    "Of " (unknown) " it is not known which hook holds them: measure both with "
                    code { "lsmeter run --with-hooks" } "."
                }
            }
        }
    }
}

fn cause(cause: &Cause<'_>) -> Vec<String> {
    let [least, largest] = cause.adds.map(|of| format::difference(of.into()));
    let each = match least == largest {
        true => least,
        false => format!("{least} to {largest}"),
    };
    let holder = cause.holder;
    vec![
        holder.function(),
        holder.module(),
        each,
        format::count(cause.cells as u64),
    ]
}

fn fold(number: usize, folded: &Folded) -> Markup {
    html! {
        details {
            summary { (folded.summary) }
            @for (at, of) in folded.tables.iter().enumerate() {
                (table::table(of, &format!("rest-{}-table-{}", number + 1, at + 1)))
            }
        }
    }
}

/// Warnings of both documents.
fn notes(document: &ComparisonDocument) -> Markup {
    html! {
        @if !document.notes.is_empty() {
            details {
                summary { (document.notes.len()) " notes of both documents" }
                ul.warnings { @for note in &document.notes { li { (printable(note, 400)) } } }
            }
        }
        details.about {
            summary { "What was compared with what" }
            dl {
                @for (side, of) in [("BASE", &document.base), ("NEW", &document.new)] {
                    dt { (side) }
                    dd {
                        (printable(&of.name, 400)) ": " (printable(&of.document, TEXT_LIMIT))
                        " of " (format::count(of.cells)) " cells"
                        @if let Some(started) = &of.started { ", begun " (printable(started, TEXT_LIMIT)) }
                        ", by " (printable(&of.tool.name, TEXT_LIMIT)) " "
                        (printable(&of.tool.version, TEXT_LIMIT))
                    }
                }
                dt { "cells matched by" }
                dd { (printable(&document.matched_by.join(", "), 400)) }
            }
        }
    }
}
