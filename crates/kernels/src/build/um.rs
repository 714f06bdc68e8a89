// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent and what it needs as a change to a kernel tree.

use crate::error::Error;
use crate::files;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What kernels of other machines have, and one that is a process only if that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    /// Atomic operations have a `lock` prefix, as on several processors. Locks stay nothing.
    LockPrefixes,
    /// Indirect calls and jumps are retpolines. Of GCC's kernels only.
    Retpolines,
}

impl With {
    /// All of them.
    pub const ALL: [With; 2] = [With::LockPrefixes, With::Retpolines];

    /// The line of a configuration that asks for it.
    pub(super) fn option(self) -> &'static str {
        match self {
            With::LockPrefixes => "CONFIG_LSMETER_LOCK_PREFIXES=y\n",
            With::Retpolines => "CONFIG_LSMETER_RETPOLINES=y\n",
        }
    }
}

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            With::LockPrefixes => "lock-prefixes",
            With::Retpolines => "retpolines",
        })
    }
}

impl FromStr for With {
    type Err = String;

    fn from_str(text: &str) -> Result<With, String> {
        let mut all = With::ALL.into_iter();
        all.find(|with| with.to_string() == text)
            .ok_or_else(|| "a kernel is built with `lock-prefixes` or `retpolines`".into())
    }
}

const FILE_LIMIT: u64 = 1 << 20;

/// What is different in the tree at `tree` with the agent in its kernel of `ARCH=um`, by path;
/// with a number, functions are in an order of their own.
///
/// # Errors
/// [`Error::Unsupported`] if the tree has no place for it.
pub(super) fn changes(
    tree: &Path,
    layout: Option<NonZeroU32>,
) -> Result<BTreeMap<PathBuf, String>, Error> {
    let read = |path: &str| {
        let text = files::read(&tree.join(path), FILE_LIMIT)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let unfit = |path: &str, reason: String| Error::Unsupported {
        what: format!("{path} of {}", tree.display()),
        reason: format!("the agent cannot be put into this kernel of ARCH=um: {reason}"),
        hint: Some("build it from linux-source-6.1, linux-source-6.12 or linux-source-7.2".into()),
    };
    um::changes(read, unfit, layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::put;

    #[test]
    fn a_tree_that_is_laid_out_otherwise_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), "arch/um/Kbuild", "obj-y += all/\n");
        let error = changes(dir.path(), None).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("arch/um/Kbuild of "), "{text}");
        assert!(
            text.contains("there is no line `obj-y += kernel/`"),
            "{text}"
        );
    }
}
