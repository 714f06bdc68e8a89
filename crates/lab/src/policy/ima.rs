// SPDX-License-Identifier: GPL-2.0-or-later
//! IMA: the guest writes the policy, rule by rule.

use super::{PolicyError, Prepared, Request, tools};

/// Needs nothing from this machine. A kernel without `CONFIG_IMA_WRITE_POLICY` takes a
/// policy too, once (`ima_release_policy()` of security/integrity/ima/ima_fs.c).
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "IMA")?;
    tools::need(request, "IMA", "CONFIG_IMA")?;
    tools::need(request, "appraisal by IMA", "CONFIG_IMA_APPRAISE")?;
    Ok(Prepared {
        keys: request.rules().into_iter().collect(),
        kernel_arguments: tools::integrity_argument(request).into_iter().collect(),
        ..Prepared::default()
    })
}
