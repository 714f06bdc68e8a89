// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading and writing JSON documents: of runs, profiles, sweeps and the others.

use std::fmt;
use std::io::{self, Read, Write};

use diagnostics::{Exit, Fault};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::check::{CheckDocument, CountsDocument};
use crate::comparison::ComparisonDocument;
use crate::monitor::MonitorDocument;
use crate::placement::{PlacementDifference, PlacementDocument, PlacementHistory};
use crate::profile::ProfileDocument;
use crate::run::{Run, SCHEMA_VERSION, Warning};
use crate::sensitivity::SensitivityDocument;

/// Largest document that is read, in bytes.
pub const DOCUMENT_LIMIT_BYTES: u64 = 1 << 30;

/// Longest excerpt of an untrusted text in a message, in characters.
const MESSAGE_LIMIT: usize = 300;

/// Which document it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// What `lsmeter run` writes: [`crate::Run`].
    Run,
    /// What `lsmeter profile` writes: [`crate::ProfileDocument`].
    Profile,
    /// What `lsmeter sensitivity` writes: [`crate::SensitivityDocument`].
    Sensitivity,
    /// What `lsmeter monitor` records: [`crate::MonitorDocument`].
    Monitor,
    /// What `lsmeter placement` writes: [`crate::PlacementDocument`].
    Placement,
    /// What `lsmeter compare` writes: [`crate::ComparisonDocument`].
    Comparison,
    /// What `lsmeter placement diff` writes: [`crate::placement::PlacementDifference`].
    PlacementDifference,
    /// What `lsmeter placement history` writes: [`crate::placement::PlacementHistory`].
    PlacementHistory,
    /// What `lsmeter check` writes: [`crate::CheckDocument`].
    Check,
    /// What the monitor of `lsmeter check` counted: [`crate::CountsDocument`].
    Counts,
    /// None of these, or none that could be told.
    Unknown,
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DocumentKind::Run => "run document",
            DocumentKind::Profile => "profile document",
            DocumentKind::Sensitivity => "sensitivity document",
            DocumentKind::Monitor => "recording",
            DocumentKind::Placement => "placement document",
            DocumentKind::Comparison => "comparison document",
            DocumentKind::PlacementDifference => "difference of placements",
            DocumentKind::PlacementHistory => "history of placements",
            DocumentKind::Check => "check document",
            DocumentKind::Counts => "document of a monitor's counts",
            DocumentKind::Unknown => "document of lsmeter's",
        })
    }
}

/// Why a document could not be read or written.
#[derive(Debug)]
pub struct DocumentError {
    /// Which one.
    pub document: DocumentKind,
    /// What is wrong with it.
    pub fault: DocumentFault,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, fault } = self;
        match fault {
            DocumentFault::NoVersion { .. } => write!(f, "no {document}: {fault}"),
            DocumentFault::Newer { .. } => fault.fmt(f),
            _ => write!(f, "{document}: {fault}"),
        }
    }
}

impl std::error::Error for DocumentError {
    /// The reader's or writer's error. The fault is none: this message holds its.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

/// What is wrong with a document, whichever it is.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// The reader or writer failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is larger than [`DOCUMENT_LIMIT_BYTES`].
    #[error("larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The largest size, in bytes.
        limit: u64,
    },
    /// There is nothing in it.
    #[error("empty")]
    Empty,
    /// It ends before its last bracket.
    #[error("ends in the middle, after {bytes} bytes (line {line})")]
    Truncated {
        /// Bytes that there are.
        bytes: usize,
        /// The last line, from 1.
        line: usize,
    },
    /// It is not JSON.
    #[error("not JSON at line {line}, column {column}: {message}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// It is JSON, but has no (sensible) `schema_version`.
    #[error("{message}")]
    NoVersion {
        /// What is there instead.
        message: String,
    },
    /// A newer lsmeter wrote it.
    #[error("written by a newer lsmeter (schema {found}; this one reads up to {SCHEMA_VERSION})")]
    Newer {
        /// Its schema version.
        found: u64,
    },
    /// A key is missing or has a value of the wrong kind.
    #[error("at {path} (line {line}): {message}")]
    Value {
        /// Where: `cells[3].median`.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Its parts contradict each other.
    #[error("at {path}: {message}")]
    Contradiction {
        /// Where: `cells[3]`.
        path: String,
        /// What contradicts what.
        message: String,
    },
}

impl Fault for DocumentError {
    fn exit(&self) -> Exit {
        match self.fault {
            DocumentFault::Io(_) => Exit::Environment,
            _ => Exit::Usage,
        }
    }

    fn hint(&self) -> Option<String> {
        let (again, written) = match self.document {
            DocumentKind::Run => (
                "it was not written to its end; if a journal lies beside it, run again with --resume",
                "give a document that `lsmeter run --output FILE` wrote",
            ),
            DocumentKind::Profile => (
                "it was not written to its end; profile again",
                "give a document that `lsmeter profile --output FILE` wrote",
            ),
            DocumentKind::Sensitivity => (
                "it was not written to its end; sweep again",
                "give a document that `lsmeter sensitivity --output FILE` wrote",
            ),
            DocumentKind::Monitor => (
                "it was not written to its end; record again",
                "give a recording that `lsmeter monitor --record FILE` wrote",
            ),
            DocumentKind::Placement => (
                "it was not written to its end; analyse the tree again",
                "give a document that `lsmeter placement TREE --output FILE` wrote",
            ),
            DocumentKind::Comparison => (
                "it was not written to its end; compare again",
                "give a document that `lsmeter compare BASE NEW --output FILE` wrote",
            ),
            DocumentKind::PlacementDifference => (
                "it was not written to its end; compare the trees again",
                "give a document that `lsmeter placement diff A B --json` wrote",
            ),
            DocumentKind::PlacementHistory => (
                "it was not written to its end; analyse the trees again",
                "give a document that `lsmeter placement history TREE... --json` wrote",
            ),
            DocumentKind::Check => (
                "it was not written to its end; check again",
                "give a document that `lsmeter check --output FILE` wrote",
            ),
            DocumentKind::Counts => (
                "it was not written to its end; check again with --keep",
                "give a document that `lsmeter check --keep DIR` wrote",
            ),
            DocumentKind::Unknown => (
                "it was not written to its end; measure again",
                "give a document that lsmeter wrote, with --output or --record",
            ),
        };
        let hint = match &self.fault {
            DocumentFault::Truncated { .. } | DocumentFault::Empty => Some(again),
            DocumentFault::Newer { .. } => Some("use the lsmeter that wrote it, or a later one"),
            DocumentFault::NoVersion { .. } | DocumentFault::NotJson { .. } => Some(written),
            _ => None,
        };
        hint.map(str::to_owned)
    }
}

/// What is read and written as one JSON document with a `schema_version`.
pub(crate) trait Document: DeserializeOwned {
    /// Which one.
    const KIND: DocumentKind;

    /// Looks for parts that contradict each other.
    fn check(&self) -> Result<(), DocumentFault>;

    /// Writes all keys, [`lines`] for those that hold many values.
    fn write_keys(&self, w: &mut impl Write) -> Result<(), DocumentFault>;
}

fn of<D: Document>(fault: DocumentFault) -> DocumentError {
    DocumentError {
        document: D::KIND,
        fault,
    }
}

/// Reads a document, at most [`DOCUMENT_LIMIT_BYTES`].
pub(crate) fn read<D: Document>(reader: impl Read) -> Result<D, DocumentError> {
    let bytes = read_bounded(reader, DOCUMENT_LIMIT_BYTES).map_err(of::<D>)?;
    parse(&bytes)
}

/// Reads a document of this or an older schema version that is in memory.
pub(crate) fn parse<D: Document>(bytes: &[u8]) -> Result<D, DocumentError> {
    check_version(bytes)
        .and_then(|()| decode::<D>(bytes))
        .and_then(|document| document.check().map(|()| document))
        .map_err(of::<D>)
}

/// Writes a document, and flushes.
pub(crate) fn write<D: Document>(
    document: &D,
    mut writer: impl Write,
) -> Result<(), DocumentError> {
    document
        .write_keys(&mut writer)
        .and_then(|()| Ok(writer.flush()?))
        .map_err(of::<D>)
}

#[derive(Deserialize)]
struct Version {
    schema_version: Option<serde_json::Value>,
}

/// Refuses what is no document at all, or a newer one.
pub(crate) fn check_version(bytes: &[u8]) -> Result<(), DocumentFault> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentFault::Empty);
    }
    let none = |message: &str| DocumentFault::NoVersion {
        message: message.to_owned(),
    };
    // Serde would take an array for a structure, too.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        decode::<serde::de::IgnoredAny>(bytes)?;
        return Err(none("it is JSON, but no object"));
    }
    let version: Version = decode(bytes)?;
    let version = version
        .schema_version
        .ok_or_else(|| none("it has no schema_version"))?;
    match version.as_u64() {
        None | Some(0) => Err(none("its schema_version is no positive number")),
        Some(found) if found > u64::from(SCHEMA_VERSION) => Err(DocumentFault::Newer { found }),
        Some(_) => Ok(()),
    }
}

/// Refuses warnings about positions that are not there; `what` is in these positions.
pub(crate) fn check_warnings(
    warnings: &[Warning],
    positions: usize,
    what: &str,
) -> Result<(), DocumentFault> {
    for (index, warning) in warnings.iter().enumerate() {
        let beyond = |position: &&u32| **position as usize >= positions;
        if let Some(position) = warning.cells.iter().find(beyond) {
            return Err(DocumentFault::Contradiction {
                path: format!("warnings[{index}]"),
                message: format!("there is no {what} {position}"),
            });
        }
    }
    Ok(())
}

/// Writes a value in one line.
pub(crate) fn json(w: &mut impl Write, value: &impl serde::Serialize) -> Result<(), DocumentFault> {
    serde_json::to_writer(w, value).map_err(|error| DocumentFault::Io(error.into()))
}

/// Writes a list, each value in a line of its own.
pub(crate) fn lines<T: serde::Serialize>(
    w: &mut impl Write,
    values: &[T],
) -> Result<(), DocumentFault> {
    for (index, value) in values.iter().enumerate() {
        w.write_all(if index == 0 { b"[\n" } else { b",\n" })?;
        json(w, value)?;
    }
    w.write_all(if values.is_empty() { b"[]" } else { b"\n]" })?;
    Ok(())
}

/// Everything that `reader` has, if it is at most `limit` bytes.
pub(crate) fn read_bounded(reader: impl Read, limit: u64) -> Result<Vec<u8>, DocumentFault> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(DocumentFault::TooLarge { limit });
    }
    Ok(bytes)
}

/// Decodes JSON, with the path to what is wrong.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DocumentFault> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = printable(&error.path().to_string());
        classify(error.inner(), path, bytes)
    })?;
    json.end()
        .map_err(|error| classify(&error, ".".to_owned(), bytes))?;
    Ok(value)
}

fn classify(error: &serde_json::Error, path: String, bytes: &[u8]) -> DocumentFault {
    use serde_json::error::Category;
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    // serde_json repeats the position at the end of its message.
    let place = format!(" at line {line} column {column}");
    let message = printable(message.strip_suffix(&place).unwrap_or(&message));
    let last = bytes
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    // A number cut behind its point, sign or exponent is a syntax error to serde_json.
    let cut = column >= last.len() && message == "invalid number";
    match error.classify() {
        Category::Eof => DocumentFault::Truncated {
            bytes: bytes.len(),
            line,
        },
        Category::Syntax if cut => DocumentFault::Truncated {
            bytes: bytes.len(),
            line,
        },
        Category::Syntax => DocumentFault::NotJson {
            line,
            column,
            message,
        },
        Category::Data | Category::Io => DocumentFault::Value {
            path: if path == "." {
                "the top".to_owned()
            } else {
                path
            },
            line,
            message,
        },
    }
}

/// A text out of a document, bounded and without control characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .take(MESSAGE_LIMIT)
        .flat_map(|c| {
            let escape = c.is_control();
            let escaped = escape.then(|| c.escape_default());
            escaped.into_iter().flatten().chain((!escape).then_some(c))
        })
        .collect()
}

/// The JSON Schema of the run document, generated from the types.
pub fn run_schema() -> serde_json::Value {
    schemars::schema_for!(Run).to_value()
}

/// The JSON Schema of the profile document, generated from the types.
pub fn profile_schema() -> serde_json::Value {
    schemars::schema_for!(ProfileDocument).to_value()
}

/// The JSON Schema of the sensitivity document, generated from the types.
pub fn sensitivity_schema() -> serde_json::Value {
    schemars::schema_for!(SensitivityDocument).to_value()
}

/// The JSON Schema of the recording: what `docs/monitor.schema.json` holds.
pub fn monitor_schema() -> serde_json::Value {
    schemars::schema_for!(MonitorDocument).to_value()
}

/// The JSON Schema of the comparison document, generated from the types.
pub fn comparison_schema() -> serde_json::Value {
    schemars::schema_for!(ComparisonDocument).to_value()
}

/// The JSON Schema of the placement document, generated from the types.
pub fn placement_schema() -> serde_json::Value {
    schemars::schema_for!(PlacementDocument).to_value()
}

/// The JSON Schema of the difference of placements, generated from the types.
pub fn placement_difference_schema() -> serde_json::Value {
    schemars::schema_for!(PlacementDifference).to_value()
}

/// The JSON Schema of the check document, generated from the types.
pub fn check_schema() -> serde_json::Value {
    schemars::schema_for!(CheckDocument).to_value()
}

/// The JSON Schema of a monitor's counts, generated from the types.
pub fn counts_schema() -> serde_json::Value {
    schemars::schema_for!(CountsDocument).to_value()
}

/// The JSON Schema of the history of placements, generated from the types.
pub fn placement_history_schema() -> serde_json::Value {
    schemars::schema_for!(PlacementHistory).to_value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_at_the_limit() {
        assert_eq!(read_bounded(&b"12345678"[..], 8).unwrap(), b"12345678");
        let error = read_bounded(std::io::repeat(b' '), 3 << 20).unwrap_err();
        assert_eq!(error.to_string(), "larger than 3 MiB");
    }
}
