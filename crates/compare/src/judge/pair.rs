// SPDX-License-Identifier: GPL-2.0-or-later
//! What pairs of figures say, as far as the evidence goes.

use model::Metric;
use model::comparison::{Correction, Method, Verdict};
use stats::bootstrap::SAMPLES_MIN;
use stats::{Direction, RatioBootstrap, Welch, mann_whitney, t_quantile, welch};

use crate::judge::Measured;

/// A difference is real if its corrected p is at most this, unless said otherwise.
pub const ALPHA: f64 = 0.05;
/// Share of comparisons in which a difference of the detectable size would be seen.
const POWER: f64 = 0.8;
/// Cliff's delta from which counts that vary differ: in nine of ten pairs of measured regions, one of each
/// side, it is the same side's that takes more.
const APART: f64 = 0.8;
/// By how much the shares of the same paths may differ, times the root of 1/n + 1/m: what two
/// draws from one distribution keep to in 95 % of cases (Kolmogorov and Smirnov).
const SHARES: f64 = 1.36;

/// What two figures say, as [`model::comparison::ComparedCell`] tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub method: Method,
    /// NEW less BASE.
    pub difference: Option<f64>,
    /// That as a fraction of BASE, more being worse; None where BASE is not above 0.
    pub overhead: Option<f64>,
    /// 95 % interval of the overhead, of this pair alone; a point where figures are exact.
    pub ci95: Option<[f64; 2]>,
    /// Cliff's delta, -1 to 1; only by samples and paths.
    pub effect: Option<f64>,
    /// How probable such a difference is if there is none.
    pub p: Option<f64>,
    /// The same, corrected for the number of pairs.
    pub p_adjusted: Option<f64>,
    /// Smallest overhead that would be seen in four of five comparisons.
    pub detectable: Option<f64>,
    pub verdict: Verdict,
    /// Why nothing can be said.
    pub reason: Option<String>,
}

/// Smallest overhead that is seen in four of five comparisons whose ratios' logarithms have
/// this standard error.
fn detectable(error: f64, freedom: f64) -> f64 {
    let reach = t_quantile(1.0 - ALPHA / 2.0, freedom) + t_quantile(POWER, freedom);
    // More than this is no answer, and would not be a number for long.
    (error * reach).min(20.0).exp_m1()
}

/// Judges pairs of figures of a metric, BASE and NEW, together, in their order: a difference is
/// real if its p, corrected for the number of pairs, is at most `alpha`, above 0.
pub fn together<'a>(
    pairs: impl IntoIterator<Item = (&'a Measured, &'a Measured, Metric)>,
    alpha: f64,
    correction: Correction,
) -> Vec<Judged> {
    let mut bootstrap = RatioBootstrap::new();
    let pairs = pairs.into_iter();
    let judge = |(base, new, metric)| {
        let mut judged = judge(base, new, metric, &mut bootstrap);
        // A figure and itself: as of a document that is compared with itself.
        if base.value.is_some() && base == new {
            (judged.verdict, judged.reason) = (Verdict::Same, None);
        }
        judged
    };
    let mut judged: Vec<Judged> = pairs.map(judge).collect();
    let corrected = match correct(&mut judged, correction) {
        tested if tested > 1 && correction != Correction::None => {
            format!(", corrected for {tested} cells")
        }
        _ => String::new(),
    };
    for judged in &mut judged {
        if let Some(reason) = judged.noise(alpha, &corrected) {
            judged.verdict = Verdict::Unclear;
            judged.reason = Some(reason);
        }
    }
    judged
}

/// Corrects the p values of those that have any, and says how many these are.
fn correct(judged: &mut [Judged], correction: Correction) -> usize {
    let p: Vec<f64> = judged.iter().filter_map(|judged| judged.p).collect();
    let adjusted = match correction {
        Correction::Holm => stats::holm(&p),
        Correction::Bh => stats::benjamini_hochberg(&p),
        Correction::None => p,
    };
    let tested = judged.iter_mut().filter(|judged| judged.p.is_some());
    for (judged, adjusted) in tested.zip(&adjusted) {
        judged.p_adjusted = Some(*adjusted);
    }
    adjusted.len()
}

impl Judged {
    /// Is the difference more than chance?
    pub fn is_clear(&self) -> bool {
        self.verdict.is_clear(self.difference)
    }

    /// Why the difference may be noise; None if it is not.
    fn noise(&self, alpha: f64, corrected: &str) -> Option<String> {
        let p = self.p_adjusted.filter(|_| self.verdict != Verdict::Same)?;
        if p > alpha {
            return Some(format!("p = {p:.2}{corrected}"));
        }
        let [low, high] = self.ci95?;
        (low <= 0.0 && high >= 0.0).then(|| "the medians' interval holds 0".to_owned())
    }
}

/// Compares two figures, and takes their difference for real, though it may be noise.
fn judge(
    base: &Measured,
    new: &Measured,
    metric: Metric,
    bootstrap: &mut RatioBootstrap,
) -> Judged {
    let mut judged = Judged {
        method: Method::None,
        difference: None,
        overhead: None,
        ci95: None,
        effect: None,
        p: None,
        p_adjusted: None,
        detectable: None,
        verdict: Verdict::Unclear,
        reason: None,
    };
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
    // Where both took the same two paths, which of them is dominant may change without a change.
    let swapped = a != b && take_same_paths(&base.samples, &new.samples);
    if base.exact && new.exact && !swapped {
        judged.method = Method::Exact;
        judged.verdict = if a == b { Verdict::Same } else { real };
        judged.ci95 = judged.overhead.map(|overhead| [overhead; 2]);
        return judged;
    }
    if metric.is_counted() {
        judged.by_paths(base, new, real, direction);
        return judged;
    }
    if judged.overhead.is_none() {
        judged.reason = Some("BASE is not above 0: there is no ratio".to_owned());
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
            let said = base.reason.clone().or_else(|| new.reason.clone());
            judged.reason = Some(said.unwrap_or_else(|| too_few(base, new)));
        }
    }
    judged
}

impl Judged {
    /// Judges counts that vary. Measured regions of one machine are not independent, and no p comes from
    /// them: the same set of paths is the same, whichever of them half of the measured regions took, and
    /// sets that lie apart differ.
    fn by_paths(&mut self, base: &Measured, new: &Measured, real: Verdict, direction: Direction) {
        let said = base.reason.clone().or_else(|| new.reason.clone());
        let unknown = || "not all of its paths are known".to_owned();
        let Some((a, b)) = base.ends().zip(new.ends()) else {
            self.reason = Some(said.unwrap_or_else(unknown));
            return;
        };
        self.method = Method::Paths;
        self.ci95 = (a[0] > 0.0).then(|| interval([b[0] / a[1], b[1] / a[0]], direction));
        self.effect = mann_whitney(&base.samples, &new.samples).map(|ranks| ranks.delta);
        let lie_apart = a[1] < b[0] || b[1] < a[0];
        match self.effect {
            Some(_) if share_paths(&base.samples, &new.samples) => self.verdict = Verdict::Same,
            Some(_) if take_same_paths(&base.samples, &new.samples) => {
                self.reason = Some("both took the same paths, in other shares".to_owned());
            }
            Some(delta) if lie_apart && delta.abs() >= APART => self.verdict = real,
            Some(_) => self.reason = Some("without a dominant path, both overlap".to_owned()),
            None => self.reason = Some(unknown()),
        }
    }
}

/// The overheads between two ratios of NEW over BASE.
fn interval(ratios: [f64; 2], direction: Direction) -> [f64; 2] {
    let [a, b] = ratios.map(|ratio| direction.overhead_of_ratio(ratio) + 0.0);
    [a.min(b), a.max(b)]
}

/// Each count of ascending ones once.
fn distinct(samples: &[f64]) -> Vec<f64> {
    let mut distinct = samples.to_vec();
    distinct.dedup();
    distinct
}

fn take_same_paths(base: &[f64], new: &[f64]) -> bool {
    !base.is_empty() && distinct(base) == distinct(new)
}

/// Are these the same counts, each about as often? Both are ascending.
fn share_paths(base: &[f64], new: &[f64]) -> bool {
    let share = |samples: &[f64], count: f64| {
        samples.partition_point(|sample| *sample <= count) as f64 / samples.len() as f64
    };
    let apart = |count: &f64| (share(base, *count) - share(new, *count)).abs();
    let most = SHARES * (1.0 / base.len() as f64 + 1.0 / new.len() as f64).sqrt();
    take_same_paths(base, new) && distinct(base).iter().all(|count| apart(count) <= most)
}

/// What the evidence says of NEW over BASE.
struct Found {
    method: Method,
    /// 95 % interval of the logarithm of the ratio.
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

/// By the ranks of all samples; where rounds are known, the difference must also stand out
/// from what these differ by: samples of one round are no independent witnesses.
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
    fn of(method: Method, test: Welch) -> Found {
        Found {
            method,
            log: test.ci95(),
            effect: None,
            p: test.p,
            freedom: test.freedom,
        }
    }

    /// What is left if the difference must also stand out from what `wider` knows of.
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

/// By what runs without a change differ by, on either side: the variance of the figures'
/// logarithms, of both sides together.
fn by_runs(base: &Measured, new: &Measured) -> Option<Found> {
    let sides = [&base.runs, &new.runs];
    let known = sides.iter().filter(|runs| runs.len() > 1);
    let logs: Vec<Vec<f64>> = known.map(|runs| logs(runs)).collect::<Option<_>>()?;
    let difference = (new.value? / base.value?).ln();
    let test = stats::single_values(difference, &logs)?;
    Some(Found::of(Method::Runs, test))
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let positive = values.iter().all(|x| x.is_finite() && *x > 0.0);
    positive.then(|| values.iter().map(|x| x.ln()).collect())
}

fn by_rounds(base: &Measured, new: &Measured) -> Option<Found> {
    let test = welch(&logs(&base.rounds)?, &logs(&new.rounds)?)?;
    Some(Found::of(Method::Rounds, test))
}

/// By the intervals of the two figures, taken as 1.96 standard errors to each side.
fn by_intervals(base: &Measured, new: &Measured) -> Option<Found> {
    let normal = t_quantile(0.975, f64::INFINITY);
    let error = |measured: &Measured| -> Option<f64> {
        let value = measured.value?;
        if measured.exact {
            return Some(0.0);
        }
        let [low, high] = measured.ci95?;
        // The longer side: an interval of a skewed figure is not in its middle.
        let reach = (high - value).max(value - low).max(0.0);
        (value > 0.0 && reach.is_finite()).then_some(reach / value / normal)
    };
    let squares = error(base)?.powi(2) + error(new)?.powi(2);
    let error = squares.sqrt();
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
                model::Status::Ok => "has no figure",
                model::Status::Failed => "failed",
                model::Status::Unsupported => "is unsupported",
            };
            format!("{side} {status}: {reason}")
        })
    };
    let said: Vec<String> = [say("BASE", base), say("NEW", new)]
        .into_iter()
        .flatten()
        .collect();
    said.join("; ")
}

fn too_few(base: &Measured, new: &Measured) -> String {
    let n = |measured: &Measured| measured.n.map_or_else(|| "?".to_owned(), |n| n.to_string());
    format!(
        "too few samples (n = {} and {}): at least {SAMPLES_MIN} of each, or 2 rounds",
        n(base),
        n(new)
    )
}
