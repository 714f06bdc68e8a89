// SPDX-License-Identifier: GPL-2.0-or-later
//! Golden documents, made ones, and two of them compared.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::io::Read;

use compare::{Budget, CompareError, Named, Options, compare};
use experiment::{AnyDocument, ComparisonDocument, Metric, Run, Status};
use stats::{SplitMix64, Summary};

pub fn golden(name: &str) -> AnyDocument {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../experiment/tests/golden/");
    let mut bytes = Vec::new();
    let mut file = std::fs::File::open(format!("{dir}{name}.json")).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    AnyDocument::parse(&bytes).unwrap()
}

pub fn golden_run() -> Run {
    match golden("v1") {
        AnyDocument::Run(run) => *run,
        other => panic!("{:?}", other.kind()),
    }
}

pub fn try_both(
    base: &AnyDocument,
    new: &AnyDocument,
    options: &Options,
) -> Result<ComparisonDocument, CompareError> {
    let named = |document, name| Named { name, document };
    compare(named(base, "a.json"), named(new, "b.json"), options)
}

pub fn both(base: &Run, new: &Run, options: &Options) -> ComparisonDocument {
    let of = |run: &Run| AnyDocument::Run(Box::new(run.clone()));
    let document = try_both(&of(base), &of(new), options).unwrap();
    // What is made can be written and read back.
    let mut bytes = Vec::new();
    document.write(&mut bytes).unwrap();
    assert_eq!(ComparisonDocument::parse(&bytes).unwrap(), document);
    document
}

pub fn gated(limit: &str) -> Options {
    Options {
        budget: Some(Budget::of_all(limit).unwrap()),
        ..Options::default()
    }
}

/// The golden run with instruction cells only, that all have figures.
pub fn counted() -> Run {
    let mut run = golden_run();
    run.cells
        .retain(|cell| cell.metric == Metric::Instructions && cell.status == Status::Ok);
    run.warnings.clear();
    run
}

/// One timed cell of rounds, each with a level of its own around `level`.
pub fn timed(random: &mut SplitMix64, level: f64, rounds: usize, of_rounds: f64) -> Run {
    let mut run = golden_run();
    run.cells.retain(|cell| cell.metric == Metric::Time);
    run.cells.truncate(1);
    run.warnings.clear();
    let normal = |random: &mut SplitMix64| (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
    let rounds: Vec<Vec<f64>> = (0..rounds)
        .map(|_| {
            let here = level * (1.0 + of_rounds * normal(random));
            (0..20)
                .map(|_| here * (1.0 + 0.01 * normal(random)))
                .collect()
        })
        .collect();
    let cell = &mut run.cells[0];
    cell.measured(&Summary::of_rounds(&rounds).unwrap());
    cell.samples = Some(rounds.concat());
    cell.round_medians = Some(
        (rounds.iter())
            .map(|round| Summary::of(round).unwrap().median)
            .collect(),
    );
    run
}
