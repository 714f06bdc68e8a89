// SPDX-License-Identifier: GPL-2.0-or-later

use std::fmt;
use std::str::FromStr;

/// A feature that other kernels have, and UML kernels only on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum With {
    /// Atomic operations with `lock` prefixes, as on multiprocessors. Locks stay empty.
    LockPrefixes,
    /// Retpolines for indirect calls and jumps. GCC only.
    Retpolines,
}

impl With {
    pub const ALL: [With; 2] = [With::LockPrefixes, With::Retpolines];

    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            With::LockPrefixes => "CONFIG_LSMETER_LOCK_PREFIXES=y\n",
            With::Retpolines => "CONFIG_LSMETER_RETPOLINES=y\n",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", With::ALL.map(|with| with.to_string()).join(", "))]
pub struct Unknown;

impl fmt::Display for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            With::LockPrefixes => "lock-prefixes",
            With::Retpolines => "retpolines",
        })
    }
}

impl FromStr for With {
    type Err = Unknown;

    fn from_str(text: &str) -> Result<With, Unknown> {
        let mut all = With::ALL.into_iter();
        all.find(|with| with.to_string() == text).ok_or(Unknown)
    }
}
