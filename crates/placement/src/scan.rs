// SPDX-License-Identifier: GPL-2.0-or-later
//! What a file defines, found without parsing it: functions and macros with the names
//! that they call, tables of function pointers, and the types of structs' members.
//! Only functions that lie between a system call and a hook are parsed later.

mod text;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::clean::{Clean, is_word};
use text::{ANNOTATIONS, KEYWORDS, assigned_value, find, struct_name};

/// Most of an item before its brace that is looked at for a type and a name, in bytes.
const MAX_HEADER: usize = 4096;

/// A name of a file: an index of [`FileIndex::names`].
pub(crate) type Name = u32;

/// How a function came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// Visible to other files.
    Global,
    /// `static`.
    Static,
    /// A macro with parameters.
    Macro,
    /// A macro without, such as another name of a function.
    Alias,
    /// `SYSCALL_DEFINEn`.
    Syscall,
}

/// A function or macro, and the names in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    /// First line in the file, from 1.
    pub(crate) line: u32,
    /// Bytes of the cleaned text, from its type to its closing brace.
    pub(crate) range: (u32, u32),
    /// Where its body's brace opens; of a macro, where its body begins.
    pub(crate) body: u32,
    /// Called by name.
    pub(crate) calls: Vec<Name>,
    /// Called as a member: `f_op->read(`, as the member before it (empty if it is a
    /// variable) and the member.
    pub(crate) fields: Vec<(Name, Name)>,
    /// Named otherwise: may be functions or tables.
    pub(crate) uses: Vec<Name>,
}

/// An initialiser: `struct file_operations ext4_file_operations = { .open = ext4_file_open }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Table {
    /// Empty for one that a function assigns.
    pub(crate) name: Name,
    /// Its struct; empty if not known.
    pub(crate) of: Name,
    /// Member and value.
    pub(crate) fields: Vec<(Name, Name)>,
}

/// Everything that is known of one file before parsing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIndex {
    pub(crate) names: Vec<Box<str>>,
    pub(crate) functions: Vec<Function>,
    pub(crate) tables: Vec<Table>,
    /// Struct, member, and the struct that the member is or points to.
    pub(crate) members: Vec<(Name, Name, Name)>,
}

/// Names that are called, called as members, and used otherwise.
type Names = (Vec<Name>, Vec<(Name, Name)>, Vec<Name>);

struct Scanner<'a> {
    text: &'a [u8],
    end: usize,
    at: usize,
    line: u32,
    out: FileIndex,
    known: FxHashMap<&'a [u8], Name>,
}

/// Finds what a cleaned file defines.
pub(crate) fn scan(clean: &Clean) -> FileIndex {
    let mut scanner = Scanner {
        text: &clean.text,
        end: clean.end,
        at: 0,
        line: 1,
        out: FileIndex::default(),
        known: FxHashMap::default(),
    };
    scanner.name(b"");
    scanner.items();
    for found in &clean.macros {
        let (from, to) = found.body;
        let name = scanner.name(&clean.text[found.name.0..found.name.1]);
        let kind = if found.function {
            Kind::Macro
        } else {
            Kind::Alias
        };
        scanner.add(name, kind, found.line, (found.name.0, to), from);
    }
    scanner.out
}

impl<'a> Scanner<'a> {
    fn name(&mut self, bytes: &'a [u8]) -> Name {
        if let Some(&known) = self.known.get(bytes) {
            return known;
        }
        let name = u32::try_from(self.out.names.len()).unwrap_or(u32::MAX);
        self.out.names.push(String::from_utf8_lossy(bytes).into());
        self.known.insert(bytes, name);
        name
    }

    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.at < self.end && is_word(self.text[self.at]) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn lines_to(&mut self, from: usize, to: usize) {
        let lines = self.text[from..to].iter().filter(|&&b| b == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }

    /// Behind the bracket that closes the one here. In a function or table, a brace at
    /// the start of a line ends it, too: unbalanced conditionals must not swallow the file.
    fn close(&self, open: u8, close: u8) -> usize {
        let mut depth = 0u32;
        let mut at = self.at;
        while at < self.end {
            let byte = self.text[at];
            if byte == open {
                depth += 1;
            } else if byte == close {
                depth -= 1;
                if depth == 0 || (close == b'}' && self.text[at - 1] == b'\n') {
                    return at + 1;
                }
            }
            at += 1;
        }
        self.end
    }

    fn items(&mut self) {
        // Groups of an item so far: the word before the parenthesis, and where it opens.
        let mut groups: Vec<(&'a [u8], usize)> = Vec::new();
        let (mut start, mut start_line) = (None, 1);
        let (mut equals, mut last): (bool, &'a [u8]) = (false, b"");
        while self.at < self.end {
            let byte = self.text[self.at];
            if byte == b'\n' {
                self.line = self.line.saturating_add(1);
            }
            if byte.is_ascii_whitespace() {
                self.at += 1;
                continue;
            }
            let from = *start.get_or_insert_with(|| {
                start_line = self.line;
                self.at
            });
            match byte {
                b'(' => {
                    groups.push((last, self.at));
                    let to = self.close(b'(', b')');
                    self.lines_to(self.at, to);
                    self.at = to;
                    last = b"";
                    continue;
                }
                b'{' => {
                    let opened = self.at;
                    let to = self.close(b'{', b'}');
                    // Behind `= { … },` the same item goes on: not from its start each time.
                    let header = &self.text[from.max(opened.saturating_sub(MAX_HEADER))..opened];
                    if equals {
                        self.table(header, opened, to);
                    } else if !self.function(&groups, (from, opened, to), start_line) {
                        self.members(header, opened, to);
                    }
                    self.lines_to(opened, to);
                    self.at = to;
                    // `= { … }, b = { … };` and `struct { … } x;` go on.
                    if !equals {
                        start = None;
                    }
                    groups.clear();
                    last = b"";
                    continue;
                }
                b'=' => equals = true,
                b';' | b'}' => {
                    (start, equals) = (None, false);
                    groups.clear();
                    last = b"";
                }
                _ if is_word(byte) => {
                    last = self.word();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Adds the function whose body was met, if it is one.
    fn function(
        &mut self,
        groups: &[(&'a [u8], usize)],
        (from, opened, to): (usize, usize, usize),
        line: u32,
    ) -> bool {
        let named =
            |group: &&(&[u8], usize)| !group.0.is_empty() && !ANNOTATIONS.contains(&group.0);
        let Some(&(word, open)) = groups.iter().rev().find(named) else {
            return false;
        };
        let header = &self.text[from..opened];
        let mut kind = if header.starts_with(b"static") || find(header, b" static ").is_some() {
            Kind::Static
        } else {
            Kind::Global
        };
        let mut name = word;
        let defines = |prefix: &[u8]| word.starts_with(prefix);
        if defines(b"SYSCALL_DEFINE") || defines(b"COMPAT_SYSCALL_DEFINE") {
            let inner = &self.text[open + 1..opened];
            let inner = &inner[inner.len() - inner.trim_ascii_start().len()..];
            let length = inner
                .iter()
                .position(|&b| !is_word(b))
                .unwrap_or(inner.len());
            name = &inner[..length];
            if defines(b"COMPAT") {
                // 32-bit callers are not looked at.
                return true;
            }
            kind = Kind::Syscall;
        }
        if name.is_empty() || name[0].is_ascii_digit() {
            return false;
        }
        let name = self.name(name);
        self.add(name, kind, line, (from, to), opened);
        true
    }

    fn add(&mut self, name: Name, kind: Kind, line: u32, range: (usize, usize), body: usize) {
        let (calls, fields, uses) = self.names_in(body, range.1);
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.out.functions.push(Function {
            name,
            kind,
            line,
            range: (position(range.0), position(range.1)),
            body: position(body),
            calls,
            fields,
            uses,
        });
    }

    /// The names that code calls, calls as members, and uses otherwise.
    fn names_in(&mut self, from: usize, to: usize) -> Names {
        let (mut calls, mut fields, mut uses) = (Vec::new(), Vec::new(), Vec::new());
        let text = self.text;
        // Tables in the function: the struct whose braces opened last.
        let (mut of, mut last_struct): (&[u8], &[u8]) = (b"", b"");
        let mut assigned: Vec<(&'a [u8], &'a [u8], &'a [u8])> = Vec::new();
        let mut before = b' ';
        // The member that was read last, if a member of it may follow.
        let mut member: &[u8] = b"";
        // `.member` of an initialiser, as against `x.member`.
        let mut designator = false;
        let mut at = from;
        while at < to {
            let byte = text[at];
            if !is_word(byte) {
                if byte == b'{' && matches!(before, b'=' | b')') {
                    of = last_struct;
                }
                if byte == b'.' || (byte == b'-' && text.get(at + 1) == Some(&b'>')) {
                    designator = !matches!(before, b'a' | b')' | b']');
                }
                if !byte.is_ascii_whitespace() {
                    before = if before == b'-' && byte == b'>' {
                        b'.'
                    } else {
                        byte
                    };
                }
                at += 1;
                continue;
            }
            let start = at;
            while at < to && is_word(text[at]) {
                at += 1;
            }
            let word = &text[start..at];
            let mut next = at;
            while next < to && text[next].is_ascii_whitespace() {
                next += 1;
            }
            let next = if next < to { text[next] } else { b';' };
            if word == b"struct" {
                let rest = &text[at..to];
                let skip = rest.len() - rest.trim_ascii_start().len();
                let name = &rest[skip..];
                last_struct = &name[..name.iter().position(|&b| !is_word(b)).unwrap_or(0)];
            } else if byte.is_ascii_digit() {
            } else if next == b'(' {
                if before == b'.' {
                    fields.push((self.name(member), self.name(word)));
                } else if !KEYWORDS.contains(&word) {
                    calls.push(self.name(word));
                }
            } else if before == b'.' {
                if next == b'=' {
                    let value = assigned_value(&text[at..to]);
                    if !value.is_empty() {
                        assigned.push((if designator { of } else { b"" }, word, value));
                    }
                }
            } else if !matches!(next, b'.' | b'-' | b'[') && before != b'*' {
                uses.push(self.name(word));
            }
            member = if before == b'.' && matches!(next, b'-' | b'.') {
                word
            } else {
                b""
            };
            before = b'a';
        }
        for (of, field, value) in assigned {
            let fields = vec![(self.name(field), self.name(value))];
            let table = Table {
                name: 0,
                of: self.name(of),
                fields,
            };
            self.out.tables.push(table);
        }
        for list in [&mut calls, &mut uses] {
            list.sort_unstable();
            list.dedup();
        }
        fields.sort_unstable();
        fields.dedup();
        (calls, fields, uses)
    }

    fn table(&mut self, header: &'a [u8], opened: usize, to: usize) {
        let of = struct_name(header);
        let mut name: &[u8] = b"";
        let mut at = 0;
        while at < header.len() && header[at] != b'=' && header[at] != b'[' {
            let length = header[at..]
                .iter()
                .position(|&b| !is_word(b))
                .unwrap_or(header.len() - at);
            if length > 0 {
                name = &header[at..at + length];
            }
            at += length.max(1);
        }
        let mut fields = Vec::new();
        let body = &self.text[opened..to];
        let mut at = 0;
        while let Some(dot) = body[at..].iter().position(|&b| b == b'.') {
            at += dot + 1;
            let length = body[at..].iter().position(|&b| !is_word(b)).unwrap_or(0);
            let field = &body[at..at + length];
            at += length;
            let value = assigned_value(&body[at..]);
            if !field.is_empty() && !value.is_empty() {
                fields.push((self.name(field), self.name(value)));
            }
        }
        if !fields.is_empty() {
            let (name, of) = (self.name(name), self.name(of));
            self.out.tables.push(Table { name, of, fields });
        }
    }

    /// Adds the members of a struct that are structs or point to some.
    fn members(&mut self, header: &'a [u8], opened: usize, to: usize) {
        let of = struct_name(header);
        if of.is_empty() {
            return;
        }
        let of = self.name(of);
        for statement in self.text[opened..to].split(|&b| b == b';') {
            // Only `struct T *member`: function pointers have parentheses.
            if statement.contains(&b'(') {
                continue;
            }
            let inner = statement
                .iter()
                .rposition(|&b| b == b'{' || b == b'}')
                .map_or(0, |at| at + 1);
            let statement = &statement[inner..];
            let target = struct_name(statement);
            let end = statement
                .iter()
                .position(|&b| b == b'[' || b == b':')
                .unwrap_or(statement.len());
            let head = statement[..end].trim_ascii_end();
            let from = head
                .iter()
                .rposition(|&b| !is_word(b))
                .map_or(0, |at| at + 1);
            let member = &head[from..];
            if !target.is_empty() && !member.is_empty() && member != target {
                let (member, target) = (self.name(member), self.name(target));
                self.out.members.push((of, member, target));
            }
        }
    }
}

#[cfg(test)]
mod tests;
