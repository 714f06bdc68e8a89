// SPDX-License-Identifier: GPL-2.0-or-later
//! Run documents as tables: terminal, Markdown, CSV.
//!
//! [`report`] turns a run into [`Report`]: tables of text, one for each kernel, file
//! system and metric. [`terminal`] and [`markdown`] lay a report out; [`csv`] writes
//! the cells themselves. All text from a document is made harmless on the way: it may
//! come from a guest that lies.

mod cells;
mod csv;
mod details;
mod format;
mod markdown;
mod table;
mod terminal;
mod text;

pub use crate::csv::{CSV_COLUMNS, CsvError, csv};
pub use markdown::markdown;
pub use table::{Align, Column, Options, Report, Row, Table, Tone, Value, report};
pub use terminal::{Layout, WIDTH_MIN, terminal};
pub use text::printable;
