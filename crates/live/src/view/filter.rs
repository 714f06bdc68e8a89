// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks are shown: a part of a name, or a pattern for all of it.

use experiment::WatchedHook;

/// Characters that can be typed.
const LIMIT: usize = 64;

/// What was typed. Capitals are not told from small letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
}

impl Filter {
    /// What was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds a character, if it is one that names have and there is room.
    pub fn push(&mut self, c: char) {
        if c.is_ascii_graphic() && self.text.len() < LIMIT {
            self.text.push(c.to_ascii_lowercase());
        }
    }

    /// Takes the last character away.
    pub fn pop(&mut self) {
        self.text.pop();
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.text.clear();
    }

    /// Shows everything?
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Is it shown? By the name of the hook or of the function.
    pub fn takes(&self, hook: &WatchedHook) -> bool {
        let is_glob = self.text.contains(['*', '?']);
        [&hook.hook, &hook.function].into_iter().any(|name| {
            let name = name.to_ascii_lowercase();
            if is_glob {
                glob(self.text.as_bytes(), name.as_bytes())
            } else {
                name.contains(&self.text)
            }
        })
    }
}

/// Does `pattern`, with `*` and `?`, fit the whole of `name`?
fn glob(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where the last star is, and where what it took ends.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((at, taken)) = star else {
                    return false;
                };
                star = Some((at, taken + 1));
                p = at + 1;
                n = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn globs() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("inode_*", "inode_permission", true),
            ("inode_*", "xinode_permission", false),
            ("*perm*on", "inode_permission", true),
            ("file_?pen", "file_open", true),
            ("file_?pen", "file_pen", false),
            ("*a*b*", "xxaxxbxxab", true),
            ("*ab", "aab", true),
            ("a", "ab", false),
            ("**", "anything", true),
        ] {
            let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
            assert_eq!(glob(pattern, name), fits, "{pattern:?} {name:?}");
        }
    }
}
