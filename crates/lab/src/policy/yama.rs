// SPDX-License-Identifier: GPL-2.0-or-later
//! Yama: one number in `/proc/sys`.

use experiment::Policy;

use super::{PolicyError, Prepared, Request};

/// `ptrace_scope` 3 is all that the guest needs.
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    match request.configuration.policy {
        Policy::Permissive => Err(PolicyError::Unsupported(
            "yama has no permissive state: it denies, or it does not".to_owned(),
        )),
        Policy::None | Policy::Enforcing => Ok(Prepared::default()),
    }
}
