// SPDX-License-Identifier: GPL-2.0-or-later
//! The kernel's idioms, rewritten to what a C grammar understands. Nothing that calls is
//! lost; types, attributes and inline assembly are.

use rustc_hash::FxHashMap;

use crate::clean::is_word;

/// Words that are dropped with the parentheses behind them.
const DROPPED_WITH_ARGUMENTS: [&[u8]; 13] = [
    b"__attribute__",
    b"__aligned",
    b"__free",
    b"__cleanup",
    b"__section",
    b"__must_hold",
    b"__acquires",
    b"__releases",
    b"__printf",
    b"__counted_by",
    b"__diag_ignore_all",
    b"_Alignas",
    b"__diag_push",
];

/// Words that are dropped.
const DROPPED: [&[u8]; 33] = [
    b"__user",
    b"__rcu",
    b"__force",
    b"__iomem",
    b"__percpu",
    b"__maybe_unused",
    b"__must_check",
    b"__always_unused",
    b"__init",
    b"__exit",
    b"__read_mostly",
    b"__ro_after_init",
    b"__packed",
    b"__nocast",
    b"__private",
    b"__extension__",
    b"noinline",
    b"notrace",
    b"asmlinkage",
    b"__cold",
    b"__initdata",
    b"__refdata",
    b"__unused",
    b"__private",
    b"__kernel",
    b"__used",
    b"__ref",
    b"noinline_for_stack",
    b"__always_inline",
    b"__initconst",
    b"__noreturn",
    b"__latent_entropy",
    b"uninitialized_var",
];

/// Words that begin a type where an argument of a macro can be one.
const TYPES: [&[u8]; 18] = [
    b"struct",
    b"union",
    b"enum",
    b"const",
    b"unsigned",
    b"signed",
    b"int",
    b"long",
    b"short",
    b"char",
    b"void",
    b"bool",
    b"size_t",
    b"ssize_t",
    b"float",
    b"double",
    b"volatile",
    b"_Bool",
];

const CONTROL: [&[u8]; 5] = [b"if", b"while", b"for", b"switch", b"return"];
const OF_TYPES: [&[u8]; 4] = [b"sizeof", b"_Alignof", b"alignof", b"__alignof__"];

struct Rewriter<'a> {
    text: &'a [u8],
    /// For each parenthesis that opens, behind the one that closes it.
    closed: FxHashMap<usize, usize>,
    at: usize,
    out: Vec<u8>,
    /// For each open parenthesis: does it hold the arguments of a call, and what has to
    /// stand behind it?
    open: Vec<(bool, &'static [u8])>,
}

/// Rewrites the body of a function, with its braces, or of a macro. Keeps lines.
pub(crate) fn rewrite(body: &[u8]) -> Vec<u8> {
    let mut rewriter = Rewriter {
        text: body,
        closed: closings(body),
        at: 0,
        out: Vec::with_capacity(body.len() + 64),
        open: Vec::new(),
    };
    rewriter.run();
    rewriter.out
}

/// For each parenthesis that opens, behind the one that closes it, if there is one.
fn closings(text: &[u8]) -> FxHashMap<usize, usize> {
    let mut open = Vec::new();
    let mut found = FxHashMap::default();
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                found.extend(open.pop().map(|from| (from, at + 1)));
            }
            _ => {}
        }
    }
    found
}

impl<'a> Rewriter<'a> {
    fn peek(&self, from: usize) -> u8 {
        let rest = &self.text[from.min(self.text.len())..];
        rest.iter()
            .copied()
            .find(|b| !b.is_ascii_whitespace())
            .unwrap_or(0)
    }

    fn word_end(&self, from: usize) -> usize {
        let rest = &self.text[from..];
        from + rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len())
    }

    /// Behind the parenthesis that closes the one that comes next, blanks aside.
    fn group_end(&self, from: usize) -> usize {
        let blanks = self.text[from..]
            .iter()
            .take_while(|b| b.is_ascii_whitespace());
        let opens = from + blanks.count();
        let end = self.closed.get(&opens).copied();
        end.unwrap_or(self.text.len())
    }

    /// Skips to `to`, keeping lines.
    fn skip(&mut self, to: usize) {
        let lines = self.text[self.at..to]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        self.out.resize(self.out.len() + lines, b'\n');
        self.at = to;
    }

    fn run(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            if is_word(byte) {
                if byte.is_ascii_digit() {
                    self.copy(self.word_end(self.at));
                } else {
                    self.word();
                }
                continue;
            }
            match byte {
                b'(' => {
                    self.open.push((false, b""));
                    self.copy(self.at + 1);
                }
                b')' => {
                    self.copy(self.at + 1);
                    if let Some((_, behind)) = self.open.pop() {
                        self.out.extend_from_slice(behind);
                    }
                }
                b',' => {
                    self.copy(self.at + 1);
                    if self.open.last().is_some_and(|open| open.0) {
                        self.argument();
                    }
                }
                // Of a range: `case 1 ... 5:`, `[0 ... N] =`.
                b'.' if self.text[self.at..].starts_with(b"...") => {
                    let rest = &self.text[self.at..];
                    let end = rest
                        .iter()
                        .position(|b| matches!(b, b':' | b']' | b';' | b')'));
                    self.skip(self.at + end.unwrap_or(rest.len()));
                }
                // Pasted or made a string, in macros.
                b'#' => {
                    if self.text.get(self.at + 1) == Some(&b'#') {
                        while self.out.last().is_some_and(u8::is_ascii_whitespace) {
                            self.out.pop();
                        }
                        self.at += 2;
                        while self
                            .text
                            .get(self.at)
                            .is_some_and(|b| *b == b' ' || *b == b'\t')
                        {
                            self.at += 1;
                        }
                    } else {
                        self.at = self.word_end(self.at + 1);
                        self.out.extend_from_slice(b"\"\"");
                    }
                }
                _ => self.copy(self.at + 1),
            }
        }
    }

    fn copy(&mut self, to: usize) {
        self.out.extend_from_slice(&self.text[self.at..to]);
        self.at = to;
    }

    /// At the start of an argument: if it is a type, it becomes 0.
    fn argument(&mut self) {
        let mut from = self.at;
        while self.text.get(from).is_some_and(u8::is_ascii_whitespace) {
            from += 1;
        }
        let word = &self.text[from..self.word_end(from)];
        if !TYPES.contains(&word) {
            return;
        }
        let rest = &self.text[from..];
        let end = rest
            .iter()
            .position(|&b| !is_word(b) && !b.is_ascii_whitespace() && b != b'*');
        let to = from + end.unwrap_or(rest.len());
        if matches!(self.text.get(to), Some(b',' | b')' | b'[')) {
            self.skip(to);
            self.out.extend_from_slice(b" 0 ");
        }
    }

    fn word(&mut self) {
        let end = self.word_end(self.at);
        let word: &'a [u8] = &self.text[self.at..end];
        let called = self.peek(end) == b'(';
        if called && DROPPED_WITH_ARGUMENTS.contains(&word) {
            self.skip(self.group_end(end));
        } else if DROPPED.contains(&word) {
            self.at = end;
            self.out.push(b' ');
        } else if matches!(
            word,
            b"typeof" | b"__typeof__" | b"typeof_unqual" | b"__unqual_scalar_typeof"
        ) && called
        {
            self.skip(self.group_end(end));
            self.out.extend_from_slice(b" long ");
        } else if matches!(
            word,
            b"asm"
                | b"__asm__"
                | b"__asm"
                | b"asm_volatile_goto"
                | b"asm_inline"
                | b"asm_goto_output"
                | b"_Generic"
                | b"offsetof"
                | b"__builtin_offsetof"
        ) {
            let mut to = end;
            while self.peek(to) != b'(' {
                let from = to
                    + self.text[to..]
                        .iter()
                        .take_while(|b| b.is_ascii_whitespace())
                        .count();
                let next = self.word_end(from);
                if next == from {
                    break;
                }
                to = next;
            }
            if self.peek(to) == b'(' {
                self.skip(self.group_end(to));
                self.out.extend_from_slice(b" 0 ");
            } else {
                self.copy(end);
            }
        } else if called && !CONTROL.contains(&word) {
            self.call(word, end);
        } else {
            self.copy(end);
        }
    }

    fn call(&mut self, word: &'a [u8], end: usize) {
        let behind = self.peek(self.group_end(end));
        let starts_statement = matches!(
            self.out.trim_ascii_end().last(),
            None | Some(b';' | b'{' | b'}' | b')' | b':')
        ) || self.out.trim_ascii_end().ends_with(b"else");
        let each = word
            .windows(9)
            .any(|w| w == b"_for_each" || w == b"for_each_")
            || word == b"for_each";
        let block = behind == b'{' || (each && (is_word(behind) || behind == b'('));
        let mut closing: &'static [u8] = b"";
        if starts_statement && block {
            self.out
                .extend_from_slice(if each { b"while (" } else { b"if (" });
            closing = b")";
        } else if word.starts_with(b"while_each_") && behind == b';' {
            self.out.extend_from_slice(b"while (");
            closing = b")";
        }
        self.copy(end);
        let group = self.at
            + self.text[self.at..]
                .iter()
                .position(|&b| b == b'(')
                .unwrap_or(0);
        self.copy(group + 1);
        self.open.push((!OF_TYPES.contains(&word), closing));
        if !OF_TYPES.contains(&word) {
            self.argument();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewritten(text: &str) -> String {
        let out = String::from_utf8(rewrite(text.as_bytes())).unwrap();
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn idioms() {
        assert_eq!(
            rewritten("{ list_for_each_entry(a, b, c) { f(); } }"),
            "{ while (list_for_each_entry(a, b, c)) { f(); } }"
        );
        assert_eq!(
            rewritten("{ for_each_x(a, b)\n if (c) d(); }"),
            "{ while (for_each_x(a, b)) if (c) d(); }"
        );
        assert_eq!(
            rewritten("{ scoped_guard(mutex, &l) { f(); } }"),
            "{ if (scoped_guard(mutex, &l)) { f(); } }"
        );
        assert_eq!(
            rewritten("typeof(*a) b = (__force int __user *)c;"),
            "long b = ( int *)c;"
        );
        assert_eq!(
            rewritten("asm volatile(\"\" : : \"\"(x)); f();"),
            "0 ; f();"
        );
        assert_eq!(
            rewritten("va_arg(ap, unsigned long *); container_of(a, struct b, c);"),
            "va_arg(ap, 0 ); container_of(a, 0 , c);"
        );
        assert_eq!(
            rewritten("x = (struct a *)b; sizeof(struct c);"),
            "x = (struct a *)b; sizeof(struct c);"
        );
        assert_eq!(rewritten("case 1 ... 5: a##b(#c);"), "case 1 : ab(\"\");");
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..1000)) {
            rewrite(&bytes);
        }

        #[test]
        fn never_panics_on_near_code(text in "([a-c(){};=.&>\\-*,# \n]|struct |typeof|asm|for_each_x|\\.\\.\\.){0,200}") {
            rewrite(text.as_bytes());
        }
    }
}
