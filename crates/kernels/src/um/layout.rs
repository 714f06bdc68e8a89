// SPDX-License-Identifier: GPL-2.0-or-later

use std::fmt::Write as _;
use std::num::NonZeroU32;

use stats::SplitMix64;

/// Last characters of object file names before `.o`.
const ENDINGS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789_-";

/// The header before all code in the linker script: it orders object files by the last two letters
/// of their names, shuffled with the seed `number`. Empty if there is no seed.
pub(crate) fn header(number: Option<NonZeroU32>) -> String {
    let Some(number) = number else {
        return "/* Functions in the order of the objects. */\n".to_owned();
    };
    let mut random = SplitMix64::new(u64::from(number.get()));
    let pairs = ENDINGS
        .iter()
        .flat_map(|a| ENDINGS.iter().map(move |b| [*a, *b]));
    let mut pairs: Vec<[u8; 2]> = pairs.collect();
    for last in (1..pairs.len()).rev() {
        pairs.swap(last, random.below(last + 1));
    }
    let mut text = format!("/* Functions in order {number}. */\n");
    for [a, b] in pairs {
        let (a, b) = (char::from(a), char::from(b));
        let _ = writeln!(text, "    *{a}{b}.o(.text .text.fixup)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_has_all_endings() {
        let lines = |number| -> Vec<String> {
            let text = header(NonZeroU32::new(number));
            text.lines().skip(1).map(str::to_owned).collect()
        };
        let (first, second) = (lines(1), lines(2));
        assert_eq!(first, lines(1));
        assert_ne!(first, second);
        let all = |lines: Vec<String>| lines.into_iter().collect::<BTreeSet<_>>();
        let (first, second) = (all(first), all(second));
        assert_eq!(first.len(), ENDINGS.len().pow(2));
        assert_eq!(first, second);
        assert!(first.contains("    *ei.o(.text .text.fixup)"));
        assert!(lines(0).is_empty());
    }
}
