// SPDX-License-Identifier: GPL-2.0-or-later
//! The order of Debian version numbers (Debian Policy, section 5.6.12).

use std::cmp::Ordering;

/// Compares as dpkg does, except for epochs, which kernels do not have, and a revision of 0.
pub fn compare(a: &str, b: &str) -> Ordering {
    parts(a).cmp(&parts(b))
}

/// The weights of a text, and the number after it as digits without leading zeros, of which the
/// longer is larger. The last part is the end.
fn parts(version: &str) -> Vec<(Vec<u16>, usize, &str)> {
    let mut parts = Vec::new();
    let mut rest = version;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit());
        let (text, after) = rest.split_at(text.unwrap_or(rest.len()));
        let digits = after.find(|c: char| !c.is_ascii_digit());
        let (digits, after) = after.split_at(digits.unwrap_or(after.len()));
        let digits = digits.trim_start_matches('0');
        let text = text.bytes().map(weight).chain([END]);
        parts.push((text.collect(), digits.len(), digits));
        rest = after;
    }
    parts.push((vec![END], 0, ""));
    parts
}

const END: u16 = 1;

/// A tilde sorts first, then the end, the beginning of a revision, letters, and everything else.
fn weight(byte: u8) -> u16 {
    match byte {
        b'~' => 0,
        b'-' => 2,
        letter if letter.is_ascii_alphabetic() => 3 + u16::from(letter),
        other => 300 + u16::from(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::{Command, Stdio};

    #[test]
    fn orders_as_policy_says() {
        let ascending = [
            "1.0~~", "1.0~~a", "1.0~", "1.0", "1.0-0.1", "1.0-1", "1.0a", "1.0+b", "1.0.1",
        ];
        for pair in ascending.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare("6.1.0-9", "6.1.0-56"), Ordering::Less);
        assert_eq!(compare("6.1.0-0.deb11.51", "6.1.0-50"), Ordering::Less);
        assert_eq!(compare("6.12.117-1~deb12u1", "6.12.117-1"), Ordering::Less);
        assert_eq!(compare("1.01-1", "1.1-1"), Ordering::Equal);
        assert_eq!(compare("99999999999999999999999", "1"), Ordering::Greater);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn agrees_with_dpkg(
            a in "[0-9]{1,2}(\\.[0-9]{1,2}|[a-c~+]){0,3}(-[1-9](~[a-c][0-9])?)?",
            b in "[0-9]{1,2}(\\.[0-9]{1,2}|[a-c~+]){0,3}(-[1-9](~[a-c][0-9])?)?",
        ) {
            let holds = |op: &str| {
                Command::new("dpkg")
                    .args(["--compare-versions", &a, op, &b])
                    .stderr(Stdio::null())
                    .status()
                    .map(|s| s.success())
            };
            // This is skipped on machines without dpkg.
            if let (Ok(less), Ok(equal)) = (holds("lt"), holds("eq")) {
                prop_assert_eq!(compare(&a, &b).is_lt(), less);
                prop_assert_eq!(compare(&a, &b).is_eq(), equal);
            }
        }
    }
}
