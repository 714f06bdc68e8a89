// SPDX-License-Identifier: GPL-2.0-or-later
//! Corrections of p values for many tests.

/// Holm's step-down correction: the probability of any false alarm stays below the level, for any
/// dependence of the tests (S. Holm, *A simple sequentially rejective multiple test procedure*,
/// Scandinavian Journal of Statistics 6(2), 1979). Keeps the order.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut adjusted = vec![1.0; m];
    let mut least = 0.0f64;
    for (at, index) in ascending(p).into_iter().enumerate() {
        least = least.max(p[index] * (m - at) as f64).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

/// Benjamini and Hochberg's step-up correction: the expected share of false alarms stays below the
/// level (Y. Benjamini, Y. Hochberg, *Controlling the false discovery rate*, Journal of the Royal
/// Statistical Society B 57(1), 1995). Keeps the order.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut adjusted = vec![1.0; m];
    let mut most = 1.0f64;
    for (at, index) in ascending(p).into_iter().enumerate().rev() {
        most = most.min(p[index] * m as f64 / (at + 1) as f64);
        adjusted[index] = most;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_figures() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") and "BH".
        let p = [0.01, 0.04, 0.03, 0.005];
        let near = |a: Vec<f64>, b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(holm(&p), [0.03, 0.06, 0.06, 0.02]));
        assert!(near(benjamini_hochberg(&p), [0.02, 0.04, 0.04, 0.02]));
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }
}
