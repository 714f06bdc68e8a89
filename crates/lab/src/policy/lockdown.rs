// SPDX-License-Identifier: GPL-2.0-or-later
//! Lockdown: one word in securityfs.

use super::{PolicyError, Prepared, Request, tools};

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    if tools::is_enforcing(request, "lockdown", tools::NEVER_PERMISSIVE)? {
        tools::need(request, "lockdown", "CONFIG_SECURITY_LOCKDOWN_LSM")?;
    }
    Ok(Prepared::default())
}
