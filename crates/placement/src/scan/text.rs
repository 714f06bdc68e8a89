// SPDX-License-Identifier: GPL-2.0-or-later

use crate::words::{Words, is_word, split_word, words};

pub(super) static KEYWORDS: Words = Words::new(|| {
    words(
        "if while for switch return sizeof typeof __typeof__ defined __attribute__ offsetof alignof \
         __alignof__ asm __asm__ volatile do else goto case _Static_assert static_assert",
    )
});

/// Annotations that look like the function's name.
pub(super) static ANNOTATIONS: Words = Words::new(|| {
    words(
        "__attribute__ __acquires __releases __must_hold __printf __scanf __aligned __section \
         __alloc_size __malloc __cond_acquires __cond_lock __context__ __assume_aligned __nonnull \
         __no_sanitize __counted_by __acquires_shared __releases_shared __diagnose_as \
         __realloc_size __target __cond_acquires_shared __guarded_by __copy",
    )
});

pub(super) fn struct_name(text: &[u8]) -> &[u8] {
    let Some(at) = find(text, b"struct ") else {
        return b"";
    };
    if at > 0 && is_word(text[at - 1]) {
        return b"";
    }
    split_word(text[at + 7..].trim_ascii_start()).0
}

/// In bytes.
const MAX_VALUE: usize = 4096;

/// The name after `=`, if it is the whole value.
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
            Some(b'(') => match text.iter().position(|&b| b == b')') {
                Some(close) => text = &text[close + 1..],
                None => return b"",
            },
            Some(&byte) if byte == b'_' || byte.is_ascii_alphabetic() => break,
            _ => return b"",
        }
    }
    let (word, rest) = split_word(text);
    match rest.trim_ascii_start().first() {
        None | Some(b',' | b'}' | b';') => word,
        _ => b"",
    }
}

/// A member as the whole value: `ops` of `fc` in `= fc->ops;`, `read` of `ops` in `=
/// fc->ops->read;`.
#[derive(Debug, Clone, Copy)]
pub(super) struct AssignedMember<'a> {
    pub(super) owner: &'a [u8],
    pub(super) of_variable: bool,
    pub(super) member: &'a [u8],
}

impl<'a> AssignedMember<'a> {
    pub(super) fn read(text: &'a [u8]) -> Option<Self> {
        let text = &text[..text.len().min(MAX_VALUE)];
        let text = text.trim_ascii_start().strip_prefix(b"=")?;
        let (variable, mut rest) = split_word(text.trim_ascii_start());
        let mut found: Option<Self> = None;
        loop {
            rest = behind_index(rest);
            let arrow = rest.strip_prefix(b"->").or_else(|| rest.strip_prefix(b"."));
            let Some(behind) = arrow else {
                break;
            };
            let (member, after) = split_word(behind);
            found = Some(Self {
                owner: found.map_or(variable, |found| found.member),
                of_variable: found.is_none(),
                member,
            });
            rest = after;
        }
        let ends = matches!(rest.trim_ascii_start().first(), Some(b',' | b';' | b'}'));
        found.filter(|found| ends && !found.owner.is_empty() && !found.member.is_empty())
    }
}

/// Skips a leading `[…]`.
fn behind_index(text: &[u8]) -> &[u8] {
    let close = text.iter().position(|&byte| byte == b']');
    match (text.first(), close) {
        (Some(b'['), Some(close)) => &text[close + 1..],
        _ => text,
    }
}

/// In bytes.
const MAX_DECLARATIONS: usize = 4096;

/// The struct that a variable points to, by its declaration at a function's beginning.
pub(super) fn pointed_to<'a>(text: &'a [u8], variable: &[u8]) -> Option<&'a [u8]> {
    let mut rest = &text[..text.len().min(MAX_DECLARATIONS)];
    while let Some(at) = find(rest, b"struct ") {
        rest = &rest[at + 7..];
        let (name, behind) = split_word(rest.trim_ascii_start());
        let behind = behind.trim_ascii_start();
        if let Some(behind) = behind.strip_prefix(b"*") {
            let mut behind = behind.trim_ascii_start();
            behind = behind.strip_prefix(b"const ").unwrap_or(behind);
            loop {
                let (declared, after) = split_word(behind);
                if declared == variable {
                    return Some(name);
                }
                let after = after.trim_ascii_start();
                let Some(after) = after.strip_prefix(b",") else {
                    break;
                };
                let Some(after) = after.trim_ascii_start().strip_prefix(b"*") else {
                    break;
                };
                behind = after;
            }
        }
    }
    None
}

pub(super) fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}
