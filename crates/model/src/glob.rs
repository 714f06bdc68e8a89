// SPDX-License-Identifier: GPL-2.0-or-later
//! Patterns for names: `inode_*`, `file_?pen`.

/// Whether `pattern` matches all of `text`. `*` matches any number of characters, `?` exactly one.
/// Takes at most time proportional to the product of the lengths.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to resume if the last `*` has to match one more character.
    let mut retry = None;
    while let Some(next) = text.clone().next() {
        match pattern.next() {
            Some('*') => retry = Some((pattern.clone(), text.clone())),
            Some(c) if c == '?' || c == next => {
                text.next();
            }
            _ => {
                let Some((star, taken)) = &mut retry else {
                    return false;
                };
                taken.next();
                (pattern, text) = (star.clone(), taken.clone());
            }
        }
    }
    pattern.all(|c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                plain(rest, text) || text.split_first().is_some_and(|(_, t)| plain(pattern, t))
            }
            (Some((&c, rest)), Some((&d, t))) => (c == b'?' || c == d) && plain(rest, t),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn it_is_what_it_should_be(pattern in "[ab*?]{0,7}", text in "[ab]{0,8}") {
            prop_assert_eq!(glob(&pattern, &text), plain(pattern.as_bytes(), text.as_bytes()));
        }
    }

    #[test]
    fn globs() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("inode_*", "inode_permission", true),
            ("inode_*", "xinode_permission", false),
            ("*perm*on", "inode_permission", true),
            ("file_?pen", "file_open", true),
            ("file_?pen", "file_pen", false),
            ("*a*b*", "xxaxxbxxab", true),
            ("*ab", "aab", true),
            ("a", "ab", false),
            ("**", "anything", true),
            ("*_open", "file_open", true),
            ("", "", true),
            ("?", "", false),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbXd", false),
        ] {
            assert_eq!(glob(pattern, name), fits, "{pattern:?} {name:?}");
        }
    }
}
