// SPDX-License-Identifier: GPL-2.0-or-later
//! Values to coordinates, with ticks at round numbers.

use crate::format;

/// The largest number of ticks, and the pixels for each.
const TICKS: f64 = 7.0;
const TICK: f64 = 45.0;

/// Always includes 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    step: f64,
}

impl Scale {
    pub(super) fn new(figures: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let mut are_whole = true;
        let (low, high) = figures.fold((0.0f64, 0.0f64), |(low, high), figure| {
            are_whole &= figure.fract() == 0.0;
            (low.min(figure), high.max(figure))
        });
        let span = high - low;
        let ticks = ((to - from).abs() / TICK).clamp(2.0, TICKS);
        let step = match span > f64::MIN_POSITIVE * 1e6 {
            true if are_whole => round_step(span / ticks).max(1.0),
            true => round_step(span / ticks),
            false => 1.0,
        };
        let high = if span > 0.0 { high } else { step };
        Scale {
            low: (low / step).floor() * step,
            high: (high / step).ceil() * step,
            from,
            to,
            step,
        }
    }

    pub(super) fn place(&self, figure: f64) -> f64 {
        let share = (figure - self.low) / (self.high - self.low);
        self.from + share * (self.to - self.from)
    }

    pub(super) fn reach(&self) -> [f64; 2] {
        [self.from, self.to]
    }

    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let first = (self.low / self.step).round();
        let n = ((self.high - self.low) / self.step).round().min(20.0) as u32;
        (0..=n)
            .map(|tick| {
                let figure = (first + f64::from(tick)) * self.step;
                (figure, self.text(figure))
            })
            .collect()
    }

    fn text(&self, figure: f64) -> String {
        if figure == 0.0 {
            return "0".to_owned();
        }
        if self.high.max(-self.low) >= 1e7 || self.step < 1e-3 {
            // Values are rounded, because adding steps accumulates errors.
            let text = format!("{figure:.2e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            return format!("{digits}e{exponent}");
        }
        if self.step >= 1.0 {
            return format::figure(figure.round());
        }
        let places = (-self.step.log10()).ceil().clamp(0.0, 3.0) as usize;
        format!("{figure:.places$}")
    }
}

fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|d| d * power >= least);
    digit.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        let scale = Scale::new([low, high].into_iter(), 0.0, 400.0);
        scale.ticks().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        for (low, high, ticks) in [
            (0.0, 110.0, "0 20 40 60 80 100 120"),
            (4.6, 1_098.0, "0 200 400 600 800 1,000 1,200"),
            (0.0, 0.9, "0 0.2 0.4 0.6 0.8 1.0"),
            (0.0, 0.0, "0 1"),
            (-3.0, 3.0, "-3 -2 -1 0 1 2 3"),
            (0.0, 3e9, "0 5e8 1e9 1.5e9 2e9 2.5e9 3e9"),
        ] {
            assert_eq!(texts(low, high).join(" "), ticks);
        }
    }

    proptest! {
        #[test]
        fn all_figures_have_a_place(figures in proptest::collection::vec(-1e15f64..1e15, 0..9)) {
            let scale = Scale::new(figures.iter().copied(), 10.0, 110.0);
            prop_assert!(scale.ticks().len() <= 21);
            for figure in figures {
                prop_assert!((9.999..=110.001).contains(&scale.place(figure)));
            }
        }
    }
}
