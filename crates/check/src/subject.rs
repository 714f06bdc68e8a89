// SPDX-License-Identifier: GPL-2.0-or-later
//! Of what documents are compared: one kernel, one stack, one file system.

use experiment::{CountsDocument, Profile, ProfileDocument, SensitivityDocument, Slope};

use crate::error::CheckError;

/// What is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Kernel as the user named it.
    pub kernel: String,
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

/// The stack of a slope without the module that delays.
fn stack_of(slope: &Slope) -> &[String] {
    match slope.stack.split_last() {
        Some((last, stack)) if last == slope.module.as_str() => stack,
        _ => &slope.stack,
    }
}

impl Subject {
    /// The first that the documents hold and the user wants.
    ///
    /// # Errors
    /// [`CheckError::Nothing`] if there is none.
    pub fn find(
        wanted: &Wanted,
        profile: Option<&ProfileDocument>,
        counts: Option<&CountsDocument>,
        sensitivity: Option<&SensitivityDocument>,
    ) -> Result<Subject, CheckError> {
        let profiles = profile.into_iter().flat_map(|document| &document.profiles);
        let profiles = profiles.map(|profile| Subject {
            kernel: profile.kernel.clone(),
            release: profile.release.clone(),
            stack: profile.stack.clone(),
            fs: profile.filesystem.clone(),
        });
        let counts = counts.into_iter().map(|counts| Subject {
            kernel: counts.kernel.clone(),
            release: counts.release.clone(),
            stack: counts.stack.clone(),
            fs: counts.fs.clone(),
        });
        let slopes = sensitivity
            .into_iter()
            .flat_map(|document| &document.slopes);
        let slopes = slopes.map(|slope| Subject {
            kernel: slope.kernel.clone(),
            release: slope.release.clone(),
            stack: stack_of(slope).to_vec(),
            fs: slope.filesystem.clone(),
        });
        let mut all = profiles.chain(counts).chain(slopes);
        all.find(|subject| !subject.release.is_empty() && wanted.takes(subject))
            .ok_or_else(|| CheckError::Nothing {
                wanted: wanted.to_string(),
            })
    }

    /// Is that profile of it?
    pub fn has_profile(&self, profile: &Profile) -> bool {
        profile.release == self.release
            && profile.stack == self.stack
            && profile.filesystem == self.fs
    }

    /// Are these counts of it?
    pub fn has_counts(&self, counts: &CountsDocument) -> bool {
        counts.release == self.release && counts.stack == self.stack && counts.fs == self.fs
    }

    /// Is that slope of it?
    pub fn has_slope(&self, slope: &Slope) -> bool {
        slope.release == self.release
            && stack_of(slope) == self.stack
            && slope.filesystem == self.fs
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
