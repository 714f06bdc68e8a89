// SPDX-License-Identifier: GPL-2.0-or-later
//! Yama: one number in `/proc/sys`.

use super::{PolicyError, Prepared, Request, tools};

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::is_enforcing(request, "yama", tools::NEVER_PERMISSIVE)?;
    Ok(Prepared::default())
}
