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
    let round = |of| [(0, of), (2, of), (1, of), (3, of)];
    assert_eq!(turns, [round(0), round(1)].concat());
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
fn what_leaves_a_trace_comes_last_in_a_boot() {
    let plan = Plan::new(&experiment(
        "stacks = ['capability']\nbenchmarks = ['inotify_add_watch', 'close', 'landlock-open']",
    ))
    .unwrap();
    let cells = plan.visits.iter().flat_map(|visit| &visit.cells);
    let order: Vec<&str> = cells
        .map(|&cell| &*plan.cells[cell].job.benchmark)
        .collect();
    assert_eq!(order.last(), Some(&"inotify_add_watch"), "{order:?}");
    // Tables keep the suite's order.
    let listed = plan.cells.last().map(|cell| &*cell.job.benchmark);
    assert_eq!(listed, Some("close"));
}

#[test]
fn long_cells_have_a_boot_of_their_own() {
    let plan = Plan::new(&experiment(
        "benchmarks = ['mkdir:*', 'rmdir:*', 'stat:AA']\nstacks = ['capability']",
    ))
    .unwrap();
    let visits: Vec<Vec<String>> = plan
        .visits
        .iter()
        .map(|visit| {
            let ids = visit.cells.iter().map(|&cell| plan.cells[cell].job.id());
            ids.collect()
        })
        .collect();
    assert_eq!(
        visits,
        [
            vec!["mkdir:9437-names"],
            vec!["rmdir:9437-names"],
            vec!["mkdir:one", "rmdir:one", "stat:AA"],
        ]
    );
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
    let text = plan.directives(&experiment, &Treatment::default(), 0, &[0]);
    assert_eq!(
        text,
        "fs tmpfs\ncell 000000 open AA instructions warmup=64 samples=64\n"
    );
}

#[test]
fn few_cells_are_not_worth_two_boots() {
    let parts = |cells: usize| {
        let plan = Plan::new(&experiment(
            "stacks = ['capability']\nbenchmarks = ['stat:*', 'open:*']",
        ));
        let mut plan = plan.unwrap();
        plan.visits[0].cells.truncate(cells);
        assert_eq!(plan.visits[0].cells.len(), cells);
        plan.split(2).visits.len()
    };
    assert_eq!([1, 8, 15, 16].map(parts), [1, 1, 1, 2]);
}
