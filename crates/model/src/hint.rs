// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the known word that a user probably meant.

use strsim::osa_distance;

/// In characters.
const WORD_LIMIT: usize = 80;

pub fn excerpt(text: &str) -> String {
    let text = text.chars().take(WORD_LIMIT);
    text.flat_map(char::escape_default).collect()
}

/// The candidate nearest to `word` by edit distance (a swap of neighbours is one edit), if at most
/// a third of the characters differ. If several are equally near, the first one wins. Case is
/// ignored.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let start = |text: &str, most| -> String { text.to_lowercase().chars().take(most).collect() };
    let word = start(word, WORD_LIMIT + 1);
    let length = word.chars().count();
    if word.is_empty() || length > WORD_LIMIT {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = start(candidate, WORD_LIMIT);
        let distance = osa_distance(&word, &other);
        let near = distance <= length.max(other.chars().count()).div_ceil(3);
        if near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far() {
        let words = ["kernels", "stacks", "samples"];
        assert_eq!(nearest("kernel", words), Some("kernels"));
        assert_eq!(nearest("Stack", words), Some("stacks"));
        assert_eq!(nearest("opne", ["oen", "open"]), Some("open"));
        assert_eq!(nearest("setx", ["setxattr"]), None);
        assert_eq!(nearest("bananas", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest(&"k".repeat(10_000), words), None);
    }
}
