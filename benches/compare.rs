// SPDX-License-Identifier: GPL-2.0-or-later
//! Speed of `lsmeter compare`, and how often it finds a change.
//!
//! ```text
//! cargo bench -p compare                     1,000 cells of 300 samples each
//! cargo bench -p compare -- power FOLDER     rates of detected changes and of false alarms
//! ```
//!
//! `power` takes a folder of runs of one experiment without a change, with samples, in the order
//! of their names: a hundred or more of
//! `lsmeter run --on host --dir /var/tmp --metric time --set rounds=10 --keep-samples`.

use std::error::Error;
use std::fs::File;
use std::time::Instant;

use compare::{Named, Options, compare, keep_figures};
use model::{Cell, Document, Estimate, Evidence, Metric, Subject, Timed, comparison::Verdict};
use stats::{SplitMix64, Summary};

const GOLDEN: &[u8] = include_bytes!("../crates/model/tests/golden/run.json");
const CHANGES: [f64; 7] = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
/// Runs without a change, which show the noise.
const KNOWN: [usize; 5] = [1, 3, 5, 10, 20];

type Rounds = Vec<Vec<f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = (arguments.iter())
        .map(String::as_str)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    match words.as_slice() {
        [] => speed(),
        ["power", folder] => power(folder),
        _ => Err("usage: cargo bench -p compare [-- power FOLDER]".into()),
    }
}

/// 1,000 timed measurements of 300 samples on each side, from bytes to comparison.
fn speed() -> Result<(), Box<dyn Error>> {
    let mut random = SplitMix64::new(1);
    let sides = [large(&mut random)?, large(&mut random)?];
    let mut seconds = Vec::new();
    for _ in 0..10 {
        let begin = Instant::now();
        let base = Document::parse(&sides[0])?;
        let new = Document::parse(&sides[1])?;
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
    let mut run = Document::parse(GOLDEN)?;
    run.warnings.clear();
    let timed = run
        .cells
        .iter()
        .find(|cell| cell.key.metric == Metric::Time);
    let pattern = timed.cloned().ok_or("the golden run has no times")?;
    run.cells = (0..1_000)
        .map(|number| {
            let rounds: Rounds = (0..3)
                .map(|_| (0..100).map(|_| 400.0 + 40.0 * random.unit()).collect())
                .collect();
            let mut cell = pattern.clone();
            cell.key.subject = Subject::benchmark(cell.key.benchmark(), format!("v{number}"));
            fill(&mut cell, &rounds).map(|()| cell)
        })
        .collect::<Result<Vec<Cell>, _>>()?;
    let mut bytes = Vec::new();
    run.write(&mut bytes)?;
    Ok(bytes)
}

/// Number of differences judged real.
fn judged(base: &Document, new: &Document) -> Result<usize, Box<dyn Error>> {
    let named = |document, name| Named { name, document };
    let found = compare(named(base, "base"), named(new, "new"), &Options::default())?;
    Ok(found.count(Verdict::Worse) + found.count(Verdict::Better))
}

fn fill(cell: &mut Cell, rounds: &Rounds) -> Result<(), Box<dyn Error>> {
    let medians = rounds
        .iter()
        .map(|round| Ok(Summary::from_samples(round)?.median));
    let estimate = Estimate {
        samples: Some(rounds.concat()),
        ..Estimate::from(&Summary::from_rounds(rounds)?)
    };
    let timed = Timed {
        rounds: medians.collect::<Result<_, stats::StatsError>>()?,
        ..Timed::new(estimate)
    };
    cell.outcome = Evidence::Timed(timed).into();
    Ok(())
}

/// Prints how often a change of known size is found, as Markdown. Consecutive runs stand for those
/// of `--aa`, the first of them is BASE, and the next one is NEW, with all samples enlarged by a
/// known share.
fn power(folder: &str) -> Result<(), Box<dyn Error>> {
    let runs = runs_of(folder)?;
    let most = KNOWN[KNOWN.len() - 1];
    if runs.len() <= most {
        return Err(format!("{folder} has {} runs; at least {}", runs.len(), most + 1).into());
    }
    let cells = runs[0].cells.len();
    println!(
        "{} runs of {cells} cells; the same {} pairs in each column\n",
        runs.len(),
        runs.len() - most
    );
    let heads: Vec<String> = KNOWN.iter().map(|runs| format!("{runs} runs")).collect();
    println!(
        "| change | {} | any of {cells}: {} |",
        heads.join(" | "),
        heads.join(" | ")
    );
    println!("|---:|{}", "---:|".repeat(2 * KNOWN.len()));
    for change in CHANGES {
        let mut found = [(0, 0); KNOWN.len()];
        for new in most..runs.len() {
            let changed = slower(&runs[new], 1.0 + change)?;
            for (known, found) in KNOWN.iter().zip(&mut found) {
                // The known runs are those directly before NEW.
                let real = judged(&knowing(&runs[new - known..new]), &changed)?;
                found.0 += real;
                found.1 += usize::from(real > 0);
            }
        }
        let pairs = (runs.len() - most) as f64;
        let share = |part: usize, of: f64| format!("{:.1} %", 100.0 * part as f64 / of);
        let each = found.map(|(real, _)| share(real, pairs * cells as f64));
        let any = found.map(|(_, any)| share(any, pairs));
        println!(
            "| {:.1} % | {} | {} |",
            change * 100.0,
            each.join(" | "),
            any.join(" | ")
        );
    }
    Ok(())
}

/// The runs in a folder, in the order of their names, with timed measurements only.
fn runs_of(folder: &str) -> Result<Vec<Document>, Box<dyn Error>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "json"));
    paths.sort();
    let mut runs = Vec::new();
    for path in paths {
        let mut run = Document::read(File::open(path)?)?;
        run.warnings.clear();
        run.aa = None;
        run.cells
            .retain(|cell| cell.key.metric == Metric::Time && cell.timed().is_some());
        runs.push(run);
    }
    Ok(runs)
}

/// The first of several runs, as saved by `--aa`.
fn knowing(runs: &[Document]) -> Document {
    let mut first = runs[0].clone();
    keep_figures(&mut first, runs);
    first
}

fn slower(run: &Document, factor: f64) -> Result<Document, Box<dyn Error>> {
    let mut run = run.clone();
    for cell in &mut run.cells {
        let timed = cell.timed().ok_or("a cell is not timed")?;
        let samples = timed.estimate.samples.as_ref();
        let samples = samples.ok_or("a cell has no samples")?;
        let size = samples.len().div_ceil(timed.rounds.len().max(1));
        let rounds: Rounds = samples
            .chunks(size)
            .map(|round| round.iter().map(|x| x * factor).collect())
            .collect();
        fill(cell, &rounds)?;
    }
    Ok(run)
}
