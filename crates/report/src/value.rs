// SPDX-License-Identifier: GPL-2.0-or-later
//! A value of a table: its data and its text.

use jiff::Timestamp;
use model::comparison::Verdict;

use crate::format;
use crate::text::{printable, short};

pub(crate) const TEXT_LIMIT: usize = 60;

/// Machine-readable formats write it unrounded.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Datum {
    #[default]
    Missing,
    /// May come from a document and contain anything.
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
    /// Printable text; None: the datum's default text. The overhead where there is an `absolute`.
    pub text: Option<String>,
    pub absolute: Option<String>,
    pub tone: Tone,
    pub notes: Vec<String>,
}

/// Meaning of a colour. Never the only place that shows it.
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
    pub(crate) fn of(verdict: Verdict) -> Tone {
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
    pub(crate) fn difference(difference: i128) -> Value {
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
