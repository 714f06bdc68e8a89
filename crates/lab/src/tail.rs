// SPDX-License-Identifier: GPL-2.0-or-later
//! Reads the plugin's records at each cell's end.

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

#[derive(Debug, Clone)]
pub struct Recorded {
    pub counts: Counts,
    pub profile: Option<CellProfile>,
    pub program: Option<Program>,
    /// In a sweep: each operation's instructions, None if it was interrupted.
    pub operations: Option<Vec<Option<u64>>>,
}

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
    /// `path`: QEMU's output file; `entry`: the kernel's system call entry.
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

    /// The plugin writes a cell's records before the agent reports its end. `kinds`: a sweep's
    /// points, which operations rotate through.
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

    /// A cell of a program's runs. `samples` and `tasks` come from the agent.
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
