// SPDX-License-Identifier: GPL-2.0-or-later

/// An estimate at a place: what a policy of `x` rules costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// For example the number of rules or layers.
    pub x: f64,
    /// `[low, high]`; equal for exact estimates.
    pub interval: [f64; 2],
}

/// A decrease that should not occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fall {
    /// Index of the high point.
    pub from: usize,
    /// Index of the low point, at a larger `x`.
    pub to: usize,
}

/// The deepest fall of estimates that should never become smaller as `x` grows: a
/// point whose whole interval lies below that of a point at a smaller `x`. None if
/// no estimate falls. Points at the same `x` are not compared, and those that are not
/// finite, or whose interval ends before it begins, are left out.
///
/// That intervals of 95 % do not overlap is stronger evidence than 95 % for one pair,
/// and weaker for all pairs of many points together.
pub fn deepest_fall(points: &[Point]) -> Option<Fall> {
    let is_sound = |point: &Point| {
        let [low, high] = point.interval;
        point.x.is_finite() && low.is_finite() && high.is_finite() && low <= high
    };
    let mut order: Vec<usize> = (0..points.len())
        .filter(|&at| is_sound(&points[at]))
        .collect();
    order.sort_by(|&a, &b| points[a].x.total_cmp(&points[b].x).then(a.cmp(&b)));
    let low = |at: usize| points[at].interval[0];
    let mut highest: Option<usize> = None;
    let mut deepest: Option<(f64, Fall)> = None;
    // Points of the same x are not compared with each other.
    for run in order.chunk_by(|&a, &b| points[a].x == points[b].x) {
        if let Some(from) = highest {
            for &to in run {
                let depth = low(from) - points[to].interval[1];
                if depth > 0.0 && deepest.is_none_or(|(known, _)| depth > known) {
                    deepest = Some((depth, Fall { from, to }));
                }
            }
        }
        for &at in run {
            if highest.is_none_or(|known| low(at) > low(known)) {
                highest = Some(at);
            }
        }
    }
    deepest.map(|(_, fall)| fall)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Estimate = (f64, f64, f64);

    fn point((x, estimate, error): Estimate) -> Point {
        let interval = [estimate - error, estimate + error];
        Point { x, interval }
    }

    #[test]
    fn a_fall_is_one_beyond_both_intervals() {
        const NAN: f64 = f64::NAN;
        let fall = |from, to| Some(Fall { from, to });
        let cases: [(&[Estimate], Option<Fall>); 8] = [
            (&[], None),
            (&[(1.0, 5.0, 0.0), (2.0, 5.0, 0.0)], None),
            (
                &[(10.0, 4.0, 0.0), (1.0, 5.0, 0.0), (5.0, 4.5, 0.0)],
                fall(1, 0),
            ),
            (&[(1.0, 10.0, 2.0), (2.0, 7.0, 1.0)], None),
            (&[(1.0, 10.0, 1.0), (2.0, 7.0, 1.0)], fall(0, 1)),
            // What cannot be compared is not.
            (&[(1.0, 5.0, 0.0), (1.0, 4.0, 0.0)], None),
            (&[(1.0, 5.0, 0.0), (NAN, 1.0, 0.0), (2.0, NAN, 0.0)], None),
            (&[(1.0, 5.0, 0.0), (2.0, 0.0, -4.0)], None),
        ];
        for (points, expected) in cases {
            let found = deepest_fall(&points.iter().copied().map(point).collect::<Vec<_>>());
            assert_eq!(found, expected, "{points:?}");
        }
    }

    proptest! {
        #[test]
        fn it_finds_what_looking_at_every_pair_finds(
            values in proptest::collection::vec((0u8..6, 0u8..9, 0u8..3), 0..12)
        ) {
            let points: Vec<Point> = values
                .iter()
                .map(|&(x, estimate, error)| point((x.into(), estimate.into(), error.into())))
                .collect();
            let depth = |a: &Point, b: &Point| a.interval[0] - b.interval[1];
            let mut deepest = 0.0f64;
            for a in &points {
                for b in points.iter().filter(|b| a.x < b.x) {
                    deepest = deepest.max(depth(a, b));
                }
            }
            match deepest_fall(&points) {
                None => prop_assert_eq!(deepest, 0.0),
                Some(Fall { from, to }) => {
                    prop_assert!(points[from].x < points[to].x);
                    prop_assert_eq!(depth(&points[from], &points[to]), deepest);
                    prop_assert!(deepest > 0.0);
                }
            }
        }
    }
}
