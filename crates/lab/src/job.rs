// SPDX-License-Identifier: GPL-2.0-or-later
//! A measurement's job as data, so that it need not be compiled into the agent's catalogue.

use model::Metric;

use crate::catalogue::{Benchmark, Measures};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// The same name as in keys of measurements, without blanks and `:`.
    pub benchmark: String,
    pub variant: String,
    /// The words of a `cell` directive before the metric (docs/protocol.md), without a line break.
    pub directive: String,
    pub program: Option<String>,
    pub cold: bool,
    pub measures: Measures,
    pub memory: bool,
    /// System calls in the measured region, in order, by the kernel's names.
    pub syscalls: Vec<String>,
    pub class: String,
    /// Required number of counted operations; `None` lets the experiment decide.
    pub repetitions: Option<u32>,
}

impl Job {
    pub fn id(&self) -> String {
        format!("{}:{}", self.benchmark, self.variant)
    }

    pub(crate) fn is_measured_by(&self, metric: Metric) -> bool {
        match metric {
            // Benchmarks that only have a throughput in the paper are counted too.
            metric if metric.is_recorded() => !self.memory,
            Metric::Memory => self.memory,
            Metric::Time => self.measures.latency,
            Metric::Throughput => self.measures.throughput,
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
            measures: benchmark.measures,
            syscalls: benchmark.syscalls.clone(),
            class: benchmark.class.clone(),
            repetitions: benchmark.repetitions,
            ..Job::default()
        }
    }
}
