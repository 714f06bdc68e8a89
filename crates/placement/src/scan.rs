// SPDX-License-Identifier: GPL-2.0-or-later
//! Finds the definitions in a file without a parser: functions and macros with the names they call,
//! tables of function pointers, and struct members.

mod names;
mod text;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::clean::Clean;
use crate::words::{is_word, split_word};
use names::Names;
use text::{ANNOTATIONS, assigned_value, find, pointed_to, struct_name};

/// In bytes: the part of an item before its brace that is searched for a type and a name.
const MAX_HEADER: usize = 4096;

pub(crate) type Name = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    Global,
    Static,
    Macro,
    /// A macro without parameters, such as another name of a function.
    Alias,
    Syscall,
}

impl Kind {
    pub(crate) fn is_macro(self) -> bool {
        matches!(self, Self::Macro | Self::Alias)
    }

    /// Whether it can be called through its name as a value.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::Static | Self::Global)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    /// Counted from 1.
    pub(crate) line: u32,
    /// From its type to its closing brace, in bytes of the cleaned text.
    pub(crate) range: (u32, u32),
    /// Opening brace of a function's body, or start of a macro's.
    pub(crate) body: u32,
    pub(crate) calls: Vec<Name>,
    /// Member calls, `f_op->read(`: (member before it or empty, member).
    pub(crate) fields: Vec<(Name, Name)>,
    /// Other names that are used, which may be functions or tables.
    pub(crate) uses: Vec<Name>,
}

/// An initialiser: `struct file_operations ext4_file_operations = { .open = ext4_file_open }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Table {
    /// Empty for assignments in functions.
    pub(crate) name: Name,
    /// The struct, or empty.
    pub(crate) structure: Name,
    pub(crate) fields: Vec<(Name, Name)>,
}

/// A member assigned from another: `netlink_rcv` from `cfg->input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MemberCopy<N> {
    pub(crate) member: N,
    /// The struct of the source if a variable points to it, otherwise empty.
    pub(crate) structure: N,
    /// The member that is or points to that struct; empty for a variable.
    pub(crate) through: N,
    pub(crate) other: N,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileIndex {
    pub(crate) names: Vec<Box<str>>,
    pub(crate) functions: Vec<Function>,
    pub(crate) tables: Vec<Table>,
    /// Struct, member, and the member's struct.
    pub(crate) members: Vec<(Name, Name, Name)>,
    pub(crate) copies: Vec<MemberCopy<Name>>,
}

struct Scanner<'a> {
    text: &'a [u8],
    end: usize,
    at: usize,
    line: u32,
    out: FileIndex,
    known: FxHashMap<&'a [u8], Name>,
}

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
        let name = number(self.out.names.len());
        self.out.names.push(String::from_utf8_lossy(bytes).into());
        self.known.insert(bytes, name);
        name
    }

    fn word(&mut self) -> &'a [u8] {
        let (word, _) = split_word(&self.text[self.at..self.end]);
        self.at += word.len();
        word
    }

    fn lines_to(&mut self, from: usize, to: usize) {
        let lines = self.text[from..to].iter().filter(|&&b| b == b'\n').count();
        self.line = self.line.saturating_add(number(lines));
    }

    /// After the matching closing bracket. A brace at the start of a line also ends a function or
    /// table, so that unbalanced conditionals do not swallow the file.
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
        // (word before the parenthesis, its position)
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
                    // After `= { … },` the same item continues; do not rescan from its start.
                    let header = &self.text[from.max(opened.saturating_sub(MAX_HEADER))..opened];
                    if equals {
                        self.table(header, opened, to);
                    } else if !self.function(&groups, (from, opened, to), start_line) {
                        self.members(header, opened, to);
                    }
                    self.lines_to(opened, to);
                    self.at = to;
                    // `= { … }, b = { … };` and `struct { … } x;` continue.
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

    fn function(
        &mut self,
        groups: &[(&'a [u8], usize)],
        (from, opened, to): (usize, usize, usize),
        line: u32,
    ) -> bool {
        let named = |group: &&(&[u8], usize)| !group.0.is_empty() && !ANNOTATIONS.contains(group.0);
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
            (name, _) = split_word(self.text[open + 1..opened].trim_ascii_start());
            if defines(b"COMPAT") {
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
        let found = self.names_in(body, range.1);
        let text = &self.text[range.0..range.1];
        let mut structs: FxHashMap<&[u8], Option<&'a [u8]>> = FxHashMap::default();
        for &(member, from) in &found.copied {
            let (structure, through) = match from.of_variable {
                true => {
                    let known = structs.entry(from.owner);
                    (
                        *known.or_insert_with(|| pointed_to(text, from.owner)),
                        &b""[..],
                    )
                }
                false => (Some(&b""[..]), from.owner),
            };
            let Some(structure) = structure else {
                continue;
            };
            let copy = MemberCopy {
                member: self.name(member),
                structure: self.name(structure),
                through: self.name(through),
                other: self.name(from.member),
            };
            self.out.copies.push(copy);
        }
        let calls = self.numbers(found.calls);
        let uses = self.numbers(found.uses);
        let fields = found.fields.into_iter();
        let fields =
            sorted(fields.map(|(structure, member)| (self.name(structure), self.name(member))));
        self.out.functions.push(Function {
            name,
            kind,
            line,
            range: (number(range.0), number(range.1)),
            body: number(body),
            calls,
            fields,
            uses,
        });
    }

    /// Collects names. Assignments are added as tables.
    fn names_in(&mut self, from: usize, to: usize) -> Names<'a> {
        let mut names = Names::default();
        let code = &self.text[from..to];
        let mut at = 0;
        while at < code.len() {
            let (word, rest) = split_word(&code[at..]);
            if word.is_empty() {
                names.punctuation(code[at], code.get(at + 1));
                at += 1;
            } else {
                names.word(word, rest);
                at += word.len();
            }
        }
        names.call_what_is_held();
        for &(structure, field, value) in &names.assigned {
            let table = Table {
                name: 0,
                structure: self.name(structure),
                fields: vec![(self.name(field), self.name(value))],
            };
            self.out.tables.push(table);
        }
        names
    }

    fn numbers(&mut self, names: Vec<&'a [u8]>) -> Vec<Name> {
        sorted(names.into_iter().map(|name| self.name(name)))
    }

    fn table(&mut self, header: &'a [u8], opened: usize, to: usize) {
        let declared = header.split(|&b| b == b'=' || b == b'[').next();
        let mut words = declared.unwrap_or_default().rsplit(|&b| !is_word(b));
        let name = words.find(|word| !word.is_empty()).unwrap_or_default();
        let mut fields = Vec::new();
        let mut body = &self.text[opened..to];
        while let Some(dot) = body.iter().position(|&b| b == b'.') {
            let (field, rest) = split_word(&body[dot + 1..]);
            let value = self.unwrapped(assigned_value(rest));
            if !field.is_empty() && !value.is_empty() {
                fields.push((self.name(field), self.name(value)));
            }
            body = rest;
        }
        if !fields.is_empty() {
            let (name, structure) = (self.name(name), self.name(struct_name(header)));
            self.out.tables.push(Table {
                name,
                structure,
                fields,
            });
        }
    }

    /// `f` for `shared_f`, which `WRAP_DIR_ITER(f)` defines.
    fn unwrapped(&self, value: &'a [u8]) -> &'a [u8] {
        let inner = value.strip_prefix(b"shared_");
        let wraps = |inner: &&[u8]| find(self.text, &[b"WRAP_DIR_ITER(", *inner, b")"].concat());
        inner
            .filter(|inner| wraps(inner).is_some())
            .unwrap_or(value)
    }

    /// Adds the members of a struct that are structs or point to some.
    fn members(&mut self, header: &'a [u8], opened: usize, to: usize) {
        let structure = struct_name(header);
        if structure.is_empty() {
            return;
        }
        let structure = self.name(structure);
        for statement in self.text[opened..to].split(|&b| b == b';') {
            // Only `struct T *member`: function pointers have parentheses.
            if statement.contains(&b'(') {
                continue;
            }
            let mut pieces = statement.rsplit(|&b| b == b'{' || b == b'}');
            let statement = pieces.next().unwrap_or_default();
            let target = struct_name(statement);
            let mut pieces = statement.split(|&b| b == b'[' || b == b':');
            let head = pieces.next().unwrap_or_default().trim_ascii_end();
            let mut words = head.rsplit(|&b| !is_word(b));
            let member = words.next().unwrap_or_default();
            if !target.is_empty() && !member.is_empty() && member != target {
                let (member, target) = (self.name(member), self.name(target));
                self.out.members.push((structure, member, target));
            }
        }
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
