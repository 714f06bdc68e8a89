// SPDX-License-Identifier: GPL-2.0-or-later

use kernels::bytes::{u32_at, u64_at};
use thiserror::Error;

use crate::calls::{Call, MAX_CALLS, MAX_TASKS, ProgramCalls, Task};
use crate::counts::PathKey;
use crate::trace::{Block, BlockEnd, MAX_BLOCKS, MAX_ELEMENTS, Note, Trace};
use crate::words::{MAX_WORDS, Word};

/// Per measurement; the tree walk has about 59,000 in each of nine repetitions.
pub const MAX_WINDOWS: usize = 2 << 20;

const HEADER_BYTES: usize = 16;
const RECORD_BYTES: usize = 32;
const VERSION: u32 = 5;

const CELL_BEGIN: u8 = 1;
const WINDOW: u8 = 2;
const OP_BEGIN: u8 = 3;
const OP_END: u8 = 4;
const CELL_END: u8 = 5;
const BLOCK: u8 = 6;
const TRACE: u8 = 7;
const TASK: u8 = 8;
const CALLS: u8 = 9;
const TASKS_END: u8 = 10;
const NOTES: u8 = 11;
const WORD: u8 = 12;

const EXCEPTION: u8 = 0x80;

/// `NOTES_A_RECORD` and `NOTES_MAX` in `plugin/events.c`.
const MAX_NOTES_A_RECORD: usize = 6;
const MAX_NOTES: usize = 255;

const INTERRUPTED: u8 = 1;
const SWITCHED: u8 = 2;
const ALL_TASKS: u8 = 4;
const UNARMED: u8 = 8;
const TRANSFERS: u8 = 16;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum RecordError {
    #[error("the plugin's records do not start with a header of version {VERSION}")]
    Header,
    #[error("record {index} in the plugin's file has unknown kind {kind}")]
    Kind {
        /// Position in the file, from 0.
        index: u64,
        kind: u8,
    },
    /// Markers in an order that no agent executes.
    #[error("record {index} in the plugin's file is out of order: {what}")]
    Order {
        /// Position in the file, from 0.
        index: u64,
        what: &'static str,
    },
    #[error("more than {MAX_WINDOWS} regions in one measurement")]
    TooManyWindows,
    #[error("more blocks, words or longer traces than the plugin writes")]
    TooLong,
}

/// From a begin marker to an end marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub instructions: u64,
    pub rep_iterations: u64,
    /// Lines transferred, if `instructions` are transfers of words.
    pub lines: Option<u64>,
    /// Hash of the calls and returns in it; comparable within one boot only.
    pub path: u64,
    pub clean: bool,
    /// Whether no other task ran in the region. Interrupts may have occurred, but their work is not
    /// counted. If all tasks are counted, whether no interrupt occurred; other tasks may have run
    /// after one.
    pub alone: bool,
}

impl Window {
    fn from_record(record: &[u8]) -> Window {
        let is = |flag| record[1] & flag != 0;
        let switched = is(SWITCHED) && !is(ALL_TASKS);
        let others = switched || (is(INTERRUPTED) && is(ALL_TASKS));
        let alone = !is(UNARMED) && !others;
        Window {
            instructions: u64_at(record, 8),
            rep_iterations: if is(TRANSFERS) { 0 } else { u64_at(record, 16) },
            lines: is(TRANSFERS).then(|| u64_at(record, 16)),
            path: u64_at(record, 24),
            clean: alone && !is(INTERRUPTED),
            alone,
        }
    }

    pub fn key(&self) -> PathKey {
        (self.instructions, self.rep_iterations, self.path)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CellRecords {
    /// Among the experiment's instruction measurements, from 0.
    pub number: u32,
    pub regions: Vec<Window>,
    /// For a composite operation, the index in `regions` at which each operation starts.
    pub operations: Vec<usize>,
    /// The first clean region's trace for each path, if traces are kept and paths are not too many.
    pub traces: Vec<Trace>,
    /// What transfers in the traces name by number.
    pub words: Vec<Word>,
    /// One per region of a program.
    pub programs: Vec<ProgramCalls>,
    /// Address of the last system call entry; 0 if none.
    pub entry: u64,
}

#[derive(Debug, Default)]
pub struct RecordReader {
    pending: Vec<u8>,
    begun: bool,
    cell: Option<CellRecords>,
    blocks: Vec<Block>,
    /// The trace of the next region, and the number of elements that it still misses.
    trace: Option<(Vec<u32>, usize)>,
    elements: usize,
    index: u64,
    program: ProgramCalls,
    calls: usize,
}

impl RecordReader {
    /// Blocks by number.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the measurements that these bytes complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<CellRecords>, RecordError> {
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        let mut done = Vec::new();

        if !self.begun {
            let Some((header, after)) = rest.split_at_checked(HEADER_BYTES) else {
                self.pending = pending;
                return Ok(done);
            };
            if &header[..4] != b"LSMI" || u32_at(header, 4) != VERSION {
                return Err(RecordError::Header);
            }
            self.begun = true;
            rest = after;
        }
        while let Some((record, after)) = rest.split_at_checked(RECORD_BYTES) {
            done.extend(self.record(record)?);
            self.index += 1;
            rest = after;
        }
        self.pending = rest.to_vec();
        Ok(done)
    }

    fn block(&mut self, record: &[u8]) -> Result<(), RecordError> {
        let instructions = u32::try_from(u64_at(record, 24)).map_err(|_| RecordError::TooLong)?;
        if self.blocks.len() == MAX_BLOCKS {
            return Err(RecordError::TooLong);
        }
        if u32_at(record, 4) as usize != self.blocks.len() {
            return Err(self.out_of_order("a block with an unexpected number"));
        }
        self.blocks.push(Block {
            first: u64_at(record, 8),
            next: u64_at(record, 16),
            instructions,
            end: BlockEnd::from_kind(record[1] & !EXCEPTION),
            exception: record[1] & EXCEPTION != 0,
            notes: Vec::new(),
        });
        Ok(())
    }

    fn notes(&mut self, record: &[u8]) -> Result<(), RecordError> {
        let known = self.blocks.len().checked_sub(1);
        if known != Some(u32_at(record, 4) as usize) {
            return Err(self.out_of_order("notes of a block that is not the last one"));
        }
        let count = usize::from(record[1]).min(MAX_NOTES_A_RECORD);
        let notes = (0..count).map(|at| {
            let note = u32_at(record, 8 + 4 * at);
            Note::new(note as u16, (note >> 16) as u16)
        });
        if let Some(block) = self.blocks.last_mut() {
            if block.notes.len() > MAX_NOTES {
                return Err(RecordError::TooLong);
            }
            block.notes.extend(notes);
        }
        Ok(())
    }

    fn program(&mut self, record: &[u8]) -> Result<(), RecordError> {
        match record[0] {
            TASK if self.program.tasks.len() == MAX_TASKS => return Err(RecordError::TooLong),
            TASK => self.program.tasks.push(Task {
                number: u32_at(record, 4),
                creator: u64_at(record, 8) as u32,
                serial: u64_at(record, 24),
            }),
            CALLS => {
                if self.calls == MAX_CALLS {
                    return Err(RecordError::TooLong);
                }
                self.calls += 1;
                let call = Call::from_record(record, self.program.calls.len());
                let call = call.ok_or_else(|| self.out_of_order("a call before its caller"))?;
                self.program.calls.push(call);
            }
            _ => {
                let mut program = std::mem::take(&mut self.program);
                program.repeats = u64_at(record, 8);
                program.complete = record[1] == 0;
                if let Some(cell) = &mut self.cell {
                    cell.programs.push(program);
                }
            }
        }
        Ok(())
    }

    fn out_of_order(&self, what: &'static str) -> RecordError {
        RecordError::Order {
            index: self.index,
            what,
        }
    }

    fn record(&mut self, record: &[u8]) -> Result<Option<CellRecords>, RecordError> {
        if let Some((elements, missing)) = self.trace.as_mut().filter(|(_, missing)| *missing > 0) {
            let words = record.len() / 4;
            let given = words.min(*missing);
            elements.extend((0..given).map(|word| u32_at(record, 4 * word)));
            *missing -= given;
            return Ok(None);
        }
        let (kind, number) = (record[0], u32_at(record, 4));
        if kind == BLOCK {
            self.block(record)?;
            return Ok(None);
        }
        if kind == NOTES {
            self.notes(record)?;
            return Ok(None);
        }
        if kind == CELL_BEGIN {
            self.elements = 0;
            self.trace = None;
            self.calls = 0;
            self.program = ProgramCalls::default();
            self.cell = Some(CellRecords {
                number,
                ..CellRecords::default()
            });
            return Ok(None);
        }
        if kind == TRACE && self.cell.is_some() {
            let length = usize::try_from(u64_at(record, 8)).unwrap_or(usize::MAX);
            if length > MAX_ELEMENTS - self.elements {
                return Err(RecordError::TooLong);
            }
            self.elements += length;
            self.trace = Some((Vec::new(), length));
            return Ok(None);
        }
        if (TASK..=TASKS_END).contains(&kind) && self.cell.is_some() {
            self.program(record)?;
            return Ok(None);
        }
        if !(WINDOW..=CELL_END).contains(&kind) && kind != WORD {
            return Err(RecordError::Kind {
                index: self.index,
                kind,
            });
        }
        let Some(cell) = &mut self.cell else {
            return Err(self.out_of_order("a region outside a measurement"));
        };
        match kind {
            WORD => {
                if cell.words.len() == MAX_WORDS {
                    return Err(RecordError::TooLong);
                }
                cell.words.push(Word::from_record(record));
            }
            WINDOW => {
                if cell.regions.len() == MAX_WINDOWS {
                    return Err(RecordError::TooManyWindows);
                }
                if let Some((elements, _)) = self.trace.take() {
                    cell.traces.push(Trace {
                        window: cell.regions.len(),
                        elements,
                    });
                }
                cell.regions.push(Window::from_record(record));
            }
            OP_BEGIN => {
                if cell.operations.len() == MAX_WINDOWS {
                    return Err(RecordError::TooManyWindows);
                }
                cell.operations.push(cell.regions.len());
            }
            OP_END => {
                if cell.operations.is_empty() {
                    return Err(self.out_of_order("the end of an operation that did not begin"));
                }
            }
            _ => {
                cell.entry = u64_at(record, 8);
                return Ok(self.cell.take());
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> Vec<u8> {
        let mut bytes = b"LSMI".to_vec();
        for word in [VERSION, 7, 1] {
            bytes.extend(word.to_le_bytes());
        }
        bytes
    }

    fn record(kind: u8, flags: u8, number: u32, values: [u64; 3]) -> Vec<u8> {
        let mut bytes = vec![kind, flags, 0, 0];
        bytes.extend(number.to_le_bytes());
        for value in values {
            bytes.extend(value.to_le_bytes());
        }
        bytes
    }

    fn one_cell() -> Vec<u8> {
        [
            header(),
            record(CELL_BEGIN, 0, 0, [0; 3]),
            record(WINDOW, 0, 0, [100, 7, 1]),
            record(WINDOW, INTERRUPTED, 1, [130, 7, 2]),
            record(WINDOW, SWITCHED, 2, [130, 7, 2]),
            record(WINDOW, SWITCHED | ALL_TASKS, 3, [140, 7, 2]),
            record(CELL_END, 0, 4, [0xffff_ffff_8200_0000, 0, 0]),
        ]
        .concat()
    }

    #[test]
    fn windows_are_clean_unless_something_else_ran() {
        let cells = RecordReader::default().push(&one_cell()).unwrap();
        let clean: Vec<bool> = cells[0].regions.iter().map(|window| window.clean).collect();
        assert_eq!(clean, [true, false, false, true]);
        assert_eq!(cells[0].entry, 0xffff_ffff_8200_0000);
    }

    #[test]
    fn a_trace_belongs_to_the_window_after_it() {
        let payload: Vec<u8> = (1u32..=8).flat_map(u32::to_le_bytes).collect();
        let padding: Vec<u8> = [9u32, 0, 0, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let bytes = [
            header(),
            record(CELL_BEGIN, 0, 0, [0; 3]),
            record(WINDOW, 0, 0, [100, 7, 1]),
            record(BLOCK, 3 | EXCEPTION, 0, [0x1000, 0x1010, 5]),
            record(NOTES, 1, 0, [8 << 16 | 4, 0, 0]),
            record(TRACE, 0, 1, [9, 0, 0]),
            payload,
            padding,
            record(WINDOW, 0, 1, [101, 7, 1]),
            record(CELL_END, 0, 2, [0; 3]),
        ]
        .concat();
        let mut reader = RecordReader::default();
        let cells = reader.push(&bytes).unwrap();
        let trace = Trace {
            window: 1,
            elements: (1..=9).collect(),
        };
        assert_eq!(cells[0].traces, [trace]);
        let block = Block {
            first: 0x1000,
            next: 0x1010,
            instructions: 5,
            end: BlockEnd::Call,
            exception: true,
            notes: vec![Note::new(4, 8)],
        };
        assert_eq!(reader.blocks(), [block]);
    }

    #[test]
    fn what_the_plugin_does_not_write_is_refused() {
        let read = |bytes: &[u8]| RecordReader::default().push(bytes);
        assert_eq!(read(&[0; 64]), Err(RecordError::Header));
        let outside = read(&[header(), record(WINDOW, 0, 0, [1, 0, 0])].concat());
        assert!(matches!(outside, Err(RecordError::Order { index: 0, .. })));
        let endless = [
            header(),
            record(CELL_BEGIN, 0, 0, [0; 3]),
            record(TRACE, 0, 0, [u64::MAX, 0, 0]),
        ];
        assert_eq!(read(&endless.concat()), Err(RecordError::TooLong));
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same(cut in 0usize..200) {
            let bytes = one_cell();
            let cut = cut.min(bytes.len());
            let mut reader = RecordReader::default();
            let mut cells = reader.push(&bytes[..cut]).unwrap();
            cells.extend(reader.push(&bytes[cut..]).unwrap());
            prop_assert_eq!(cells, RecordReader::default().push(&bytes).unwrap());
        }

        #[test]
        fn records_in_any_order_never_panic(
            records in proptest::collection::vec(
                (0u8..13, any::<u8>(), 0u32..4, proptest::array::uniform3(0u64..40)),
                0..200,
            ),
        ) {
            let mut bytes = header();
            for (kind, flags, number, values) in records {
                bytes.extend(record(kind, flags, number, values));
            }
            let mut reader = RecordReader::default();
            if let Ok(cells) = reader.push(&bytes) {
                let traced = cells.iter().flat_map(|cell| &cell.traces);
                let elements: usize = traced.map(|trace| trace.elements.len()).sum();
                prop_assert!(elements <= bytes.len() / 4);
            }
        }
    }
}
