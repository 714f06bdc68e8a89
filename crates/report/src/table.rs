// SPDX-License-Identifier: GPL-2.0-or-later
//! A report as tables of values, each with its data and its text, before any layout.

use std::collections::HashMap;

use jiff::Timestamp;
use model::comparison::Verdict;
use model::placement::Count;
use model::{Warning, WarningKind};

use crate::format;
use crate::text::{printable, short};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    pub tables: Vec<Table>,
    pub warnings: Vec<String>,
}

/// All text is printable; Markdown's special characters are not escaped.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub title: String,
    pub legend: Vec<String>,
    pub columns: Vec<Heading>,
    /// Leftmost columns that a layout repeats when it splits a wide table.
    pub fixed_columns: usize,
    pub rows: Vec<Row>,
    pub footnotes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub title: String,
    pub kind: Kind,
    /// Heading shared with neighbours that have the same text: a stack. A layout that splits a
    /// table keeps them together if it can.
    pub group: Option<String>,
    pub align: Align,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub values: Vec<Value>,
    pub summary: bool,
}

impl Report {
    /// `tables`: optional tables, or lists of tables.
    pub(crate) fn new<T: IntoIterator<Item = Table>>(
        tables: impl IntoIterator<Item = T>,
        warnings: Vec<String>,
    ) -> Report {
        let tables = tables.into_iter().flatten().collect();
        Report { tables, warnings }
    }
}

impl Heading {
    pub(crate) fn in_full(&self) -> String {
        let group = self.group.iter().map(String::as_str);
        let names: Vec<&str> = group.chain([self.title.as_str()]).collect();
        names.join(" ")
    }
}

impl Table {
    pub(crate) fn new(
        title: impl Into<String>,
        columns: Vec<Heading>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Table {
        let mut rows: Vec<Row> = rows.into_iter().collect();
        let mut notes = Footnotes::default();
        for value in rows.iter_mut().flat_map(|row| &mut row.values) {
            if value.notes.is_empty() {
                continue;
            }
            let mut text = value.text();
            for note in value.notes.drain(..) {
                let mark = notes.mark(note);
                text += if text.is_empty() { "" } else { " " };
                text += &mark;
            }
            value.text = Some(text);
        }
        Table {
            title: title.into(),
            legend: Vec::new(),
            columns,
            fixed_columns: 1,
            rows,
            footnotes: notes.texts,
        }
    }

    pub(crate) fn legend<T: Into<String>>(mut self, lines: impl IntoIterator<Item = T>) -> Table {
        let lines = lines.into_iter().map(T::into);
        self.legend.extend(lines.filter(|line| !line.is_empty()));
        self
    }

    pub(crate) fn fixed(mut self, columns: usize) -> Table {
        self.fixed_columns = columns;
        self
    }

    pub(crate) fn if_any(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }
}

/// The number of rows that a user requested; 0 means all.
pub(crate) fn limit(rows: Option<usize>, default: usize) -> usize {
    match rows.unwrap_or(default) {
        0 => usize::MAX,
        rows => rows,
    }
}

pub(crate) fn warnings(warnings: &[Warning]) -> Vec<String> {
    let warnings = warnings.iter().filter(|warning| is_doubt(warning));
    let text = |warning: &Warning| {
        let cells = match warning.cells.len() {
            0 => String::new(),
            1 => " (1 measurement)".to_owned(),
            n => format!(" ({n} measurements)"),
        };
        format!(
            "{}{cells}: {}. Advice: {}.",
            warning.kind,
            sentence(&warning.message),
            sentence(&warning.advice)
        )
    };
    warnings.map(text).collect()
}

/// Captions name modules that kernels add. Older versions gave warnings instead.
pub(crate) fn is_doubt(warning: &Warning) -> bool {
    warning.kind != WarningKind::ExtraModules
}

fn sentence(text: &str) -> String {
    printable(text.trim().trim_end_matches('.'), 400)
}

#[derive(Default)]
pub(crate) struct Footnotes {
    pub(crate) texts: Vec<String>,
    /// Index by text, which avoids quadratic time for long documents.
    numbers: HashMap<String, usize>,
}

impl Footnotes {
    pub(crate) fn mark(&mut self, text: String) -> String {
        let texts = &mut self.texts;
        let number = *self.numbers.entry(text).or_insert_with_key(|text| {
            texts.push(text.clone());
            texts.len()
        });
        format!("[{number}]")
    }
}

pub(crate) const TEXT_LIMIT: usize = 60;

/// Machine-readable formats write it unrounded.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Datum {
    #[default]
    Missing,
    /// Text that may come from a result file and contain any characters.
    Text(String),
    Whole(i128),
    Number(f64),
    Flag(bool),
    Moment(Timestamp),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Float,
    Flag,
    /// UTC, RFC 3339.
    Moment,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Value {
    pub datum: Datum,
    /// Printable text; None means the datum's default. With an `absolute`, this is the overhead.
    pub text: Option<String>,
    pub absolute: Option<String>,
    pub tone: Tone,
    pub notes: Vec<String>,
}

/// The meaning of a colour. A colour never carries information by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Worse,
    Better,
    Faint,
    Missing,
}

impl Tone {
    pub(crate) fn from_verdict(verdict: Verdict) -> Tone {
        match verdict {
            Verdict::Worse => Tone::Worse,
            Verdict::Better => Tone::Better,
            Verdict::Same => Tone::Plain,
            Verdict::Unclear => Tone::Faint,
            Verdict::Missing => Tone::Missing,
        }
    }
}

impl Value {
    pub(crate) fn plain(text: impl Into<String>) -> Value {
        Value {
            text: Some(text.into()),
            ..Value::default()
        }
    }

    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Value {
        Value::plain(text).tone(tone)
    }

    pub(crate) fn long(text: &str, limit: usize) -> Value {
        Value::from(text).shown(printable(text, limit))
    }

    pub(crate) fn dash() -> Value {
        Value::toned("-", Tone::Missing)
    }

    /// With its sign; more is `Worse`.
    pub(crate) fn difference(difference: impl Into<i128>) -> Value {
        let difference = difference.into();
        let tone = match difference {
            1.. => Tone::Worse,
            0 => Tone::Plain,
            _ => Tone::Better,
        };
        Value::from(difference)
            .shown(format::difference(difference))
            .tone(tone)
    }

    pub(crate) fn shown(mut self, text: impl Into<String>) -> Value {
        self.text = Some(text.into());
        self
    }

    pub(crate) fn tone(mut self, tone: Tone) -> Value {
        self.tone = tone;
        self
    }

    pub(crate) fn beside(mut self, absolute: impl Into<String>) -> Value {
        self.absolute = Some(absolute.into());
        self
    }

    pub(crate) fn noted(mut self, notes: impl IntoIterator<Item = String>) -> Value {
        self.notes.extend(notes);
        self
    }

    pub fn text(&self) -> String {
        match (&self.text, &self.datum) {
            (Some(text), _) => text.clone(),
            (None, Datum::Missing) => String::new(),
            (None, Datum::Text(text)) => short(text),
            (None, Datum::Whole(number)) => format::grouped(&number.to_string()),
            (None, Datum::Number(number)) => format::figure(*number),
            (None, Datum::Flag(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
            (None, Datum::Moment(moment)) => moment.to_string(),
        }
    }

    pub(crate) fn in_full(&self) -> String {
        match &self.absolute {
            Some(absolute) => format!("{} ({absolute})", self.text()),
            None => self.text(),
        }
    }
}

pub trait Typed: Into<Value> {
    const KIND: Kind;
}

impl Typed for Value {
    const KIND: Kind = Kind::Text;
}

macro_rules! typed {
    ($($type:ty: $kind:ident, $datum:expr;)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value { datum: $datum(value), ..Value::default() }
            }
        }

        impl Typed for $type {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

typed! {
    String: Text, Datum::Text;
    &str: Text, |text: &str| Datum::Text(text.to_owned());
    &String: Text, |text: &String| Datum::Text(text.clone());
    &&str: Text, |text: &&str| Datum::Text((*text).to_owned());
    u32: Integer, |number| Datum::Whole(i128::from(number));
    u64: Integer, |number| Datum::Whole(i128::from(number));
    i64: Integer, |number| Datum::Whole(i128::from(number));
    Count: Text, |count: Count| Datum::Text(count.to_string());
    usize: Integer, |number| Datum::Whole(number as i128);
    i128: Integer, Datum::Whole;
    f64: Float, Datum::Number;
    bool: Flag, Datum::Flag;
    Timestamp: Moment, Datum::Moment;
}

impl<T: Typed> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or_else(Value::default, T::into)
    }
}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = T::KIND;
}
