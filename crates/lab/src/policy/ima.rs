// SPDX-License-Identifier: GPL-2.0-or-later
//! IMA: the guest writes the policy, rule by rule, or the kernel uses a built-in one.

use model::ImaPolicy;

use super::{PolicyError, Prepared, Request, given, tools};

/// A kernel without `CONFIG_IMA_WRITE_POLICY` accepts a policy, too, but only once
/// (`ima_release_policy()` of security/integrity/ima/ima_fs.c).
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    if let Some(of) = given::of(request, "ima") {
        return given::ima(request, of);
    }
    tools::vm_only(request, "IMA")?;
    tools::need(request, "IMA", "CONFIG_IMA")?;
    tools::need(request, "appraisal by IMA", "CONFIG_IMA_APPRAISE")?;
    let policy = request.configuration.settings.ima_policy;
    let (number, of_kernel) = match policy.unwrap_or(ImaPolicy::FileSystem) {
        ImaPolicy::FileSystem => (0, None),
        ImaPolicy::Tcb => (1, Some("ima_policy=tcb")),
        ImaPolicy::AppraiseTcb => (2, Some("ima_policy=appraise_tcb")),
        ImaPolicy::TcbAndAppraiseTcb => (3, Some("ima_policy=tcb|appraise_tcb")),
    };
    // Numbered by policy/ima.c of the guest.
    let key = of_kernel.map(|_| ("ima_policy", number));
    let of_kernel = of_kernel.map(str::to_owned);
    Ok(Prepared {
        keys: request.rules().into_iter().chain(key).collect(),
        steps: of_kernel
            .iter()
            .map(|argument| format!("ima: booted with {argument}"))
            .collect(),
        kernel_arguments: tools::integrity_argument(request)
            .into_iter()
            .chain(of_kernel)
            .collect(),
        ..Prepared::default()
    })
}
