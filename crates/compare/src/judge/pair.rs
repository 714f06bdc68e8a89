// SPDX-License-Identifier: GPL-2.0-or-later
//! Verdicts on pairs of figures.

use model::Metric;
use model::comparison::{Method, Verdict};
use stats::bootstrap::SAMPLES_MIN;
use stats::{Direction, RatioBootstrap, Welch, mann_whitney, t_quantile, welch};

use crate::judge::Measured;

/// The default limit of corrected p for a real difference.
pub const ALPHA: f64 = 0.05;
/// Share of comparisons that find a difference of the detectable size.
const POWER: f64 = 0.8;
/// Varying counts differ if Cliff's delta is at least this: in nine of ten pairs of measured
/// regions, the same side takes more instructions.
const APART: f64 = 0.8;
/// The largest difference between the shares of equal paths, divided by the root of 1/n + 1/m: the
/// 95 % limit for two draws from one distribution (Kolmogorov and Smirnov).
const SHARES: f64 = 1.36;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judged {
    pub method: Method,
    /// NEW - BASE.
    pub difference: Option<f64>,
    /// The difference as a fraction of BASE; positive is worse. None if BASE is not above 0.
    pub overhead: Option<f64>,
    /// Interval of this pair's overhead; a single point if both figures are exact.
    pub ci95: Option<[f64; 2]>,
    /// Cliff's delta, -1 to 1; only for comparisons of samples or paths.
    pub effect: Option<f64>,
    /// Uncorrected.
    pub p: Option<f64>,
    pub p_adjusted: Option<f64>,
    /// Smallest overhead that four of five comparisons would find.
    pub detectable: Option<f64>,
    pub verdict: Verdict,
    pub reason: Option<String>,
}

/// Smallest overhead that four of five comparisons would find. `error`: standard error of the
/// ratio's logarithm.
fn detectable(error: f64, freedom: f64) -> f64 {
    let reach = t_quantile(1.0 - ALPHA / 2.0, freedom) + t_quantile(POWER, freedom);
    // Limited, since larger values could overflow.
    (error * reach).min(20.0).exp_m1()
}

/// Judges pairs (BASE, NEW) of a metric together: a difference is real if its p, corrected for the
/// number of pairs, is at most `alpha`, above 0.
pub fn together<'a>(
    pairs: impl IntoIterator<Item = (&'a Measured, &'a Measured, Metric)>,
    alpha: f64,
) -> Vec<Judged> {
    let mut bootstrap = RatioBootstrap::new();
    let pairs = pairs.into_iter();
    let judge = |(base, new, metric)| {
        let mut judged = judge(base, new, metric, &mut bootstrap);
        // A file is compared with itself.
        if base.value.is_some() && base == new {
            (judged.verdict, judged.reason) = (Verdict::Same, None);
        }
        judged
    };
    let mut judged: Vec<Judged> = pairs.map(judge).collect();
    let corrected = match correct(&mut judged) {
        0 | 1 => String::new(),
        tested => format!(", corrected for {tested} measurements"),
    };
    for judged in &mut judged {
        if let Some(reason) = judged.noise(alpha, &corrected) {
            judged.verdict = Verdict::Unclear;
            judged.reason = Some(reason);
        }
    }
    judged
}

fn correct(judged: &mut [Judged]) -> usize {
    let p: Vec<f64> = judged.iter().filter_map(|judged| judged.p).collect();
    let adjusted = stats::holm(&p);
    let tested = judged.iter_mut().filter(|judged| judged.p.is_some());
    for (judged, adjusted) in tested.zip(&adjusted) {
        judged.p_adjusted = Some(*adjusted);
    }
    adjusted.len()
}

impl Judged {
    pub fn is_clear(&self) -> bool {
        self.verdict.is_clear(self.difference)
    }

    fn noise(&self, alpha: f64, corrected: &str) -> Option<String> {
        let p = self.p_adjusted.filter(|_| self.verdict != Verdict::Same)?;
        if p > alpha {
            return Some(format!("p = {p:.2}{corrected}"));
        }
        let [low, high] = self.ci95?;
        (low <= 0.0 && high >= 0.0).then(|| "the interval of the medians includes 0".to_owned())
    }
}

/// Compares two figures and assumes that a difference is real; noise is checked later.
fn judge(
    base: &Measured,
    new: &Measured,
    metric: Metric,
    bootstrap: &mut RatioBootstrap,
) -> Judged {
    let mut judged = Judged::default();
    let (Some(a), Some(b)) = (base.value, new.value) else {
        judged.verdict = Verdict::Missing;
        judged.reason = Some(missing(base, new));
        return judged;
    };
    let direction = metric.direction();
    let real = match direction {
        Direction::LowerIsBetter if b > a => Verdict::Worse,
        Direction::HigherIsBetter if b < a => Verdict::Worse,
        _ => Verdict::Better,
    };
    judged.difference = Some(b - a + 0.0).filter(|d| d.is_finite());
    judged.overhead = stats::overhead(b, a, direction);
    // If both took the same two paths, either may be dominant by chance.
    let swapped = a != b && take_same_paths(&base.samples, &new.samples);
    if base.exact && new.exact && !swapped {
        judged.method = Method::Exact;
        judged.verdict = if a == b { Verdict::Same } else { real };
        judged.ci95 = judged.overhead.map(|overhead| [overhead; 2]);
        return judged;
    }
    if metric.is_counted() {
        let Some(found) = by_machines(base, new) else {
            judged.by_paths(base, new, real, direction);
            return judged;
        };
        // The interval is for means, but the difference is between medians.
        if found.log.iter().sum::<f64>() * (b - a) > 0.0 {
            judged.verdict = real;
        } else {
            let reason = "medians and means of the machines differ in opposite directions";
            judged.reason = Some(reason.to_owned());
        }
        judged.take(found, direction);
        return judged;
    }
    if judged.overhead.is_none() {
        judged.reason = Some("BASE is not greater than 0, so there is no ratio".to_owned());
        return judged;
    }
    let evidence = by_samples(base, new, bootstrap)
        .or_else(|| by_rounds(base, new))
        .or_else(|| by_intervals(base, new));
    match evidence {
        Some(found) => {
            judged.take(found.beyond(by_runs(base, new)), direction);
            judged.verdict = real;
        }
        None => {
            let reason = base.reason.clone().or_else(|| new.reason.clone());
            judged.reason = Some(reason.unwrap_or_else(|| too_few(base, new)));
        }
    }
    judged
}

impl Judged {
    /// Judges varying counts. Measured regions of one machine are not independent, so no p is
    /// computed: equal sets of paths are the same, whichever path is dominant, and disjoint sets
    /// differ.
    fn by_paths(&mut self, base: &Measured, new: &Measured, real: Verdict, direction: Direction) {
        let reason = base.reason.clone().or_else(|| new.reason.clone());
        let unknown = || "not all of its paths are known".to_owned();
        let Some((a, b)) = base.ends().zip(new.ends()) else {
            self.reason = Some(reason.unwrap_or_else(unknown));
            return;
        };
        self.method = Method::Paths;
        self.ci95 = (a[0] > 0.0).then(|| interval([b[0] / a[1], b[1] / a[0]], direction));
        self.effect = mann_whitney(&base.samples, &new.samples).map(|ranks| ranks.delta);
        let lie_apart = a[1] < b[0] || b[1] < a[0];
        match self.effect {
            Some(_) if share_paths(&base.samples, &new.samples) => self.verdict = Verdict::Same,
            Some(_) if take_same_paths(&base.samples, &new.samples) => {
                self.reason = Some("both took the same paths, in different proportions".to_owned());
            }
            Some(delta) if lie_apart && delta.abs() >= APART => self.verdict = real,
            Some(_) => self.reason = Some("no dominant path, and the counts overlap".to_owned()),
            None => self.reason = Some(unknown()),
        }
    }
}

/// The overheads at two ratios NEW/BASE.
fn interval(ratios: [f64; 2], direction: Direction) -> [f64; 2] {
    let [a, b] = ratios.map(|ratio| direction.overhead_of_ratio(ratio) + 0.0);
    [a.min(b), a.max(b)]
}

fn distinct(samples: &[f64]) -> Vec<f64> {
    let mut distinct = samples.to_vec();
    distinct.dedup();
    distinct
}

fn take_same_paths(base: &[f64], new: &[f64]) -> bool {
    !base.is_empty() && distinct(base) == distinct(new)
}

/// Whether both (ascending) have the same counts in about equal shares.
fn share_paths(base: &[f64], new: &[f64]) -> bool {
    let share = |samples: &[f64], count: f64| {
        samples.partition_point(|sample| *sample <= count) as f64 / samples.len() as f64
    };
    let apart = |count: &f64| (share(base, *count) - share(new, *count)).abs();
    let most = SHARES * (1.0 / base.len() as f64 + 1.0 / new.len() as f64).sqrt();
    take_same_paths(base, new) && distinct(base).iter().all(|count| apart(count) <= most)
}

struct Found {
    method: Method,
    /// 95 % interval of the ratio's logarithm.
    log: [f64; 2],
    effect: Option<f64>,
    p: f64,
    freedom: f64,
}

impl Judged {
    fn take(&mut self, found: Found, direction: Direction) {
        let [low, high] = found.log;
        self.method = found.method;
        self.ci95 = Some(interval([low.exp(), high.exp()], direction));
        self.effect = found.effect;
        self.p = Some(found.p);
        let error = (high - low) / 2.0 / t_quantile(0.975, found.freedom);
        self.detectable = Some(detectable(error, found.freedom));
    }
}

/// Judges by the ranks of all samples. If rounds are known, the difference must also exceed their
/// variance, because samples of one round are not independent.
fn by_samples(base: &Measured, new: &Measured, bootstrap: &mut RatioBootstrap) -> Option<Found> {
    let ranks = mann_whitney(&base.samples, &new.samples)?;
    let [low, high] = bootstrap.ci95(&base.samples, &new.samples)?;
    let found = Found {
        method: Method::Samples,
        log: [low.ln(), high.ln()],
        effect: Some(ranks.delta),
        p: ranks.p,
        freedom: f64::INFINITY,
    };
    Some(found.beyond(by_rounds(base, new)))
}

impl Found {
    fn new(method: Method, test: Welch) -> Found {
        Found {
            method,
            log: test.ci95(),
            effect: None,
            p: test.p,
            freedom: test.freedom,
        }
    }

    /// Also requires the difference to exceed `wider`'s variance.
    fn beyond(self, wider: Option<Found>) -> Found {
        let Some(wider) = wider else {
            return self;
        };
        Found {
            method: wider.method,
            log: [self.log[0].min(wider.log[0]), self.log[1].max(wider.log[1])],
            effect: self.effect,
            p: self.p.max(wider.p),
            freedom: wider.freedom,
        }
    }
}

/// Judges by the pooled variance of the figures' logarithms in runs without a change.
fn by_runs(base: &Measured, new: &Measured) -> Option<Found> {
    let sides = [&base.runs, &new.runs];
    let known = sides.iter().filter(|runs| runs.len() > 1);
    let logs: Vec<Vec<f64>> = known.map(|runs| logs(runs)).collect::<Option<_>>()?;
    let difference = (new.value? / base.value?).ln();
    let test = stats::single_values(difference, &logs)?;
    Some(Found::new(Method::Runs, test))
}

/// Judges by the figures of several machines, which are independent, unlike the measured regions of
/// one machine. None if no figure varies.
fn by_machines(base: &Measured, new: &Measured) -> Option<Found> {
    let varies = |runs: &[f64]| runs.windows(2).any(|two| two[0] != two[1]);
    if !varies(&base.runs) && !varies(&new.runs) {
        return None;
    }
    if base.runs.len().min(new.runs.len()) < 2 {
        return by_runs(base, new);
    }
    let test = welch(&logs(&base.runs)?, &logs(&new.runs)?)?;
    Some(Found::new(Method::Runs, test))
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let positive = values.iter().all(|x| x.is_finite() && *x > 0.0);
    positive.then(|| values.iter().map(|x| x.ln()).collect())
}

fn by_rounds(base: &Measured, new: &Measured) -> Option<Found> {
    let test = welch(&logs(&base.rounds)?, &logs(&new.rounds)?)?;
    Some(Found::new(Method::Rounds, test))
}

/// Judges by the intervals of the two figures, taken as 1.96 standard errors on each side.
fn by_intervals(base: &Measured, new: &Measured) -> Option<Found> {
    let normal = t_quantile(0.975, f64::INFINITY);
    let error = |measured: &Measured| -> Option<f64> {
        let value = measured.value?;
        if measured.exact {
            return Some(0.0);
        }
        let [low, high] = measured.ci95?;
        // Use the longer side, because a skewed figure is not in the middle of its interval.
        let reach = (high - value).max(value - low).max(0.0);
        (value > 0.0 && reach.is_finite()).then_some(reach / value / normal)
    };
    let error = (error(base)?.powi(2) + error(new)?.powi(2)).sqrt();
    let log = (new.value? / base.value?).ln();
    if !log.is_finite() {
        return None;
    }
    let p = if log == 0.0 {
        1.0
    } else if error == 0.0 {
        0.0
    } else {
        stats::two_sided_p(log / error)
    };
    Some(Found {
        method: Method::Intervals,
        log: [log - normal * error, log + normal * error],
        effect: None,
        p: p.clamp(0.0, 1.0),
        freedom: f64::INFINITY,
    })
}

fn missing(base: &Measured, new: &Measured) -> String {
    let say = |side: &str, measured: &Measured| {
        measured.value.is_none().then(|| {
            let reason = measured.reason.as_deref().unwrap_or("no reason was given");
            let status = match measured.status {
                model::Status::Ok => "has no value",
                model::Status::Failed => "failed",
                model::Status::Unsupported => "is unsupported",
            };
            format!("{side} {status}: {reason}")
        })
    };
    let parts = [say("BASE", base), say("NEW", new)].into_iter().flatten();
    parts.collect::<Vec<_>>().join("; ")
}

fn too_few(base: &Measured, new: &Measured) -> String {
    let n = |measured: &Measured| measured.n.map_or_else(|| "?".to_owned(), |n| n.to_string());
    format!(
        "too few samples (n = {} and {}): at least {SAMPLES_MIN} each, or 2 rounds, are needed",
        n(base),
        n(new)
    )
}
