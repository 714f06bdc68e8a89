// SPDX-License-Identifier: GPL-2.0-or-later
//! Small pieces of code, read as text.

use crate::clean::is_word;

/// The word behind the first `struct` of a text.
pub(super) fn struct_name(text: &[u8]) -> &[u8] {
    let Some(at) = find(text, b"struct ") else {
        return b"";
    };
    if at > 0 && is_word(text[at - 1]) {
        return b"";
    }
    let rest = text[at + 7..].trim_ascii_start();
    &rest[..rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len())]
}

/// The name behind `=`, if a name is all there is.
pub(super) fn assigned_value(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let Some(mut text) = text.strip_prefix(b"=") else {
        return b"";
    };
    loop {
        text = text.trim_ascii_start();
        match text.first() {
            Some(b'&') => text = &text[1..],
            // A cast.
            Some(b'(') => match text.iter().position(|&b| b == b')') {
                Some(close) => text = &text[close + 1..],
                None => return b"",
            },
            Some(&byte) if byte == b'_' || byte.is_ascii_alphabetic() => break,
            _ => return b"",
        }
    }
    let length = text.iter().position(|&b| !is_word(b)).unwrap_or(text.len());
    let (word, rest) = text.split_at(length);
    match rest.trim_ascii_start().first() {
        None | Some(b',' | b'}' | b';') => word,
        _ => b"",
    }
}

pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}
