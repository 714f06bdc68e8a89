// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers as short text, with units.

use std::time::Duration;

pub const NONE: &str = "-";

fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// In the largest unit that gives at least 1.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // 999.6 of a unit would be rounded to 1,000.
    let fits = |&&(size, _): &&(f64, &str)| value.abs() >= 0.9995 * size;
    let (size, unit) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    format!("{}{unit}", digits(value / size))
}

/// `412 ns`, `1.24 µs`, `83.0 ms`
pub fn time(ns: f64) -> String {
    if !ns.is_finite() {
        return NONE.to_owned();
    }
    if ns.abs() >= 1e13 {
        return format!("{:.1e} s", ns / 1e9);
    }
    if ns.abs() < 999.5 {
        // Without `-0`.
        return format!("{:.0} ns", ns.round() + 0.0);
    }
    scaled(ns, &[(1e3, " µs"), (1e6, " ms"), (1e9, " s")])
}

/// `999`, `12.3k`, `1.20M`
pub fn count(count: u64) -> String {
    whole(count as f64)
}

pub fn whole(value: f64) -> String {
    match value.abs() {
        size if size < 1_000.0 => format!("{value:.0}"),
        _ => amount(value),
    }
}

/// A rate, or another non-integer.
pub fn amount(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let units = [
        (1.0, ""),
        (1e3, "k"),
        (1e6, "M"),
        (1e9, "G"),
        (1e12, "T"),
        (1e15, "P"),
        (1e18, "E"),
    ];
    match value.abs() {
        size if size < 0.005 => "0".to_owned(),
        size if size >= 999.5e18 => format!("{value:.1e}"),
        _ => scaled(value, &units),
    }
}

/// `0.42 %`
pub fn percent(part: f64) -> String {
    if !part.is_finite() {
        return NONE.to_owned();
    }
    let percent = part * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        _ if percent.abs() < 0.005 => "<0.01 %".to_owned(),
        _ if percent.abs() < 9_999.5 => format!("{} %", digits(percent)),
        _ => format!("{} %", amount(percent)),
    }
}

/// `12 s`, `3:05`, `1:00:00`
pub fn lasted(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{:02}:{:02}", minutes % 60, seconds % 60),
    }
}

/// The last `width` of `values` as bars; the maximum has full height.
pub fn sparkline<'a>(values: impl ExactSizeIterator<Item = &'a f64>, width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let skipped = values.len().saturating_sub(width);
    let values: Vec<f64> = values.skip(skipped).copied().collect();
    let highest = values.iter().copied().fold(0.0, f64::max);
    let bar = |&value: &f64| {
        if value > 0.0 && highest > 0.0 {
            let eighth = (value / highest * 8.0).ceil() as usize;
            BARS[eighth.clamp(1, 8) - 1]
        } else {
            ' '
        }
    };
    values.iter().map(bar).collect()
}

/// A bar of `part` of `width`, in eighths of a character.
pub fn bar(part: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let part = if part.is_finite() { part } else { 0.0 };
    let eighths = (part.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    let eighths = eighths.max(usize::from(part > 0.0 && width > 0));
    let mut text = "█".repeat(eighths / 8);
    text.push_str(EIGHTHS[eighths % 8]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (-3.2, "-3 ns"),
            (411.6, "412 ns"),
            (999.6, "1.00 µs"),
            (1_000.0, "1.00 µs"),
            (-0.2, "0 ns"),
            (1_236.0, "1.24 µs"),
            (99_960.0, "100 µs"),
            (12_340.0, "12.3 µs"),
            (83_000_000.0, "83.0 ms"),
            (2.5e9, "2.50 s"),
            (7.2e12, "7200 s"),
            (4.9e15, "4.9e6 s"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(time(ns), text, "{ns}");
        }
    }

    #[test]
    fn counts() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1.00k"),
            (12_345, "12.3k"),
            (999_999, "1.00M"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(count(number), text);
        }
        assert_eq!(amount(0.25), "0.25");
        assert_eq!(amount(30.0), "30.0");
        assert_eq!(amount(0.001), "0");
        assert_eq!(percent(0.004_2), "0.42 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(1e-6), "<0.01 %");
        assert_eq!(percent(123.4), "12.3k %");
        assert_eq!(amount(1.5e30), "1.5e30");
        assert_eq!(percent(f64::NAN), "-");
    }

    #[test]
    fn lasting() {
        for (seconds, text) in [
            (59, "59 s"),
            (60, "1:00"),
            (185, "3:05"),
            (3_600, "1:00:00"),
            (360_000, "100:00:00"),
        ] {
            assert_eq!(lasted(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn bars() {
        assert_eq!(sparkline([0.0, 1.0, 4.0, 8.0].iter(), 3), "▁▄█");
        assert_eq!(sparkline([0.0, f64::NAN, -1.0].iter(), 9), "   ");
        assert_eq!(sparkline([].iter(), 9), "");
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(1e-9, 3), "▏");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(f64::NAN, 3), "");
        assert_eq!(bar(1.0, 0), "");
    }
}
