// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares runs of one unchanged experiment, so every reported difference is a false alarm.

use std::collections::{BTreeMap, HashMap};

use model::comparison::{ComparedCell, Method, Verdict};
use model::{AaMetric, AaReport, Cell, Document, Estimate, Failure, Key, Metric};
use stats::{Summary, proportion_at_most, t_quantile};

use crate::compare::{Named, Options, compare};

#[derive(Default)]
struct Tally {
    pairs: u64,
    alarmed_pairs: u64,
    cells: u64,
    alarms: u64,
    alarms_uncorrected: u64,
    largest: f64,
    detectable: Vec<f64>,
}

/// With at least this many runs, each pair is judged with the figures of the other runs.
const RUNS_BEYOND_PAIR: usize = 4;

/// Compares all pairs of runs as [`compare`] would, and counts the false alarms. Figures are compared
/// with the variance of the other runs, if there are at least two.
pub fn aa(runs: &[Document], options: &Options) -> Result<AaReport, Failure> {
    let known = figures(runs);
    let plain = Options {
        budget: None,
        explain: false,
        ..options.clone()
    };
    let mut tallies: BTreeMap<Metric, Tally> = BTreeMap::new();
    for second in 1..runs.len() {
        // Leave out this pair's own figures: a pair must not be judged by itself.
        let new = knowing(&runs[second], &[], &known);
        for first in 0..second {
            let others: Vec<usize> = (0..runs.len())
                .filter(|run| ![first, second].contains(run) && runs.len() >= RUNS_BEYOND_PAIR)
                .collect();
            let base = knowing(&runs[first], &others, &known);
            let named = |document, name| Named { name, document };
            let found = compare(named(&base, "one run"), named(&new, "another"), &plain)?;
            count(&found.compared, options.alpha, &mut tallies);
        }
    }
    Ok(AaReport {
        runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        alpha: options.alpha,
        metrics: tallies.into_iter().map(report).collect(),
        layouts: crate::judge::aa_layouts(runs),
    })
}

/// Stores the figures of all `runs` in each measurement of `run`, the first. Counts that vary get
/// an estimate over them.
pub fn keep_figures(run: &mut Document, runs: &[Document]) {
    set_figures(run, &figures(runs), |_| true);
    for cell in &mut run.cells {
        if let Some(counted) = cell.counted_mut()
            && counted.varies()
        {
            let samples = counted.estimate.take().and_then(|kept| kept.samples);
            let over = over_machines(&counted.machines);
            counted.estimate = over.map(|over| Estimate { samples, ..over });
        }
    }
}

/// The median, with Student's interval of the mean around it. None for invalid figures.
fn over_machines(figures: &[f64]) -> Option<Estimate> {
    let mut summary = Summary::from_samples(figures).ok()?;
    let n = figures.len() as f64;
    let reach = t_quantile(0.975, n - 1.0) * summary.stddev? / n.sqrt();
    summary.ci95 = Some([summary.median - reach, summary.median + reach]);
    Some(Estimate::from(&summary))
}

type Figures = HashMap<Key, Vec<(usize, f64)>>;

fn set_figures(run: &mut Document, figures: &Figures, is_included: impl Fn(usize) -> bool) {
    for cell in &mut run.cells {
        let known = figures.get(&cell.key).into_iter().flatten();
        let known = known.filter(|(number, _)| is_included(*number));
        let mut known: Vec<f64> = known.map(|(_, figure)| *figure).collect();
        if known.len() < 2 {
            known.clear();
        }
        if let Some(counted) = cell.counted_mut() {
            counted.machines = known;
        } else if let Some(timed) = cell.timed_mut() {
            timed.runs = known;
        }
    }
}

fn figures(runs: &[Document]) -> Figures {
    let mut figures = Figures::new();
    let has_one = |cell: &&Cell| cell.timed().is_some() || cell.counted().is_some();
    for (number, run) in runs.iter().enumerate() {
        for cell in run.cells.iter().filter(has_one) {
            if let Some(figure) = cell.headline() {
                let known = figures.entry(cell.key.clone()).or_default();
                known.push((number, figure));
            }
        }
    }
    figures
}

/// `run` with the figures in `others` only.
fn knowing(run: &Document, others: &[usize], figures: &Figures) -> Document {
    let mut run = run.clone();
    run.aa = None;
    set_figures(&mut run, figures, |number| others.contains(&number));
    run
}

fn count(compared: &[ComparedCell], alpha: f64, tallies: &mut BTreeMap<Metric, Tally>) {
    let judged = compared
        .iter()
        .filter(|cell| cell.verdict != Verdict::Missing);
    let mut by_metric: BTreeMap<Metric, Vec<&ComparedCell>> = BTreeMap::new();
    for cell in judged {
        by_metric.entry(cell.metric).or_default().push(cell);
    }
    for (metric, cells) in by_metric {
        let tally = tallies.entry(metric).or_default();
        tally.pairs += 1;
        let real = |cell: &ComparedCell| matches!(cell.verdict, Verdict::Worse | Verdict::Better);
        let alarms = cells.iter().filter(|cell| real(cell)).count() as u64;
        tally.cells += cells.len() as u64;
        tally.alarms += alarms;
        tally.alarmed_pairs += u64::from(alarms > 0);
        for cell in cells {
            let by_itself = cell.p.map_or_else(|| real(cell), |p| p <= alpha);
            tally.alarms_uncorrected += u64::from(by_itself);
            tally.largest = tally.largest.max(cell.overhead.map_or(0.0, f64::abs));
            let exact = (cell.method == Method::Exact).then_some(0.0);
            tally.detectable.extend(cell.detectable.or(exact));
        }
    }
}

fn report((metric, mut tally): (Metric, Tally)) -> AaMetric {
    tally.detectable.sort_unstable_by(f64::total_cmp);
    AaMetric {
        metric,
        pairs: tally.pairs,
        alarmed_pairs: tally.alarmed_pairs,
        cells: tally.cells,
        alarms: tally.alarms,
        alarms_uncorrected: tally.alarms_uncorrected,
        rate: tally.alarms as f64 / tally.cells.max(1) as f64,
        rate_at_most: proportion_at_most(tally.alarms, tally.cells),
        largest: tally.largest,
        detectable: stats::median_of_sorted(&tally.detectable),
    }
}
