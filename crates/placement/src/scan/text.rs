// SPDX-License-Identifier: GPL-2.0-or-later
//! Small pieces of code, read as text.

use crate::clean::is_word;

/// Words before `(` that call nothing.
pub(super) const KEYWORDS: [&[u8]; 22] = [
    b"if",
    b"while",
    b"for",
    b"switch",
    b"return",
    b"sizeof",
    b"typeof",
    b"__typeof__",
    b"defined",
    b"__attribute__",
    b"offsetof",
    b"alignof",
    b"__alignof__",
    b"asm",
    b"__asm__",
    b"volatile",
    b"do",
    b"else",
    b"goto",
    b"case",
    b"_Static_assert",
    b"static_assert",
];

/// Words that look like the name of the function that they annotate.
pub(super) const ANNOTATIONS: [&[u8]; 25] = [
    b"__attribute__",
    b"__acquires",
    b"__releases",
    b"__must_hold",
    b"__printf",
    b"__scanf",
    b"__aligned",
    b"__section",
    b"__alloc_size",
    b"__malloc",
    b"__cond_acquires",
    b"__cond_lock",
    b"__context__",
    b"__assume_aligned",
    b"__nonnull",
    b"__no_sanitize",
    b"__counted_by",
    b"__acquires_shared",
    b"__releases_shared",
    b"__diagnose_as",
    b"__realloc_size",
    b"__target",
    b"__cond_acquires_shared",
    b"__guarded_by",
    b"__copy",
];

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

/// Longest text in which an assigned name is looked for, in bytes.
const MAX_VALUE: usize = 4096;

/// The name behind `=`, if a name is all there is.
pub(super) fn assigned_value(text: &[u8]) -> &[u8] {
    let text = &text[..text.len().min(MAX_VALUE)];
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
