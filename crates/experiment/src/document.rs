// SPDX-License-Identifier: GPL-2.0-or-later
//! Reading and writing the run document.

use std::io::{self, Read, Write};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::run::{Run, SCHEMA_VERSION};

/// Largest document that is read, in bytes.
pub const DOCUMENT_LIMIT_BYTES: u64 = 1 << 30;

/// Longest excerpt of an untrusted text in a message, in characters.
const MESSAGE_LIMIT: usize = 300;

/// Why a document could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The reader or writer failed.
    #[error("run document: {0}")]
    Io(#[from] io::Error),
    /// It is larger than [`DOCUMENT_LIMIT_BYTES`].
    #[error("run document: larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The largest size, in bytes.
        limit: u64,
    },
    /// There is nothing in it.
    #[error("run document: empty")]
    Empty,
    /// It ends before its last bracket.
    #[error("run document: ends in the middle, after {bytes} bytes (line {line})")]
    Truncated {
        /// Bytes that there are.
        bytes: usize,
        /// The last line, from 1.
        line: usize,
    },
    /// It is not JSON.
    #[error("run document: not JSON at line {line}, column {column}: {message}")]
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// It is JSON, but has no (sensible) `schema_version`.
    #[error("no run document: {message}")]
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
    #[error("run document: at {path} (line {line}): {message}")]
    Value {
        /// Where: `cells[3].median`.
        path: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong there.
        message: String,
    },
    /// Its parts contradict each other.
    #[error("run document: at {path}: {message}")]
    Contradiction {
        /// Where: `cells[3]`.
        path: String,
        /// What contradicts what.
        message: String,
    },
}

impl DocumentError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            DocumentError::Truncated { .. } | DocumentError::Empty => Some(
                "it was not written to its end; if a journal lies beside it, run again with --resume",
            ),
            DocumentError::Newer { .. } => Some("use the lsmeter that wrote it, or a later one"),
            DocumentError::NoVersion { .. } | DocumentError::NotJson { .. } => {
                Some("give a document that `lsmeter run --output FILE` wrote")
            }
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: Option<serde_json::Value>,
}

impl Run {
    /// Reads a document of this or an older schema version. Keys it does not know are
    /// skipped: a later lsmeter may add some without a new schema version.
    ///
    /// # Errors
    /// [`DocumentError`], which says where. Reads at most [`DOCUMENT_LIMIT_BYTES`].
    pub fn read(reader: impl Read) -> Result<Run, DocumentError> {
        Run::parse(&read_bounded(reader, DOCUMENT_LIMIT_BYTES)?)
    }

    /// Reads a document that is in memory. Like [`Run::read`].
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn parse(bytes: &[u8]) -> Result<Run, DocumentError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(DocumentError::Empty);
        }
        let none = |message: &str| DocumentError::NoVersion {
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
            None | Some(0) => return Err(none("its schema_version is no positive number")),
            Some(found) if found > u64::from(SCHEMA_VERSION) => {
                return Err(DocumentError::Newer { found });
            }
            Some(_) => {}
        }
        let run: Run = decode(bytes)?;
        run.check()?;
        Ok(run)
    }

    fn check(&self) -> Result<(), DocumentError> {
        let refuse =
            |path: String, message: String| Err(DocumentError::Contradiction { path, message });
        if self.experiment.baseline_stack().is_none() {
            return refuse(
                "experiment.baseline".to_owned(),
                format!(
                    "{}, but there are {} stacks",
                    self.experiment.baseline,
                    self.experiment.stacks.len()
                ),
            );
        }
        for (index, cell) in self.cells.iter().enumerate() {
            if let Some(message) = cell.contradiction() {
                return refuse(format!("cells[{index}]"), message);
            }
        }
        for (index, warning) in self.warnings.iter().enumerate() {
            if let Some(cell) = warning
                .cells
                .iter()
                .find(|c| **c as usize >= self.cells.len())
            {
                return refuse(
                    format!("warnings[{index}]"),
                    format!("there is no cell {cell}"),
                );
            }
        }
        Ok(())
    }

    /// Writes the document: one line per cell and per warning, so that line tools work
    /// on it. The same document gives the same bytes.
    ///
    /// # Errors
    /// [`DocumentError::Io`] when the writer fails. Flushes at the end.
    pub fn write(&self, mut writer: impl Write) -> Result<(), DocumentError> {
        // Taken apart in full, so that a new key cannot be forgotten here.
        let Run {
            schema_version,
            tool,
            environment,
            started,
            finished,
            experiment,
            cells,
            warnings,
        } = self;
        let w = &mut writer;
        write!(w, "{{\n\"schema_version\": {schema_version},\n\"tool\": ")?;
        json(w, tool)?;
        w.write_all(b",\n\"environment\": ")?;
        json(w, environment)?;
        w.write_all(b",\n\"started\": ")?;
        json(w, started)?;
        w.write_all(b",\n\"finished\": ")?;
        json(w, finished)?;
        w.write_all(b",\n\"experiment\": ")?;
        json(w, experiment)?;
        w.write_all(b",\n\"cells\": ")?;
        lines(w, cells)?;
        w.write_all(b",\n\"warnings\": ")?;
        lines(w, warnings)?;
        w.write_all(b"\n}\n")?;
        w.flush()?;
        Ok(())
    }
}

fn json(w: &mut impl Write, value: &impl serde::Serialize) -> Result<(), DocumentError> {
    serde_json::to_writer(w, value).map_err(|error| DocumentError::Io(error.into()))
}

fn lines<T: serde::Serialize>(w: &mut impl Write, values: &[T]) -> Result<(), DocumentError> {
    for (index, value) in values.iter().enumerate() {
        w.write_all(if index == 0 { b"[\n" } else { b",\n" })?;
        json(w, value)?;
    }
    w.write_all(if values.is_empty() { b"[]" } else { b"\n]" })?;
    Ok(())
}

/// Everything that `reader` has, if it is at most `limit` bytes.
pub(crate) fn read_bounded(reader: impl Read, limit: u64) -> Result<Vec<u8>, DocumentError> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(DocumentError::TooLarge { limit });
    }
    Ok(bytes)
}

/// Decodes JSON, with the path to what is wrong.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DocumentError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = printable(&error.path().to_string());
        classify(error.inner(), path, bytes)
    })?;
    json.end()
        .map_err(|error| classify(&error, ".".to_owned(), bytes))?;
    Ok(value)
}

fn classify(error: &serde_json::Error, path: String, bytes: &[u8]) -> DocumentError {
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
        Category::Eof => DocumentError::Truncated {
            bytes: bytes.len(),
            line,
        },
        Category::Syntax if cut => DocumentError::Truncated {
            bytes: bytes.len(),
            line,
        },
        Category::Syntax => DocumentError::NotJson {
            line,
            column,
            message,
        },
        Category::Data | Category::Io => DocumentError::Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_stops_at_the_limit() {
        assert_eq!(read_bounded(&b"12345678"[..], 8).unwrap(), b"12345678");
        let error = read_bounded(std::io::repeat(b' '), 3 << 20).unwrap_err();
        assert_eq!(error.to_string(), "run document: larger than 3 MiB");
    }
}
