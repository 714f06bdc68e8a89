// SPDX-License-Identifier: GPL-2.0-or-later
//! A wrong word in a message, and which known one was probably meant.

/// Longest word, in characters, that is compared or shown.
const WORD_LIMIT: usize = 80;

/// The beginning of a text, printable, for a message.
pub fn excerpt(text: &str) -> String {
    let text = text.chars().take(WORD_LIMIT);
    text.flat_map(char::escape_default).collect()
}

/// The candidate nearest to `word` by edit distance, if one is near enough to be what
/// was meant: at most a third of the word's characters differ. The first of equally
/// near ones wins; letter case does not count.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(WORD_LIMIT + 1).collect();
    if word.is_empty() || word.len() > WORD_LIMIT {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other: Vec<char> = candidate.to_lowercase().chars().take(WORD_LIMIT).collect();
        let distance = edit_distance(&word, &other);
        let near = distance <= word.len().max(other.len()).div_ceil(3);
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Levenshtein distance with neighbouring letters swapped counting as one edit
/// (optimal string alignment).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + changed);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row[j] = least;
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn distance(a: &str, b: &str) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        edit_distance(&a, &b)
    }

    #[test]
    fn known_distances() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("setx", "setxattr"), 4);
        assert_eq!(distance("opne", "open"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn near_and_far() {
        let words = ["kernels", "stacks", "samples"];
        assert_eq!(nearest("kernel", words), Some("kernels"));
        assert_eq!(nearest("Stack", words), Some("stacks"));
        assert_eq!(nearest("bananas", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest(&"k".repeat(10_000), words), None);
    }

    proptest! {
        #[test]
        fn it_is_a_distance(a in "[a-d]{0,8}", b in "[a-d]{0,8}") {
            prop_assert_eq!(distance(&a, &b), distance(&b, &a));
            prop_assert_eq!(distance(&a, &b) == 0, a == b);
            prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
        }
    }
}
