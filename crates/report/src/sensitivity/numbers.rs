// SPDX-License-Identifier: GPL-2.0-or-later
//! A sweep's numbers as text. A result file may contain any number; texts stay short.

use crate::format;

/// Larger figures are shown as a power of ten.
const LARGE: f64 = 1e9;

/// Distance within which a rule's figure counts as an integer.
const WHOLE: f64 = 0.005;

/// `0.0000` has no sign.
pub(crate) fn decimals(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return "n/a".to_owned();
    }
    if value.abs() >= LARGE {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.places$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|c| matches!(c, b'0' | b'.')) => size.to_owned(),
        _ => text,
    }
}

pub(crate) fn signed(value: f64, places: usize) -> String {
    let text = decimals(value, places);
    let nothing = !text.bytes().any(|c| matches!(c, b'1'..=b'9'));
    let sign = if value > 0.0 && !nothing { "+" } else { "" };
    format!("{sign}{text}")
}

/// A count per operation, which is usually an integer.
pub(crate) fn calls(value: f64) -> String {
    let places = if value.fract() == 0.0 { 0 } else { 4 };
    decimals(value, places)
}

pub(crate) fn cost(value: f64) -> String {
    match value.abs() < LARGE {
        true => format::figure(value),
        false => decimals(value, 0),
    }
}

/// The larger distance to an end of an interval: `±0.0002`; tiny ones as a power of ten.
pub(crate) fn plus_minus(value: f64, [low, high]: [f64; 2]) -> String {
    let size = (value - low).max(high - value).max(0.0);
    match size > 0.0 && size < 0.000_05 {
        true => format!("±{size:.0e}"),
        false => format!("±{}", decimals(size, 4)),
    }
}

/// Explained share of variance, so that 0.9999 and 0.9999999 differ visibly: `1 - 2e-7`.
pub(crate) fn r2(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(1.0) => "1".to_owned(),
        Some(r2) if r2 < 1.0 && r2 > 0.999 => format!("1 - {:.0e}", 1.0 - r2),
        Some(r2) => decimals(r2, 4),
    }
}

/// A fraction in per cent with its sign; absurdly large ones as a power of ten.
pub(crate) fn percent(fraction: f64) -> String {
    match fraction.abs() {
        ..LARGE => format::percent(fraction),
        _ if fraction.is_finite() => format!("{fraction:+.1e}"),
        _ => "n/a".to_owned(),
    }
}

/// `2·d + 2`, in which d is the depth; figures that are nearly integers are rounded.
pub(crate) fn rule(a: f64, b: f64) -> String {
    let nearly = |value: f64| match (value - value.round()).abs() <= WHOLE {
        true => decimals(value.round(), 0),
        false => decimals(value, 2),
    };
    let (slope, rest) = (nearly(a), nearly(b));
    let of_depth = match slope.as_str() {
        "0" => return rest,
        "1" => "d".to_owned(),
        "-1" => "-d".to_owned(),
        _ => format!("{slope}·d"),
    };
    match rest.strip_prefix('-') {
        _ if rest == "0" => of_depth,
        Some(size) => format!("{of_depth} - {size}"),
        None => format!("{of_depth} + {rest}"),
    }
}

pub(crate) fn microseconds(delay_ns: u32) -> String {
    (f64::from(delay_ns) / 1_000.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures() {
        for (text, expected) in [
            (decimals(3.001_14, 4), "3.0011"),
            (decimals(-0.000_01, 4), "0.0000"),
            (decimals(-0.000_06, 4), "-0.0001"),
            (decimals(1e308, 4), "1.000e308"),
            (decimals(f64::NAN, 4), "n/a"),
            (signed(0.001_1, 4), "+0.0011"),
            (signed(-0.5, 4), "-0.5000"),
            (signed(1e-9, 4), "0.0000"),
            (calls(3.0), "3"),
            (calls(2.5), "2.5000"),
            (cost(4_979.0), "4,979"),
            (cost(-1e308), "-1.000e308"),
            (percent(-0.123), "-12.3 %"),
            (percent(1e300), "+1.0e300"),
            (microseconds(110_000), "110"),
            (microseconds(1), "0.001"),
            (r2(None), "-"),
            (r2(Some(1.0)), "1"),
            (r2(Some(0.999_999_8)), "1 - 2e-7"),
            (r2(Some(0.998)), "0.9980"),
            (r2(Some(-1e300)), "-1.000e300"),
            (plus_minus(3.0, [2.9998, 3.0001]), "±0.0002"),
            (plus_minus(3.0, [3.0, 3.000_003]), "±3e-6"),
            (plus_minus(3.0, [3.0, 3.0]), "±0.0000"),
            (plus_minus(1e308, [-1e308, 1e308]), "±n/a"),
            (rule(1.000_1, 0.999_8), "d + 1"),
            (rule(2.0, 2.0), "2·d + 2"),
            (rule(1.0, 0.0), "d"),
            (rule(0.0, 3.0), "3"),
            (rule(0.51, -1.25), "0.51·d - 1.25"),
            (rule(-1.0, 2.0), "-d + 2"),
            (rule(-0.001, -0.001), "0"),
            (rule(1e308, -1e308), "1.000e308·d - 1.000e308"),
        ] {
            assert_eq!(text, expected);
        }
    }
}
