// SPDX-License-Identifier: GPL-2.0-or-later
//! A report for a terminal or an e-mail.

use std::ops::Range;

use crate::table::{Align, Report, Row, Table, Tone, Value};
use crate::text::{harmless, printable};

/// In columns; narrower terminals get longer lines.
pub const WIDTH_MIN: usize = 40;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// In columns; wider tables are split, and repeat the first columns. None means unlimited.
    pub width: Option<usize>,
    /// Use colour. Colours never carry information that is not also in characters.
    pub colour: bool,
}

const GAP: usize = 2;

/// Lines of text. Control characters of untrusted text are made harmless.
pub fn terminal(report: &Report, layout: &Layout) -> String {
    let width = layout.width.map(|width| width.max(WIDTH_MIN));
    let mut out = String::new();
    for (index, table) in report.tables.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        push_wrapped(&mut out, &table.title, 0, width);
        for line in &table.legend {
            push_wrapped(&mut out, line, 0, width);
        }
        let texts = Texts::new(table);
        for columns in texts.blocks(table.fixed_columns, width) {
            out.push('\n');
            push_grid(&mut out, table, &texts, &columns, layout.colour);
        }
        if !table.footnotes.is_empty() {
            out.push('\n');
        }
        for (number, note) in table.footnotes.iter().enumerate() {
            let mark = format!("[{}] ", number + 1);
            push_wrapped(&mut out, &format!("{mark}{note}"), mark.len(), width);
        }
    }
    if !report.warnings.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    for warning in &report.warnings {
        push_wrapped(&mut out, &format!("warning: {warning}"), 2, width);
    }
    out
}

struct Texts {
    headings: Vec<String>,
    groups: Vec<Option<String>>,
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Texts {
    fn new(table: &Table) -> Texts {
        let n = table.columns.len();
        let absolute = (0..n).map(|column| {
            let values = table.rows.iter().filter_map(|row| row.values.get(column));
            widest(values.filter_map(|value| value.absolute.as_ref()))
        });
        let absolute: Vec<usize> = absolute.collect();
        let row = |row: &Row| {
            let values = row.values.iter().zip(&absolute);
            let texts = values.map(|(value, width)| shown(&joined(value, *width)));
            texts.collect()
        };
        let rows: Vec<Vec<String>> = table.rows.iter().map(row).collect();
        let columns = table.columns.iter();
        let headings: Vec<String> = columns.map(|column| shown(&column.title)).collect();
        let widths = headings.iter().enumerate().map(|(column, heading)| {
            let values = rows.iter().filter_map(|row| row.get(column));
            widest(values.chain([heading]))
        });
        let groups = table.columns.iter();
        let groups = groups.map(|column| column.group.as_deref().map(shown));
        Texts {
            groups: groups.collect(),
            widths: widths.collect(),
            headings,
            rows,
        }
    }

    /// Positions in `columns` at which a group begins; a column without a group is its own.
    fn parts(&self, columns: &[usize]) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for (at, &column) in columns.iter().enumerate() {
            let group = self.groups[column].as_ref();
            let joins = |part: &&mut Range<usize>| {
                group.is_some() && group == self.groups[columns[part.start]].as_ref()
            };
            match parts.last_mut().filter(joins) {
                Some(part) => part.end = at + 1,
                None => parts.push(at..at + 1),
            }
        }
        parts
    }

    /// The line above the headings: group names with a rule over their columns.
    fn group_line(&self, columns: &[usize]) -> Option<String> {
        if columns.iter().all(|&column| self.groups[column].is_none()) {
            return None;
        }
        let mut line = String::new();
        for part in self.parts(columns) {
            let columns = &columns[part];
            let width = self.width(columns);
            line += &match self.groups[columns[0]].as_deref() {
                Some(name) if name.chars().count() < width => {
                    format!("{:-<width$}", format!("{name} "))
                }
                Some(name) => format!("{:<width$}", printable(name, width.max(3))),
                None => " ".repeat(width),
            };
            line += &" ".repeat(GAP);
        }
        line.truncate(line.trim_end().len());
        Some(line)
    }

    fn width(&self, columns: &[usize]) -> usize {
        let widths = columns.iter().map(|&column| self.widths[column] + GAP);
        widths.sum::<usize>().saturating_sub(GAP)
    }

    /// Sets of columns that fit the width, the first `fixed` in each.
    fn blocks(&self, fixed: usize, width: Option<usize>) -> Vec<Vec<usize>> {
        let n = self.widths.len();
        let fixed = fixed.min(n);
        let start: Vec<usize> = (0..fixed).collect();
        let fits = |columns: &[usize]| width.is_none_or(|width| self.width(columns) <= width);
        let rest: Vec<usize> = (fixed..n).collect();
        let mut blocks = Vec::new();
        let mut block = start.clone();
        for part in self.parts(&rest) {
            let part = &rest[part];
            let alone = [start.as_slice(), part].concat();
            if block.len() > fixed && !fits(&[block.as_slice(), part].concat()) && fits(&alone) {
                blocks.push(std::mem::replace(&mut block, alone));
                continue;
            }
            for &column in part {
                block.push(column);
                if !fits(&block) && block.len() > fixed + 1 {
                    block.pop();
                    blocks.push(std::mem::replace(&mut block, start.clone()));
                    block.push(column);
                }
            }
        }
        blocks.push(block);
        blocks
    }
}

fn widest<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}

fn joined(value: &Value, width: usize) -> String {
    match &value.absolute {
        Some(absolute) => format!("{}  {absolute:>width$}", value.text()),
        None => value.text(),
    }
}

/// One line, safe for a terminal.
fn shown(text: &str) -> String {
    printable(text, usize::MAX)
}

fn push_grid(out: &mut String, table: &Table, texts: &Texts, columns: &[usize], colour: bool) {
    out.extend(texts.group_line(columns).map(|line| line + "\n"));
    let line = |cell: &dyn Fn(usize) -> (String, String)| {
        let mut line = String::new();
        for &column in columns {
            let (text, style) = cell(column);
            let blanks = texts.widths[column].saturating_sub(text.chars().count());
            let blanks = " ".repeat(blanks);
            let text = match colour && !style.is_empty() && !text.is_empty() {
                true => format!("\x1b[{style}m{text}\x1b[0m"),
                false => text,
            };
            line += &match table.columns[column].align {
                Align::Left => text + &blanks,
                Align::Right => blanks + &text,
            };
            line += &" ".repeat(GAP);
        }
        format!("{}\n", line.trim_end())
    };
    *out += &line(&|at| (texts.headings[at].clone(), String::new()));
    // Only a line is drawn below the headings, which survives being sent and quoted in e-mails.
    *out += &format!("{}\n", "-".repeat(texts.width(columns)));
    let mut summed_up = false;
    for (row, values) in table.rows.iter().zip(&texts.rows) {
        if row.summary && !summed_up {
            *out += &line(&|at| ("-".repeat(texts.widths[at]), String::new()));
        }
        summed_up = row.summary;
        *out += &line(&|at| {
            let tone = row.values.get(at).map(|value| value.tone);
            let text = values.get(at).cloned().unwrap_or_default();
            (text, style(tone.unwrap_or_default(), row.summary))
        });
    }
}

/// Parameters of the SGR escape sequence.
fn style(tone: Tone, summary: bool) -> String {
    let colour = match tone {
        Tone::Plain => None,
        Tone::Worse => Some("31"),
        Tone::Better => Some("32"),
        Tone::Faint => Some("2"),
        Tone::Missing => Some("33"),
    };
    let bold = summary.then_some("1");
    Vec::from_iter(bold.into_iter().chain(colour)).join(";")
}

/// Lines are broken at blanks, and further lines are indented.
fn push_wrapped(out: &mut String, text: &str, indent: usize, width: Option<usize>) {
    let width = width.unwrap_or(usize::MAX);
    let mut used = 0;
    for word in harmless(text).split_whitespace() {
        let length = word.chars().count();
        if used > indent && used + 1 + length > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            used = indent;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    out.push('\n');
}
