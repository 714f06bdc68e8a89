// SPDX-License-Identifier: GPL-2.0-or-later
//! Numbers as text.

use model::{Cell, Metric};

use crate::table::TEXT_LIMIT;

pub(crate) fn measured(metric: Metric) -> &'static str {
    match metric {
        Metric::Instructions => "guest kernel instructions per operation",
        Metric::HookInstructions => "guest kernel instructions inside hooks, per operation",
        Metric::Time => "nanoseconds per operation",
        Metric::Throughput => "operations per second",
        Metric::Memory => "bytes of kernel memory, per object or after a boot",
        Metric::Transfers => "transfers between processors on the same files, per operation",
        Metric::TransfersSiblings => {
            "transfers between processors on different files in one directory, per operation"
        }
        Metric::TransfersApart => {
            "transfers between processors in directories of their own, per operation"
        }
        Metric::Calls => "calls in the recording",
        Metric::CallRate => "calls per second",
        Metric::CallTime => "nanoseconds per call",
        Metric::Slope => "permission checks per operation (slope)",
    }
}

/// A number with thousands separators, and without decimals if it is large, with one if it is
/// smaller, and with two below 10.
pub(crate) fn figure(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1_000.0 {
        grouped(&format!("{value:.0}"))
    } else if value.abs() >= 10.0 {
        format!("{value:.1}")
    } else {
        let text = format!("{value:.2}");
        text.strip_suffix('0').unwrap_or(&text).to_owned()
    }
}

pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Like [`figure`], with a plus sign if the value is above 0.
pub(crate) fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", figure(value))
}

/// `+90 [+80, +100]`.
pub(crate) fn added(value: f64, ci95: [f64; 2]) -> String {
    let signed = |value: f64| {
        let sign = if value < 0.0 { "-" } else { "+" };
        format!("{sign}{}", figure(value.abs()))
    };
    let [low, high] = ci95.map(signed);
    format!("{} [{low}, {high}]", signed(value))
}

/// A number with its sign and thousands separators; `0` has no sign.
pub(crate) fn difference(value: impl Into<i128>) -> String {
    let value = value.into();
    let sign = if value > 0 { "+" } else { "" };
    format!("{sign}{}", grouped(&value.to_string()))
}

/// `31.9 %`; None if the whole is 0.
pub(crate) fn share(part: u64, whole: u64) -> Option<String> {
    (whole > 0).then(|| fraction(part as f64 / whole as f64))
}

/// The name of a variant in result files, in words.
pub(crate) fn word(variant: impl serde::Serialize) -> String {
    let name = serde_json::to_value(variant).unwrap_or_default();
    name.as_str().unwrap_or_default().replace('_', " ")
}

pub(crate) fn fraction(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// The first names, and the number of others: `open, stat and 12 more`.
pub(crate) fn listed<S: AsRef<str>>(names: &[S], most: usize) -> String {
    model::listed(names, most, TEXT_LIMIT)
}

pub(crate) fn grouped(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number),
    };
    let mut text = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 && digit.is_ascii_digit() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An overhead fraction as `+31.9 %`. Only exactly zero is `0 %`.
pub(crate) fn percent(overhead: f64) -> String {
    let percent = overhead * 100.0;
    if percent == 0.0 {
        return "0 %".to_owned();
    }
    let sign = if percent < 0.0 { '-' } else { '+' };
    let size = percent.abs();
    match size >= 1_000.0 {
        true => format!("{sign}{} %", grouped(&format!("{size:.0}"))),
        false => format!("{sign}{size:.1} %"),
    }
}

/// What an operation costs more: transfers, of which the baseline often has none, or a percentage.
pub(crate) fn overhead(metric: Metric, value: f64) -> String {
    match metric.is_of_transfers() {
        true => signed(value),
        false => percent(value),
    }
}

pub(crate) fn change(overhead: f64, is_clear: bool) -> String {
    match is_clear {
        true => percent(overhead),
        false => "~".to_owned(),
    }
}

pub(crate) fn headline(cell: &Cell) -> Option<String> {
    let interval = cell.ci95().filter(|_| !cell.is_exact());
    Some(with_interval(cell.headline()?, interval))
}

/// A value with the larger distance to an end of its 95 % interval: `405 ±2`.
pub(crate) fn with_interval(value: f64, interval: Option<[f64; 2]>) -> String {
    let mut text = figure(value);
    if let Some([low, high]) = interval {
        text += &format!(" ±{}", figure((value - low).max(high - value).max(0.0)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        for (text, expected) in [
            (figure(0.0), "0"),
            (figure(5.0), "5"),
            (figure(999.0), "999"),
            (figure(1_000.0), "1,000"),
            (figure(1_234_567.0), "1,234,567"),
            (figure(-1_234.0), "-1,234"),
            (figure(4_979.5), "4,980"),
            (figure(403.25), "403.2"),
            (figure(0.125), "0.12"),
            (figure(1.5), "1.5"),
            (figure(f64::INFINITY), "inf"),
            (count(u64::MAX), "18,446,744,073,709,551,615"),
            (difference(1_588), "+1,588"),
            (difference(0), "0"),
            (difference(-1_000), "-1,000"),
            (percent(0.318_9), "+31.9 %"),
            (percent(-0.003), "-0.3 %"),
            (percent(0.0), "0 %"),
            (percent(0.000_1), "+0.0 %"),
            (percent(9.99), "+999.0 %"),
            (percent(12.344), "+1,234 %"),
        ] {
            assert_eq!(text, expected);
        }
        assert_eq!(share(1, 0), None);
        assert_eq!(share(1_588, 6_567).as_deref(), Some("24.2 %"));
    }
}
