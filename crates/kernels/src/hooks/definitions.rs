// SPDX-License-Identifier: GPL-2.0-or-later

use super::{HookListError, MAX_HOOKS, is_hook_name};

const ENTRY: &str = "LSM_HOOK";

pub(super) fn hooks(text: &str) -> Result<Vec<String>, HookListError> {
    let code = without_comments(text);
    let code = without_directives(&code);
    let mut hooks = Vec::new();
    let mut at = 0;
    while let Some(found) = code[at..].find(ENTRY) {
        let start = at + found;
        at = start + ENTRY.len();
        let whole = !code[..start].ends_with(is_word) && !code[at..].starts_with(is_word);
        let rest = code[at..].trim_start();
        if !whole || !rest.starts_with('(') {
            continue;
        }
        let open = code.len() - rest.len();
        let bad = |reason| HookListError::BadDefinitions {
            reason,
            line: 1 + code[..start].matches('\n').count(),
        };
        let (found, len) = arguments(rest).ok_or_else(|| bad("an LSM_HOOK has no end"))?;
        let name = found.get(2).filter(|name| is_hook_name(name));
        let name = name.ok_or_else(|| bad("an LSM_HOOK has no name as its third argument"))?;
        if hooks.len() >= MAX_HOOKS {
            return Err(HookListError::TooMany("the hook definitions"));
        }
        hooks.push((*name).to_owned());
        at = open + len;
    }
    Ok(hooks)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The arguments in the leading parentheses, and the length including the closing one. None if the
/// parentheses are not closed.
pub fn arguments(text: &str) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut from, mut found) = (0_u32, 1, Vec::new());
    text.strip_prefix('(')?;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' | ',' if depth == 1 => {
                found.push(text[from..at].trim());
                from = at + 1;
                if c == ')' {
                    return Some((found, from));
                }
            }
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Replaces comments by blanks of the same length; line breaks stay.
pub fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find(['/', '"']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with('"') {
            let length = string_length(rest);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        } else {
            out.push('/');
            rest = &rest[1..];
            continue;
        };
        out.extend(
            rest[..length]
                .chars()
                .map(|c| if c == '\n' { '\n' } else { ' ' }),
        );
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

fn string_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn without_directives(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut continued = false;
    for line in text.split_inclusive('\n') {
        let directive = continued || line.trim_start().starts_with('#');
        continued = directive && line.trim_end().ends_with('\\');
        code.push_str(if directive { "\n" } else { line });
    }
    code
}
