// SPDX-License-Identifier: GPL-2.0-or-later

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

pub(crate) type Words = LazyLock<FxHashSet<&'static [u8]>>;

pub(crate) fn words(text: &'static str) -> FxHashSet<&'static [u8]> {
    text.split_whitespace().map(str::as_bytes).collect()
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

pub(crate) fn is_word_char(c: char) -> bool {
    u8::try_from(c).is_ok_and(is_word)
}

/// The leading word, possibly empty, and the rest.
pub(crate) fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|&b| !is_word(b));
    text.split_at(end.unwrap_or(text.len()))
}
