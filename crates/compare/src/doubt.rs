// SPDX-License-Identifier: GPL-2.0-or-later
//! Warnings because of which a gate does not trust a figure.

use model::{Metric, Warning, WarningKind};

/// Warnings that make this figure untrusted. `rounds`: it is judged by the variance of its rounds.
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

/// Whether a warning of this kind prevents a verdict on this metric. Other warnings affect both
/// sides equally, or are included in the interval.
fn is_doubt(kind: WarningKind, metric: Metric, rounds: bool) -> bool {
    let calls = [Metric::Calls, Metric::CallRate, Metric::CallTime].contains(&metric);
    match kind {
        WarningKind::EmulatedTime => metric.is_timed(),
        // Rounds that differ widen their interval.
        WarningKind::Drift | WarningKind::Disturbed => metric.is_timed() && !rounds,
        WarningKind::DirtyRegions => metric.is_counted() && !calls,
        WarningKind::Other => true,
        WarningKind::ChecksDiffer => metric == Metric::Slope,
        WarningKind::LostCalls => calls,
        // Without a dominant path all measured regions are judged.
        WarningKind::UnstablePath
        | WarningKind::ClockShare
        | WarningKind::ExtraModules
        | WarningKind::NoSymbols
        | WarningKind::UndelayedHooks
        // These pairs are already missing or unmatched.
        | WarningKind::MissingMeasurements
        | WarningKind::Interrupted
        | WarningKind::OtherKernel
        | WarningKind::OtherModules
        | WarningKind::DeniedCalls
        | WarningKind::Denials
        | WarningKind::UncoveredCalls => false,
    }
}
