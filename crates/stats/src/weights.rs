// SPDX-License-Identifier: GPL-2.0-or-later

/// Observations with residuals above this many errors count less (P. J. Huber, *Robust Statistics*,
/// Wiley 1981, section 7.8).
const FAR: f64 = 1.5;
/// The largest number of reweighting rounds; there are fewer if weights hardly change.
const ROUNDS: usize = 30;
/// The largest number of passes over the predictors.
const PASSES: usize = 10_000;
const ENOUGH: f64 = 1e-10;

#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    pub x: Vec<f64>,
    pub y: f64,
    pub error: f64,
}

/// Weights w ≥ 0 with Σ w·x near y: robust least squares of residuals in units of the errors. 0 for
/// predictors that are always 0. All numbers must be finite, and observations equally long.
pub fn nonnegative_weights(observations: &[&Observation]) -> Vec<f64> {
    let n = observations.first().map_or(0, |first| first.x.len());
    let mut weights = vec![0.0; n];
    let mut trust = vec![1.0; observations.len()];
    for round in 0..ROUNDS {
        let before = weights.clone();
        weights = least_squares(observations, &trust, weights);
        let mut changes = weights.iter().zip(&before);
        // Outliers are known only after the first round.
        if round > 0 && changes.all(|(now, before)| change(*now, *before) < ENOUGH) {
            break;
        }
        for (observation, trust) in observations.iter().zip(&mut trust) {
            let far =
                ((observation.y - predicted(&weights, &observation.x)) / observation.error).abs();
            *trust = if far > FAR { FAR / far } else { 1.0 };
        }
    }
    weights
}

pub fn predicted(weights: &[f64], x: &[f64]) -> f64 {
    weights.iter().zip(x).map(|(weight, x)| weight * x).sum()
}

/// Relative change of a weight.
fn change(now: f64, before: f64) -> f64 {
    (now - before).abs() / now.abs().max(1e-9)
}

/// Uses coordinate descent. The problem is convex, so this converges to the optimum.
fn least_squares(observations: &[&Observation], trust: &[f64], mut weights: Vec<f64>) -> Vec<f64> {
    let n = weights.len();
    // The normal equations: a·w = b.
    let mut a = vec![vec![0.0; n]; n];
    let mut b = vec![0.0; n];
    for (observation, trust) in observations.iter().zip(trust) {
        let scale = trust / (observation.error * observation.error);
        for (i, x) in observation.x.iter().enumerate() {
            b[i] += scale * x * observation.y;
            for (sum, other) in a[i].iter_mut().zip(&observation.x) {
                *sum += scale * x * other;
            }
        }
    }
    for _ in 0..PASSES {
        let mut changed: f64 = 0.0;
        for i in 0..n {
            if a[i][i] <= 0.0 {
                continue;
            }
            let rest = b[i] - predicted(&a[i], &weights) + a[i][i] * weights[i];
            let next = (rest / a[i][i]).max(0.0);
            changed = changed.max(change(next, weights[i]));
            weights[i] = next;
        }
        if changed < ENOUGH {
            break;
        }
    }
    weights
}

/// Spearman's rank correlation with mean ranks for ties; None for fewer than three pairs or a
/// constant side.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let a = ranks(pairs.iter().map(|pair| pair.0).collect());
    let b = ranks(pairs.iter().map(|pair| pair.1).collect());
    let mean = (pairs.len() as f64 - 1.0) / 2.0;
    let sum = |term: &dyn Fn(usize) -> f64| (0..pairs.len()).map(term).sum::<f64>();
    let both = sum(&|at| (a[at] - mean) * (b[at] - mean));
    let alone = sum(&|at| (a[at] - mean).powi(2)) * sum(&|at| (b[at] - mean).powi(2));
    (alone > 0.0).then(|| both / alone.sqrt())
}

/// The rank of each value, from 0.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &k| values[i].total_cmp(&values[k]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|&i, &k| values[i] == values[k]) {
        let at = order.iter().position(|i| *i == equal[0]).unwrap_or(0);
        for &i in equal {
            ranks[i] = at as f64 + (equal.len() as f64 - 1.0) / 2.0;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observation(x: &[f64], y: f64) -> Observation {
        Observation {
            x: x.to_vec(),
            y,
            error: 1.0,
        }
    }

    fn refs(all: &[Observation]) -> Vec<&Observation> {
        all.iter().collect()
    }

    #[test]
    fn weights_are_found_and_never_below_0() {
        let exact = [[1.0, 0.0], [0.0, 1.0], [3.0, 2.0], [5.0, 1.0]];
        let exact = exact.map(|x| observation(&x, 2.0 * x[0] + 7.0 * x[1]));
        let weights = nonnegative_weights(&refs(&exact));
        assert!((weights[0] - 2.0).abs() < 1e-6 && (weights[1] - 7.0).abs() < 1e-6);
        let falls = [1.0, 2.0, 3.0].map(|x| observation(&[x, 1.0], 10.0 - x));
        assert_eq!(nonnegative_weights(&refs(&falls))[0], 0.0);
        assert!(nonnegative_weights(&[]).is_empty());
    }

    #[test]
    fn one_wild_observation_moves_them_little() {
        let mut all: Vec<Observation> = (1..20)
            .map(|x| observation(&[f64::from(x)], 3.0 * f64::from(x)))
            .collect();
        all.push(observation(&[10.0], 5_000.0));
        let weight = nonnegative_weights(&refs(&all))[0];
        assert!((weight - 3.0).abs() < 0.05, "{weight}");
    }

    #[test]
    fn one_wild_observation_that_makes_all_0_at_first_is_found_far() {
        let mut all = vec![observation(&[1.0], 3.0); 9];
        all.push(observation(&[1.0], -1_000.0));
        let weight = nonnegative_weights(&refs(&all))[0];
        assert!((2.5..3.0).contains(&weight), "{weight}");
    }

    #[test]
    fn ranks_of_ties_are_shared() {
        assert_eq!(ranks(vec![5.0, 1.0, 5.0, 9.0]), [1.5, 0.0, 1.5, 3.0]);
        let rising = [(1.0, 10.0), (2.0, 11.0), (3.0, 500.0)];
        assert_eq!(rank_correlation(&rising), Some(1.0));
        let falling = rising.map(|(a, b)| (a, -b));
        assert_eq!(rank_correlation(&falling), Some(-1.0));
        assert_eq!(rank_correlation(&rising[..2]), None);
        assert_eq!(
            rank_correlation(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]),
            None
        );
    }
}
