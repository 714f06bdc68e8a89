// SPDX-License-Identifier: GPL-2.0-or-later
//! A report for a terminal, or a mail.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ContentArrangement, LineStyle, Table as Grid, TableStyle,
};

use crate::table::{Align, Report, Table, Tone, Value};

/// Narrowest width that a layout uses, in columns; below it lines get longer.
pub const WIDTH_MIN: usize = 40;

/// How a report is laid out for a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    /// Columns there are; a wider table is split into several below each other, each
    /// with its first columns repeated. None: as wide as it gets.
    pub width: Option<usize>,
    /// Use colour. What a colour says is also said in characters.
    pub colour: bool,
}

const GAP: usize = 2;

/// The report as lines of text, each with its newline.
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
        let texts = Texts::of(table);
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

/// A table's values as they are printed: the two parts of a value padded so that they
/// stand below those of other rows.
struct Texts {
    headings: Vec<String>,
    /// By row, then column.
    rows: Vec<Vec<String>>,
    /// Of each column, in characters.
    widths: Vec<usize>,
}

impl Texts {
    fn of(table: &Table) -> Texts {
        let n = table.columns.len();
        let mut absolute = vec![0; n];
        for row in &table.rows {
            for (column, value) in row.values.iter().enumerate().take(n) {
                let width = value
                    .absolute
                    .as_deref()
                    .map_or(0, |text| text.chars().count());
                absolute[column] = absolute[column].max(width);
            }
        }
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| {
                row.values
                    .iter()
                    .zip(&absolute)
                    .map(|(value, width)| joined(value, *width))
                    .collect()
            })
            .collect();
        let headings: Vec<String> = table.columns.iter().map(|c| c.title.clone()).collect();
        let widths = (0..n)
            .map(|column| {
                let values = rows.iter().filter_map(|row| row.get(column));
                values
                    .chain([&headings[column]])
                    .map(|text| text.chars().count())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        Texts {
            headings,
            rows,
            widths,
        }
    }

    /// Sets of columns that fit the width together, the first `fixed` in each.
    fn blocks(&self, fixed: usize, width: Option<usize>) -> Vec<Vec<usize>> {
        let n = self.widths.len();
        let fixed = fixed.min(n);
        let used = |columns: &[usize]| -> usize {
            columns
                .iter()
                .map(|column| self.widths[*column] + GAP)
                .sum::<usize>()
                .saturating_sub(GAP)
        };
        let start: Vec<usize> = (0..fixed).collect();
        let mut blocks = Vec::new();
        let mut block = start.clone();
        for column in fixed..n {
            block.push(column);
            if width.is_some_and(|width| used(&block) > width) && block.len() > fixed + 1 {
                block.pop();
                blocks.push(std::mem::replace(&mut block, start.clone()));
                block.push(column);
            }
        }
        blocks.push(block);
        blocks
    }
}

fn joined(value: &Value, width: usize) -> String {
    match &value.absolute {
        Some(absolute) => format!("{}  {absolute:>width$}", value.text),
        None => value.text.clone(),
    }
}

fn push_grid(out: &mut String, table: &Table, texts: &Texts, columns: &[usize], colour: bool) {
    let mut grid = Grid::new();
    // A line below the headings and nothing else: it survives a mail and a quote.
    grid.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-')));
    grid.set_content_arrangement(ContentArrangement::Disabled);
    if colour {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    grid.set_header(
        columns.iter().map(|&column| {
            Cell::new(&texts.headings[column]).set_alignment(alignment(table, column))
        }),
    );
    for (row, values) in table.rows.iter().zip(&texts.rows) {
        if row.summary {
            grid.add_row(columns.iter().map(|&column| {
                Cell::new("-".repeat(texts.widths[column])).set_alignment(alignment(table, column))
            }));
        }
        grid.add_row(columns.iter().map(|&column| {
            let text = values.get(column).map_or("", String::as_str);
            let tone = row
                .values
                .get(column)
                .map_or(Tone::Plain, |value| value.tone);
            toned(
                Cell::new(text).set_alignment(alignment(table, column)),
                tone,
                row.summary,
            )
        }));
    }
    let last = columns.len().saturating_sub(1);
    for index in 0..columns.len() {
        if let Some(column) = grid.column_mut(index) {
            column.set_padding((0, if index == last { 0 } else { GAP as u16 }));
        }
    }
    for line in grid.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn alignment(table: &Table, column: usize) -> CellAlignment {
    match table.columns[column].align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    }
}

/// Has no effect unless the grid enforces styling.
fn toned(cell: Cell, tone: Tone, summary: bool) -> Cell {
    let cell = if summary {
        cell.add_attribute(Attribute::Bold)
    } else {
        cell
    };
    match tone {
        Tone::Plain => cell,
        Tone::Worse => cell.fg(Color::Red),
        Tone::Better => cell.fg(Color::Green),
        Tone::Faint => cell.add_attribute(Attribute::Dim),
        Tone::Missing => cell.fg(Color::Yellow),
    }
}

/// Appends `text`, broken at blanks, further lines indented.
fn push_wrapped(out: &mut String, text: &str, indent: usize, width: Option<usize>) {
    let width = width.unwrap_or(usize::MAX);
    let mut used = 0;
    for word in text.split_whitespace() {
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
