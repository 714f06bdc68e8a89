// SPDX-License-Identifier: GPL-2.0-or-later
//! Audit: the guest adds the rules, the kernel's command line switches it on.

use super::{PolicyError, Prepared, Request, tools};

/// Process 1 collects records only if audit was on before it was made.
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "audit")?;
    tools::need(request, "audit", "CONFIG_AUDIT")?;
    tools::need(request, "audit of system calls", "CONFIG_AUDITSYSCALL")?;
    let kernel_arguments = vec!["audit=1".to_owned(), "audit_backlog_limit=8192".to_owned()];
    Ok(Prepared {
        keys: request.rules().into_iter().collect(),
        steps: vec![format!("audit: booted with {}", kernel_arguments.join(" "))],
        kernel_arguments,
        ..Prepared::default()
    })
}
