// SPDX-License-Identifier: GPL-2.0-or-later

use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::words::split_word;

/// Deeper expressions are 0.
const MAX_DEPTH: u32 = 64;

/// Macros defined by the file, with their value if it is a number.
pub(crate) type Defines = FxHashMap<Box<[u8]>, Option<i64>>;

/// Unknown macros are 0, as in C.
pub(crate) fn holds(expression: &[u8], config: &Config, defines: &Defines) -> bool {
    let mut parser = Parser {
        bytes: expression,
        at: 0,
        depth: 0,
        config,
        defines,
    };
    parser.ternary() != 0
}

pub(crate) fn defined(name: &[u8], config: &Config, defines: &Defines) -> bool {
    defines.contains_key(name)
        || std::str::from_utf8(name).is_ok_and(|name| config.is_defined(name))
}

pub(crate) fn number(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let hex = digits.strip_prefix("0x");
    let parsed = match hex.or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8),
        None => digits.parse(),
    };
    parsed.ok().map(u64::cast_signed)
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    config: &'a Config,
    defines: &'a Defines,
}

/// In order of increasing precedence; longer operators come first.
const LEVELS: [&[&[u8]]; 10] = [
    &[b"||"],
    &[b"&&"],
    &[b"|"],
    &[b"^"],
    &[b"&"],
    &[b"==", b"!="],
    &[b"<=", b">=", b"<", b">"],
    &[b"<<", b">>"],
    &[b"+", b"-"],
    &[b"*", b"/", b"%"],
];

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> i64 {
        let value = self.binary(0);
        if self.depth >= MAX_DEPTH || !self.skip(b'?') {
            return value;
        }
        self.depth += 1;
        let yes = self.ternary();
        let no = if self.skip(b':') { self.ternary() } else { 0 };
        self.depth -= 1;
        if value != 0 { yes } else { no }
    }

    fn operator(&mut self, level: usize) -> Option<&'static [u8]> {
        self.peek();
        let rest = &self.bytes[self.at..];
        let found = *LEVELS[level].iter().find(|op| rest.starts_with(op))?;
        // `<` is not `<<`, `|` not `||`, `&` not `&&`.
        let next = rest.get(found.len());
        let longer = match found {
            b"|" => next == Some(&b'|'),
            b"&" => next == Some(&b'&'),
            b"<" => next == Some(&b'<'),
            b">" => next == Some(&b'>'),
            _ => false,
        };
        (!longer).then_some(found)
    }

    fn binary(&mut self, level: usize) -> i64 {
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1);
        while let Some(operator) = self.operator(level) {
            self.at += operator.len();
            let right = self.binary(level + 1);
            left = apply(operator, left, right);
        }
        left
    }

    fn unary(&mut self) -> i64 {
        if self.depth >= MAX_DEPTH {
            self.at = self.bytes.len();
        }
        let Some(byte) = self.peek() else {
            return 0;
        };
        self.depth += 1;
        let value = match byte {
            b'!' | b'~' | b'-' | b'+' => {
                self.at += 1;
                let value = self.unary();
                match byte {
                    b'!' => i64::from(value == 0),
                    b'~' => !value,
                    b'-' => value.wrapping_neg(),
                    _ => value,
                }
            }
            b'(' => {
                self.at += 1;
                let value = self.ternary();
                self.skip(b')');
                value
            }
            b'0'..=b'9' => number(self.word()).unwrap_or(0),
            byte if byte == b'_' || byte.is_ascii_alphabetic() => self.name(),
            _ => {
                self.at += 1;
                0
            }
        };
        self.depth -= 1;
        value
    }

    fn word(&mut self) -> &'a [u8] {
        let (word, _) = split_word(&self.bytes[self.at..]);
        self.at += word.len();
        word
    }

    fn arguments(&mut self) -> Option<&'a [u8]> {
        if self.peek() != Some(b'(') {
            return None;
        }
        let start = self.at + 1;
        let mut depth = 0u32;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(&self.bytes[start..self.at - 1]);
            }
        }
        Some(&self.bytes[start..])
    }

    fn name(&mut self) -> i64 {
        let (config, defines) = (self.config, self.defines);
        let word = self.word();
        match word {
            b"defined" => {
                let name = self.arguments().unwrap_or_else(|| self.word());
                i64::from(defined(name.trim_ascii(), config, defines))
            }
            b"IS_ENABLED" | b"IS_REACHABLE" | b"IS_BUILTIN" => {
                let inner = self.arguments().unwrap_or_default().trim_ascii();
                i64::from(defined(inner, config, defines))
            }
            _ if self.arguments().is_some() => 0,
            _ => match defines.get(word) {
                Some(value) => value.unwrap_or(0),
                // Set options, including numeric ones, are 1.
                None => i64::from(defined(word, config, defines)),
            },
        }
    }
}

fn apply(operator: &[u8], left: i64, right: i64) -> i64 {
    match operator {
        b"||" => i64::from(left != 0 || right != 0),
        b"&&" => i64::from(left != 0 && right != 0),
        b"|" => left | right,
        b"^" => left ^ right,
        b"&" => left & right,
        b"==" => i64::from(left == right),
        b"!=" => i64::from(left != right),
        b"<=" => i64::from(left <= right),
        b">=" => i64::from(left >= right),
        b"<" => i64::from(left < right),
        b">" => i64::from(left > right),
        b"<<" => left.wrapping_shl(u32::try_from(right & 63).unwrap_or(0)),
        b">>" => left.wrapping_shr(u32::try_from(right & 63).unwrap_or(0)),
        b"+" => left.wrapping_add(right),
        b"-" => left.wrapping_sub(right),
        b"*" => left.wrapping_mul(right),
        b"/" => left.checked_div(right).unwrap_or(0),
        _ => left.checked_rem(right).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ConfigFacts;

    fn value(text: &str) -> bool {
        let facts = ConfigFacts {
            off: vec!["OFF*".to_owned()],
            defined: vec!["__KERNEL__".to_owned()],
        };
        let mut defines = Defines::default();
        defines.insert((*b"FIVE").into(), Some(5));
        holds(text.as_bytes(), &Config::everything(&facts), &defines)
    }

    #[test]
    fn expressions() {
        assert!(value("defined(CONFIG_A) && !defined CONFIG_OFF_X"));
        assert!(value("IS_ENABLED(CONFIG_A) || 0"));
        assert!(value("FIVE + 2 * 3 == 11"));
        assert!(value("(1 << 4) > 0xf"));
        assert!(!value("UNKNOWN"));
        assert!(!value("KERNEL_VERSION(2, 6, 0) > 5"));
        assert!(value("defined(__KERNEL__) ? 1 : 0"));
        assert!(!value("FIVE & 2"));
    }

    #[test]
    fn nonsense_ends() {
        value(&"(".repeat(100_000));
        value(&"!".repeat(100_000));
        value("1 / 0 % 0 ? : @ defined(");
    }
}
