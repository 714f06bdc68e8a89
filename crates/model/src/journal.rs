// SPDX-License-Identifier: GPL-2.0-or-later
//! Finished cells, one JSON line each, so that a killed run loses none.
//!
//! The first line is the [`JournalHeader`], each other line a [`JournalEntry`]. A line counts once
//! its newline is there: a torn last line is dropped. Before appending, cut the file to
//! [`Journal::valid_bytes`].

use std::collections::BTreeMap;
use std::io::Read;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::document::{DOCUMENT_LIMIT_BYTES, DocumentFault, decode, printable, read_bounded};
use crate::environment::{Emulator, Environment, PolicyProof, Tool};
use crate::experiment::Experiment;
use crate::key::Key;
use crate::monitoring::Monitoring;
use crate::shard::Shard;
use crate::warning::Warning;

pub const JOURNAL_VERSION: u32 = 2;

const BEGIN: &[u8] = b"{\"journal_version\":";

pub fn is_begin(line: &[u8]) -> bool {
    let common = line.len().min(BEGIN.len());
    line[..common] == BEGIN[..common]
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    pub journal_version: u32,
    pub tool: Tool,
    pub environment: Environment,
    /// Environments of further architectures' kernels, in the order of the kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Environment>,
    /// RFC 3339, UTC.
    pub started: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor: Option<Monitoring>,
    /// Additional treatment of each operation: `hooks`, or a digest of a sweep's delays; else
    /// empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub treatment: String,
    /// None: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

/// A finished cell, ok or not; `T` is what its method needs besides what is in the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry<T = ()> {
    pub cell: Cell,
    /// Their `cells` are empty: positions are known once the document is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<PolicyProof>,
    /// Needed by the method to resume; not in documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<T>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Journal<T = ()> {
    pub header: Option<JournalHeader>,
    pub finished: BTreeMap<Key, JournalEntry<T>>,
    /// Up to the end of the last complete line.
    pub valid_bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("journal: {0}")]
    Read(DocumentFault),
    #[error("not a journal of lsmeter: line 1: {0}")]
    NotJournal(DocumentFault),
    #[error("journal of version {found}; this lsmeter reads version {JOURNAL_VERSION}")]
    Version { found: u32 },
    #[error("journal, line {line}: {error}")]
    Line {
        /// From 1.
        line: usize,
        error: DocumentFault,
    },
    /// Of another experiment or shard, or written under other conditions: its cells cannot be
    /// combined with new ones.
    #[error("the journal {message}")]
    Different {
        message: String,
        /// How to go on.
        hint: &'static str,
    },
}

impl JournalError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            JournalError::Different { hint, .. } => Some(hint),
            JournalError::Version { .. }
            | JournalError::Line { .. }
            | JournalError::NotJournal(_) => Some("start anew without --resume"),
            JournalError::Read(_) => None,
        }
    }
}

impl JournalHeader {
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        line(self)
    }

    /// Whether cells of `self`, an old journal, can be combined with cells of a run under `now`.
    fn check_resume(&self, now: &JournalHeader) -> Result<(), JournalError> {
        let different = |message, hint| Err(JournalError::Different { message, hint });
        if let (Some(then), Some(now)) = (&self.experiment, &now.experiment)
            && let Some(key) = then.first_difference(now)
        {
            return different(
                format!("is of a different experiment: `{key}` differs"),
                "resume with the same spec and flags, or start anew without --resume",
            );
        }
        if self.shard != now.shard {
            let shard = |of: Option<Shard>| of.map_or("none".to_owned(), |of| of.to_string());
            let (then, now) = (shard(self.shard), shard(now.shard));
            return different(
                format!("is of another shard: {then}, now {now}"),
                "resume with the same --shard, or start anew without --resume",
            );
        }
        let conditions = self.conditions().into_iter().zip(now.conditions());
        for ((what, then), (_, now)) in conditions {
            if then != now {
                let (then, now) = (printable(&then), printable(&now));
                return different(
                    format!("was begun with another {what}: {then}, now {now}"),
                    "start anew without --resume",
                );
            }
        }
        Ok(())
    }

    fn conditions(&self) -> [(&'static str, String); 7] {
        let of = &self.environment;
        let monitored = |of: &Monitoring| format!("{}, {}", of.scope, of.mode);
        let subject = self.monitor.as_ref().map(monitored);
        let emulator = |of: &Emulator| format!("{} ({}, {})", of.version, of.machine, of.cpu);
        let all = [of].into_iter().chain(&self.others);
        let emulators = all.filter_map(|of| of.qemu.as_ref().map(emulator));
        let emulators: Vec<String> = emulators.collect();
        let emulator = (!emulators.is_empty()).then(|| emulators.join(", "));
        let accelerator = if of.kvm { "KVM" } else { "TCG" };
        [
            ("subject", subject.unwrap_or("an experiment".to_owned())),
            ("way to treat operations", self.treatment.clone()),
            ("lsmeter", self.tool.version.clone()),
            ("QEMU", emulator.unwrap_or("none".to_owned())),
            ("accelerator", accelerator.to_owned()),
            ("processor", of.cpu.clone()),
            ("host kernel", of.host_kernel.clone()),
        ]
    }
}

impl<T: Serialize> JournalEntry<T> {
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        line(self)
    }
}

fn line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}

impl<T: DeserializeOwned> Journal<T> {
    /// Reads a journal to resume the run that `now` describes. An empty journal, or one that ends
    /// in its first line, has no header and no cells.
    ///
    /// # Errors
    /// [`JournalError`] when it belongs to another run or a complete line is damaged. Reads at most
    /// [`DOCUMENT_LIMIT_BYTES`].
    pub fn read(reader: impl Read, now: &JournalHeader) -> Result<Journal<T>, JournalError> {
        let bytes = read_bounded(reader, DOCUMENT_LIMIT_BYTES).map_err(JournalError::Read)?;
        let mut journal = Journal {
            header: None,
            finished: BTreeMap::new(),
            valid_bytes: 0,
        };
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let Some(text) = line.strip_suffix(b"\n") else {
                break;
            };
            if index == 0 {
                journal.header = Some(header(text, now)?);
            } else {
                let damaged = |error| JournalError::Line {
                    line: index + 1,
                    error,
                };
                let entry: JournalEntry<T> = decode(text).map_err(damaged)?;
                if let Some(message) = entry.cell.contradiction() {
                    let path = "cell".to_owned();
                    return Err(damaged(DocumentFault::Contradiction { path, message }));
                }
                journal.finished.insert(entry.cell.key.clone(), entry);
            }
            journal.valid_bytes += line.len() as u64;
        }
        let torn = |bytes: &[u8]| bytes.iter().zip(BEGIN).all(|(one, other)| one == other);
        if journal.header.is_none() && !torn(&bytes) {
            // Not a journal: resuming would truncate it to nothing.
            header(&bytes, now)?;
        }
        Ok(journal)
    }
}

fn header(text: &[u8], now: &JournalHeader) -> Result<JournalHeader, JournalError> {
    #[derive(Deserialize)]
    #[serde(expecting = "a JSON object")]
    struct Version {
        journal_version: u32,
    }
    // The version first: another one may have other keys.
    let version: Version = decode(text).map_err(JournalError::NotJournal)?;
    if version.journal_version != JOURNAL_VERSION {
        return Err(JournalError::Version {
            found: version.journal_version,
        });
    }
    let header: JournalHeader = decode(text).map_err(JournalError::NotJournal)?;
    header.check_resume(now)?;
    Ok(header)
}
