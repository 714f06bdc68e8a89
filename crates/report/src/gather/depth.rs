// SPDX-License-Identifier: GPL-2.0-or-later
//! How deep the path of a variant is.

/// Deeper paths are none of the suite's.
const DEEPEST: u32 = 64;

/// Components of the path that a variant names: `AA/BB` and `depth2` are 2. None if it
/// names no plain path.
pub(crate) fn depth(variant: &str) -> Option<u32> {
    if let Some(number) = variant.strip_prefix("depth") {
        let depth: u32 = number.parse().ok()?;
        return (1..=DEEPEST).contains(&depth).then_some(depth);
    }
    let plain = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_uppercase());
    let parts = variant.split('/').count();
    (variant.split('/').all(plain) && parts <= DEEPEST as usize).then_some(parts as u32)
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn only_plain_paths_have_a_depth() {
        for (variant, expected) in [
            ("AA", Some(1)),
            ("AA/BB/CC", Some(3)),
            ("depth5", Some(5)),
            ("depth0", None),
            ("AA/../HH", None),
            ("hardlink", None),
            ("4KB", None),
            ("", None),
        ] {
            assert_eq!(depth(variant), expected, "{variant}");
        }
    }
}
