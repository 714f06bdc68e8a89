// SPDX-License-Identifier: GPL-2.0-or-later
//! The page of a comparison: the verdict, the changes and their hooks; everything else is folded.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::ComparisonDocument;

use super::{figure, table, whole};
use crate::column::Columns;
use crate::comparison::{Answer, Cause, ComparisonOptions, Found, changed, gate_word, parts};
use crate::format;
use crate::text::{printable, short};

const BARS_SHOWN: usize = 16;
const DOUBTS_LIMIT: usize = 3;

pub fn comparison_page(document: &ComparisonDocument) -> String {
    let found = Found::all(document);
    let [base, new] = [&document.base, &document.new].map(|file| short(&file.name));
    let title = match document.across {
        Some(axis) => format!("lsmeter compare: {new} against {base}, along the {axis}"),
        None => format!("lsmeter compare: {new} against {base}"),
    };
    let parts = parts(document, &ComparisonOptions::default());
    let is_alone = found.len() == 1;
    let content = html! {
        section #overview aria-labelledby="overview-title" {
            h2 #overview-title.hidden { "Overview" }
            @for found in &found { (answer(&found.answer(document))) }
            (gate(document))
            (doubts(&found))
            @for found in &found {
                @if !found.changed.is_empty() {
                    div.front {
                        (figure::alone(&found.picture(name(found, is_alone)), BARS_SHOWN))
                        (causes(found))
                    }
                }
            }
        }
        section #changed aria-labelledby="changed-title" {
            h2 #changed-title { "What changed" }
            @let tables: Vec<_> = found.iter().filter_map(changed).collect();
            @if tables.is_empty() { p { "Nothing." } }
            @for (number, table) in tables.iter().enumerate() {
                (table::table(table, &format!("changed-table-{}", number + 1)))
            }
        }
        section #rest aria-labelledby="rest-title" {
            h2 #rest-title { "All else" }
            @for (number, (summary, tables)) in parts.iter().enumerate() {
                details {
                    summary { (summary) }
                    @for (at, table) in tables.iter().enumerate() {
                        (table::table(table, &format!("rest-{}-table-{}", number + 1, at + 1)))
                    }
                }
            }
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

fn name(found: &Found<'_>, is_alone: bool) -> String {
    match is_alone {
        true => "changes".to_owned(),
        false => format!("changes-{}", found.metric)
            .replace(|c: char| !(c.is_ascii_alphanumeric() || c == '-'), "-"),
    }
}

fn answer(answer: &Answer) -> Markup {
    html! {
        p.answer {
            strong class=(answer.class) { (answer.word) ":" } " " (answer.sentence)
        }
    }
}

fn gate(document: &ComparisonDocument) -> Markup {
    html! {
        @if let Some(gate) = &document.gate {
            p {
                "Gate " strong { (gate_word(gate.verdict)) } ": "
                (gate.passed) " within their limit, " (gate.failed) " above it, "
                (gate.inconclusive) " undecided."
            }
        }
    }
}

fn doubts(found: &[Found<'_>]) -> Markup {
    let changed = found.iter().flat_map(|found| &found.changed);
    let doubts: BTreeSet<&String> = changed.flat_map(|change| &change.cell.doubts).collect();
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
    let table = Columns::new()
        .left("function", |cause: &Cause<'_>| cause.holder.function())
        .left("module", |cause| cause.holder.module())
        .right("each", |cause| {
            let [least, largest] = cause.adds.map(format::difference);
            match least == largest {
                true => least,
                false => format!("{least} to {largest}"),
            }
        })
        .column("operations", |cause| cause.cells)
        .table("Main cause of each change", &causes);
    html! {
        div {
            @if !causes.is_empty() {
                (table::side(&table, &[0, 1, 2, 3], &found.metric.to_string()))
            }
            @if unknown > 0 && found.metric.is_of_instructions() {
                p.faint {
                    "Changes with an unknown hook: " (unknown) ". Measure BASE and NEW with "
                    code { "lsmeter run --with-hooks" } "."
                }
            }
        }
    }
}

fn notes(document: &ComparisonDocument) -> Markup {
    html! {
        @if !document.notes.is_empty() {
            details {
                summary { (document.notes.len()) " notes of both result files" }
                ul.warnings { @for note in &document.notes { li { (printable(note, 400)) } } }
            }
        }
        details.about {
            summary { "Compared result files" }
            dl {
                @for (side, file) in [("BASE", &document.base), ("NEW", &document.new)] {
                    dt { (side) }
                    dd {
                        (printable(&file.name, 400)) ": " (short(&file.document))
                        " of " (format::count(file.cells)) " cells"
                        @if let Some(started) = &file.started { ", begun " (short(started)) }
                        ", by " (short(&file.tool.name)) " "
                        (short(&file.tool.version))
                    }
                }
                dt { "cells matched by" }
                dd { (printable(&document.matched_by.join(", "), 400)) }
            }
        }
    }
}
