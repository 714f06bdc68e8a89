// SPDX-License-Identifier: GPL-2.0-or-later
//! The plugin's records, read as cells end: what was counted, and what was called.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use counts::counts::{Counts, by_operation, count};
use counts::profile::{CellProfile, Profiler};
use counts::program::ProgramReader;
use counts::records::{CellRecords, RecordReader};
use model::Program;

use crate::programs::ProgramRuns;
use crate::protocol::{NamedTask, Sample};

/// What the plugin recorded of a cell.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub counts: Counts,
    /// In which functions and hooks, if that was asked for.
    pub profile: Option<CellProfile>,
    /// Of a whole program: all that it executed.
    pub program: Option<Program>,
    /// Of a sweep: each operation's instructions, None where something else ran in it.
    pub operations: Option<Vec<Option<u64>>>,
}

/// The records of one boot.
#[derive(Debug)]
pub struct RecordTail {
    path: PathBuf,
    file: Option<File>,
    reader: RecordReader,
    ready: VecDeque<CellRecords>,
    next: u32,
    entry: Option<u64>,
}

impl RecordTail {
    /// The records that QEMU will write to `path`, of a kernel whose system calls enter
    /// at `entry`.
    pub fn new(path: &Path, entry: Option<u64>) -> RecordTail {
        RecordTail {
            path: path.to_path_buf(),
            file: None,
            reader: RecordReader::default(),
            ready: VecDeque::new(),
            next: 0,
            entry,
        }
    }

    fn fill(&mut self) -> Result<(), String> {
        let unreadable = |error: std::io::Error| format!("the plugin's records: {error}");
        if self.file.is_none() {
            self.file = Some(File::open(&self.path).map_err(unreadable)?);
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut buffer = vec![0; 256 << 10];
        loop {
            let n = file.read(&mut buffer).map_err(unreadable)?;
            if n == 0 {
                return Ok(());
            }
            let cells = self
                .reader
                .push(&buffer[..n])
                .map_err(|error| error.to_string())?;
            self.ready.extend(cells);
        }
    }

    fn next_records(&mut self) -> Result<CellRecords, String> {
        self.fill()?;
        let expected = self.next;
        self.next += 1;
        let Some(cell) = self.ready.pop_front() else {
            return Err("the plugin recorded nothing of this cell".to_owned());
        };
        if cell.number != expected {
            return Err(format!(
                "the plugin's records are of cell {}, not {expected}: markers are missing",
                cell.number
            ));
        }
        if let Some(entry) = self.entry
            && cell.entry != 0
            && cell.entry != entry
        {
            return Err(format!(
                "system calls enter at {:#x}, not at {entry:#x}: the kernel's symbols do not \
                 fit, so interrupts cannot be told apart",
                cell.entry
            ));
        }
        Ok(cell)
    }

    /// The next cell's. The plugin wrote its records before the agent could say that it
    /// ended. In a sweep, operations of these `kinds` take turns.
    pub fn next_cell(
        &mut self,
        profiler: Option<&mut Profiler<'_>>,
        kinds: Option<&[usize]>,
    ) -> Result<Box<Recorded>, String> {
        let cell = self.next_records()?;
        let counts = count(&cell).map_err(|error| error.to_string())?;
        let profile = profiler.map(|of| {
            (
                of.optional,
                CellProfile::of(&cell, self.reader.blocks(), of),
            )
        });
        let profile = match profile {
            Some((true, profile)) => profile.ok(),
            profile => { profile.map(|(_, profile)| profile).transpose() }
                .map_err(|error| error.to_string())?,
        };
        let operations = kinds
            .map(|kinds| by_operation(&cell, kinds))
            .transpose()
            .map_err(|error| error.to_string())?;
        Ok(Box::new(Recorded {
            counts,
            profile,
            program: None,
            operations,
        }))
    }

    /// The next cell's, which is of a program's runs, with the agent's samples of them and its
    /// names of tasks.
    pub fn next_program(
        &mut self,
        reader: &ProgramReader<'_>,
        samples: &[Sample],
        tasks: &[NamedTask],
    ) -> Result<Box<Recorded>, String> {
        let cell = self.next_records()?;
        let costs = cell.programs.iter().map(|calls| reader.read(calls));
        let costs = costs.collect::<Result<_, _>>();
        let runs = ProgramRuns::new(costs.map_err(|error| error.to_string())?, samples)?;
        Ok(Box::new(Recorded {
            counts: runs.counts(),
            profile: Some(runs.profile(reader.keep_trees)),
            program: Some(runs.program(tasks)),
            operations: None,
        }))
    }
}
