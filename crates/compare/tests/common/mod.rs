// SPDX-License-Identifier: GPL-2.0-or-later
//! Golden and constructed documents, and their comparisons.

#![allow(dead_code, reason = "each test takes what it needs")]

use compare::{Budget, Named, Options, compare};
use model::{
    ComparisonDocument, Document, Estimate, Evidence, Failure, Metric, Paths, Stored, Timed,
};
use stats::{SplitMix64, Summary};

pub fn golden(name: &str) -> Document {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../model/tests/golden");
    let bytes = std::fs::read(format!("{dir}/{name}.json")).unwrap();
    Document::parse(&bytes).unwrap()
}

pub fn golden_run() -> Document {
    golden("run")
}

/// The measured regions of a counted cell, by path.
pub fn paths(run: &mut Document, cell: usize) -> &mut Paths {
    let counted = run.cells[cell].counted_mut().unwrap();
    counted.paths.as_mut().unwrap()
}

pub fn try_both(
    base: &Document,
    new: &Document,
    options: &Options,
) -> Result<ComparisonDocument, Failure> {
    let named = |document, name| Named { name, document };
    compare(named(base, "a.json"), named(new, "b.json"), options)
}

pub fn both(base: &Document, new: &Document, options: &Options) -> ComparisonDocument {
    let document = try_both(base, new, options).unwrap();
    // The comparison can be written and read back.
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

/// Like [`gated`], even if the environments differ.
pub fn trusting(limit: &str) -> Options {
    Options {
        trust_environment: true,
        ..gated(limit)
    }
}

/// The golden run with instruction cells only, all of which have counts.
pub fn counted() -> Document {
    let mut run = golden_run();
    run.cells.retain(|cell| cell.counted().is_some());
    run.warnings.clear();
    run
}

/// A run of one timed cell, whose rounds each have their own level near `level`.
pub fn timed(random: &mut SplitMix64, level: f64, rounds: usize, of_rounds: f64) -> Document {
    let mut run = golden_run();
    run.cells.retain(|cell| cell.key.metric == Metric::Time);
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
    let medians = (rounds.iter()).map(|round| Summary::from_samples(round).unwrap().median);
    let estimate = Estimate {
        samples: Some(rounds.concat()),
        ..Estimate::from(&Summary::from_rounds(&rounds).unwrap())
    };
    let timed = Timed {
        rounds: medians.collect(),
        ..Timed::new(estimate)
    };
    run.cells[0].outcome = Evidence::Timed(timed).into();
    run
}
