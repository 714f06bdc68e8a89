// SPDX-License-Identifier: GPL-2.0-or-later
//! The agent and what it needs as a change to a kernel tree.

use crate::error::Error;
use crate::files;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

const FILE_LIMIT: u64 = 1 << 20;

/// What is different in the tree at `tree` with the agent in its kernel of `ARCH=um`, by path;
/// with a number, functions are in an order of their own.
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
    crate::um::changes(read, unfit, layout)
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
