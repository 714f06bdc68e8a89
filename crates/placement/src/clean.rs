// SPDX-License-Identifier: GPL-2.0-or-later
//! The light preprocessor: removes comments and contents of strings, decides `#if` by the
//! configuration, and collects macros. Nothing is included or expanded, so each file is read once.

use crate::condition::{self, Defines};
use crate::config::Config;
use crate::words::split_word;

/// The rest of a file with deeper nesting is dropped.
const MAX_CONDITIONALS: usize = 256;
/// In bytes, of one logical line.
const MAX_DIRECTIVE: usize = 64 << 10;

/// The body is in [`Clean::text`] after the code. Ranges are bytes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Macro {
    pub(crate) name: (usize, usize),
    pub(crate) body: (usize, usize),
    pub(crate) function: bool,
    /// Counted from 1.
    pub(crate) line: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Clean {
    /// Code with as many lines as the file, then macro bodies.
    pub(crate) text: Vec<u8>,
    pub(crate) end: usize,
    pub(crate) macros: Vec<Macro>,
}

struct Cleaner<'a> {
    source: &'a [u8],
    at: usize,
    line: u32,
    out: Vec<u8>,
    config: &'a Config,
    defines: Defines,
    /// For each open `#if`, whether this part, an earlier part and the surrounding code are read.
    stack: Vec<(bool, bool, bool)>,
    /// Name, has parameters, body, line.
    macros: Vec<(Vec<u8>, bool, Vec<u8>, u32)>,
}

pub(crate) fn clean(source: &[u8], config: &Config) -> Clean {
    let mut cleaner = Cleaner {
        source,
        at: 0,
        line: 1,
        out: Vec::with_capacity(source.len()),
        config,
        defines: Defines::default(),
        stack: Vec::new(),
        macros: Vec::new(),
    };
    cleaner.run();
    let mut text = cleaner.out;
    text.push(b'\n');
    let end = text.len();
    let mut macros = Vec::with_capacity(cleaner.macros.len());
    for (name, function, body, line) in cleaner.macros {
        let start = text.len();
        text.extend_from_slice(&name);
        text.push(b' ');
        let from = text.len();
        text.extend_from_slice(&body);
        let body = (from, text.len());
        text.push(b'\n');
        macros.push(Macro {
            name: (start, from - 1),
            body,
            function,
            line,
        });
    }
    Clean { text, end, macros }
}

impl Cleaner<'_> {
    fn active(&self) -> bool {
        self.stack.last().is_none_or(|&(read, ..)| read)
    }

    fn run(&mut self) {
        let mut line_start = true;
        while let Some(&byte) = self.source.get(self.at) {
            if line_start {
                let mut probe = self.at;
                while matches!(self.source.get(probe), Some(b' ' | b'\t')) {
                    probe += 1;
                }
                if self.source.get(probe) == Some(&b'#') {
                    self.at = probe + 1;
                    self.directive();
                    continue;
                }
            }
            line_start = false;
            match byte {
                b'\n' => {
                    self.newline();
                    line_start = true;
                }
                b'/' if self.source.get(self.at + 1) == Some(&b'*') => self.comment(),
                b'/' if self.source.get(self.at + 1) == Some(&b'/') => self.line_comment(),
                _ if !self.active() => self.at += 1,
                b'"' => {
                    self.out.extend_from_slice(b"\"\"");
                    self.literal(b'"');
                }
                b'\'' => {
                    self.out.push(b'0');
                    self.literal(b'\'');
                }
                b'\\' if self.source.get(self.at + 1) == Some(&b'\n') => {
                    self.at += 1;
                    self.newline();
                }
                _ => {
                    self.out.push(if byte == 0 { b' ' } else { byte });
                    self.at += 1;
                }
            }
        }
    }

    fn newline(&mut self) {
        self.out.push(b'\n');
        self.line = self.line.saturating_add(1);
        self.at += 1;
    }

    fn comment(&mut self) {
        self.at += 2;
        self.out.push(b' ');
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\n' => self.newline(),
                b'*' if self.source.get(self.at + 1) == Some(&b'/') => {
                    self.at += 2;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn line_comment(&mut self) {
        while self.source.get(self.at).is_some_and(|&b| b != b'\n') {
            self.at += 1;
        }
    }

    /// Skips a string or character after its opening quote; it ends with its line.
    fn literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.source.get(self.at) {
            match byte {
                b'\\' => {
                    if self.source.get(self.at + 1) == Some(&b'\n') {
                        self.at += 1;
                        self.newline();
                    } else {
                        self.at += 2;
                    }
                }
                b'\n' => return,
                _ => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
    }

    /// Reads a directive after its `#`, with continuation lines; only line ends are written.
    fn directive(&mut self) {
        let (line, start) = (self.line, self.out.len());
        let mut text = Vec::new();
        while let Some(&byte) = self.source.get(self.at) {
            match (byte, self.source.get(self.at + 1)) {
                (b'\n', _) => {
                    self.newline();
                    break;
                }
                (b'\\', Some(b'\n')) => {
                    text.push(b' ');
                    self.at += 1;
                    self.newline();
                }
                (b'/', Some(b'/')) => self.line_comment(),
                (b'/', Some(b'*')) => {
                    text.push(b' ');
                    self.comment();
                }
                (b'"' | b'\'', _) => {
                    let from = self.at;
                    self.literal(byte);
                    let plain: &[u8] = if byte == b'"' { b"\"\"" } else { b"0" };
                    // A lone apostrophe, as in #error don't, ends with its line.
                    let closed = self.at > from + 1 && self.source.get(self.at - 1) == Some(&byte);
                    text.extend_from_slice(if closed { plain } else { b" " });
                }
                _ => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.out.truncate(start);
        self.out.resize(start + (self.line - line) as usize, b'\n');
        text.truncate(MAX_DIRECTIVE);
        self.apply(&text, line);
    }

    fn apply(&mut self, text: &[u8], line: u32) {
        let (word, rest) = split_word(text.trim_ascii());
        let rest = rest.trim_ascii();
        match word {
            b"if" | b"ifdef" | b"ifndef" => {
                let outside = self.active();
                let read =
                    outside && self.stack.len() < MAX_CONDITIONALS && self.decide(word, rest);
                self.stack.push((read, read, outside));
            }
            b"elif" | b"elifdef" | b"elifndef" => {
                let Some(&(_, before, outside)) = self.stack.last() else {
                    return;
                };
                let read = outside && !before && self.decide(&word[2..], rest);
                if let Some(top) = self.stack.last_mut() {
                    *top = (read, before || read, outside);
                }
            }
            b"else" => {
                if let Some((read, before, outside)) = self.stack.last_mut() {
                    *read = *outside && !*before;
                    *before = true;
                }
            }
            b"endif" => {
                self.stack.pop();
            }
            b"define" if self.active() => self.define(rest, line),
            b"undef" if self.active() => {
                self.defines.remove(rest);
            }
            _ => {}
        }
    }

    fn decide(&self, word: &[u8], rest: &[u8]) -> bool {
        let name = || condition::defined(split_word(rest).0, self.config, &self.defines);
        match word {
            b"ifdef" => name(),
            b"ifndef" => !name(),
            _ => condition::holds(rest, self.config, &self.defines),
        }
    }

    fn define(&mut self, rest: &[u8], line: u32) {
        let (name, rest) = split_word(rest);
        if name.is_empty() {
            return;
        }
        let function = rest.first() == Some(&b'(');
        let body = match (function, rest.iter().position(|&b| b == b')')) {
            (true, Some(close)) => &rest[close + 1..],
            (true, None) => return,
            (false, _) => rest,
        };
        let body = body.trim_ascii();
        let value = condition::number(body).filter(|_| !function);
        self.defines.insert(name.into(), value);
        if body.iter().any(|&b| b == b'_' || b.is_ascii_alphabetic()) {
            let (name, body) = (name.to_vec(), body.to_vec());
            self.macros.push((name, function, body, line));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::facts::ConfigFacts;

    fn cleaned(text: &str) -> String {
        let facts = ConfigFacts {
            off: vec!["OFF".to_owned()],
            defined: Vec::new(),
        };
        let clean = clean(text.as_bytes(), &Config::everything(&facts));
        String::from_utf8_lossy(&clean.text[..clean.end]).into_owned()
    }

    #[test]
    fn conditions_choose_one_branch() {
        let text = "#ifdef CONFIG_A\na\n#else\nb\n#endif\n#if !defined(CONFIG_OFF)\nc\n#elif 1\nd\n#endif\n";
        assert_eq!(cleaned(text).split_whitespace().collect::<String>(), "ac");
        let nested = "#if 0\n#if 1\na\n#else\nb\n#endif\n#elif CONFIG_A\nc\n#else\nd\n#endif\ne";
        assert_eq!(cleaned(nested).split_whitespace().collect::<String>(), "ce");
    }

    #[test]
    fn lines_are_kept() {
        let text = "a /* x\n y */ \"s { \\\" \" '{' b // c\n#define X \\\n  y(z)\nd \\\n e\n";
        let out = cleaned(text);
        assert_eq!(out.lines().count(), text.lines().count() + 1);
        assert_eq!(
            out.split_whitespace().collect::<Vec<_>>(),
            ["a", "\"\"", "0", "b", "d", "e"]
        );
    }

    #[test]
    fn macros_are_set_aside() {
        let text = b"#define f(x) \\\n\tg(x, \"a\")\n#define h f\n#define ONE 1\n";
        let clean = clean(text, &Config::everything(&ConfigFacts::default()));
        let part = |(from, to): (usize, usize)| std::str::from_utf8(&clean.text[from..to]).unwrap();
        let macros: Vec<_> = clean
            .macros
            .iter()
            .map(|m| (part(m.name), part(m.body), m.function, m.line))
            .collect();
        assert_eq!(macros, [("f", "g(x, \"\")", true, 1), ("h", "f", false, 3)]);
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_lines(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let config = Config::everything(&ConfigFacts::default());
            let out = clean(&bytes, &config);
            let lines = |text: &[u8]| text.iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(lines(&out.text[..out.end]), lines(&bytes) + 1);
        }

        #[test]
        fn never_panics_on_directives(text in "(#(if|ifdef|else|elif|endif|define) ?[a-c()!&|'\"\\\\/*\n]{0,12}\n){0,40}") {
            let config = Config::everything(&ConfigFacts::default());
            let out = clean(text.as_bytes(), &config);
            let lines = |text: &[u8]| text.iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(lines(&out.text[..out.end]), lines(text.as_bytes()) + 1);
        }
    }
}
