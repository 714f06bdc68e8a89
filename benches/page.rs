// SPDX-License-Identifier: GPL-2.0-or-later
//! Time and size of a page: 1,000 measurements of 300 samples, read and written.
//!
//! cargo bench -p report --bench page

use std::time::Instant;

use model::{Cell, Document, Subject};
use report::{Content, Source, page};

const CONFIGURATIONS: usize = 10;
const OPERATIONS: usize = 100;
const SAMPLES: usize = 300;
const ROUNDS: usize = 5;

/// A large timed run.
fn document() -> Vec<u8> {
    let golden = include_bytes!("../crates/model/tests/golden/run.json");
    let mut run = Document::parse(golden).expect("the golden document");
    let timed = |cell: &&Cell| cell.ci95().is_some();
    let like = run.cells.iter().find(timed).expect("a timed cell").clone();
    let cell = |at: usize| {
        let mut cell = like.clone();
        let variant = format!("variant-{}", at / CONFIGURATIONS);
        cell.key.subject = Subject::benchmark(cell.key.benchmark(), variant);
        if !at.is_multiple_of(CONFIGURATIONS) {
            let module = format!("module{}", at % CONFIGURATIONS);
            cell.key.stack.push(module);
        }
        let estimate = &mut cell.timed_mut().expect("it was timed").estimate;
        let samples = (0..SAMPLES).map(|n| estimate.median + n as f64 / 7.0);
        estimate.samples = Some(samples.collect());
        cell
    };
    run.cells = (0..CONFIGURATIONS * OPERATIONS).map(cell).collect();
    run.warnings.clear();
    let mut bytes = Vec::new();
    run.write(&mut bytes).expect("memory takes it");
    bytes
}

fn main() {
    let bytes = document();
    println!("document: {} bytes", bytes.len());
    for round in 1..=ROUNDS {
        let begun = Instant::now();
        let content = Content::parse(&bytes).expect("what was written is read");
        let read = begun.elapsed();
        let source = Source {
            name: "large.json".to_owned(),
            content,
        };
        let page = page(&[source]);
        println!(
            "round {round}: read in {:.0} ms, in all {:.0} ms, {} bytes",
            read.as_secs_f64() * 1e3,
            begun.elapsed().as_secs_f64() * 1e3,
            page.len()
        );
    }
}
