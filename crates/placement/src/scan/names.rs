// SPDX-License-Identifier: GPL-2.0-or-later

use super::text::{AssignedMember, KEYWORDS, assigned_value};
use crate::words::split_word;

/// Represents a whole word in `before`.
const WORD: u8 = b'a';

#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) calls: Vec<&'a [u8]>,
    /// (member before it or empty, member)
    pub(super) fields: Vec<(&'a [u8], &'a [u8])>,
    pub(super) uses: Vec<&'a [u8]>,
    /// (struct or empty, member, value)
    pub(super) assigned: Vec<(&'a [u8], &'a [u8], &'a [u8])>,
    /// (target member, source)
    pub(super) copied: Vec<(&'a [u8], AssignedMember<'a>)>,
    held: Vec<(&'a [u8], AssignedMember<'a>)>,
    /// Last named struct, and last one with an open brace.
    last_struct: &'a [u8],
    initialised: &'a [u8],
    /// Last nonblank byte; `.` for `->`, [`WORD`] for a word.
    before: u8,
    /// Last member, if another may follow it.
    member: &'a [u8],
    /// The next member is called, although a comma follows it
    /// (include/linux/indirect_call_wrapper.h).
    indirect: bool,
    /// Whether the last name was `.member` in an initialiser rather than `x.member`.
    designator: bool,
}

impl<'a> Names<'a> {
    pub(super) fn punctuation(&mut self, byte: u8, next: Option<&u8>) {
        self.indirect &= byte != b';';
        if byte == b'{' && matches!(self.before, b'=' | b')') {
            self.initialised = self.last_struct;
        }
        if byte == b'.' || (byte == b'-' && next == Some(&b'>')) {
            self.designator = !matches!(self.before, WORD | b')' | b']');
        }
        if self.before == b'-' && byte == b'>' {
            self.before = b'.';
        } else if !byte.is_ascii_whitespace() {
            self.before = byte;
        }
    }

    pub(super) fn word(&mut self, word: &'a [u8], rest: &'a [u8]) {
        let behind = rest.trim_ascii_start();
        let next = behind.first().copied().unwrap_or(b';');
        let is_member = self.before == b'.';
        if word == b"struct" {
            (self.last_struct, _) = split_word(behind);
        } else if word[0].is_ascii_digit() {
        } else if next == b'(' || (is_member && next == b',' && self.indirect) {
            self.indirect |= word.starts_with(b"INDIRECT_CALL_");
            if is_member {
                self.indirect &= next == b'(';
                self.fields.push((self.member, word));
            } else if !KEYWORDS.contains(word) {
                self.calls.push(word);
            }
        } else if is_member {
            let value = assigned_value(rest);
            if !value.is_empty() {
                let structure = if self.designator {
                    self.initialised
                } else {
                    b""
                };
                self.assigned.push((structure, word, value));
            } else if let Some(from) = AssignedMember::read(rest) {
                self.copied.push((word, from));
            }
        } else if !matches!(next, b'.' | b'-' | b'[') && self.before != b'*' {
            self.uses.push(word);
            if let Some(from) = AssignedMember::read(rest) {
                self.held.push((word, from));
            }
        }
        let goes_on = is_member && matches!(next, b'-' | b'.');
        self.member = if goes_on { word } else { b"" };
        self.before = WORD;
    }

    /// Calls through variables that hold a member.
    pub(super) fn call_what_is_held(&mut self) {
        let called = self.held.iter().filter(|(v, _)| self.calls.contains(v));
        let members = called.map(|(_, from)| match from.of_variable {
            true => (&b""[..], from.member),
            false => (from.owner, from.member),
        });
        self.fields.extend(members);
    }
}
