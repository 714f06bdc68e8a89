// SPDX-License-Identifier: GPL-2.0-or-later
//! Warnings that keep a gate from trusting a figure.

use model::{Metric, Warning, WarningKind};

/// The warnings that make the figure at this index untrusted; `rounds`: it is judged by the
/// variance of its rounds.
pub(crate) fn doubts(
    warnings: &[Warning],
    position: usize,
    metric: Metric,
    rounds: bool,
) -> Vec<String> {
    let here = |cell: &u32| usize::try_from(*cell) == Ok(position);
    let warnings = warnings.iter().filter(|warning| {
        is_doubt(warning.kind, metric, rounds)
            && (warning.cells.is_empty() || warning.cells.iter().any(here))
    });
    warnings.map(|warning| warning.kind.to_string()).collect()
}

/// Does a warning of this kind make a figure of this metric unfit for a verdict? Others are notes:
/// they concern both sides equally, or are included in the interval.
fn is_doubt(kind: WarningKind, metric: Metric, rounds: bool) -> bool {
    let calls = [Metric::Calls, Metric::CallRate, Metric::CallTime].contains(&metric);
    match kind {
        WarningKind::EmulatedTime | WarningKind::Throttling => metric.is_timed(),
        // Rounds that differ widen their interval.
        WarningKind::Drift | WarningKind::Disturbed => metric.is_timed() && !rounds,
        WarningKind::DirtyRegions => metric.is_counted() && !calls,
        WarningKind::Other => true,
        WarningKind::ChecksDiffer => metric == Metric::Slope,
        WarningKind::LostCalls => calls,
        // A path that few measured regions took is judged by all of them.
        WarningKind::UnstablePath
        | WarningKind::ClockShare
        | WarningKind::NotPinned
        | WarningKind::ExtraModules
        | WarningKind::NoSymbols
        | WarningKind::UndelayedHooks
        // Missing cells are missing or unmatched pairs.
        | WarningKind::MissingMeasurements
        | WarningKind::Interrupted
        | WarningKind::StaleIndex
        | WarningKind::OtherKernel
        | WarningKind::OtherModules
        | WarningKind::DeniedCalls
        | WarningKind::UncoveredCalls => false,
    }
}
