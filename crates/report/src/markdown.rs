// SPDX-License-Identifier: GPL-2.0-or-later
//! A report in GitHub's Markdown.

use crate::gather::Source;
use crate::page::any_report;
use crate::table::{Align, Report, Value};
use crate::text::printable;
use crate::verdict::verdict;

const NAME_LIMIT: usize = 200;

pub fn markdown_page(sources: &[Source]) -> String {
    let mut out = String::new();
    for source in sources {
        if !out.is_empty() {
            out.push('\n');
        }
        out += &format!("## {}\n\n", escaped(&printable(&source.name, NAME_LIMIT)));
        let mut report = any_report(source);
        let verdict = verdict(&source.content);
        for doubt in &verdict.doubts {
            out += &format!("- **doubt:** {}\n", escaped(doubt));
        }
        for warning in report.warnings.drain(..) {
            out += &format!("- warning: {}\n", escaped(&warning));
        }
        for finding in &verdict.findings {
            out += &format!("- {}\n", escaped(finding));
        }
        out.push('\n');
        out += &markdown(&report);
    }
    out
}

pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    for (index, table) in report.tables.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out += &format!("**{}**\n\n", escaped(&table.title));
        out.extend(table.legend.iter().map(|line| escaped(line) + "\n"));
        if !table.legend.is_empty() {
            out.push('\n');
        }
        let columns = || table.columns.iter();
        out += &line(columns().map(|column| escaped(&column.in_full())));
        out += &line(columns().map(|column| match column.align {
            Align::Left => "---".to_owned(),
            Align::Right => "---:".to_owned(),
        }));
        for row in &table.rows {
            out += &line(row.values.iter().map(|value| {
                let text = cell(value);
                if row.summary && !text.is_empty() {
                    format!("**{text}**")
                } else {
                    text
                }
            }));
        }
        if !table.footnotes.is_empty() {
            out.push('\n');
        }
        for (number, note) in table.footnotes.iter().enumerate() {
            out += &format!("{}. {}\n", number + 1, escaped(note));
        }
    }
    if !report.warnings.is_empty() {
        out.push('\n');
    }
    for warning in &report.warnings {
        out += &format!("- warning: {}\n", escaped(warning));
    }
    out
}

fn cell(value: &Value) -> String {
    let whole = value.in_full();
    let text = whole.trim_start_matches(' ');
    // Markdown drops leading blanks.
    let indent = "&emsp;".repeat((whole.len() - text.len()) / 2);
    indent + &escaped(text)
}

fn line(values: impl Iterator<Item = String>) -> String {
    let values: String = values.map(|value| format!(" {value} |")).collect();
    format!("|{values}\n")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '~' | '[' | ']' | '#' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}
