// SPDX-License-Identifier: GPL-2.0-or-later
//! Patterns for names: `inode_*`, `file_?pen`.

/// Whether `name` is as `pattern` says: `*` stands for any number of characters, `?` for
/// one, all others for themselves.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut next) = (0, 0);
    // Where to go on if what follows the last `*` does not fit here.
    let mut again = None;
    while next < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                again = Some((at, next));
                at += 1;
            }
            Some(&wanted) if wanted == b'?' || wanted == name[next] => {
                at += 1;
                next += 1;
            }
            _ => {
                let Some((star, tried)) = again else {
                    return false;
                };
                again = Some((star, tried + 1));
                (at, next) = (star + 1, tried + 1);
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}
