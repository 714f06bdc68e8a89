// SPDX-License-Identifier: GPL-2.0-or-later
//! Formats repeated figures of benchmarks.

/// Minimum, median, maximum.
pub fn spread(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [
        sorted[0],
        sorted[sorted.len() / 2],
        sorted[sorted.len() - 1],
    ]
}

/// The same for a table.
pub fn show(values: [f64; 3]) -> String {
    values.map(|value| format!("{value:.1}")).join(" ")
}
