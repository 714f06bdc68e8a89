// SPDX-License-Identifier: GPL-2.0-or-later
//! Reports as LaTeX, to be put into a paper.

use crate::coverage::{COVERAGES, coverages_beside};
use crate::gather::Source;
use crate::page::any_report;
use crate::table::{Align, Report, Row, Table, Value};
use crate::text::printable;
use crate::verdict::verdict;

/// Longest name of a document, in characters.
const NAME_LIMIT: usize = 200;

/// Stands in a comment at the top.
const PACKAGES: &str = "Needs \\usepackage[T1]{fontenc}, booktabs and longtable.";

/// A report as LaTeX, as [`latex`] writes the tables of documents.
pub fn latex_tables(report: &Report) -> String {
    let mut out = format!("% Written by lsmeter. {PACKAGES}\n\n");
    push_report(&mut out, report);
    out
}

/// The verdicts and tables of documents as LaTeX to `\input`, which needs the packages
/// booktabs and longtable. All text is escaped: none can be a command. What plain LaTeX
/// has no letter for becomes `?`.
pub fn latex(sources: &[Source]) -> String {
    let mut out = format!("% Written by lsmeter report. {PACKAGES}\n");
    for source in sources {
        let name = printable(&source.name, NAME_LIMIT);
        out += &format!("\n\\subsection*{{{}}}\n", escaped(&name));
        let verdict = verdict(&source.content);
        for doubt in &verdict.doubts {
            out += &format!("\\noindent\\textbf{{Doubt:}} {}\n\n", escaped(doubt));
        }
        for finding in &verdict.findings {
            out += &format!("\\noindent {}\n\n", escaped(finding));
        }
        push_report(&mut out, &any_report(source));
    }
    let beside = coverages_beside(sources);
    if !beside.tables.is_empty() {
        out += &format!("\n\\subsection*{{{COVERAGES}}}\n");
        push_report(&mut out, &beside);
    }
    out
}

fn push_report(out: &mut String, report: &Report) {
    for warning in &report.warnings {
        *out += &format!("\\noindent\\textbf{{Warning:}} {}\n\n", escaped(warning));
    }
    for table in &report.tables {
        push_table(out, table);
    }
}

fn push_table(out: &mut String, table: &Table) {
    let columns = table.columns.iter().map(|column| match column.align {
        Align::Left => 'l',
        Align::Right => 'r',
    });
    let columns: String = columns.collect();
    *out += &format!("\\begin{{longtable}}{{{columns}}}\n");
    let mut caption = escaped(&table.title);
    for line in &table.legend {
        if !caption.ends_with(['.', '?', ':']) {
            caption.push('.');
        }
        caption += &format!(" {}", escaped(line));
    }
    *out += &format!("\\caption{{{caption}}}\\\\\n\\toprule\n");
    let headings = table.columns.iter();
    let headings: Vec<String> = headings.map(|of| escaped(&of.in_full())).collect();
    *out += &format!("{} \\\\\n\\midrule\n\\endhead\n", headings.join(" & "));
    let mut summed_up = false;
    for row in &table.rows {
        if row.summary && !summed_up {
            *out += "\\midrule\n";
        }
        summed_up = row.summary;
        *out += &line(row);
    }
    *out += "\\bottomrule\n\\end{longtable}\n";
    for (number, note) in table.footnotes.iter().enumerate() {
        *out += &format!("\\noindent [{}] {}\n\n", number + 1, escaped(note));
    }
    out.push('\n');
}

fn line(row: &Row) -> String {
    let cells: Vec<String> = row.values.iter().map(cell).collect();
    // A bracket at a row's start would be taken for the break's length before it.
    format!("{{}}{} \\\\\n", cells.join(" & "))
}

fn cell(value: &Value) -> String {
    let whole = value.in_full();
    match whole.trim_start_matches(' ') {
        text if text.len() < whole.len() => format!("\\quad {}", escaped(text)),
        text => escaped(text),
    }
}

/// Text in which no character means anything to LaTeX.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            '"' => out += "\\textquotedbl{}",
            '\'' => out += "\\textquotesingle{}",
            '`' => out += "\\textasciigrave{}",
            // In pairs they would become another character.
            '-' => out += "{-}",
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '±' => out += "$\\pm$",
            '≤' => out += "$\\leq$",
            '≥' => out += "$\\geq$",
            '×' => out += "$\\times$",
            '²' => out += "$^2$",
            'µ' => out += "$\\mu$",
            '…' => out += "\\dots{}",
            c if c.is_ascii() || ('À'..='ÿ').contains(&c) => out.push(c),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_a_command() {
        assert_eq!(
            escaped("\\input{/etc/passwd} 5 % & _ ± ☃"),
            "\\textbackslash{}input\\{/etc/passwd\\} 5 \\% \\& \\_ $\\pm$ ?"
        );
    }

    proptest! {
        #[test]
        fn commands_are_only_ours(text: String) {
            let known = ["textbackslash{}", "textasciitilde{}", "textasciicircum{}", "textless{}",
                "textgreater{}", "textbar{}", "textquotedbl{}", "textquotesingle{}",
                "textasciigrave{}", "dots{}", "pm$", "leq$", "geq$", "times$", "mu$"];
            let escaped = escaped(&text);
            for rest in escaped.split('\\').skip(1) {
                let ours = known.iter().any(|command| rest.starts_with(command));
                let plain = rest.starts_with(['#', '$', '%', '&', '_', '{', '}']);
                prop_assert!(ours || plain);
            }
        }
    }
}
