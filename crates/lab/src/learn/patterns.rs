// SPDX-License-Identifier: GPL-2.0-or-later
//! Patterns in place of names that are others in each run: what `tomoyo-patternize` does by rules
//! that its user writes.
//!
//! Benchmarks name what they make at random or by number, in the directory that they work in and
//! nowhere else. There a run of eight hexadecimal digits or more, one of them decimal, becomes
//! `\X`, and a shorter number `\$`: `AA/4635ecb20d6b0f62` becomes `AA/\X`, and `d0012` `d\$`.

/// Hexadecimal digits that are a random number, and no word.
const RANDOM_DIGITS: usize = 8;

/// An entry of a domain, with patterns in paths below `dir` and in what symbolic links there hold.
pub(super) fn generalise(entry: &str, dir: &str) -> String {
    let words = entry.split(' ').map(|word| generalise_word(word, dir));
    words.collect::<Vec<_>>().join(" ")
}

/// A word of it: a path, or a condition as `symlink.target="PATH"`.
fn generalise_word(word: &str, dir: &str) -> String {
    let (condition, path) = match word.split_once('"') {
        Some((condition, path)) if condition.ends_with('=') => (condition, path),
        _ => ("", word),
    };
    let is_below = |path: &str| {
        let rest = path.strip_prefix(dir);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let quoted = &word[..word.len() - path.len()];
    if is_below(path) {
        return format!("{quoted}{dir}{}", generalise_names(&path[dir.len()..]));
    }
    if condition == "symlink.target=" && !path.starts_with('/') {
        return format!("{quoted}{}", generalise_names(path));
    }
    word.to_owned()
}

/// Names with patterns; what TOMOYO has escaped (`\040`, `\\`), and patterns, stay as they are.
fn generalise_names(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\\' {
            escape_length(rest)
        } else if first.is_ascii_hexdigit() {
            let end = rest.find(|c: char| !c.is_ascii_hexdigit());
            end.unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (part, behind) = rest.split_at(length);
        if first.is_ascii_hexdigit() {
            generalise_digits(part, &mut out);
        } else {
            out.push_str(part);
        }
        rest = behind;
    }
    out
}

/// Of `\ooo` four, of `\\` and of a pattern two, if there are so many.
fn escape_length(text: &str) -> usize {
    let second = text.chars().nth(1);
    let wanted = match second {
        Some('0'..='7') => 4,
        Some(c) => 1 + c.len_utf8(),
        None => 1,
    };
    if text.is_char_boundary(wanted) {
        wanted
    } else {
        1
    }
}

/// A run of hexadecimal digits.
fn generalise_digits(run: &str, out: &mut String) {
    let has_digit = run.contains(|c: char| c.is_ascii_digit());
    if run.len() >= RANDOM_DIGITS && has_digit {
        out.push_str("\\X");
        return;
    }
    let mut in_number = false;
    for c in run.chars() {
        if !c.is_ascii_digit() {
            out.push(c);
        } else if !in_number {
            out.push_str("\\$");
        }
        in_number = c.is_ascii_digit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Does a pattern of these two wildcards match, as `tomoyo_file_matches_pattern()` has it?
    fn matches(pattern: &str, name: &str) -> bool {
        let digit: fn(&char) -> bool = match pattern.get(..2) {
            Some("\\X") => char::is_ascii_hexdigit,
            Some("\\$") => char::is_ascii_digit,
            _ => {
                let (Some(wanted), Some(found)) = (pattern.chars().next(), name.chars().next())
                else {
                    return pattern.is_empty() && name.is_empty();
                };
                return wanted == found
                    && matches(&pattern[wanted.len_utf8()..], &name[found.len_utf8()..]);
            }
        };
        let digits = name.chars().take_while(digit).count();
        (1..=digits).any(|taken| matches(&pattern[2..], &name[taken..]))
    }

    #[test]
    fn names_of_benchmarks_become_patterns() {
        for (learned, pattern) in [
            (
                "file create /mnt/cell/AA/4635ecb20d6b0f62 0644",
                r"file create /mnt/cell/AA/\X 0644",
            ),
            (
                "file rename /mnt/cell/AA/a0001 /mnt/cell/BB/b0001",
                r"file rename /mnt/cell/AA/a\$ /mnt/cell/BB/b\$",
            ),
            (
                "file read/getattr /mnt/cell/tree/directory001/directory017/filed6b0f601",
                r"file read/getattr /mnt/cell/tree/directory\$/directory\$/fil\X",
            ),
            (
                r#"file symlink /mnt/cell/f0 symlink.target="AA/4635ecb20d6b0f62""#,
                r#"file symlink /mnt/cell/f\$ symlink.target="AA/\X""#,
            ),
            (
                r#"file execute /mnt/cell/x1 exec.realpath="/mnt/cell/x1" exec.argv[0]="x1""#,
                r#"file execute /mnt/cell/x\$ exec.realpath="/mnt/cell/x\$" exec.argv[0]="x1""#,
            ),
            (r"file read /mnt/a\040b\\1", r"file read /mnt/a\040b\\\$"),
        ] {
            assert_eq!(generalise(learned, "/mnt"), pattern);
        }
    }

    #[test]
    fn names_that_are_words_or_lie_elsewhere_stay() {
        for entry in [
            "file read /mnt/cell/AA/BB/CC/DD/EE/FF/GG/HH",
            "file read /mnt/cell/deadbeef",
            "file read /usr/lib/libc.so.6",
            "file read /mnt2/4635ecb20d6b0f62",
            "file chmod /mnt/cell/AA 0600",
            "file symlink /mnt/cell/AA symlink.target=\"/srv/1\"",
            "network inet stream connect 127.0.0.1 443",
            "misc env PATH",
            "",
        ] {
            assert_eq!(generalise(entry, "/mnt"), entry);
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_it_was_made_of(name in "[a-zA-Z0-9._/-]{0,40}") {
            let pattern = generalise_names(&name);
            prop_assert!(matches(&pattern, &name), "{pattern} {name}");
        }

        #[test]
        fn random_names_and_slots_have_one_pattern(
            names in proptest::collection::vec((any::<u64>(), 0u32..4096), 2..8),
        ) {
            let made = |&(random, slot): &(u64, u32)| {
                // One of sixteen digits that is decimal: all but one in millions have it.
                let name = format!("AA/{:016x}{slot:04x}/d{slot:04}", random | 9 << 60);
                generalise_names(&name)
            };
            for name in &names {
                prop_assert_eq!(made(name), r"AA/\X/d\$");
            }
        }

        #[test]
        fn patterns_stay_what_they_are(name in r"[ -~]{0,40}") {
            let pattern = generalise_names(&name);
            prop_assert_eq!(generalise_names(&pattern), pattern);
        }

        #[test]
        fn any_entry_has_as_many_words(entry in "\\PC{0,60}") {
            let pattern = generalise(&entry, "/mnt");
            prop_assert_eq!(pattern.split(' ').count(), entry.split(' ').count());
        }
    }
}
