// SPDX-License-Identifier: GPL-2.0-or-later
//! The names in the body of a function or macro, and what it does with each.

use super::text::{AssignedMember, KEYWORDS, assigned_value};
use crate::words::split_word;

/// Stands for a whole word, where only the byte before the next one is remembered.
const WORD: u8 = b'a';

#[derive(Default)]
pub(super) struct Names<'a> {
    pub(super) calls: Vec<&'a [u8]>,
    /// Called as members: the member before it, or nothing, and the member.
    pub(super) fields: Vec<(&'a [u8], &'a [u8])>,
    pub(super) uses: Vec<&'a [u8]>,
    /// Assigned to a member: its struct if that is known, the member, and the value.
    pub(super) assigned: Vec<(&'a [u8], &'a [u8], &'a [u8])>,
    /// Members that are copied to a member, which is the first.
    pub(super) copied: Vec<(&'a [u8], AssignedMember<'a>)>,
    /// The same of variables.
    held: Vec<(&'a [u8], AssignedMember<'a>)>,
    /// The struct that was named last, and the one whose braces opened last.
    last_struct: &'a [u8],
    initialised: &'a [u8],
    /// The last byte that is not blank; `.` for `->`, and [`WORD`] for a word.
    before: u8,
    /// The member that was read last, if a member of it may follow.
    member: &'a [u8],
    /// Is the next member called, though what follows it is a comma
    /// (include/linux/indirect_call_wrapper.h)?
    indirect: bool,
    /// Was it `.member` of an initialiser that was read last, as against `x.member`?
    designator: bool,
}

impl<'a> Names<'a> {
    /// Reads a byte that belongs to no word.
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

    /// Reads a word. `rest` is what follows it.
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
                let of = if self.designator {
                    self.initialised
                } else {
                    b""
                };
                self.assigned.push((of, word, value));
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

    /// Members that are called through a variable that holds them are called, too.
    pub(super) fn call_what_is_held(&mut self) {
        let called = self.held.iter().filter(|(v, _)| self.calls.contains(v));
        let members = called.map(|(_, from)| match from.of_variable {
            true => (&b""[..], from.member),
            false => (from.of, from.member),
        });
        self.fields.extend(members);
    }
}
