// SPDX-License-Identifier: GPL-2.0-or-later
//! Depth of a variant's path, from its name.

/// The suite has no deeper paths.
const DEEPEST: u32 = 64;

/// Depth of a variant's path if it goes straight down: 2 for `AA/BB` and `depth2`. None for other
/// names: `4KB`, `random`, `AA/../HH`.
///
/// The agent's list has the depth of each benchmark (`depth`). This is for result files of version
/// 1 and for publications.
pub fn path_depth(variant: &str) -> Option<u32> {
    let is_short = variant.len() == 2 && variant.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_name = |part: &str| !matches!(part, "" | "." | "..");
    let straight = is_short || variant.contains('/') && variant.split('/').all(is_name);
    let depth = match numbered(variant) {
        Some(depth) => depth,
        None if straight => path_components(variant),
        None => return None,
    };
    (1..=DEEPEST).contains(&depth).then_some(depth)
}

/// Components of the path, `..` included: 3 for `AA/../HH`, 1 for a name that is not a path.
pub fn path_components(variant: &str) -> u32 {
    let components = numbered(variant).unwrap_or_else(|| {
        let components = variant.split('/').filter(|part| !part.is_empty());
        u32::try_from(components.count()).unwrap_or(1)
    });
    components.max(1)
}

fn numbered(variant: &str) -> Option<u32> {
    variant.strip_prefix("depth")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{path_components, path_depth};

    #[test]
    fn only_paths_straight_down_have_a_depth() {
        for (variant, expected) in [
            ("AA", Some(1)),
            ("AA/BB/CC", Some(3)),
            ("var/tmp/lmbench", Some(3)),
            ("depth5", Some(5)),
            ("depth0", None),
            ("depth", None),
            ("depth65", None),
            ("depth99999999999", None),
            ("AA/../HH", None),
            ("AA//HH", None),
            ("/", None),
            ("hardlink", None),
            ("4KB", None),
            ("", None),
        ] {
            assert_eq!(path_depth(variant), expected, "{variant}");
        }
    }

    #[test]
    fn components_of_a_path() {
        for (variant, expected) in [
            ("AA", 1),
            ("AA/BB/CC", 3),
            ("AA/../HH", 3),
            ("depth5", 5),
            ("depth0", 1),
            ("depth", 1),
            ("4KB", 1),
            ("", 1),
        ] {
            assert_eq!(path_components(variant), expected, "{variant}");
        }
    }
}
