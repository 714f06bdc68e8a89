// SPDX-License-Identifier: GPL-2.0-or-later
//! EVM: the guest makes the keys and enables it.

use super::{PolicyError, Prepared, Request, tools};

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "EVM")?;
    tools::need(request, "EVM", "CONFIG_EVM")?;
    tools::need(request, "key for EVM", "CONFIG_ENCRYPTED_KEYS")?;
    Ok(Prepared {
        kernel_arguments: tools::integrity_argument(request).into_iter().collect(),
        ..Prepared::default()
    })
}
