// SPDX-License-Identifier: GPL-2.0-or-later

/// Expected number of `n` items, placed into `bins` at random, that share a bin with `room` or
/// more others: cache lines with conflict misses, by sets and ways (J. L. Hennessy, D. A.
/// Patterson, *Computer Architecture: A Quantitative Approach*, appendix B).
///
/// The number of others in a bin is binomial: n · P(others ≥ room). 0 without bins.
pub fn crowded(n: u64, bins: u32, room: u32) -> f64 {
    if n == 0 || bins == 0 {
        return 0.0;
    }
    let (others, chance) = ((n - 1) as f64, 1.0 / f64::from(bins));
    if chance >= 1.0 {
        return if others >= f64::from(room) {
            n as f64
        } else {
            0.0
        };
    }
    // P(others = k), k from 0 on.
    let mut exactly = (others * (-chance).ln_1p()).exp();
    let mut fewer = 0.0;
    for k in 0..room {
        let k = f64::from(k);
        if k > others {
            break;
        }
        fewer += exactly;
        exactly *= (others - k) / (k + 1.0) * chance / (1.0 - chance);
    }
    n as f64 * (1.0 - fewer).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::crowded;
    use crate::SplitMix64;

    #[test]
    fn what_is_certain() {
        // Items that fit into one bin never overflow it.
        assert_eq!((0..=8).map(|n| crowded(n, 64, 8)).sum::<f64>(), 0.0);
        assert_eq!((crowded(9, 1, 8), crowded(8, 1, 8)), (9.0, 0.0));
        assert_eq!((crowded(5, 0, 8), crowded(5, 64, 0)), (0.0, 5.0));
        assert!((crowded(u64::MAX, 64, 8) - u64::MAX as f64).abs() < 1e9);
    }

    #[test]
    fn as_often_as_in_draws() {
        let mut random = SplitMix64::new(1);
        for n in [100, 300, 400, 512, 800] {
            let mut found = 0;
            for _ in 0..2_000 {
                let mut bins = [0_u32; 64];
                (0..n).for_each(|_| bins[random.below(64)] += 1);
                found += bins.iter().filter(|bin| **bin > 8).sum::<u32>();
            }
            let (mean, expected) = (f64::from(found) / 2_000.0, crowded(n, 64, 8));
            assert!(
                (mean - expected).abs() < 0.01 * n as f64,
                "{n}: {mean}, {expected}"
            );
        }
    }
}
