// SPDX-License-Identifier: GPL-2.0-or-later
//! How long `lsmeter compare` takes, and what it finds.
//!
//! ```text
//! cargo bench -p compare                     1,000 cells of 300 samples each
//! cargo bench -p compare -- power RUN.json   how often a change is found, by resampling
//! ```
//!
//! `power` takes a run with times whose samples were kept in several rounds:
//! `lsmeter run --on host --dir /var/tmp --metric time --rounds 20 --keep-samples`. Rounds are
//! drawn from it with replacement, then samples in each, once for BASE and once for NEW,
//! which is made slower by a known share.

use std::error::Error;
use std::fs::File;
use std::time::Instant;

use compare::{Named, Options, compare};
use experiment::comparison::Verdict;
use experiment::{AnyDocument, Cell, Metric, Run, Status};
use stats::{SplitMix64, Summary};

const GOLDEN: &[u8] = include_bytes!("../crates/experiment/tests/golden/v1.json");
/// Comparisons behind each figure of the power curve, over all cells.
const TRIES: usize = 1_000;
const CHANGES: [f64; 7] = [0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];
/// Rounds, and samples in each.
const SIZES: [(usize, usize); 5] = [(3, 20), (5, 20), (10, 20), (20, 20), (10, 100)];

type Rounds = Vec<Vec<f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = (arguments.iter())
        .map(String::as_str)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    match words.as_slice() {
        [] => speed(),
        ["power", path] => power(path),
        _ => Err("usage: cargo bench -p compare [-- power RUN.json]".into()),
    }
}

/// 1,000 timed cells of 300 samples on each side, from bytes to comparison.
fn speed() -> Result<(), Box<dyn Error>> {
    let mut random = SplitMix64::new(1);
    let sides = [large(&mut random)?, large(&mut random)?];
    let mut seconds = Vec::new();
    for _ in 0..10 {
        let begin = Instant::now();
        let base = AnyDocument::parse(&sides[0])?;
        let new = AnyDocument::parse(&sides[1])?;
        let read = begin.elapsed();
        let found = judged(&base, &new)?;
        seconds.push((begin.elapsed().as_secs_f64(), read.as_secs_f64(), found));
    }
    seconds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (whole, read, found) = seconds[seconds.len() / 2];
    println!(
        "1,000 cells of 300 samples on each side ({} MiB): {whole:.3} s, of which {read:.3} s to \
         read them; {found} called real",
        (sides[0].len() + sides[1].len()) >> 20
    );
    Ok(())
}

fn large(random: &mut SplitMix64) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut run = Run::parse(GOLDEN)?;
    run.warnings.clear();
    let timed = run.cells.iter().find(|cell| cell.metric == Metric::Time);
    let pattern = timed.cloned().ok_or("the golden run has no times")?;
    run.cells = (0..1_000)
        .map(|number| {
            let rounds: Rounds = (0..3)
                .map(|_| (0..100).map(|_| 400.0 + 40.0 * random.unit()).collect())
                .collect();
            let mut cell = pattern.clone();
            cell.variant = format!("v{number}");
            fill(&mut cell, &rounds).map(|()| cell)
        })
        .collect::<Result<Vec<Cell>, _>>()?;
    let mut bytes = Vec::new();
    run.write(&mut bytes)?;
    Ok(bytes)
}

/// Cells that are called real.
fn judged(base: &AnyDocument, new: &AnyDocument) -> Result<usize, Box<dyn Error>> {
    let named = |document, name| Named { name, document };
    let found = compare(named(base, "base"), named(new, "new"), &Options::default())?;
    Ok(found.count(Verdict::Worse) + found.count(Verdict::Better))
}

fn fill(cell: &mut Cell, rounds: &Rounds) -> Result<(), Box<dyn Error>> {
    cell.measured(&Summary::of_rounds(rounds)?);
    let medians = rounds.iter().map(|round| Ok(Summary::of(round)?.median));
    cell.round_medians = Some(medians.collect::<Result<_, stats::StatsError>>()?);
    cell.samples = Some(rounds.concat());
    Ok(())
}

/// How often a change of a known size is found, as Markdown.
fn power(path: &str) -> Result<(), Box<dyn Error>> {
    let run = Run::read(File::open(path)?)?;
    let sources: Vec<Rounds> = run
        .cells
        .iter()
        .filter_map(|cell| rounds(&run, cell))
        .collect();
    if sources.is_empty() {
        return Err("it has no timed cell with samples of several rounds".into());
    }
    let mut pattern = run.clone();
    pattern.warnings.clear();
    pattern.aa = None;
    pattern
        .cells
        .retain(|cell| cell.metric == Metric::Time && cell.status == Status::Ok);
    pattern.cells.truncate(1);
    println!(
        "{} cells, {TRIES} comparisons for each figure\n",
        sources.len()
    );
    let heads: Vec<String> = (SIZES.iter())
        .map(|(rounds, samples)| format!("{rounds} × {samples}"))
        .collect();
    println!("| change | {} |", heads.join(" | "));
    println!("|---:|{}", "---:|".repeat(SIZES.len()));
    for change in CHANGES {
        let mut random = SplitMix64::new(17);
        let mut row = Vec::new();
        for size in SIZES {
            let mut found = 0;
            for attempt in 0..TRIES {
                let source = &sources[attempt % sources.len()];
                let base = side(&pattern, &drawn(source, size, 1.0, &mut random))?;
                let new = side(&pattern, &drawn(source, size, 1.0 + change, &mut random))?;
                found += judged(&base, &new)?;
            }
            row.push(format!("{:.1} %", 100.0 * found as f64 / TRIES as f64));
        }
        println!("| {:.1} % | {} |", change * 100.0, row.join(" | "));
    }
    Ok(())
}

/// A timed cell's samples by round.
fn rounds(run: &Run, cell: &Cell) -> Option<Rounds> {
    let samples = cell
        .samples
        .as_ref()
        .filter(|_| cell.metric == Metric::Time)?;
    let rounds = run.experiment.rounds as usize;
    let whole = run.experiment.samples.time as usize == samples.len();
    (whole && rounds > 1 && samples.len().is_multiple_of(rounds)).then(|| {
        samples
            .chunks(samples.len() / rounds)
            .map(<[f64]>::to_vec)
            .collect()
    })
}

fn drawn(
    source: &Rounds,
    (rounds, samples): (usize, usize),
    factor: f64,
    random: &mut SplitMix64,
) -> Rounds {
    (0..rounds)
        .map(|_| {
            let round = &source[random.below(source.len())];
            (0..samples)
                .map(|_| factor * round[random.below(round.len())])
                .collect()
        })
        .collect()
}

fn side(pattern: &Run, rounds: &Rounds) -> Result<AnyDocument, Box<dyn Error>> {
    let mut run = pattern.clone();
    for cell in &mut run.cells {
        fill(cell, rounds)?;
    }
    Ok(AnyDocument::Run(Box::new(run)))
}
