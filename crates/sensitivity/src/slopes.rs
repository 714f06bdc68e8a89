// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::{BTreeMap, BTreeSet};

use lab::sweep::{Delayed, Point};
use model::{Slope, SlopePoint, Unit};
use stats::{Fit, FitError, bend, median, median_line, on_one_line};

const LEAST_DELAYS: usize = 3;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// Every operation was disturbed under most delays.
    #[error("operations ran undisturbed under only {usable} of {all} delays, too few for a line")]
    TooFewPoints { usable: usize, all: usize },
    #[error(transparent)]
    Fit(#[from] FitError),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Paths {
    /// A dominant path, whose count varies within this many instructions, and a few other paths.
    One { within: f64 },
    /// Hundreds of rare paths, for which the median is used.
    Many,
    /// For a composite operation: the sum of the shortest path of each call under a delay. The same
    /// for all operations, so it counts once.
    OfParts,
}

/// A line through instructions under delays at `which`, including operations without any delay.
/// Operation `i` ran under `points[i % points.len()]` and cost `figures[i]`, if known.
///
/// With a dominant path, outliers from the line through most operations are left out, because they
/// took another path.
pub fn line(
    points: &[Point],
    figures: &[Option<f64>],
    which: &Delayed,
    paths: Paths,
) -> Result<Slope, LineError> {
    let belongs = |point: &Point| point.delayed == *which || point.delay_ns == 0;
    let (mut x, mut y, mut dirty) = (Vec::new(), Vec::new(), 0);
    for (point, figure) in points.iter().cycle().zip(figures) {
        match figure {
            _ if !belongs(point) => {}
            Some(figure) => {
                x.push(f64::from(point.delay_ns));
                y.push(*figure);
            }
            None => dirty += 1,
        }
    }
    let different = |delays: &mut dyn Iterator<Item = u32>| delays.collect::<BTreeSet<u32>>().len();
    let all = different(&mut points.iter().filter(|p| belongs(p)).map(|p| p.delay_ns));
    let usable = different(&mut x.iter().map(|&x| x as u32));
    if usable < LEAST_DELAYS {
        return Err(LineError::TooFewPoints { usable, all });
    }
    let mut others = 0;
    let slope = match paths {
        Paths::OfParts => through_medians(&x, &y, Unit::Instructions)?,
        Paths::Many => {
            let line = median_line(&x, &y)?;
            slope(&line, &x, &y, medians(&x, &y), Unit::Instructions)
        }
        Paths::One { within } => {
            let near = on_one_line(&x, &y, within)?;
            others = near.iter().filter(|near| !**near).count() as u64;
            let on = |values: &[f64]| -> Vec<f64> {
                let values = values.iter().zip(&near);
                values.filter(|(_, near)| **near).map(|(v, _)| *v).collect()
            };
            let (x, y) = (on(&x), on(&y));
            let line = Fit::new(&[&x], &y)?;
            slope(&line, &x, &y, medians(&x, &y), Unit::Instructions)
        }
    };
    Ok(Slope {
        dirty,
        others,
        ..slope
    })
}

/// A line through median times in ns under delays at `which`, including operations without any
/// delay. Operation `i` ran under `points[i % points.len()]`. Medians ignore occasional interrupts.
pub fn line_of_times(
    points: &[Point],
    times_ns: &[Option<f64>],
    which: &Delayed,
) -> Result<Slope, LineError> {
    let belongs = |point: &Point| point.delayed == *which || point.delay_ns == 0;
    let times = points.iter().cycle().zip(times_ns);
    let times = times.filter(|(point, _)| belongs(point));
    let (x, y): (Vec<f64>, Vec<f64>) = times
        .map(|(point, ns)| (f64::from(point.delay_ns), ns.unwrap_or(0.0)))
        .unzip();
    let all = points.iter().filter(|point| belongs(point));
    let all: BTreeSet<u32> = all.map(|point| point.delay_ns).collect();
    let medians = medians(&x, &y);
    if medians.len() < LEAST_DELAYS {
        return Err(LineError::TooFewPoints {
            usable: medians.len(),
            all: all.len(),
        });
    }
    Ok(through_medians(&x, &y, Unit::Ns)?)
}

fn through_medians(x: &[f64], y: &[f64], unit: Unit) -> Result<Slope, FitError> {
    let medians = medians(x, y);
    let delays: Vec<f64> = medians.iter().map(|p| f64::from(p.delay_ns)).collect();
    let costs: Vec<f64> = medians.iter().map(|p| p.median).collect();
    let line = Fit::new(&[&delays], &costs)?;
    Ok(Slope {
        n: x.len() as u64,
        ..slope(&line, &delays, &costs, medians, unit)
    })
}

fn slope(fit: &Fit, x: &[f64], y: &[f64], points: Vec<SlopePoint>, unit: Unit) -> Slope {
    Slope {
        slope: fit.slopes[0].value,
        ci95: fit.slopes[0].ci95,
        intercept: fit.intercept,
        unit,
        r2: fit.r2,
        bend: bend(x, y).ok(),
        residual: fit.residuals.iter().map(|r| r.abs()).fold(0.0, f64::max),
        n: x.len() as u64,
        dirty: 0,
        others: 0,
        points,
        counted: None,
        explanation: None,
    }
}

fn medians(x: &[f64], y: &[f64]) -> Vec<SlopePoint> {
    let mut by_delay: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (x, y) in x.iter().zip(y) {
        by_delay.entry(*x as u32).or_default().push(*y);
    }
    let points = by_delay.into_iter().map(|(delay_ns, costs)| SlopePoint {
        delay_ns,
        n: costs.len() as u64,
        median: median(costs),
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: Paths = Paths::One { within: 1.0 };

    fn all(delay_ns: u32) -> Point {
        Point {
            delayed: Delayed::All,
            delay_ns,
        }
    }

    fn one(delay_ns: u32) -> Point {
        Point {
            delayed: Delayed::Hook("file_open".to_owned()),
            delay_ns,
        }
    }

    #[test]
    fn figures_made_of_parts_count_once() {
        // All operations under a delay have the same figure.
        let delays = [0u32, 100, 200, 300, 400];
        let points: Vec<Point> = delays.into_iter().map(all).collect();
        let figure = |delay_ns: u32| f64::from(2 * delay_ns + 7 * (delay_ns / 100 % 2));
        let figures: Vec<Option<f64>> = (0..500).map(|i| Some(figure(delays[i % 5]))).collect();
        let once = line(&points, &figures, &Delayed::All, Paths::OfParts).unwrap();
        let one = Paths::One { within: 50.0 };
        let often = line(&points, &figures, &Delayed::All, one).unwrap();
        assert_eq!((once.n, often.n), (500, 500));
        assert!((once.slope - often.slope).abs() < 1e-9);
        let width = |line: &Slope| line.ci95[1] - line.ci95[0];
        assert!(width(&once) > 5.0 * width(&often), "{once:?} {often:?}");
    }

    #[test]
    fn each_line_takes_its_own_points() {
        let points = [all(0), all(10), all(20), all(30), one(15), one(30)];
        // Three decisions, one in file_open; disturbed operations are ignored.
        const NONE: f64 = 0.0;
        let figures = [
            [100.0, 130.0, NONE, 190.0, 115.0, 130.0],
            [100.0, NONE, 160.0, 190.0, 115.0, 130.0],
        ];
        let figures = figures.concat().into_iter();
        let figures: Vec<Option<f64>> = figures.map(|f| Some(f).filter(|f| *f > NONE)).collect();
        let whole = line(&points, &figures, &Delayed::All, ONE).unwrap();
        assert!((whole.slope - 3.0).abs() < 1e-9);
        assert_eq!((whole.n, whole.dirty), (6, 2));
        assert!((whole.intercept - 100.0).abs() < 1e-9);
        let file_open = Delayed::Hook("file_open".to_owned());
        let part = line(&points, &figures, &file_open, ONE).unwrap();
        assert!((part.slope - 1.0).abs() < 1e-9);
        assert_eq!(part.points.len(), 3);
    }

    #[test]
    fn times_that_interrupts_met_do_not_bend_the_line() {
        let points: Vec<Point> = (0..4).map(|step| all(step * 10)).collect();
        let mut times: Vec<Option<f64>> = (0..12u32)
            .map(|i| Some(100.0 + 2.0 * f64::from(i % 4 * 10)))
            .collect();
        times[5] = Some(50_000.0);
        let line = line_of_times(&points, &times, &Delayed::All).unwrap();
        assert!((line.slope - 2.0).abs() < 1e-9);
        assert_eq!((line.n, line.points.len()), (12, 4));
        let few = line_of_times(&points[..2], &times, &Delayed::All).unwrap_err();
        assert_eq!(few, LineError::TooFewPoints { usable: 2, all: 2 });
    }

    #[test]
    fn a_cell_without_quiet_operations_has_no_line() {
        let points = [all(0), all(10), all(20), all(30)];
        let figures = [Some(1.0), Some(2.0), None, None];
        let error = line(&points, &figures, &Delayed::All, ONE).unwrap_err();
        assert_eq!(error, LineError::TooFewPoints { usable: 2, all: 4 });
        assert!(line(&points, &[], &Delayed::All, ONE).is_err());
        assert!(line(&[], &[], &Delayed::All, ONE).is_err());
    }

    proptest! {
        #[test]
        fn a_whole_number_of_decisions_is_found(count in 0u32..50, base in 0u32..1_000_000) {
            let points: Vec<Point> = (0..12).map(|step| all(step * 10_000)).collect();
            let figure = |point: &Point| Some(f64::from(base) + f64::from(count) * f64::from(point.delay_ns));
            let figures: Vec<Option<f64>> = points.iter().map(figure).collect();
            let found = line(&points, &figures, &Delayed::All, ONE).unwrap();
            prop_assert!((found.slope - f64::from(count)).abs() < 1e-6);
        }
    }
}
