// SPDX-License-Identifier: GPL-2.0-or-later
//! JSON input and output with size limits, and with the positions of errors.

use std::io::{self, Read, Write};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;

use super::SCHEMA_VERSION;
use super::error::{DocumentError, DocumentFault, Kind};

/// In bytes.
pub const DOCUMENT_LIMIT_BYTES: u64 = 1 << 30;

/// Longest excerpt of untrusted text in a message, in characters.
const MESSAGE_LIMIT: usize = 300;

/// A result file other than [`super::Document`]: derived from measurements or from a kernel's
/// sources.
pub trait Stored: Serialize + DeserializeOwned {
    const KIND: Kind;

    fn check(&self) -> Result<(), DocumentFault>;

    /// Unknown keys are skipped: later versions may add keys without a new schema version.
    fn read(reader: impl Read) -> Result<Self, DocumentError> {
        let bytes = read_bounded(reader, DOCUMENT_LIMIT_BYTES)
            .map_err(DocumentError::with_kind(Self::KIND))?;
        Self::parse(&bytes)
    }

    /// Like [`Stored::read`], from memory.
    fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let read = || {
            let found = kind(bytes)?;
            if found != Self::KIND {
                return Err(DocumentFault::other(Some(found)));
            }
            let document: Self = decode(bytes)?;
            document.check()?;
            Ok(document)
        };
        read().map_err(DocumentError::with_kind(Self::KIND))
    }

    /// Writes one line per list element, for line-based tools, and flushes. Output is
    /// deterministic.
    fn write(&self, writer: impl Write) -> Result<(), DocumentError> {
        let whole = Headed {
            kind: Self::KIND,
            schema_version: SCHEMA_VERSION,
            body: self,
        };
        to_lines(&whole, writer).map_err(DocumentError::with_kind(Self::KIND))
    }
}

/// A result file's body, after the head that all result files have.
#[derive(Serialize, JsonSchema)]
pub(super) struct Headed<T> {
    kind: Kind,
    schema_version: u32,
    #[serde(flatten)]
    body: T,
}

pub(super) fn kind(bytes: &[u8]) -> Result<Kind, DocumentFault> {
    #[derive(Deserialize)]
    struct Keys {
        schema_version: Option<serde_json::Value>,
        kind: Option<serde_json::Value>,
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(DocumentFault::Empty);
    }
    let none = |message: &str| DocumentFault::NoVersion(message.to_owned());
    // Serde also accepts an array for a structure.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        decode::<serde::de::IgnoredAny>(bytes)?;
        return Err(none("it is JSON, but not an object"));
    }
    let keys: Keys = decode(bytes)?;
    let version = keys
        .schema_version
        .ok_or_else(|| none("it has no schema_version"))?;
    match version.as_u64() {
        None | Some(0) => return Err(none("its schema_version is not a positive number")),
        Some(found) if found != u64::from(SCHEMA_VERSION) => {
            return Err(DocumentFault::OtherVersion { found });
        }
        Some(_) => {}
    }
    let kind = keys.kind.ok_or_else(|| none("it has no kind"))?;
    let word = kind.as_str().unwrap_or_default();
    word.parse().map_err(|_| {
        let word: String = word.chars().take(40).collect();
        none(&format!("its kind `{}` is unknown", printable(&word)))
    })
}

pub(crate) fn to_lines(
    value: &impl Serialize,
    mut writer: impl Write,
) -> Result<(), DocumentFault> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut writer, Lines { depth: 0 });
    let written = value.serialize(&mut serializer);
    written.map_err(|error| DocumentFault::Io(error.into()))?;
    writer.write_all(b"\n")?;
    Ok(writer.flush()?)
}

struct Lines {
    depth: u32,
}

impl Formatter for Lines {
    fn begin_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.depth += 1;
        w.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.depth -= 1;
        w.write_all(if self.depth == 0 { b"\n}" } else { b"}" })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        w.write_all(match (self.depth, first) {
            (1, true) => b"\n",
            (1, false) => b",\n",
            (_, true) => b"",
            (_, false) => b",",
        })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(if self.depth == 1 { b": " } else { b":" })
    }

    fn begin_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.depth += 1;
        w.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.depth -= 1;
        w.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        w.write_all(match (self.depth, first) {
            (2, true) => b"\n",
            (2, false) => b",\n",
            (_, true) => b"",
            (_, false) => b",",
        })
    }
}

pub(crate) fn sound(path: &str, message: Option<String>) -> Result<(), DocumentFault> {
    let path = path.to_owned();
    match message {
        Some(message) => Err(DocumentFault::Contradiction { path, message }),
        None => Ok(()),
    }
}

pub(crate) fn all_sound<T>(
    list: &str,
    values: &[T],
    contradiction: impl Fn(&T) -> Option<String>,
) -> Result<(), DocumentFault> {
    let mut values = values.iter().enumerate();
    match values.find_map(|(index, value)| Some((index, contradiction(value)?))) {
        Some((index, message)) => sound(&format!("{list}[{index}]"), Some(message)),
        None => Ok(()),
    }
}

pub(crate) fn read_bounded(reader: impl Read, limit: u64) -> Result<Vec<u8>, DocumentFault> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(DocumentFault::TooLarge(limit));
    }
    Ok(bytes)
}

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
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    // serde_json repeats the position at the end of its message.
    let place = format!(" at line {line} column {column}");
    let message = printable(message.strip_suffix(&place).unwrap_or(&message));
    let last = bytes.rsplit(|byte| *byte == b'\n').next();
    // If a number is cut off after its point, sign or exponent, serde_json reports a syntax error.
    let cut = column >= last.map_or(0, <[u8]>::len) && message == "invalid number";
    if error.is_eof() || error.is_syntax() && cut {
        DocumentFault::Truncated {
            bytes: bytes.len(),
            line,
        }
    } else if error.is_syntax() {
        DocumentFault::NotJson {
            line,
            column,
            message,
        }
    } else {
        let is_top = path == ".";
        DocumentFault::Value {
            path: if is_top { "the top".to_owned() } else { path },
            line,
            message,
        }
    }
}

pub(crate) fn printable(text: &str) -> String {
    crate::printable(text, MESSAGE_LIMIT)
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
