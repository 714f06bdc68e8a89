// SPDX-License-Identifier: GPL-2.0-or-later
//! The columns: the one place that says what they hold.

use std::borrow::Cow;
use std::fmt::Display;

use experiment::Metric;

use crate::Rows;
use crate::row::Row;

/// What a column's values are. Any may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, UTF-8.
    Text,
    /// A whole number, 64 bits, signed.
    Integer,
    /// A number, 64 bits.
    Float,
    /// True or false.
    Flag,
    /// A point in time, UTC: in Parquet milliseconds since 1970, in CSV RFC 3339.
    Moment,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Moment(jiff::Timestamp),
    Missing,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    pub(crate) get: for<'a> fn(&'a Row<'a>) -> Value<'a>,
}

/// The columns of a table, in order: those of cells, or fewer with those of a sample.
/// `docs/export.md` explains each.
pub fn columns(rows: Rows) -> Vec<&'static Column> {
    let own: &[Column] = match rows {
        Rows::Cells => CELL,
        Rows::Samples => SAMPLE,
    };
    SHARED.iter().chain(own).collect()
}

const fn column(
    name: &'static str,
    kind: Kind,
    get: for<'a> fn(&'a Row<'a>) -> Value<'a>,
) -> Column {
    Column { name, kind, get }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(text))
}

fn word(word: impl Display) -> Value<'static> {
    Value::Text(Cow::Owned(word.to_string()))
}

/// Words joined by commas.
fn words(words: impl IntoIterator<Item = impl Display>) -> Value<'static> {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    Value::Text(Cow::Owned(words.join(",")))
}

fn maybe<'a, T>(value: Option<T>, of: impl FnOnce(T) -> Value<'a>) -> Value<'a> {
    value.map_or(Value::Missing, of)
}

fn whole(number: impl TryInto<i64>) -> Value<'static> {
    maybe(number.try_into().ok(), Value::Integer)
}

/// What is no time of ours is missing.
fn moment(text: &str) -> Value<'static> {
    maybe(text.parse().ok(), Value::Moment)
}

/// Where a figure comes from, and of what it is.
const SHARED: &[Column] = &[
    column("document", Kind::Text, |row| text(row.document)),
    column("lsmeter", Kind::Text, |row| text(&row.run.tool.version)),
    column("started", Kind::Moment, |row| moment(&row.run.started)),
    column("finished", Kind::Moment, |row| moment(&row.run.finished)),
    column("machine", Kind::Text, |row| {
        word(row.environment.fingerprint(row.cell.metric))
    }),
    column("os", Kind::Text, |row| text(&row.environment.os)),
    column("host_kernel", Kind::Text, |row| {
        text(&row.environment.host_kernel)
    }),
    column("cpu", Kind::Text, |row| text(&row.environment.cpu)),
    column("cores", Kind::Integer, |row| whole(row.environment.cores)),
    column("kvm", Kind::Flag, |row| Value::Flag(row.environment.kvm)),
    column("clock", Kind::Text, |row| word(row.environment.clock)),
    column("qemu", Kind::Text, |row| {
        maybe(row.environment.qemu.as_ref(), |qemu| text(&qemu.version))
    }),
    column("kernel", Kind::Text, |row| text(&row.cell.kernel)),
    column("kernel_digest", Kind::Text, |row| {
        maybe(row.run.kernel_digests.get(&row.cell.kernel), |of| text(of))
    }),
    column("release", Kind::Text, |row| text(&row.cell.release)),
    column("stack", Kind::Text, |row| words(&row.cell.stack)),
    column("active_lsms", Kind::Text, |row| {
        words(&row.cell.active_lsms)
    }),
    column("integrity", Kind::Text, |row| words(&row.cell.integrity)),
    column("policy", Kind::Text, |row| word(row.cell.policy)),
    column("tuning", Kind::Text, |row| {
        let pairs = row.cell.tuning.pairs().into_iter();
        words(pairs.map(|(key, value)| format!("{key}={value}")))
    }),
    column("filesystem", Kind::Text, |row| text(&row.cell.filesystem)),
    column("benchmark", Kind::Text, |row| text(&row.cell.benchmark)),
    column("variant", Kind::Text, |row| text(&row.cell.variant)),
    column("class", Kind::Text, |row| text(&row.cell.class)),
    column("syscalls", Kind::Text, |row| words(&row.cell.syscalls)),
    column("metric", Kind::Text, |row| word(row.cell.metric)),
    column("unit", Kind::Text, |row| word(row.cell.unit)),
];

/// What came out of a cell.
const CELL: &[Column] = &[
    column("status", Kind::Text, |row| word(row.cell.status)),
    column("reason", Kind::Text, |row| {
        maybe(row.cell.reason.as_deref(), text)
    }),
    column("value", Kind::Float, |row| {
        maybe(row.cell.headline(), Value::Float)
    }),
    column("baseline", Kind::Flag, |row| Value::Flag(row.is_baseline)),
    column("overhead", Kind::Float, |row| {
        maybe(row.overhead, Value::Float)
    }),
    column("n", Kind::Integer, |row| maybe(row.cell.n, whole)),
    column("median", Kind::Float, |row| {
        maybe(row.cell.median, Value::Float)
    }),
    column("mean", Kind::Float, |row| {
        maybe(row.cell.mean, Value::Float)
    }),
    column("stddev", Kind::Float, |row| {
        maybe(row.cell.stddev, Value::Float)
    }),
    column("min", Kind::Float, |row| maybe(row.cell.min, Value::Float)),
    column("max", Kind::Float, |row| maybe(row.cell.max, Value::Float)),
    column("ci95_low", Kind::Float, |row| {
        maybe(row.cell.ci95, |[low, _]| Value::Float(low))
    }),
    column("ci95_high", Kind::Float, |row| {
        maybe(row.cell.ci95, |[_, high]| Value::Float(high))
    }),
    column("exact", Kind::Flag, |row| {
        let counted = row.cell.metric == Metric::Instructions;
        maybe(counted.then(|| row.cell.is_exact()), Value::Flag)
    }),
    column("rep_iterations", Kind::Integer, |row| {
        maybe(row.counts(), |counts| whole(counts.modal.rep_iterations))
    }),
    column("modal_windows", Kind::Integer, |row| {
        maybe(row.counts(), |counts| whole(counts.modal.windows))
    }),
    column("windows", Kind::Integer, |row| {
        maybe(row.counts(), |counts| whole(counts.windows))
    }),
    column("dirty", Kind::Integer, |row| {
        maybe(row.counts(), |counts| whole(counts.dirty))
    }),
    column("path_hash", Kind::Text, |row| {
        let hash = row.counts().and_then(|counts| counts.path_hash.as_deref());
        maybe(hash, text)
    }),
    column("batch", Kind::Integer, |row| maybe(row.cell.batch, whole)),
    column("seconds", Kind::Float, |row| {
        maybe(row.cell.seconds, Value::Float)
    }),
];

/// One sample of a cell.
const SAMPLE: &[Column] = &[
    column("sample", Kind::Integer, |row| {
        maybe(row.sample, |(number, _)| whole(number))
    }),
    column("value", Kind::Float, |row| {
        maybe(row.sample, |(_, figure)| Value::Float(figure))
    }),
];
