// SPDX-License-Identifier: GPL-2.0-or-later
//! IPE: a policy is built into the kernel, or signed by a built-in key.

use model::Policy;

use super::{PolicyError, Prepared, Request};

pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    if request.configuration.policy == Policy::None {
        return Ok(Prepared::default());
    }
    Err(PolicyError::Unsupported(
        "IPE takes policies that are built in (CONFIG_IPE_BOOT_POLICY) or signed by a key of \
         the kernel's (security/ipe/policy_fs.c): neither can be custom to a kernel from outside"
            .to_owned(),
    ))
}
