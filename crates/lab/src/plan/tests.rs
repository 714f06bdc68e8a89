// SPDX-License-Identifier: GPL-2.0-or-later
//! Plans of experiments.

use super::*;
use model::Spec;

fn experiment(toml: &str) -> Experiment {
    Spec::parse("test", toml).unwrap().resolve().unwrap()
}

#[test]
fn timed_configurations_take_turns() {
    let plan = Plan::new(&experiment(
        "stacks = ['capability', 'default']\nmetrics = ['time']\nrounds = 2\n\
         benchmarks = ['getppid']",
    ))
    .unwrap();
    let turns: Vec<(usize, u32)> = plan
        .visits
        .iter()
        .map(|visit| (visit.configuration, visit.round))
        .collect();
    assert_eq!(turns, [(0, 0), (1, 0), (0, 1), (1, 1)]);
}

#[test]
fn layouts_of_one_number_take_turns_with_their_baseline() {
    let plan = Plan::new(&experiment(
        "where = 'um'\nbenchmarks = ['getppid']\nrounds = 2\nbaseline = 'none'\n\
         kernels = ['build:dac.1', 'build:dac.2', 'build:um.1', 'build:um.2']\n\
         [[configurations]]\nkernel = 'build:dac.*'\nstack = 'none'\n\
         [[configurations]]\nkernel = 'build:um.*'\nstack = 'capability'",
    ))
    .unwrap();
    let visits = plan.visits.iter();
    let turns: Vec<(usize, u32)> = visits.map(|visit| (visit.kernel, visit.round)).collect();
    let turns_of = |round| [(0, round), (2, round), (1, round), (3, round)];
    assert_eq!(turns, [turns_of(0), turns_of(1)].concat());
}

#[test]
fn processes_are_timed_beside_machines_that_count() {
    let grounds = [false, true].map(|is_process| Ground {
        arch: kernels::arch::native(),
        is_process,
    });
    let measured = |metrics: &str| {
        let plan = Plan::on(
            &experiment(&format!(
                "kernels = ['build:6.12-all', 'build:um']\nstacks = ['capability']\nrounds = 1\n\
                 benchmarks = ['getppid']\nmetrics = [{metrics}]"
            )),
            &grounds,
        );
        let cells = plan.unwrap().cells.into_iter();
        let keys = cells.map(|cell| (cell.key.kernel, cell.key.metric));
        keys.collect::<Vec<_>>()
    };
    let (machine, process) = ("build:6.12-all".to_owned(), "build:um".to_owned());
    assert_eq!(
        measured("'instructions', 'time'"),
        [
            (machine.clone(), Metric::Instructions),
            (process.clone(), Metric::Time)
        ]
    );
    assert_eq!(
        measured("'time'"),
        [(machine, Metric::Time), (process, Metric::Time)]
    );
}

#[test]
fn every_cell_is_in_a_visit() {
    let plan = Plan::new(&experiment(
        "metrics = ['instructions', 'throughput']\nrounds = 1\nsuites = ['paper']",
    ))
    .unwrap();
    let mut seen: Vec<usize> = plan
        .visits
        .iter()
        .flat_map(|visit| visit.cells.clone())
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..plan.cells.len()).collect::<Vec<_>>());
    let throughput = |cell: &&PlannedCell| cell.key.metric == Metric::Throughput;
    assert!(plan.cells.iter().filter(throughput).count() > 0);
}

#[test]
fn rounds_share_all_samples() {
    let total: u32 = (0..7).map(|round| share(300, 7, round)).sum();
    assert_eq!(total, 300);
}

#[test]
fn directives_are_one_line_a_cell() {
    let experiment = experiment("benchmarks = ['open:AA']\nfilesystem = 'tmpfs'");
    let plan = Plan::new(&experiment).unwrap();
    let (how, at) = (
        Treatment::default(),
        plan.machine(&experiment, &Treatment::default()),
    );
    assert_eq!(at, "fs tmpfs\n");
    let text = plan.directives(&experiment, &how, 0, 0, 7);
    assert_eq!(text, "cell 7 open AA instructions warmup=64 samples=64\n");
}
