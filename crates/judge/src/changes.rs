// SPDX-License-Identifier: GPL-2.0-or-later
//! Changes that are no pair of figures: of a series, and outside hooks.

use experiment::{Counted, FunctionDifference, Series, SeriesChange};

/// Finds the changes of a series' points: any difference of exact counts, of other figures
/// changes at a level of significance of `alpha`, above 0. Of counts that vary the intervals before
/// and after must not meet: the median of one set of paths moves between its ends by chance.
pub fn find_changes(series: &mut Series, alpha: f64) {
    series.exact = series.points.iter().all(|point| point.exact);
    let figures: Vec<f64> = series.points.iter().map(|point| point.figure).collect();
    let changes = match series.exact {
        true => stats::exact_changes(&figures),
        false => stats::change_points(&figures, alpha),
    };
    let direction = series.metric.direction();
    let ends = |at: usize| {
        let point = &series.points[at];
        point.interval.unwrap_or([point.figure; 2])
    };
    let lie_apart = |at: usize| {
        let ([low, high], [from, to]) = (ends(at - 1), ends(at));
        !series.metric.is_counted() || high < from || to < low
    };
    let changes = changes.into_iter().filter(|change| lie_apart(change.at));
    let changes = changes.map(|change| SeriesChange {
        point: u32::try_from(change.at).unwrap_or(u32::MAX),
        before: change.before,
        after: change.after,
        overhead: stats::overhead(change.after, change.before, direction),
        p: change.p,
    });
    series.changes = changes.collect();
}

/// Functions outside hooks that cost more or less than in the baseline, for no known
/// reason, in an operation that takes one path: what should not be there.
pub fn unexplained(counted: &Counted) -> impl Iterator<Item = &FunctionDifference> {
    let comparable = counted.is_comparable();
    let functions = (counted.residual.iter()).flat_map(|residual| &residual.functions);
    functions.filter(move |function| comparable && function.explanation.is_none())
}
