// SPDX-License-Identifier: GPL-2.0-or-later
//! Audit: the guest adds the rules, the kernel's command line enables it.

use model::AuditRules;

use super::{PolicyError, Prepared, Request, tools};

/// Process 1 is recorded only if audit was enabled before its creation. Tasks created under a rule
/// `task,never` are not: that case enables audit with the rule, as Fedora does.
pub(super) fn prepare(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "audit")?;
    tools::need(request, "audit", "CONFIG_AUDIT")?;
    tools::need(request, "audit of system calls", "CONFIG_AUDITSYSCALL")?;
    let rules = request.configuration.settings.audit_rules;
    let mut kernel_arguments = vec!["audit=1".to_owned(), "audit_backlog_limit=8192".to_owned()];
    if rules == Some(AuditRules::NeverTask) {
        kernel_arguments.remove(0);
    }
    let set = rules.map(|rules| ("audit_rules", number(rules)));
    Ok(Prepared {
        keys: request.rules().into_iter().chain(set).collect(),
        steps: vec![format!("audit: booted with {}", kernel_arguments.join(" "))],
        kernel_arguments,
        ..Prepared::default()
    })
}

/// `enum audit_set` of the guest's `policy/audit.h`.
fn number(rules: AuditRules) -> u32 {
    match rules {
        AuditRules::FileAccess => 0,
        AuditRules::None => 1,
        AuditRules::NeverTask => 2,
        AuditRules::One => 3,
        AuditRules::Stig => 4,
    }
}
