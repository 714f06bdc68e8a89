// SPDX-License-Identifier: GPL-2.0-or-later
//! The order of Debian's version numbers (Debian Policy, section 5.6.12).

use std::cmp::Ordering;

/// Compares `[epoch:]upstream[-revision]`.
///
/// As in dpkg, a missing epoch is 0 and a missing revision equals `0`. Invalid versions have an
/// arbitrary order.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (epoch_a, upstream_a, revision_a) = split(a);
    let (epoch_b, upstream_b, revision_b) = split(b);
    compare_digits(epoch_a.as_bytes(), epoch_b.as_bytes())
        .then_with(|| compare_part(upstream_a, upstream_b))
        .then_with(|| compare_part(revision_a, revision_b))
}

fn split(version: &str) -> (&str, &str, &str) {
    let (epoch, rest) = match version.split_once(':') {
        Some((epoch, rest)) if epoch.bytes().all(|b| b.is_ascii_digit()) => (epoch, rest),
        _ => ("", version),
    };
    let (upstream, revision) = rest.rsplit_once('-').unwrap_or((rest, ""));
    (epoch, upstream, revision)
}

fn compare_part(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while !a.is_empty() || !b.is_empty() {
        let text_a = prefix(a, |c| !c.is_ascii_digit());
        let text_b = prefix(b, |c| !c.is_ascii_digit());
        for i in 0..text_a.len().max(text_b.len()) {
            let order = weight(text_a.get(i)).cmp(&weight(text_b.get(i)));
            if order.is_ne() {
                return order;
            }
        }
        (a, b) = (&a[text_a.len()..], &b[text_b.len()..]);
        let digits_a = prefix(a, |c| c.is_ascii_digit());
        let digits_b = prefix(b, |c| c.is_ascii_digit());
        let order = compare_digits(digits_a, digits_b);
        if order.is_ne() {
            return order;
        }
        (a, b) = (&a[digits_a.len()..], &b[digits_b.len()..]);
    }
    Ordering::Equal
}

fn prefix(bytes: &[u8], accept: impl Fn(u8) -> bool) -> &[u8] {
    let end = bytes.iter().position(|&c| !accept(c));
    &bytes[..end.unwrap_or(bytes.len())]
}

/// A tilde sorts before the end, the end before letters, letters before the rest.
fn weight(byte: Option<&u8>) -> u16 {
    match byte {
        Some(b'~') => 0,
        None => 1,
        Some(c) if c.is_ascii_alphabetic() => 2 + u16::from(*c),
        Some(c) => 300 + u16::from(*c),
    }
}

/// Numbers of any length, without leading zeros: the longer one is larger.
fn compare_digits(a: &[u8], b: &[u8]) -> Ordering {
    let a = &a[prefix(a, |c| c == b'0').len()..];
    let b = &b[prefix(b, |c| c == b'0').len()..];
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::{Command, Stdio};

    #[test]
    fn orders_as_policy_says() {
        let ascending = [
            "1.0~~", "1.0~~a", "1.0~", "1.0", "1.0-0.1", "1.0-1", "1.0a", "1.0+b", "1.0.1", "1:0.1",
        ];
        for pair in ascending.windows(2) {
            assert_eq!(compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(compare("6.1.0-9", "6.1.0-56"), Ordering::Less);
        assert_eq!(compare("6.1.0-0.deb11.51", "6.1.0-50"), Ordering::Less);
        assert_eq!(compare("6.12.117-1~deb12u1", "6.12.117-1"), Ordering::Less);
        assert_eq!(compare("1.01-0", "1.1"), Ordering::Equal);
        assert_eq!(compare("99999999999999999999999", "1"), Ordering::Greater);
    }

    proptest! {
        #[test]
        fn is_a_total_order(a in ".{0,12}", b in "[0-9a-z.+~:-]{0,12}", c in "[0-9.~+]{0,8}") {
            prop_assert_eq!(compare(&a, &a), Ordering::Equal);
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn agrees_with_dpkg(
            a in "[0-9]{1,2}(\\.[0-9]{1,2}|[a-c~+]){0,3}(-[0-9](~[a-c][0-9])?)?",
            b in "[0-9]{1,2}(\\.[0-9]{1,2}|[a-c~+]){0,3}(-[0-9](~[a-c][0-9])?)?",
        ) {
            let says = |op: &str| {
                Command::new("dpkg")
                    .args(["--compare-versions", &a, op, &b])
                    .stderr(Stdio::null())
                    .status()
                    .map(|s| s.success())
            };
            // Skipped on machines without dpkg.
            if let (Ok(less), Ok(equal)) = (says("lt"), says("eq")) {
                prop_assert_eq!(compare(&a, &b).is_lt(), less);
                prop_assert_eq!(compare(&a, &b).is_eq(), equal);
            }
        }
    }
}
