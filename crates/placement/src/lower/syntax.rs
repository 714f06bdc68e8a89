// SPDX-License-Identifier: GPL-2.0-or-later

use tree_sitter::Node as Syntax;

pub(super) fn field<'t>(node: Syntax<'t>, name: &str) -> Option<Syntax<'t>> {
    node.child_by_field_name(name)
}

pub(super) fn last_child(node: Syntax<'_>) -> Option<Syntax<'_>> {
    let children = u32::try_from(node.named_child_count()).unwrap_or(u32::MAX);
    node.named_child(children.saturating_sub(1))
}

/// Line (from the opening brace) and text of the first syntax error.
pub(super) fn fault_in(root: Syntax<'_>) -> String {
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return format!("line {} of the function", node.start_position().row + 1);
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return "somewhere in it".to_owned();
            }
        }
    }
}
