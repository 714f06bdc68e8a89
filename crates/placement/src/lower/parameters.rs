// SPDX-License-Identifier: GPL-2.0-or-later

use crate::words::is_word_char;

pub(super) fn parameters(header: &[u8]) -> Vec<(Box<str>, Box<str>)> {
    let header = String::from_utf8_lossy(header);
    let mut found = Vec::new();
    for piece in header.split(['(', ',', ')']) {
        let Some((_, rest)) = piece.split_once("struct ") else {
            continue;
        };
        let mut words = rest
            .split(|c| !is_word_char(c))
            .filter(|word| !word.is_empty());
        if let (Some(structure), Some(name)) = (words.next(), words.next_back()) {
            found.push((name.into(), structure.into()));
        }
    }
    found
}

/// The names in order; empty for macros and `SYSCALL_DEFINE`.
pub(super) fn names_of_parameters(header: &[u8]) -> Vec<Box<str>> {
    let header = String::from_utf8_lossy(header);
    let (before, list) = header.split_at(header.find('(').unwrap_or(header.len()));
    if before.contains("SYSCALL_DEFINE") || before.trim_end().ends_with("__attribute__") {
        return Vec::new();
    }
    let (names, _) = kernels::hooks::arguments(list).unwrap_or_default();
    names.into_iter().map(name_of_parameter).collect()
}

/// `mask` of `int mask`, `actor` of `int (*actor)(void *)`.
fn name_of_parameter(piece: &str) -> Box<str> {
    let end = piece.find('[').unwrap_or(piece.len());
    let pointer = piece.find("(*").map(|at| &piece[at + 2..]);
    let other = |c| !is_word_char(c);
    match pointer {
        Some(rest) => rest.split(other).next().unwrap_or_default().into(),
        None => {
            let head = piece[..end].trim_end();
            let from = head.rfind(other).map_or(0, |at| at + 1);
            head.get(from..).unwrap_or_default().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(header: &str) -> Vec<String> {
        let names = names_of_parameters(header.as_bytes());
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_stand_at_the_end_but_of_pointers_to_functions() {
        let header =
            "int f(struct inode *inode, int mask, char name[16], int (*actor)(void *, int))";
        assert_eq!(names(header), ["inode", "mask", "name", "actor"]);
        assert_eq!(names("void f(void)"), ["void"]);
        assert_eq!(names("SYSCALL_DEFINE1(close, unsigned int, fd)"), [""; 0]);
        assert_eq!(names("list_for_each "), [""; 0]);
    }
}
