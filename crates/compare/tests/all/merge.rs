// SPDX-License-Identifier: GPL-2.0-or-later
//! Merging: nothing is lost, nothing is mixed, and the order changes no byte.

#[path = "../../../model/tests/common/mod.rs"]
mod common;

use compare::parts::{Merged, Part, by_machine, merge};
use model::{
    Cell, Counted, Document, DocumentFault, Environment, Evidence, Failure, Fault, Metric, Share,
    Status, Warning, WarningKind,
};
use proptest::prelude::*;

fn bytes(run: &Document) -> Vec<u8> {
    common::written(run).into_bytes()
}

fn part(name: &str, run: Document) -> Part {
    Part::new(name, run).unwrap()
}

/// A warning with the number of failed cells and of environments.
fn doubts(cells: &[Cell], environments: &[&Environment]) -> Vec<Warning> {
    let failed = cells.iter().filter(|cell| cell.status() == Status::Failed);
    let message = format!("{} failed, {} places", failed.count(), environments.len());
    vec![Warning::new(WarningKind::MissingMeasurements, message)]
}

fn merged(parts: &[Part]) -> Merged {
    merge(parts, &doubts).unwrap()
}

fn refused(parts: &[Part]) -> Failure {
    let error = merge(parts, &doubts).unwrap_err();
    assert!(error.hint().is_some());
    error
}

/// The run as a merge must return it: warnings in their order, with doubts computed again.
fn whole() -> Document {
    let mut run = common::run();
    run.warnings = vec![Warning {
        cells: vec![0, 8, 13],
        ..Warning::new(WarningKind::Drift, "the rounds disagree")
    }];
    run.warnings.extend(doubts(&run.cells, &[&run.environment]));
    run
}

/// Shard `index` of `count`, which has the cells at these positions of the run.
fn shard(index: u32, count: u32, positions: &[u32]) -> Part {
    let run = whole();
    let place = |position: &u32| positions.iter().position(|here| here == position);
    let warnings = run.warnings.iter().filter_map(|warning| {
        let cells = warning.cells.iter().filter_map(place);
        let cells: Vec<u32> = cells.map(|at| at as u32).collect();
        let concerned = warning.cells.is_empty() || !cells.is_empty();
        concerned.then(|| Warning {
            cells,
            ..warning.clone()
        })
    });
    let cells = positions.iter().map(|&at| run.cells[at as usize].clone());
    let cells: Vec<Cell> = cells.collect();
    let share = Share {
        count,
        shards: vec![index],
        cells: run.cells.len() as u32,
        positions: positions.to_vec(),
    };
    let run = Document {
        share: Some(share),
        warnings: warnings.collect(),
        cells,
        ..run
    };
    part(&format!("{index}.json"), run)
}

/// Distributes all cells among `count` shards, as `shard_by_cell` says.
fn shards(count: u32, shard_by_cell: &[u32]) -> Vec<Part> {
    let part = |index| {
        let here =
            (0..shard_by_cell.len() as u32).filter(|&at| shard_by_cell[at as usize] == index);
        shard(index, count, &here.collect::<Vec<_>>())
    };
    (1..=count).map(part).collect()
}

fn three() -> Vec<Part> {
    let shard_by_cell: Vec<u32> = (0..14).map(|at| at % 3 + 1).collect();
    shards(3, &shard_by_cell)
}

#[test]
fn shards_become_the_whole() {
    let merged = merged(&three());
    assert_eq!(merged.run, whole());
    assert_eq!((merged.missing_shards, merged.missing_cells), (vec![], 0));
    assert_eq!(Document::parse(&bytes(&merged.run)).unwrap(), merged.run);
}

#[test]
fn what_is_missing_is_reported() {
    let mut parts = three();
    parts.remove(1);
    let partial = merged(&parts);
    assert_eq!(partial.missing_shards, [2]);
    assert_eq!(partial.missing_cells, 5);
    let last = partial.run.warnings.last().unwrap();
    assert_eq!(last.kind, WarningKind::Interrupted);
    let expected = "9 of 14 measurements are available; shards 2 of 3 are missing";
    assert_eq!(last.message, expected);
    let share = partial.run.share.clone().unwrap();
    assert_eq!(share.shards, [1, 3]);
    assert_eq!(Document::parse(&bytes(&partial.run)).unwrap(), partial.run);
    // The result can be merged again with the missing shard.
    let rest = [part("partial.json", partial.run), three().remove(1)];
    assert_eq!(merged(&rest).run, whole());
}

#[test]
fn a_cell_that_is_there_twice_is_there_once() {
    let mut parts = three();
    parts.extend(three());
    parts.push(part("whole.json", whole()));
    for cell in &mut parts[3].run.cells {
        cell.seconds = Some(77.0);
    }
    let merged = merged(&parts);
    assert_eq!(merged.run.cells.len(), 14);
    assert_eq!(merged.run.share, None);
}

#[test]
fn a_cell_with_two_figures_is_refused() {
    let mut parts = three();
    parts.push(part("again.json", parts[0].run.clone()));
    parts[3].run.cells[0].outcome = Evidence::from(Counted::default()).into();
    assert_eq!(
        refused(&parts).to_string(),
        "open:AA/BB (instructions) under capability on debian:6.1 is in both 1.json and \
         again.json, with different values"
    );
    // The cell may not have a different position either.
    let mut parts = three();
    parts[1].run.cells[0] = parts[0].run.cells[0].clone();
    assert_eq!(
        refused(&parts).to_string(),
        "1.json and 2.json list open:AA/BB (instructions) under capability on debian:6.1 at \
         different positions"
    );
}

#[test]
fn parts_of_different_runs_are_refused() {
    type Damage = fn(&mut [Part]);
    let cases: [(Damage, &str); 4] = [
        (
            |parts| {
                let mut other = parts[1].run.clone();
                other.experiment.as_mut().unwrap().warmup += 1;
                parts[1] = part("2.json", other);
            },
            "1.json and 2.json are from different experiments: `warmup` differs",
        ),
        (
            |parts| parts[2].run.tool.version = "0.2.0".to_owned(),
            "1.json was written by lsmeter 0.1.0, but 3.json by lsmeter 0.2.0",
        ),
        (
            |parts| parts[2].run.share.as_mut().unwrap().count = 4,
            "1.json has 3 shards with 14 cells, but 3.json has 4 with 14",
        ),
        (
            |parts| {
                for (part, digest) in parts.iter_mut().zip(["aa", "aa", "bb"]) {
                    let digest = ("debian:6.1".to_owned(), digest.to_owned());
                    part.run.kernel_digests.extend([digest]);
                }
            },
            "1.json and 3.json ran different kernels named debian:6.1",
        ),
    ];
    for (damage, message) in cases {
        let mut parts = three();
        damage(&mut parts);
        assert_eq!(refused(&parts).to_string(), message);
    }
    assert_eq!(refused(&[]).to_string(), "there is nothing to merge");
    let error = Part::new("p.json", common::document("profile")).unwrap_err();
    let message = "p.json is a profile result file: only run result files can be merged";
    assert_eq!(error.to_string(), message);
}

/// Two shards, one with the counts and one with the times.
fn counts_and_times() -> Vec<Part> {
    let run = common::run();
    let shard_of = |cell: &Cell| 1 + u32::from(cell.key.metric != Metric::Instructions);
    let mut parts = shards(2, &run.cells.iter().map(shard_of).collect::<Vec<_>>());
    for part in &mut parts {
        part.run.warnings.clear();
    }
    parts
}

#[test]
fn counts_may_come_from_other_hardware_but_from_no_other_emulator() {
    let mut parts = counts_and_times();
    parts[0].run.environment.cpu = "AMD EPYC".to_owned();
    parts[0].run.environment.cores = 64;
    let run = merged(&parts).run;
    let places = run.environments.iter();
    let places = places.map(|origin| (&*origin.environment.cpu, origin.cells.len()));
    let places: Vec<(&str, usize)> = places.collect();
    assert_eq!(places, [("AMD EPYC", 8), ("Intel(R) Xeon(R)", 6)]);
    assert_eq!(run.environment_of(0).cpu, "AMD EPYC");
    assert_eq!(run.environment_of(13).cpu, "Intel(R) Xeon(R)");
    assert_eq!(run.environment, run.environments[0].environment);
    assert_eq!(Document::parse(&bytes(&run)).unwrap(), run);

    let shard_by_cell: Vec<u32> = (0..14).map(|at| 1 + u32::from(at > 3)).collect();
    let mut parts = shards(2, &shard_by_cell);
    parts[1].run.environment.qemu.as_mut().unwrap().version = "10.0.0".to_owned();
    assert_eq!(
        refused(&parts).to_string(),
        "instructions: 1.json was measured on QEMU 7.2.19 (q35, Haswell-noTSX), deterministic \
         clock, but 2.json on QEMU 10.0.0 (q35, Haswell-noTSX), deterministic clock"
    );
}

#[test]
fn times_of_two_machines_are_never_in_one_document() {
    let mut parts = three();
    parts[1].run.environment.cores = 64;
    let error = refused(&parts);
    let expected = "time: 3.json was measured on ";
    assert!(error.to_string().starts_with(expected), "{error}");
    let hint = error.hint().unwrap();
    assert!(hint.contains("--by-machine"), "{hint}");

    let machines = by_machine(&parts);
    let sizes = machines
        .iter()
        .map(|(_, parts)| merged(parts).run.cells.len());
    let sizes: Vec<usize> = sizes.collect();
    assert_eq!(sizes, [9, 5]);
    assert!(machines[1].0.contains("64 processors"), "{}", machines[1].0);
    // A document of two machines can be split into the same parts again.
    let both = part("both.json", merged(&counts_and_times()).run);
    assert_eq!(by_machine(std::slice::from_ref(&both)).len(), 1);
    let mut two = counts_and_times();
    two[0].run.environment.cores = 64;
    let both = part("both.json", merged(&two).run);
    let machines = by_machine(std::slice::from_ref(&both));
    let parts: Vec<Part> = machines.into_iter().flat_map(|(_, parts)| parts).collect();
    assert_eq!(parts.len(), 2);
    assert_eq!(bytes(&merged(&parts).run), bytes(&both.run));
}

#[test]
fn documents_that_contradict_themselves_are_refused() {
    fn share(run: &mut Document) -> &mut Share {
        run.share.as_mut().unwrap()
    }
    fn origin(run: &mut Document, cells: &[u32]) {
        run.environments.push(model::Origin {
            environment: run.environment.clone(),
            cells: cells.to_vec(),
        });
    }
    type Damage = fn(&mut Document);
    let cases: [(Damage, &str); 7] = [
        (
            |run| share(run).shards = vec![2, 1],
            "share: shards are not numbers from 1 to 3 in order",
        ),
        (
            |run| share(run).count = 5000,
            "share: invalid number of shards 5000: expected 1 to 1000",
        ),
        (
            |run| share(run).positions = vec![0],
            "share: 1 positions for 10 measurements",
        ),
        (
            |run| share(run).cells = 3,
            "share: positions are not below 3 and in order",
        ),
        (
            |run| origin(run, &[0, 1]),
            "environments: measurement 2 has no environment",
        ),
        (
            |run| origin(run, &[10]),
            "environments: there is no measurement 10",
        ),
        (
            |run| {
                origin(run, &[0]);
                origin(run, &[0]);
            },
            "environments: measurement 0 has two environments",
        ),
    ];
    for (damage, expected) in cases {
        let mut run = merged(&three()[..2]).run;
        damage(&mut run);
        let fault = Document::parse(&bytes(&run)).unwrap_err().fault;
        let DocumentFault::Contradiction { path, message } = fault else {
            panic!("{fault:?}")
        };
        assert_eq!(format!("{path}: {message}"), expected);
    }
}

proptest! {
    #[test]
    fn the_order_changes_no_byte(
        shard_by_cell in proptest::collection::vec(1_u32..=5, 14),
        order in Just((0..5_usize).collect::<Vec<_>>()).prop_shuffle(),
        here in 1_usize..=5,
        cut in 0_usize..=5,
    ) {
        let mut parts = shards(5, &shard_by_cell);
        for (part, cores) in parts.iter_mut().zip([2, 4, 2, 4, 8]) {
            // Counts may come from any machine.
            let timed = part.run.cells.iter().any(|cell| cell.key.metric != Metric::Instructions);
            part.run.environment.cores = if timed { 2 } else { cores };
            part.run.started = Some(format!("2026-02-28T10:00:0{cores}Z"));
        }
        let shuffled: Vec<Part> = order.iter().map(|&at| parts[at].clone()).collect();
        let mut sorted = order[..here].to_vec();
        sorted.sort_unstable();
        let sorted: Vec<Part> = sorted.iter().map(|&at| parts[at].clone()).collect();
        let at_once = bytes(&merged(&sorted).run);
        prop_assert_eq!(&bytes(&merged(&shuffled[..here]).run), &at_once);
        // The result is the same if some parts are merged before the others.
        let (first, rest) = shuffled[..here].split_at(cut.min(here));
        let mut steps = rest.to_vec();
        if !first.is_empty() {
            steps.push(part("first.json", merged(first).run));
        }
        prop_assert_eq!(&bytes(&merged(&steps).run), &at_once);
        // No cell is lost.
        let run = Document::parse(&at_once).unwrap();
        let cells: usize = sorted.iter().map(|part| part.run.cells.len()).sum();
        prop_assert_eq!(run.cells.len(), cells);
        for part in &sorted {
            for cell in &part.run.cells {
                let at = run.cells.iter().position(|other| other == cell);
                prop_assert_eq!(run.environment_of(at.unwrap()), &part.run.environment);
            }
        }
    }
}
