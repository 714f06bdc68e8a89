// SPDX-License-Identifier: GPL-2.0-or-later
//! Makes untrusted text safe.

use std::borrow::Cow;

/// `text` in one line of at most `limit` characters. Control characters (including the start of
/// terminal sequences), line separators, invisible characters and those that reverse the direction
/// of text become `?`. A longer text is cut and ends in `...`.
pub fn printable(text: &str, limit: usize) -> String {
    let mut characters = text.chars().map(|c| if is_harmful(c) { '?' } else { c });
    let mut kept: String = characters.by_ref().take(limit).collect();
    if characters.next().is_some() {
        while kept.chars().count() + 3 > limit && !kept.is_empty() {
            kept.pop();
        }
        kept.push_str("...");
    }
    kept
}

/// The first names, [`printable`], and the number of others: `open, stat and 12 more`.
pub fn listed<S: AsRef<str>>(names: &[S], most: usize, limit: usize) -> String {
    let named = names.iter().take(most);
    let named: Vec<String> = named.map(|name| printable(name.as_ref(), limit)).collect();
    match names.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// `text` with its line breaks; characters that [`printable`] replaces become `?`. Use it at the
/// point of output.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let replaced = |c: char| c != '\n' && c != '\t' && is_harmful(c);
    if text.contains(replaced) {
        Cow::Owned(text.replace(replaced, "?"))
    } else {
        Cow::Borrowed(text)
    }
}

fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn harmful_characters_are_replaced() {
        assert_eq!(
            printable("a\u{1b}[31m\r\nb\u{202e}c\u{9b}", 80),
            "a?[31m??b?c?"
        );
        assert_eq!(printable("größe 4 KiB", 80), "größe 4 KiB");
    }

    #[test]
    fn lines_stay() {
        assert_eq!(harmless("a\tb\n\u{1b}]0;c\u{7}\n"), "a\tb\n?]0;c?\n");
        assert!(matches!(harmless("größe\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(printable("0123456789", 10), "0123456789");
        assert_eq!(printable("0123456789a", 10), "0123456...");
        assert_eq!(printable("0123456789a", 2), "...");
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left(text: String, limit in 3usize..50) {
            let kept = printable(&text, limit);
            prop_assert!(kept.chars().count() <= limit);
            prop_assert!(!kept.chars().any(is_harmful));
        }
    }
}
