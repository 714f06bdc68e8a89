// SPDX-License-Identifier: GPL-2.0-or-later
//! Lockdown: one word in securityfs.

use experiment::Policy;

use super::{PolicyError, Prepared, Request, tools};

/// The agent needs nothing for it.
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    match request.configuration.policy {
        Policy::Permissive => Err(PolicyError::Unsupported(
            "lockdown has no permissive state: it denies, or it does not".to_owned(),
        )),
        Policy::None => Ok(Prepared::default()),
        Policy::Enforcing => {
            tools::need(request, "lockdown", "CONFIG_SECURITY_LOCKDOWN_LSM")?;
            Ok(Prepared::default())
        }
    }
}
