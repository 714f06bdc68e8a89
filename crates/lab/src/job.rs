// SPDX-License-Identifier: GPL-2.0-or-later
//! What a cell runs, as data: nothing of it need be compiled into the agent's catalogue.

use model::Metric;

use crate::catalogue::{Benchmark, Measures};

/// What is run in a cell, and what planning and telling of it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// As keys of cells name it; holds no blank and no `:`.
    pub benchmark: String,
    /// Its variant; holds no blank and no `:`.
    pub variant: String,
    /// What tells the agent to run it: the words of a `cell` directive before the metric
    /// (docs/protocol.md), without a line break.
    pub directive: String,
    /// Directives that say what it is, if the agent was not compiled with it.
    pub program: Option<String>,
    /// Dentries and inodes are dropped before each operation.
    pub cold: bool,
    /// Which metrics make sense.
    pub measures: Measures,
    /// It is about what the kernel holds, and about nothing else.
    pub memory: bool,
    /// What it leaves behind makes others dearer: it is measured behind them.
    pub last: bool,
    /// System calls in the measured window, in order, as the kernel names them.
    pub syscalls: Vec<String>,
    /// Class of file access, or of what else it is.
    pub class: String,
    /// Counted operations that it insists on; `None` leaves it to the experiment.
    pub repetitions: Option<u32>,
}

impl Job {
    /// `benchmark:variant`, as users write it.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}:{}", self.benchmark, self.variant)
    }

    pub(crate) fn is_measured_by(&self, metric: Metric) -> bool {
        match metric {
            // What only has a throughput in the paper still has a count.
            Metric::Instructions => !self.memory,
            Metric::Memory => self.memory,
            Metric::Time => self.measures.latency,
            Metric::Throughput => self.measures.throughput,
            // What other instruments measure.
            _ => false,
        }
    }
}

impl From<&Benchmark> for Job {
    fn from(benchmark: &Benchmark) -> Job {
        Job {
            benchmark: benchmark.name.clone(),
            variant: benchmark.variant.clone(),
            directive: format!("{} {}", benchmark.name, benchmark.variant),
            program: None,
            cold: false,
            measures: benchmark.measures,
            memory: false,
            last: benchmark.last,
            syscalls: benchmark.syscalls.clone(),
            class: benchmark.class.clone(),
            repetitions: benchmark.repetitions,
        }
    }
}
