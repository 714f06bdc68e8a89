// SPDX-License-Identifier: GPL-2.0-or-later
//! Which warnings of a document keep a gate from trusting a figure.

use model::{Metric, Warning, WarningKind};

/// Reasons in a document's warnings not to trust the figure at this position; `rounds`: it is
/// judged by what its rounds differ by.
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

/// Does a warning of this kind make a figure of this metric unfit for a verdict? Those
/// that do not are told as notes: they concern both sides alike, or are in the interval.
fn is_doubt(kind: WarningKind, metric: Metric, rounds: bool) -> bool {
    let calls = [Metric::Calls, Metric::CallRate, Metric::CallTime].contains(&metric);
    match kind {
        WarningKind::EmulatedTime | WarningKind::Throttling => metric.is_timed(),
        // Rounds that disagree widen the interval that is made of them.
        WarningKind::Drift | WarningKind::Disturbed => metric.is_timed() && !rounds,
        WarningKind::DirtyRegions | WarningKind::AaDiffers => metric.is_counted() && !calls,
        WarningKind::NonMonotone | WarningKind::Other => true,
        WarningKind::ChecksDiffer => metric == Metric::Slope,
        WarningKind::LostCalls => calls,
        // A path that few measured regions took is judged by all measured regions.
        WarningKind::UnstablePath
        | WarningKind::ClockShare
        | WarningKind::NotPinned
        | WarningKind::ExtraModules
        | WarningKind::NoSymbols
        | WarningKind::UndelayedHooks
        // Cells that are not there are missing, or unmatched.
        | WarningKind::MissingMeasurements
        | WarningKind::Interrupted
        | WarningKind::StaleIndex
        // Of predictions, which are not compared.
        | WarningKind::OtherKernel
        | WarningKind::OtherModules
        | WarningKind::DeniedCalls
        | WarningKind::UncoveredCalls => false,
    }
}
