// SPDX-License-Identifier: GPL-2.0-or-later

use std::collections::BTreeMap;

use kernels::hooks::{arguments, without_comments};

use crate::words::is_word_char;

/// In bytes.
const MAX_ARGUMENTS: usize = 4096;

/// SELinux has 220 `LSM_HOOK_INIT`.
const MAX_USES: usize = 10_000;

pub(super) struct MacroCall {
    pub(super) arguments: Vec<String>,
    /// Outside every `#if` except a header's guard.
    pub(super) unconditional: bool,
    pub(super) in_macro: bool,
}

pub(super) fn code_lines(source: &str) -> u64 {
    let plain = without_comments(source);
    plain.lines().filter(|line| !line.trim().is_empty()).count() as u64
}

/// For each line: its offset, its `#if` depth, and whether it is part of a macro.
fn depths(source: &str) -> Vec<(usize, usize, bool)> {
    let mut depth = 0usize;
    let mut guard = None;
    let mut opened: Vec<bool> = Vec::new();
    let (mut offset, mut continued) = (0, false);
    let mut found = Vec::new();
    let mut last_ifndef: Option<String> = None;
    for line in source.split_inclusive('\n') {
        let text = line.trim_start();
        let directive = text.strip_prefix('#').map(str::trim_start);
        let mut in_macro = continued;
        if let Some(directive) = directive {
            if directive.starts_with("if") {
                // Without the framework there are no modules.
                let framework = directive.trim_end() == "ifdef CONFIG_SECURITY";
                opened.push(framework);
                depth += usize::from(!framework);
                last_ifndef = directive
                    .strip_prefix("ifndef")
                    .map(|name| name.trim().to_owned());
                if guard.is_none() && last_ifndef.is_none() {
                    guard = Some(false);
                }
            } else if directive.starts_with("endif") {
                let framework = opened.pop().unwrap_or(true);
                depth -= usize::from(!framework);
            } else if let Some(name) = directive.strip_prefix("define") {
                in_macro = true;
                let name = name.trim();
                // #ifndef X, then #define X: the header's guard.
                if guard.is_none() && depth == 1 {
                    guard = Some(last_ifndef.as_deref() == Some(name));
                }
            }
        }
        let inside = depth.saturating_sub(usize::from(guard == Some(true)));
        found.push((offset, inside, in_macro));
        continued = in_macro && line.trim_end().ends_with('\\');
        offset += line.len();
    }
    found
}

fn line_of(lines: &[(usize, usize, bool)], at: usize) -> (usize, usize, bool) {
    lines[lines.partition_point(|line| line.0 <= at).saturating_sub(1)]
}

pub(super) fn calls_of_macro(source: &str, name: &str) -> Vec<MacroCall> {
    let source = without_comments(source);
    let lines = depths(&source);
    let mut found = Vec::new();
    for (at, _) in source.match_indices(name) {
        let before = source[..at].chars().next_back();
        let rest = &source[at + name.len()..];
        if before.is_some_and(is_word_char) || !rest.starts_with('(') {
            continue;
        }
        let (line, depth, in_macro) = line_of(&lines, at);
        let before = source.get(line..at.min(line + MAX_ARGUMENTS));
        let before = before.unwrap_or_default().trim_start();
        if before.starts_with('#') && !before.contains(')') {
            continue;
        }
        if found.len() >= MAX_USES {
            break;
        }
        let end = (0..=rest.len().min(MAX_ARGUMENTS)).rfind(|&end| rest.is_char_boundary(end));
        let (arguments, _) = arguments(&rest[..end.unwrap_or(0)]).unwrap_or_default();
        found.push(MacroCall {
            arguments: arguments.into_iter().map(str::to_owned).collect(),
            unconditional: depth == 0,
            in_macro,
        });
    }
    found
}

/// Function pointers in a union → outside every `#if`.
pub(super) fn union_members(source: &str, union: &str) -> BTreeMap<String, bool> {
    let source = without_comments(source);
    let lines = depths(&source);
    let Some(start) = source.find(&format!("{union} {{")) else {
        return BTreeMap::new();
    };
    let end = source[start..]
        .find("\n};")
        .map_or(source.len(), |end| start + end);
    let mut found = BTreeMap::new();
    for (at, _) in source[start..end].match_indices("(*") {
        let name: String = source[start + at + 2..end]
            .chars()
            .take_while(|&c| is_word_char(c))
            .collect();
        let (_, depth, _) = line_of(&lines, start + at);
        if !name.is_empty() {
            found.insert(name, depth == 0);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_of_code() {
        assert_eq!(
            code_lines("/* a\n * b */\n\nint x; // c\n\"/*\"\n/* d */ int y;\n"),
            3
        );
    }

    #[test]
    fn macros_and_conditions() {
        let source = "#ifndef A_H\n#define A_H\nX(a, f(b, c))\n#ifdef C\n  X( d , e)\n#endif\n/* X(f) */ MYX(g)\n#endif\n";
        let found: Vec<_> = calls_of_macro(source, "X")
            .into_iter()
            .map(|call| (call.arguments.join("|"), call.unconditional))
            .collect();
        assert_eq!(
            found,
            [("a|f(b, c)".to_owned(), true), ("d|e".to_owned(), false)]
        );
    }

    #[test]
    fn members() {
        let source =
            "union u {\n\tint (*a)(int (*b)(void));\n#ifdef X\n\tvoid (*c)(void);\n#endif\n};\n";
        let found = union_members(source, "union u");
        assert!(found["a"]);
        assert!(!found["c"]);
    }

    proptest! {
        #[test]
        fn never_panics(text in "(#(ifndef|define|endif) A\n|[xX(),\"\\\\/*\n]|X\\(|union u \\{|\\(\\*){0,60}") {
            code_lines(&text);
            calls_of_macro(&text, "X");
            union_members(&text, "union u");
        }
    }
}
