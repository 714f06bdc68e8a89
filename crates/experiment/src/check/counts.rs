// SPDX-License-Identifier: GPL-2.0-or-later
//! What a monitor counted of benchmarks in a virtual machine, and the document that holds it.

use std::io::{Read, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{
    self, Document, DocumentError, DocumentFault, DocumentKind, json, lines, printable,
};
use crate::monitor::LeftOutFunction;
use crate::run::Tool;
use crate::words::Status;

/// What the monitor of `lsmeter check` counted. See [`CountsDocument::read`] and
/// [`CountsDocument::write`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "lsmeter check: a monitor's counts")]
pub struct CountsDocument {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What wrote it.
    pub tool: Tool,
    /// Kernel as the user named it.
    pub kernel: String,
    /// `uname -r` as the guest reported it.
    pub release: String,
    /// The stack asked for, in order.
    pub stack: Vec<String>,
    /// What `/sys/kernel/security/lsm` listed.
    pub active_lsms: Vec<String>,
    /// File system worked on.
    pub fs: String,
    /// Hooks that it could not watch, and why.
    pub left_out: Vec<LeftOutFunction>,
    /// Benchmarks, in the order of the suite.
    pub counted: Vec<CountedBenchmark>,
}

/// The calls of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountedBenchmark {
    /// Benchmark.
    pub benchmark: String,
    /// Its variant; may be empty.
    pub variant: String,
    /// System calls of one operation, in order: only calls of hooks in these are counted.
    pub syscalls: Vec<String>,
    /// How it ended; without hooks unless ok.
    pub status: Status,
    /// Why it is not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Hooks that were called, by name.
    pub hooks: Vec<CountedHook>,
}

/// The calls of one hook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountedHook {
    /// The hook: `inode_permission`.
    pub hook: String,
    /// Calls for each operation: by what the calls of two runs differ, for each operation
    /// that one has more. With the operation, its preparation is counted, and what undoes it.
    pub calls: f64,
}

impl CountsDocument {
    /// Reads a document of this or an older schema version. Keys it does not know are
    /// skipped.
    ///
    /// # Errors
    /// [`DocumentError`], which says where. Reads at most
    /// [`DOCUMENT_LIMIT_BYTES`](crate::DOCUMENT_LIMIT_BYTES).
    pub fn read(reader: impl Read) -> Result<CountsDocument, DocumentError> {
        document::read(reader)
    }

    /// Reads a document that is in memory. Like [`CountsDocument::read`].
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn parse(bytes: &[u8]) -> Result<CountsDocument, DocumentError> {
        document::parse(bytes)
    }

    /// Writes the document: one line per benchmark and left out hook.
    ///
    /// # Errors
    /// [`DocumentFault::Io`] when the writer fails. Flushes at the end.
    pub fn write(&self, writer: impl Write) -> Result<(), DocumentError> {
        document::write(self, writer)
    }
}

impl Document for CountsDocument {
    const KIND: DocumentKind = DocumentKind::Counts;

    fn check(&self) -> Result<(), DocumentFault> {
        for (index, benchmark) in self.counted.iter().enumerate() {
            let infinite = |hook: &&CountedHook| !hook.calls.is_finite();
            if let Some(hook) = benchmark.hooks.iter().find(infinite) {
                return Err(DocumentFault::Contradiction {
                    path: format!("counted[{index}]"),
                    message: format!("the calls of {} are no number", printable(&hook.hook)),
                });
            }
        }
        Ok(())
    }

    fn write_keys(&self, w: &mut impl Write) -> Result<(), DocumentFault> {
        // Taken apart in full, so that a new key cannot be forgotten here.
        let CountsDocument {
            schema_version,
            tool,
            kernel,
            release,
            stack,
            active_lsms,
            fs,
            left_out,
            counted,
        } = self;
        write!(w, "{{\n\"schema_version\": {schema_version},\n\"tool\": ")?;
        json(w, tool)?;
        w.write_all(b",\n\"kernel\": ")?;
        json(w, kernel)?;
        w.write_all(b",\n\"release\": ")?;
        json(w, release)?;
        w.write_all(b",\n\"stack\": ")?;
        json(w, stack)?;
        w.write_all(b",\n\"active_lsms\": ")?;
        json(w, active_lsms)?;
        w.write_all(b",\n\"fs\": ")?;
        json(w, fs)?;
        w.write_all(b",\n\"left_out\": ")?;
        lines(w, left_out)?;
        w.write_all(b",\n\"counted\": ")?;
        lines(w, counted)?;
        Ok(w.write_all(b"\n}\n")?)
    }
}
