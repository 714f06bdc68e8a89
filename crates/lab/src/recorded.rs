// SPDX-License-Identifier: GPL-2.0-or-later
//! Evaluates the plugin's records of a measurement.

use counts::counts::{Counts, by_operation, count};
use counts::profile::{CellProfile, Profiler};
use counts::program::ProgramReader;
use counts::records::{CellRecords, RecordReader};
use model::{Denials, Program};

use crate::programs::ProgramRuns;
use crate::protocol::{NamedTask, Sample};

#[derive(Debug, Clone)]
pub struct Recorded {
    pub counts: Counts,
    pub profile: Option<CellProfile>,
    pub program: Option<Program>,
    /// In a sweep: the instructions of each operation; None if it was interrupted.
    pub operations: Option<Vec<Option<u64>>>,
}

/// The plugin's output for one measurement. `entry`: the kernel's system call entry.
pub(crate) struct Records {
    cell: CellRecords,
    reader: RecordReader,
}

impl Records {
    pub fn read(records: &[u8], entry: Option<u64>) -> Result<Records, String> {
        let mut reader = RecordReader::default();
        let cells = reader.push(records).map_err(|error| error.to_string())?;
        let Some(cell) = cells.into_iter().next() else {
            return Err("the plugin recorded nothing for this measurement".to_owned());
        };
        if let Some(entry) = entry
            && cell.entry != 0
            && cell.entry != entry
        {
            return Err(format!(
                "system calls enter at {:#x}, not at {entry:#x}: the symbols do not match the \
                 kernel, so interrupts cannot be recognised",
                cell.entry
            ));
        }
        Ok(Records { cell, reader })
    }

    /// `kinds`: the points of a sweep, through which operations rotate.
    pub fn of_operations(
        &self,
        profiler: Option<&mut Profiler<'_>>,
        kinds: Option<&[usize]>,
    ) -> Result<Box<Recorded>, String> {
        let cell = &self.cell;
        let counts = count(cell).map_err(|error| error.to_string())?;
        let is_optional = profiler.as_ref().is_some_and(|of| of.optional);
        let profile = profiler.map(|of| CellProfile::new(cell, self.reader.blocks(), of));
        let profile = match profile.transpose() {
            Err(_) if is_optional => None,
            profile => profile.map_err(|error| error.to_string())?,
        };
        let operations = kinds
            .map(|kinds| by_operation(cell, kinds))
            .transpose()
            .map_err(|error| error.to_string())?;
        Ok(Box::new(Recorded {
            counts,
            profile,
            program: None,
            operations,
        }))
    }

    /// For a program's runs. `samples` and `tasks` come from the agent.
    pub fn of_program(
        &self,
        reader: &ProgramReader<'_>,
        samples: &[Sample],
        tasks: &[NamedTask],
        denials: Option<Denials>,
    ) -> Result<Box<Recorded>, String> {
        let costs = self.cell.programs.iter().map(|calls| reader.read(calls));
        let costs = costs.collect::<Result<_, _>>();
        let runs = ProgramRuns::new(costs.map_err(|error| error.to_string())?, samples)?;
        Ok(Box::new(Recorded {
            counts: runs.counts(),
            profile: Some(runs.profile(reader.keep_trees)),
            program: Some(runs.program(tasks, denials)),
            operations: None,
        }))
    }
}
