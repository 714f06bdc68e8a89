// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks are shown: a part of a name, or a pattern for all of it.

use model::{WatchedHook, glob};

/// Characters that can be typed.
const LIMIT: usize = 64;

/// What was typed. Case does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
}

impl Filter {
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

    pub fn clear(&mut self) {
        self.text.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Is it shown? By the name of the hook or of the function.
    pub fn takes(&self, hook: &WatchedHook) -> bool {
        let is_glob = self.text.contains(['*', '?']);
        [&hook.hook, &hook.function].into_iter().any(|name| {
            let name = name.to_ascii_lowercase();
            if is_glob {
                glob(&self.text, &name)
            } else {
                name.contains(&self.text)
            }
        })
    }
}
