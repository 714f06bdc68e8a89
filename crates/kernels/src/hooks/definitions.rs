// SPDX-License-Identifier: GPL-2.0-or-later
//! The hooks in a kernel tree's `include/linux/lsm_hook_defs.h`.

use super::{HookListError, MAX_HOOKS, is_hook_name};

const ENTRY: &str = "LSM_HOOK";

/// The third argument of each `LSM_HOOK(type, default, name, …)`.
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
        let (name, len) = third_argument(rest).ok_or_else(|| bad("an LSM_HOOK has no end"))?;
        if !is_hook_name(name) {
            return Err(bad("an LSM_HOOK has no name as its third argument"));
        }
        if hooks.len() >= MAX_HOOKS {
            return Err(HookListError::TooMany {
                source_name: "the hook definitions",
            });
        }
        hooks.push(name.to_owned());
        at = open + len;
    }
    Ok(hooks)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The third of the arguments in the parentheses that `text` begins with (empty if there
/// are fewer), and the length up to the closing one; nothing if none closes.
fn third_argument(text: &str) -> Option<(&str, usize)> {
    let (mut depth, mut commas) = (0_u32, 0);
    let (mut start, mut end) = (None, None);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let name = start.map_or("", |start| &text[start..end.unwrap_or(at)]);
                    return Some((name.trim(), at + 1));
                }
            }
            ',' if depth == 1 => {
                commas += 1;
                match commas {
                    2 => start = Some(at + 1),
                    3 => end = Some(at),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    None
}

/// Comments become a space and the line ends in them, so that lines keep their number.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        code.push_str(&rest[..start]);
        rest = &rest[start..];
        let len = if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| end + 4)
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            code.push('/');
            rest = &rest[1..];
            continue;
        };
        code.push(' ');
        code.extend(rest[..len].matches('\n'));
        rest = &rest[len..];
    }
    code.push_str(rest);
    code
}

/// Lines of the preprocessor, with those they continue on, become empty.
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
