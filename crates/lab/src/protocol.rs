// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent's protocol, host side: `docs/protocol.md`.

use std::collections::BTreeMap;

use kernels::bytes::{u32_at, u64_at};
use model::{Denials, Status};
use thiserror::Error;

mod modules;

pub use modules::ModuleSection;

const MAGIC: &[u8; 4] = b"LSMF";
const VERSION: u8 = 1;
/// TASK_COMM_LEN; each invalid UTF-8 byte becomes three.
const NAME_LIMIT_BYTES: usize = 3 * 16;
const HEADER_BYTES: usize = 16;
/// The agent's `REASON_MAX`.
const REASON_LIMIT: usize = 448;
pub const PAYLOAD_LIMIT_BYTES: usize = 64 << 10;
const SAMPLES_LIMIT: u32 = (PAYLOAD_LIMIT_BYTES as u32 - 8) / 16;

const HELLO: u8 = 1;
const CELL_BEGIN: u8 = 2;
const SAMPLES: u8 = 3;
const CELL_END: u8 = 4;
const LOG: u8 = 5;
const DONE: u8 = 6;
const FAILED: u8 = 7;
const MODULES: u8 = 8;
const STEP: u8 = 9;
const ASKED: u8 = 10;
const UNDELAYED: u8 = 11;
const TASKS: u8 = 12;
const DENIED: u8 = 13;
const EXPERIMENT: u8 = 16;
const RUN: u8 = 17;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// What was found, made printable.
    #[error("garbage on the results port: expected a frame, found {0}")]
    Magic(String),
    #[error("the agent speaks protocol version {0}, not {VERSION}")]
    Version(u8),
    #[error("a frame of {0} bytes; at most {PAYLOAD_LIMIT_BYTES} are allowed")]
    Length(u32),
    #[error("a damaged frame of type {0}: wrong checksum")]
    Checksum(u8),
    #[error("a frame of type {kind} with an invalid payload: {what}")]
    Payload { kind: u8, what: &'static str },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Never 0.
    pub operations: u64,
    /// Never 0.
    pub ns: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedTask {
    /// The creator's index in the list; None for the first task.
    pub creator: Option<usize>,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    Hello(BTreeMap<String, String>),
    Modules(Vec<ModuleSection>),
    CellBegin(u32),
    Samples {
        cell: u32,
        samples: Vec<Sample>,
    },
    CellEnd {
        cell: u32,
        status: Status,
        batch: u32,
        disturbed: u16,
        reason: String,
    },
    Log(String),
    Step(String),
    Asked {
        cell: u32,
        /// Each line is `HOOK OBJECT DETAIL`.
        questions: Vec<String>,
    },
    Undelayed(Vec<String>),
    Tasks {
        cell: u32,
        tasks: Vec<NamedTask>,
    },
    Denied {
        cell: u32,
        denials: Denials,
    },
    Done,
    Failed(String),
}

#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
}

/// Text from the agent without terminal control characters.
pub fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| {
            if c.is_control() && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

impl Decoder {
    /// # Errors
    /// [`ProtocolError`] at the first invalid byte; nothing after it can be trusted.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Message>, ProtocolError> {
        self.pending.extend_from_slice(bytes);
        let mut messages = Vec::new();
        let mut at = 0;
        while let Some((kind, payload)) = frame(&self.pending[at..])? {
            messages.push(message(kind, payload)?);
            at += HEADER_BYTES + payload.len();
        }
        self.pending.drain(..at);
        Ok(messages)
    }
}

fn frame(bytes: &[u8]) -> Result<Option<(u8, &[u8])>, ProtocolError> {
    let begin = &bytes[..bytes.len().min(MAGIC.len())];
    if begin != &MAGIC[..begin.len()] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(24)]);
        return Err(ProtocolError::Magic(format!("{shown:?}")));
    }
    if bytes.len() < HEADER_BYTES {
        return Ok(None);
    }
    let (version, kind, length) = (bytes[4], bytes[5], u32_at(bytes, 8));
    if version != VERSION {
        return Err(ProtocolError::Version(version));
    }
    if length as usize > PAYLOAD_LIMIT_BYTES {
        return Err(ProtocolError::Length(length));
    }
    let Some(payload) = bytes[HEADER_BYTES..].get(..length as usize) else {
        return Ok(None);
    };
    let reserved = bytes[6] != 0 || bytes[7] != 0;
    if reserved || checksum(&bytes[4..12], payload) != u32_at(bytes, 12) {
        return Err(ProtocolError::Checksum(kind));
    }
    Ok(Some((kind, payload)))
}

fn checksum(header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}

fn message(kind: u8, payload: &[u8]) -> Result<Message, ProtocolError> {
    let bad = |what| ProtocolError::Payload { kind, what };
    match kind {
        HELLO => Ok(Message::Hello(
            printable(payload)
                .lines()
                .filter_map(|line| line.split_once('='))
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        )),
        MODULES => modules::parse(payload).map(Message::Modules).map_err(bad),
        CELL_BEGIN if payload.len() == 4 => Ok(Message::CellBegin(u32_at(payload, 0))),
        SAMPLES => samples(payload).ok_or(bad("malformed samples")),
        CELL_END if payload.len() >= 20 => Ok(Message::CellEnd {
            cell: u32_at(payload, 0),
            status: match payload[4] {
                0 => Status::Ok,
                1 => Status::Failed,
                2 => Status::Unsupported,
                _ => return Err(bad("an unknown status")),
            },
            batch: u32_at(payload, 16),
            disturbed: u16::from_le_bytes([payload[6], payload[7]]),
            reason: printable(&payload[20..payload.len().min(20 + REASON_LIMIT)]),
        }),
        LOG => Ok(Message::Log(printable(payload))),
        STEP => Ok(Message::Step(printable(payload))),
        ASKED if payload.len() >= 4 => Ok(Message::Asked {
            cell: u32_at(payload, 0),
            questions: printable(&payload[4..])
                .lines()
                .map(str::to_owned)
                .collect(),
        }),
        UNDELAYED => Ok(Message::Undelayed(
            printable(payload)
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        )),
        TASKS if payload.len() >= 4 => Ok(Message::Tasks {
            cell: u32_at(payload, 0),
            tasks: tasks(&printable(&payload[4..])).ok_or(bad("malformed tasks"))?,
        }),
        DENIED if payload.len() >= 8 => Ok(Message::Denied {
            cell: u32_at(payload, 0),
            denials: Denials {
                count: u32_at(payload, 4),
                first: printable(&payload[8..payload.len().min(8 + REASON_LIMIT)]),
            },
        }),
        DONE if payload.is_empty() => Ok(Message::Done),
        FAILED => Ok(Message::Failed(printable(payload))),
        CELL_BEGIN | CELL_END | ASKED | TASKS | DENIED | DONE => {
            Err(bad("the wrong length for its type"))
        }
        _ => Err(bad("an unknown type")),
    }
}

fn samples(payload: &[u8]) -> Option<Message> {
    if payload.len() < 8 {
        return None;
    }
    let (cell, count) = (u32_at(payload, 0), u32_at(payload, 4));
    if count > SAMPLES_LIMIT || payload.len() != 8 + 16 * count as usize {
        return None;
    }
    let samples: Vec<Sample> = payload[8..]
        .chunks_exact(16)
        .map(|pair| Sample {
            operations: u64_at(pair, 0),
            ns: u64_at(pair, 8),
        })
        .collect();
    let sane = samples
        .iter()
        .all(|sample| sample.operations > 0 && sample.ns > 0);
    sane.then_some(Message::Samples { cell, samples })
}

/// Lines of `CREATOR NAME`; each creator precedes its task.
fn tasks(text: &str) -> Option<Vec<NamedTask>> {
    let task = |(at, line): (usize, &str)| {
        let (creator, name) = line.split_once(' ')?;
        let creator = creator.parse().ok()?;
        let known = if at == 0 {
            creator == 0
        } else {
            (1..=at).contains(&creator)
        };
        (known && name.len() <= NAME_LIMIT_BYTES).then(|| NamedTask {
            creator: creator.checked_sub(1),
            name: name.to_owned(),
        })
    };
    text.lines().enumerate().map(task).collect()
}

fn encode(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![VERSION, kind, 0, 0];
    header.extend((payload.len() as u32).to_le_bytes());
    let checksum = checksum(&header, payload);
    [MAGIC, header.as_slice(), &checksum.to_le_bytes(), payload].concat()
}

/// Frames with an agent's directives, in whole lines, and the frame that starts the agent.
pub fn encode_experiment(directives: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut payload = String::new();
    for line in directives.lines() {
        if payload.len() + line.len() + 1 > PAYLOAD_LIMIT_BYTES {
            bytes.extend(encode(EXPERIMENT, payload.as_bytes()));
            payload.clear();
        }
        payload.push_str(line);
        payload.push('\n');
    }
    bytes.extend(encode(EXPERIMENT, payload.as_bytes()));
    bytes.extend(encode(RUN, &[]));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end_payload(status: u8, reason: &str) -> Vec<u8> {
        let mut payload = 7u32.to_le_bytes().to_vec();
        payload.extend([status, 0, 2, 1]);
        payload.extend(64u64.to_le_bytes());
        payload.extend(1u32.to_le_bytes());
        payload.extend(reason.bytes());
        payload
    }

    #[test]
    fn a_cell_end_reads_back() {
        let bytes = encode(CELL_END, &end_payload(2, "no xattrs\u{1b}[31m"));
        let messages = Decoder::default().push(&bytes).unwrap();
        let Message::CellEnd {
            cell: 7,
            status: Status::Unsupported,
            disturbed: 258,
            reason,
            ..
        } = &messages[0]
        else {
            panic!("{messages:?}");
        };
        assert_eq!(reason, "no xattrs\u{fffd}[31m");
    }

    #[test]
    fn samples_of_no_time_are_refused() {
        let mut payload = [1u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
        payload.extend([0; 16]);
        assert!(Decoder::default().push(&encode(SAMPLES, &payload)).is_err());
    }

    #[test]
    fn tasks_have_a_creator_before_them() {
        let told = |text: &str| {
            let payload = [&7u32.to_le_bytes(), text.as_bytes()].concat();
            Decoder::default().push(&encode(TASKS, &payload))
        };
        let messages = told("0 sh\n1 a b\n2 \u{1b}\n").unwrap();
        let Message::Tasks { cell: 7, tasks } = &messages[0] else {
            panic!("{messages:?}");
        };
        let tasks: Vec<_> = tasks.iter().map(|of| (of.creator, &*of.name)).collect();
        assert_eq!(
            tasks,
            [(None, "sh"), (Some(0), "a b"), (Some(1), "\u{fffd}")]
        );
        for wrong in [
            "1 sh\n",
            "0 sh\n2 a\n",
            "0 sh\n0 a\n",
            "0\n",
            "0 a name that is much too long for a task of the kernel\n",
        ] {
            assert!(told(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_flipped_bit_never_passes(bit in 0usize..(16 + 22) * 8) {
            let mut bytes = encode(CELL_END, &end_payload(0, "ok"));
            bytes[bit / 8] ^= 1 << (bit % 8);
            let longer = bit / 8 >= 8 && bit / 8 < 12;
            let refused = match Decoder::default().push(&bytes) {
                Err(_) => true,
                Ok(messages) => longer && messages.is_empty(),
            };
            prop_assert!(refused);
        }

        #[test]
        fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = Decoder::default().push(&[MAGIC.as_slice(), &bytes].concat());
            let _ = Decoder::default().push(&encode(SAMPLES, &bytes));
            let _ = Decoder::default().push(&encode(CELL_END, &bytes));
            let _ = Decoder::default().push(&encode(MODULES, &bytes));
            let _ = Decoder::default().push(&encode(TASKS, &bytes));
        }

        #[test]
        fn long_experiments_keep_whole_lines(n in 0usize..4000) {
            let text = (0..n).map(|i| format!("cell {i} open AA time samples=300\n")).collect::<String>();
            let bytes = encode_experiment(&text);
            let mut at = 0;
            let mut joined = String::new();
            while let Some((kind, payload)) = frame(&bytes[at..]).unwrap() {
                if kind == EXPERIMENT {
                    joined.push_str(std::str::from_utf8(payload).unwrap());
                }
                at += HEADER_BYTES + payload.len();
                if at == bytes.len() { break; }
            }
            prop_assert_eq!(joined, text);
        }
    }
}
