// SPDX-License-Identifier: GPL-2.0-or-later

use crate::body::Body;
use crate::words::{is_word, is_word_char};

/// In bytes; longer values are not followed.
const MAX_TEXT: usize = 300;
/// The maximum number of nested replacements of variables by their assigned values.
const MAX_DEPTH: u32 = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    /// Whether the value is read from memory, which could change.
    pub(super) memory: bool,
    pub(super) lost: Option<String>,
}

impl Value {
    pub(super) fn name(name: &str) -> Value {
        Value {
            text: name.to_owned(),
            memory: false,
            lost: name.is_empty().then(|| "its name is not known".to_owned()),
        }
    }

    pub(super) fn is_followed(&self) -> bool {
        self.lost.is_none()
    }
}

pub(super) struct Frame<'x> {
    pub(super) caller: Option<&'x Body>,
    pub(super) callee: Option<&'x Body>,
    /// Unknown for callbacks.
    pub(super) arguments: Option<&'x [Box<str>]>,
    /// Functions whose result depends only on their arguments.
    pub(super) pure: &'x [String],
}

impl Frame<'_> {
    pub(super) fn up(&self, value: &Value) -> Value {
        if value.lost.is_some() {
            return value.clone();
        }
        let lost = |why: &str| Value {
            lost: Some(why.to_owned()),
            ..value.clone()
        };
        let (Some(caller), Some(callee)) = (self.caller, self.callee) else {
            return lost("a function on the path was not parsed");
        };
        let Some(arguments) = self.arguments else {
            return lost("the value passes through a callback");
        };
        let mut unknown = None;
        let passed = replaced(&value.text, |name| {
            let at = callee.parameters.iter().position(|p| **p == *name)?;
            let argument = arguments.get(at).filter(|argument| !argument.is_empty());
            if argument.is_none() {
                unknown = Some(format!("the argument {name} is not known"));
            }
            argument.map(|argument| argument.to_string())
        });
        if let Some(why) = unknown {
            return lost(&why);
        }
        let mut found = Value {
            text: passed,
            memory: value.memory,
            lost: None,
        };
        self.assigned(&mut found, caller, 0);
        found.memory |= reads_memory(&found.text);
        found
    }

    /// Replaces variables with a single assignment by the value.
    fn assigned(&self, value: &mut Value, body: &Body, depth: u32) {
        let mut again = false;
        let mut lost = None;
        let text = replaced(&value.text, |name| {
            let mut values = body
                .assigned
                .iter()
                .filter(|(variable, _)| **variable == *name);
            let (first, second) = (values.next(), values.next());
            let (_, first) = first?;
            let parameter = body.parameters.iter().any(|p| **p == *name);
            if second.is_some() || parameter || first.is_empty() || depth >= MAX_DEPTH {
                lost = Some(format!("{name} is assigned where it cannot be followed"));
                return None;
            }
            again = true;
            Some(first.to_string())
        });
        value.text = text;
        value.lost = lost.or_else(|| self.unclear(&value.text));
        if again && value.lost.is_none() {
            self.assigned(value, body, depth + 1);
        }
    }

    /// The reason why the text may change its meaning.
    fn unclear(&self, text: &str) -> Option<String> {
        if text.len() > MAX_TEXT {
            return Some("the expression is too long to be followed".to_owned());
        }
        let called =
            words(text).find(|word| word.called && !self.pure.iter().any(|p| p == word.text));
        called.map(|word| format!("{}() may return another object", word.text))
    }
}

fn reads_memory(text: &str) -> bool {
    text.contains("->") || text.contains(['*', '[', '.', '&'])
}

struct Word<'t> {
    text: &'t str,
    at: usize,
    member: bool,
    called: bool,
}

fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + text[at..].find(is_word_char)?;
        let rest = &text[from..];
        let end = from + rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
        let before = text[..from].trim_end();
        at = end;
        Some(Word {
            text: &text[from..end],
            at: from,
            member: before.ends_with("->") || before.ends_with('.'),
            called: text[end..].trim_start().starts_with('('),
        })
    })
    .filter(|word| !word.text.starts_with(|c: char| c.is_ascii_digit()))
}

/// Replaces variables by the results of `by`; None keeps them.
fn replaced(text: &str, mut by: impl FnMut(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut at = 0;
    for word in words(text) {
        if word.member || word.called || out.len() > MAX_TEXT {
            continue;
        }
        let Some(new) = by(word.text) else {
            continue;
        };
        out.push_str(&text[at..word.at]);
        at = word.at + word.text.len();
        let behind = text[at..].trim_start();
        let plain = |text: &str| text.bytes().all(|byte| byte == b'.' || is_word(byte));
        match new.strip_prefix('&') {
            // `(&x)->y` is `x.y`.
            Some(inner) if behind.starts_with("->") && plain(inner.trim()) => {
                out.push_str(inner.trim());
                out.push('.');
                at = text.len() - behind.len() + 2;
            }
            _ if behind.is_empty() && out.is_empty() => out.push_str(&new),
            _ if plain(&new.replace("->", ".")) => out.push_str(&new),
            _ => out.extend(["(", &new, ")"]),
        }
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lower::Lowerer;
    use crate::scan::Kind;

    fn body(header: &str, text: &str) -> Body {
        Lowerer::new().lower_parts(header.as_bytes(), text.as_bytes(), Kind::Static)
    }

    fn up(f: &str, arguments: &[&str], text: &str) -> Value {
        let caller = body("static int f(struct path *path, int flag)", f);
        let callee = body("static int g(struct inode *inode, int mask)", "{ }");
        let arguments: Vec<Box<str>> = arguments.iter().map(|&text| text.into()).collect();
        let frame = Frame {
            caller: Some(&caller),
            callee: Some(&callee),
            arguments: Some(&arguments),
            pure: &["d_inode".to_owned()],
        };
        frame.up(&Value::name(text))
    }

    #[test]
    fn arguments_are_followed() {
        let value = up(
            "{ g(path->inode, flag); }",
            &["path->inode", "flag"],
            "inode",
        );
        assert_eq!((value.text.as_str(), value.memory), ("path->inode", true));
        let value = up("{ g(x, flag); }", &["x", "flag"], "mask");
        assert_eq!((value.text.as_str(), value.memory), ("flag", false));
        let once = "{ struct inode *i = d_inode(path->dentry); g(i, 1); }";
        let value = up(once, &["i", "1"], "inode");
        assert_eq!(value.text, "d_inode(path->dentry)");
        assert!(value.is_followed() && value.memory);
    }

    #[test]
    fn what_cannot_be_followed_says_why() {
        let why = |f: &str, arguments: &[&str]| up(f, arguments, "inode").lost.unwrap();
        let twice = "{ struct inode *i = a; i = b; g(i, 1); }";
        assert!(why(twice, &["i", "1"]).contains("i is assigned"));
        let out = "{ struct inode *i; find(&i); g(i, 1); }";
        assert!(why(out, &["i", "1"]).contains("i is assigned"));
        assert!(why("{ path = x; g(path, 1); }", &["path", "1"]).contains("path is assigned"));
        assert!(why("{ g(find(x), 1); }", &["find(x)", "1"]).contains("find()"));
        assert!(why("{ g(); }", &[]).contains("inode is not known"));
    }

    #[test]
    fn places_of_structs_become_their_members() {
        let text = replaced("path->dentry", |name| {
            (name == "path").then(|| "&p".to_owned())
        });
        assert_eq!(text, "p.dentry");
        let text = replaced("a + b->a", |name| (name == "a").then(|| "x | y".to_owned()));
        assert_eq!(text, "(x | y) + b->a");
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,80}", by in ".{0,20}") {
            replaced(&text, |name| (name.len() < 3).then(|| by.clone()));
            let _ = words(&text).count();
        }
    }
}
