// SPDX-License-Identifier: GPL-2.0-or-later
//! Correction of p values for many tests.

/// Holm's step-down correction: the probability of any false alarm stays below the level, for any
/// dependence of the tests (S. Holm, *A simple sequentially rejective multiple test procedure*,
/// Scandinavian Journal of Statistics 6(2), 1979). Keeps the order.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut adjusted = vec![1.0; m];
    let mut least = 0.0f64;
    let mut ascending: Vec<usize> = (0..m).collect();
    ascending.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    for (at, index) in ascending.into_iter().enumerate() {
        least = least.max(p[index] * (m - at) as f64).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_figures() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
        let p = [0.01, 0.04, 0.03, 0.005];
        let near = |a: Vec<f64>, b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(holm(&p), [0.03, 0.06, 0.06, 0.02]));
        assert!(holm(&[]).is_empty());
    }
}
