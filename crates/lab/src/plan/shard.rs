// SPDX-License-Identifier: GPL-2.0-or-later
//! Divides a plan among independent machines.
//!
//! Counted measurements do not depend on others: each shard gets consecutive ones, so that it boots
//! few configurations. Timed measurements are divided by *unit*: one benchmark under all compared
//! configurations, in all rounds. A unit is never divided, so that both sides of a comparison are
//! measured on the same machine.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{Experiment, Metric, Shard, Subject};

use super::{Plan, PlannedCell, Visit};

/// Time of a boot, ms: kernel, agent, file system, policies. This and the following times were
/// measured with 6.12 on two busy cores. Only their proportions matter: they make shards take
/// equally long.
const BOOT_MS: u64 = 10_000;

/// Time of an operation, ms; a measurement counts dozens of them.
const COUNTED_OPERATION_MS: u64 = 2;

/// Time of an operation, ms, of benchmarks with a required number: 9,437 names take 50 s.
const OWN_OPERATION_MS: u64 = 5;

/// Time of a timed batch, ms: the agent's target.
const BATCH_MS: u64 = 2;

#[derive(Debug, Default)]
struct Unit {
    visits: BTreeMap<usize, Vec<usize>>,
    weight: u64,
}

impl Plan {
    /// Keeps only this shard's visits, but all measurements, so that their numbers do not change.
    #[must_use]
    pub fn shard(mut self, experiment: &Experiment, shard: Shard) -> Plan {
        let units = self.units(experiment);
        let weights: Vec<u64> = units.iter().map(|unit| unit.weight).collect();
        let mut kept: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (unit, index) in units.into_iter().zip(divide(&weights, shard.count)) {
            if index == shard.index {
                for (visit, cells) in unit.visits {
                    kept.entry(visit).or_default().extend(cells);
                }
            }
        }
        let counting = { self.visits.iter().enumerate() }.filter(|(_, visit)| !visit.timed);
        let counted: Vec<(usize, usize, u64)> = counting
            .flat_map(|(position, visit)| visit.cells.iter().map(move |&cell| (position, cell)))
            .map(|(position, cell)| (position, cell, self.weight(experiment, cell)))
            .collect();
        let all: u64 = counted.iter().map(|(.., weight)| weight).sum();
        let mut before = 0;
        for (position, cell, weight) in counted {
            if before * u64::from(shard.count) / all.max(1) + 1 == u64::from(shard.index) {
                kept.entry(position).or_default().push(cell);
            }
            before += weight;
        }
        let visits = kept.into_iter().map(|(position, mut cells)| {
            cells.sort_unstable();
            Visit {
                cells,
                ..self.visits[position].clone()
            }
        });
        self.visits = visits.collect();
        self
    }

    /// Roughly how many seconds all counting visits take one after the other, and all timed ones.
    /// On two idle cores, visits take about a third of the weights: `quick` takes 45 s of processor
    /// time; this function returns 38.
    pub fn seconds(&self, experiment: &Experiment) -> [u64; 2] {
        let mut ms = [0, 0];
        for visit in &self.visits {
            let weights = visit
                .cells
                .iter()
                .map(|&cell| self.weight(experiment, cell));
            let weight = weights.sum::<u64>();
            match visit.timed {
                true => ms[1] += BOOT_MS / 3 + weight / u64::from(experiment.rounds.max(1)),
                false => ms[0] += (BOOT_MS + weight) / 3,
            }
        }
        ms.map(|ms| ms.div_ceil(1_000))
    }

    fn units(&self, experiment: &Experiment) -> Vec<Unit> {
        let mut timed: BTreeMap<(usize, &Subject, Metric), Unit> = BTreeMap::new();
        // Compared kernels are one unit.
        let base = experiment.baseline_configuration();
        let across =
            experiment.baseline_kernel.is_some() || base.is_some_and(|base| base.kernel.is_some());
        let visits = { self.visits.iter().enumerate() }.filter(|(_, visit)| visit.timed);
        for (position, visit) in visits {
            for &cell in &visit.cells {
                let key = &self.cells[cell].key;
                let kernel = if across { 0 } else { visit.kernel };
                let unit = timed.entry((kernel, &key.subject, key.metric)).or_default();
                unit.visits.entry(position).or_default().push(cell);
                unit.weight += self.weight(experiment, cell) / u64::from(experiment.rounds.max(1));
            }
        }
        timed.into_values().collect()
    }

    fn weight(&self, experiment: &Experiment, cell: usize) -> u64 {
        let PlannedCell { key, job } = &self.cells[cell];
        let samples = u64::from(experiment.samples.for_metric(key.metric));
        let warmup = u64::from(experiment.warmup);
        match key.metric {
            counted if counted.is_counted() => match job.repetitions {
                Some(own) => u64::from(own) * OWN_OPERATION_MS,
                None => (samples + warmup) * COUNTED_OPERATION_MS,
            },
            Metric::Throughput => {
                let warmup = experiment.throughput_warmup_s * f64::from(experiment.rounds);
                ((warmup + experiment.throughput_period_s) * 1e3) as u64
            }
            _ => samples * BATCH_MS,
        }
    }
}

/// Assigns the longest unit first, to the shard with the least work. Returns each unit's shard,
/// counted from 1; it depends only on the numbers.
fn divide(weights: &[u64], count: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&unit| (Reverse(weights[unit]), unit));
    let mut loads: Vec<u64> = vec![0; count.max(1) as usize];
    let mut shards = vec![1; weights.len()];
    for unit in order {
        let least = (0..loads.len()).min_by_key(|&shard| (loads[shard], shard));
        let least = least.unwrap_or_default();
        loads[least] = loads[least].saturating_add(weights[unit].max(1));
        shards[unit] = least as u32 + 1;
    }
    shards
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Spec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn experiment(toml: &str) -> Experiment {
        Spec::parse("test", toml).unwrap().resolve().unwrap()
    }

    fn shards(experiment: &Experiment, count: u32) -> Vec<Plan> {
        let plan = |index| {
            let shard = Shard::new(index, count).unwrap();
            Plan::new(experiment).unwrap().shard(experiment, shard)
        };
        (1..=count).map(plan).collect()
    }

    fn visited(plans: &[Plan]) -> Vec<(usize, u32)> {
        let visits = plans.iter().flat_map(|plan| &plan.visits);
        let mut cells: Vec<(usize, u32)> = visits
            .flat_map(|visit| visit.cells.iter().map(|&cell| (cell, visit.round)))
            .collect();
        cells.sort_unstable();
        cells
    }

    #[test]
    fn shards_together_are_the_whole() {
        for toml in [
            "stacks = ['capability', 'default']\nbenchmarks = ['mkdir', 'rmdir', 'stat', 'open']",
            "metrics = ['instructions', 'time', 'throughput']\nrounds = 3\nsuites = ['paper']",
            "kernels = ['debian:6.1', 'debian:6.12']\nbaseline_kernel = 'debian:6.1'\n\
             metrics = ['time']\nbenchmarks = ['getppid', 'stat']",
        ] {
            let experiment = experiment(toml);
            let whole = visited(&[Plan::new(&experiment).unwrap()]);
            for count in [1, 2, 3, 16, 100] {
                assert_eq!(
                    visited(&shards(&experiment, count)),
                    whole,
                    "{count}: {toml}"
                );
            }
        }
    }

    #[test]
    fn a_shard_boots_few_configurations() {
        let experiment = experiment(
            "stacks = ['capability', 'default']\nbenchmarks = ['chmod', 'stat', 'open']",
        );
        let plans = shards(&experiment, 4);
        assert!(plans.iter().all(|plan| plan.visits.len() == 1));
    }

    #[test]
    fn a_comparison_of_times_is_on_one_machine() {
        let experiment = experiment(
            "kernels = ['debian:6.1', 'debian:6.12']\nstacks = ['capability', 'default']\n\
             metrics = ['time']\nrounds = 2\nbenchmarks = ['getppid', 'stat', 'open', 'read']",
        );
        let mut kernels_and_benchmarks = BTreeSet::new();
        for plan in shards(&experiment, 7) {
            let mut here: BTreeMap<(usize, String), usize> = BTreeMap::new();
            for visit in &plan.visits {
                for &cell in &visit.cells {
                    let title = plan.cells[cell].job.id();
                    *here.entry((visit.kernel, title)).or_default() += 1;
                }
            }
            for (key, visits) in here {
                assert_eq!(visits, 4, "{key:?}");
                assert!(kernels_and_benchmarks.insert(key));
            }
        }
    }

    #[test]
    fn kernels_that_are_compared_stay_together() {
        let experiment = experiment(
            "kernels = ['debian:6.1', 'debian:6.12']\nbaseline_kernel = 'debian:6.1'\n\
             stacks = ['capability']\nmetrics = ['time']\nrounds = 1\nbenchmarks = ['stat:*']",
        );
        for plan in shards(&experiment, 3) {
            let cells = |kernel| {
                let visits = plan
                    .visits
                    .iter()
                    .filter(move |visit| visit.kernel == kernel);
                visits.map(|visit| visit.cells.len()).sum::<usize>()
            };
            assert_eq!(cells(0), cells(1));
        }
    }

    #[test]
    fn the_longest_go_apart() {
        assert_eq!(divide(&[1, 9, 1, 9, 1], 2), [1, 1, 2, 2, 1]);
        assert_eq!(divide(&[5, 5], 4), [1, 2]);
        assert_eq!(divide(&[0, 0], 2), [1, 2]);
        assert_eq!(divide(&[], 4), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_shard_has_much_more_than_another(
            weights in proptest::collection::vec(1_u64..1000, 0..60),
            count in 1_u32..20,
        ) {
            let shards = divide(&weights, count);
            prop_assert_eq!(shards.len(), weights.len());
            let load = |shard: u32| -> u64 {
                let own = shards.iter().zip(&weights).filter(|(s, _)| **s == shard);
                own.map(|(_, weight)| weight).sum()
            };
            let loads: Vec<u64> = (1..=count).map(load).collect();
            prop_assert_eq!(loads.iter().sum::<u64>(), weights.iter().sum::<u64>());
            // The largest shard was the smallest one when it got its last unit.
            let (most, least) = (loads.iter().max().unwrap(), loads.iter().min().unwrap());
            prop_assert!(most - least <= weights.iter().copied().max().unwrap_or(0));
        }
    }
}
