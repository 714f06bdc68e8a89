// SPDX-License-Identifier: GPL-2.0-or-later
//! Rewrites kernel idioms for a C grammar. Keeps calls; drops types, attributes and assembly.

use rustc_hash::FxHashMap;

use crate::words::{Words, is_word, split_word, words};

/// Dropped with the parentheses after them.
static DROPPED_WITH_ARGUMENTS: Words = Words::new(|| {
    words(
        "__attribute__ __aligned __free __cleanup __section __must_hold __acquires __releases \
         __printf __counted_by __diag_ignore_all _Alignas __diag_push",
    )
});

static DROPPED: Words = Words::new(|| {
    words(
        "__user __rcu __force __iomem __percpu __maybe_unused __must_check __always_unused __init \
         __exit __read_mostly __ro_after_init __packed __nocast __private __extension__ noinline \
         notrace asmlinkage __cold __initdata __refdata __unused __private __kernel __used __ref \
         noinline_for_stack __always_inline __initconst __noreturn __latent_entropy \
         uninitialized_var",
    )
});

/// Start of a type in macro arguments.
static TYPES: Words = Words::new(|| {
    words(
        "struct union enum const unsigned signed int long short char void bool size_t ssize_t float \
         double volatile _Bool",
    )
});

static CONTROL: Words = Words::new(|| words("if while for switch return"));
/// Words whose arguments can be types even in plain C.
static OF_TYPES: Words = Words::new(|| words("sizeof _Alignof alignof __alignof__"));

static TYPE_OF: Words =
    Words::new(|| words("typeof __typeof__ typeof_unqual __unqual_scalar_typeof"));
/// Replaced by 0, with the parentheses after them.
static REPLACED: Words = Words::new(|| {
    words(
        "asm __asm__ __asm asm_volatile_goto asm_inline asm_goto_output _Generic offsetof \
         __builtin_offsetof",
    )
});

struct Rewriter<'a> {
    text: &'a [u8],
    /// Opening parenthesis → position after the closing one.
    closed: FxHashMap<usize, usize>,
    at: usize,
    out: Vec<u8>,
    /// For each open parenthesis: whether it belongs to a call, and the text to write after it.
    open: Vec<(bool, &'static [u8])>,
}

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
        self.text.get(self.blanks_end(from)).copied().unwrap_or(0)
    }

    fn word_end(&self, from: usize) -> usize {
        from + split_word(&self.text[from..]).0.len()
    }

    fn blanks_end(&self, from: usize) -> usize {
        let blanks = |b: &&u8| b.is_ascii_whitespace();
        from + self.text[from..].iter().take_while(blanks).count()
    }

    /// After the closing parenthesis of the next one; skips blanks.
    fn group_end(&self, from: usize) -> usize {
        let end = self.closed.get(&self.blanks_end(from)).copied();
        end.unwrap_or(self.text.len())
    }

    /// Keeps line breaks.
    fn skip(&mut self, to: usize) {
        let skipped = self.text[self.at..to].iter();
        let lines = skipped.filter(|&&b| b == b'\n').count();
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
                // Ranges: `case 1 ... 5:`, `[0 ... N] =`.
                b'.' if self.text[self.at..].starts_with(b"...") => {
                    let rest = &self.text[self.at..];
                    let end = rest
                        .iter()
                        .position(|b| matches!(b, b':' | b']' | b';' | b')'));
                    self.skip(self.at + end.unwrap_or(rest.len()));
                }
                // Pasting and stringification in macros.
                b'#' => {
                    if self.text.get(self.at + 1) == Some(&b'#') {
                        while self.out.last().is_some_and(u8::is_ascii_whitespace) {
                            self.out.pop();
                        }
                        self.at += 2;
                        while matches!(self.text.get(self.at), Some(b' ' | b'\t')) {
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

    fn argument(&mut self) {
        let from = self.blanks_end(self.at);
        let rest = &self.text[from..];
        if !TYPES.contains(split_word(rest).0) {
            return;
        }
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
        if called && DROPPED_WITH_ARGUMENTS.contains(word) {
            self.skip(self.group_end(end));
        } else if DROPPED.contains(word) {
            self.at = end;
            self.out.push(b' ');
        } else if called && TYPE_OF.contains(word) {
            self.skip(self.group_end(end));
            self.out.extend_from_slice(b" long ");
        } else if REPLACED.contains(word) {
            self.replaced(end);
        } else if called && word.starts_with(b"INDIRECT_CALL_") {
            self.indirect(end);
        } else if called && !CONTROL.contains(word) {
            self.call(word, end);
        } else {
            self.copy(end);
        }
    }

    fn replaced(&mut self, end: usize) {
        let mut to = end;
        while self.peek(to) != b'(' {
            let from = self.blanks_end(to);
            let next = self.word_end(from);
            if next == from {
                return self.copy(end);
            }
            to = next;
        }
        self.skip(self.group_end(to));
        self.out.extend_from_slice(b" 0 ");
    }

    /// `INDIRECT_CALL_*` with likely functions (include/linux/indirect_call_wrapper.h): calls the
    /// pointer.
    fn indirect(&mut self, end: usize) {
        let open = self.blanks_end(end);
        let mut depth = 0_usize;
        let arguments = self.text[open..self.group_end(end)].iter();
        let comma = arguments.enumerate().find_map(|(at, byte)| {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            (*byte == b',' && depth == 1).then_some(open + at)
        });
        let Some(comma) = comma else {
            return self.copy(end);
        };
        self.skip(open);
        self.out.push(b'(');
        self.out.extend(rewrite(&self.text[open + 1..comma]));
        self.out.extend_from_slice(b")(");
        self.at = comma + 1;
        self.open.push((true, b""));
        self.argument();
    }

    fn call(&mut self, word: &'a [u8], end: usize) {
        let behind = self.peek(self.group_end(end));
        let before = self.out.trim_ascii_end();
        let starts_statement = before.ends_with(b"else")
            || matches!(before.last(), None | Some(b';' | b'{' | b'}' | b')' | b':'));
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
        self.copy(self.blanks_end(end) + 1);
        self.open.push((!OF_TYPES.contains(word), closing));
        if !OF_TYPES.contains(word) {
            self.argument();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let out = String::from_utf8(rewrite(text.as_bytes())).unwrap();
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn idioms() {
        for (text, expected) in [
            (
                "{ list_for_each_entry(a, b, c) { f(); } }",
                "{ while (list_for_each_entry(a, b, c)) { f(); } }",
            ),
            (
                "{ for_each_x(a, b)\n if (c) d(); }",
                "{ while (for_each_x(a, b)) if (c) d(); }",
            ),
            (
                "{ scoped_guard(mutex, &l) { f(); } }",
                "{ if (scoped_guard(mutex, &l)) { f(); } }",
            ),
            (
                "typeof(*a) b = (__force int __user *)c;",
                "long b = ( int *)c;",
            ),
            ("asm volatile(\"\" : : \"\"(x)); f();", "0 ; f();"),
            (
                "va_arg(ap, unsigned long *); container_of(a, struct b, c);",
                "va_arg(ap, 0 ); container_of(a, 0 , c);",
            ),
            (
                "x = (struct a *)b; sizeof(struct c);",
                "x = (struct a *)b; sizeof(struct c);",
            ),
            ("case 1 ... 5: a##b(#c);", "case 1 : ab(\"\");"),
            (
                "r = INDIRECT_CALL_2(READ_ONCE(a->ops)->b, f,\n g, a, (b, c));",
                "r = (READ_ONCE(a->ops)->b)( f, g, a, (b, c));",
            ),
            ("INDIRECT_CALL_1(a)", "INDIRECT_CALL_1(a)"),
        ] {
            assert_eq!(rewritten(text), expected);
        }
    }
}
