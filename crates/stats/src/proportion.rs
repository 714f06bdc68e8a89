// SPDX-License-Identifier: GPL-2.0-or-later

use statrs::distribution::{Beta, ContinuousCDF};

/// One-sided 95 % upper limit for `seen` of `all` (C. J. Clopper, E. S. Pearson, *The use of
/// confidence or fiducial limits illustrated in the case of the binomial*, Biometrika 26, 1934). 1
/// if all were seen, or `all` is 0.
pub fn proportion_at_most(seen: u64, all: u64) -> f64 {
    if seen >= all {
        return 1.0;
    }
    let (a, b) = (seen as f64 + 1.0, (all - seen) as f64);
    // Closed form for 0: 1 - 0.05^(1/n).
    if seen == 0 {
        return 1.0 - 0.05f64.powf(1.0 / b);
    }
    Beta::new(a, b).map_or(1.0, |beta| beta.inverse_cdf(0.95).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_figures() {
        // The rule of three, and R's binom.test(c(1, 9), alternative = "less").
        assert!((proportion_at_most(0, 100) - 0.029_513).abs() < 1e-5);
        assert!((proportion_at_most(1, 10) - 0.394_163).abs() < 1e-4);
        assert_eq!(proportion_at_most(0, 0), 1.0);
        assert_eq!(proportion_at_most(5, 5), 1.0);
        assert!(proportion_at_most(50, 1_000) < 0.065);
    }
}
