// SPDX-License-Identifier: GPL-2.0-or-later
//! The filter for hooks: a part of a name, or a pattern for a whole name.

use model::{WatchedHook, glob};

const LIMIT: usize = 64;

/// Case does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    text: String,
}

impl Filter {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Ignores characters that names do not have, and those beyond the limit.
    pub fn push(&mut self, c: char) {
        if c.is_ascii_graphic() && self.text.len() < LIMIT {
            self.text.push(c.to_ascii_lowercase());
        }
    }

    pub fn pop(&mut self) {
        self.text.pop();
    }

    pub fn clear(&mut self) {
        self.text.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

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
