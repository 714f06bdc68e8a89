// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes visits from an experiment: its measurements, and the boots for them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use model::{Experiment, Key, Metric, Place, SelectError, Subject, layout};

use kernels::arch::Arch;

use crate::catalogue::{Benchmark, catalogue_of};
pub use crate::job::Job;
use crate::memory;
use crate::programs;
use crate::setup::Ground;
use crate::sweep::Sweep;

mod shard;

#[derive(Debug, Clone)]
pub struct PlannedCell {
    pub key: Key,
    pub job: Arc<Job>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    pub kernel: usize,
    pub configuration: usize,
    /// Counted from 0. Each round of timed measurements visits all configurations.
    pub round: u32,
    pub timed: bool,
    /// Indices into [`Plan::cells`].
    pub cells: Vec<usize>,
}

#[derive(Debug, Clone)]
pub struct Plan {
    pub cells: Vec<PlannedCell>,
    /// Visits that count, then timed visits, round by round (A B A B …).
    pub visits: Vec<Visit>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Treatment<'a> {
    pub sweep: Option<&'a Sweep>,
    /// Drop the kernel's dentries and inodes before each counted operation.
    pub cold: bool,
    pub ask: bool,
}

/// The file system of measurements on the host, where it depends on the directory.
pub const HOST_FILESYSTEM: &str = "host";

impl Plan {
    pub fn new(experiment: &Experiment) -> Result<Plan, SelectError> {
        Plan::on(experiment, &[])
    }

    /// `grounds` has one entry per kernel, in order; it is empty for this machine. Their agents may
    /// have different benchmarks. If anything is counted, only UML kernels are timed.
    pub fn on(experiment: &Experiment, grounds: &[Ground]) -> Result<Plan, SelectError> {
        let architectures: Vec<&Arch> = grounds.iter().map(|ground| ground.arch).collect();
        let first = architectures
            .first()
            .copied()
            .unwrap_or(kernels::arch::native());
        let one = architectures.windows(2).all(|two| two[0] == two[1]);
        let is_memory = experiment.metrics.contains(&Metric::Memory);
        if one || is_memory || experiment.programs.is_some() {
            let jobs = jobs(experiment, first)?.into_iter().map(Arc::new);
            let jobs = vec![jobs.collect(); experiment.kernels.len()];
            return Plan::of_each(experiment, grounds, &jobs);
        }
        // Benchmarks that one agent does not have are measured on the others.
        let mut known: Vec<&Benchmark> = catalogue_of(first).iter().collect();
        for benchmark in architectures[1..]
            .iter()
            .flat_map(|arch| catalogue_of(arch))
        {
            if !known.iter().any(|other| other.id() == benchmark.id()) {
                known.push(benchmark);
            }
        }
        known.sort_by_key(|benchmark| (benchmark.suite, benchmark.number));
        let choices = known.iter().map(|benchmark| benchmark.choice());
        let chosen = experiment.selection.choose(choices)?.into_iter();
        let chosen: BTreeSet<String> = chosen.map(|index| known[index].id()).collect();
        let jobs = architectures.iter().map(|arch| {
            let own = catalogue_of(arch).iter();
            let own = own.filter(|benchmark| chosen.contains(&benchmark.id()));
            own.map(|benchmark| Arc::new(Job::from(benchmark)))
                .collect()
        });
        Plan::of_each(experiment, grounds, &jobs.collect::<Vec<_>>())
    }

    fn of_each(
        experiment: &Experiment,
        grounds: &[Ground],
        each: &[Vec<Arc<Job>>],
    ) -> Result<Plan, SelectError> {
        let filesystem = match (experiment.place, experiment.filesystem) {
            (Place::Lab | Place::Um, Some(filesystem)) => filesystem.as_str(),
            _ => HOST_FILESYSTEM,
        };
        let only_counts = leaves_time_to_processes(experiment, grounds.iter().copied());
        let is_measured = |kernel: usize, metric: Metric| match grounds.get(kernel) {
            Some(ground) if ground.is_process => metric.is_timed(),
            _ => !only_counts || metric.is_counted(),
        };
        let mut cells = Vec::new();
        let mut counting = Vec::new();
        let mut timed = Vec::new();
        for ((kernel, kernel_name), jobs) in experiment.kernels.iter().enumerate().zip(each) {
            let configurations = experiment.configurations.iter().enumerate();
            for (number, configuration) in configurations.filter(|(_, c)| c.is_on(kernel_name)) {
                let visit = |timed, cells| Visit {
                    kernel,
                    configuration: number,
                    round: 0,
                    timed,
                    cells,
                };
                let mut add = |metric: Metric| -> Vec<usize> {
                    let measured = jobs.iter().filter(|job| job.is_measured_by(metric));
                    let first = cells.len();
                    cells.extend(measured.map(|job| PlannedCell {
                        key: Key::new(
                            kernel_name,
                            configuration,
                            filesystem,
                            subject(experiment, job),
                            metric,
                        ),
                        job: job.clone(),
                    }));
                    (first..cells.len()).collect()
                };
                let metrics = experiment.metrics.iter();
                let (counted, clocked): (Vec<Metric>, Vec<Metric>) = metrics
                    .filter(|metric| is_measured(kernel, **metric))
                    .partition(|metric| metric.is_counted());
                let counted: Vec<usize> = counted.into_iter().flat_map(&mut add).collect();
                let clocked: Vec<usize> = clocked.into_iter().flat_map(&mut add).collect();
                counting.push(visit(false, counted));
                timed.push(visit(true, clocked));
            }
        }
        // Layouts with the same number run one after the other, because they are compared.
        let number =
            |visit: &Visit| layout(&experiment.kernels[visit.kernel]).map(|(_, number)| number);
        timed.sort_by_key(number);
        let rounds = (0..experiment.rounds).flat_map(|round| {
            timed.iter().map(move |visit| Visit {
                round,
                ..visit.clone()
            })
        });
        let visits = counting.iter().cloned().chain(rounds);
        let visits = visits.filter(|visit| !visit.cells.is_empty()).collect();
        if cells.is_empty() {
            return Err(SelectError::Nothing);
        }
        Ok(Plan { cells, visits })
    }

    pub fn measured(&self) -> BTreeSet<usize> {
        let cells = self.visits.iter().flat_map(|visit| &visit.cells);
        cells.copied().collect()
    }

    /// A machine's directives, before any measurement: delays, the file system, programs.
    pub fn machine(&self, experiment: &Experiment, how: &Treatment<'_>) -> String {
        let mut text = how.sweep.map(Sweep::directives).unwrap_or_default();
        match (experiment.place, &experiment.dir, experiment.filesystem) {
            (Place::Lab | Place::Um, _, Some(filesystem)) => {
                let _ = writeln!(text, "fs {filesystem}");
                if let Some(dir) = &experiment.work_dir {
                    let _ = writeln!(text, "dir {dir}");
                }
            }
            (Place::Host, Some(dir), _) => {
                let _ = writeln!(text, "dir {dir}");
            }
            _ => {}
        }
        if experiment.programs.is_some() {
            text.push_str("programs\n");
        }
        if experiment.metrics.contains(&Metric::Memory) {
            text.push_str("memory\n");
        }
        if let Some(processors) = experiment.processors {
            let _ = writeln!(text, "processors {processors}");
        }
        text
    }

    /// The agent's directives for a measurement; `number` identifies it.
    pub fn directives(
        &self,
        experiment: &Experiment,
        how: &Treatment<'_>,
        round: u32,
        cell: usize,
        number: u32,
    ) -> String {
        let PlannedCell { key, job } = &self.cells[cell];
        let all = experiment.samples.for_metric(key.metric);
        let points = how
            .sweep
            .map_or(0, |sweep| sweep.points_of(key).len() as u32);
        let repetitions = how.sweep.map_or(0, |sweep| sweep.repetitions);
        let counted = key.metric.is_counted();
        let samples = match job.repetitions {
            _ if points > 0 => points * repetitions,
            Some(repetitions) if counted => repetitions,
            None if counted => all,
            _ => share(all, experiment.rounds, round),
        };
        let warmup = match job.repetitions {
            _ if key.metric == Metric::Throughput => (experiment.throughput_warmup_s * 1e3) as u32,
            Some(_) if counted => 1,
            _ => experiment.warmup,
        };
        let mut text = job.program.clone().unwrap_or_default();
        let _ = write!(
            text,
            "cell {number} {} {} warmup={warmup} samples={samples}",
            job.directive,
            match key.metric.is_recorded() {
                true => Metric::Instructions,
                false => key.metric,
            }
        );
        if key.metric.is_of_transfers() {
            let apart = match key.metric {
                Metric::TransfersApart => 1,
                Metric::TransfersSiblings => 2,
                _ => 0,
            };
            let _ = write!(text, " transfers=1 apart={apart}");
        }
        if key.metric == Metric::Throughput {
            let ms = experiment.throughput_period_s * 1e3 / f64::from(experiment.rounds);
            let _ = write!(text, " ms={}", ms.max(1.0) as u32);
        }
        for (is_asked, word) in [(how.cold || job.cold, " cold=1"), (how.ask, " ask=1")] {
            if is_asked {
                text.push_str(word);
            }
        }
        text.push('\n');
        text.extend(how.sweep.map(|sweep| sweep.directives_of(key)));
        text
    }
}

pub fn jobs(experiment: &Experiment, arch: &Arch) -> Result<Vec<Job>, SelectError> {
    if let Some(programs) = &experiment.programs {
        return Ok(programs::jobs(programs));
    }
    if experiment.metrics.contains(&Metric::Memory) {
        return memory::jobs(&experiment.selection);
    }
    let catalogue = catalogue_of(arch);
    let choices = catalogue.iter().map(Benchmark::choice);
    let chosen = experiment.selection.choose(choices)?.into_iter();
    Ok(chosen.map(|index| Job::from(&catalogue[index])).collect())
}

/// Whether virtual machines are only used to count, because times are measured in UML kernels.
pub fn leaves_time_to_processes(
    experiment: &Experiment,
    mut grounds: impl Iterator<Item = Ground>,
) -> bool {
    let counts = experiment.metrics.iter().any(|metric| metric.is_counted());
    counts && grounds.any(|ground| ground.is_process)
}

fn subject(experiment: &Experiment, job: &Job) -> Subject {
    match (&job.program, &experiment.programs) {
        (Some(_), Some(programs)) => Subject::Workload {
            workload: job.benchmark.clone(),
            root: programs.digest.clone(),
        },
        _ => Subject::benchmark(&job.benchmark, &job.variant),
    }
}

/// A round's part of all samples; the parts differ by at most one.
fn share(all: u32, rounds: u32, round: u32) -> u32 {
    all / rounds + u32::from(round < all % rounds)
}

#[cfg(test)]
mod tests;
