// SPDX-License-Identifier: GPL-2.0-or-later
//! What is compared: cells of one kernel, one stack and one file system.

use experiment::{Architecture, Cell, Document};

use crate::error::CheckError;

/// What is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Kernel as the user named it.
    pub kernel: String,
    /// Its architecture.
    pub architecture: Architecture,
    /// `uname -r`, by which documents are known to be of the same kernel.
    pub release: String,
    /// The stack, without the module that delays decisions.
    pub stack: Vec<String>,
    /// File system.
    pub fs: String,
}

/// What a user wants checked; None for whatever the documents hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// A kernel's name or release.
    pub kernel: Option<String>,
    /// A stack.
    pub stack: Option<Vec<String>>,
    /// A file system.
    pub fs: Option<String>,
}

impl Wanted {
    fn takes(&self, subject: &Subject) -> bool {
        let kernel = |name: &String| *name == subject.kernel || *name == subject.release;
        self.kernel.as_ref().is_none_or(kernel)
            && (self.stack.as_ref()).is_none_or(|stack| *stack == subject.stack)
            && self.fs.as_ref().is_none_or(|fs| *fs == subject.fs)
    }
}

/// A cell's stack without the module that delays.
fn stack_of(cell: &Cell) -> &[String] {
    let module = cell.key.delay.as_ref().map(|delay| delay.module.as_str());
    match cell.key.stack.split_last() {
        Some((last, stack)) if Some(last.as_str()) == module => stack,
        _ => &cell.key.stack,
    }
}

impl Subject {
    /// The first subject that the documents hold and the user wants.
    ///
    /// # Errors
    /// [`CheckError::Nothing`] if no document holds it.
    pub fn find<'a>(
        wanted: &Wanted,
        documents: impl IntoIterator<Item = &'a Document>,
    ) -> Result<Subject, CheckError> {
        let cells = documents.into_iter().flat_map(|document| &document.cells);
        let mut all = cells.map(|cell| Subject {
            kernel: cell.key.kernel.clone(),
            architecture: cell.key.architecture,
            release: cell.release.clone(),
            stack: stack_of(cell).to_vec(),
            fs: cell.key.filesystem.clone(),
        });
        all.find(|subject| !subject.release.is_empty() && wanted.takes(subject))
            .ok_or_else(|| CheckError::Nothing {
                wanted: wanted.to_string(),
            })
    }

    /// Does this cell belong to it?
    pub fn has(&self, cell: &Cell) -> bool {
        cell.release == self.release
            && stack_of(cell) == self.stack
            && cell.key.filesystem == self.fs
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stack = self.stack.join(",");
        write!(f, "{} under {stack} on {}", self.release, self.fs)
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kernel.as_deref().unwrap_or("a kernel"))?;
        if let Some(stack) = &self.stack {
            write!(f, " under {}", stack.join(","))?;
        }
        match &self.fs {
            Some(fs) => write!(f, " on {fs}"),
            None => Ok(()),
        }
    }
}
