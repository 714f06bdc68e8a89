// SPDX-License-Identifier: GPL-2.0-or-later
//! Modules and subsystems that need no compiler: numbers, rules as text, and kernel arguments.

use std::fmt::Write as _;

use model::{AuditRules, ImaPolicy, Policy};

use super::{PolicyError, Prepared, Request, denials, given, tools};

/// IPE's policy must be built into the kernel, or signed by a built-in key.
pub(super) fn ipe() -> Result<Prepared, PolicyError> {
    Err(PolicyError::Unsupported(
        "IPE accepts only policies that are built into the kernel (CONFIG_IPE_BOOT_POLICY) or \
         signed by one of the kernel's keys (security/ipe/policy_fs.c): lsmeter cannot load its own"
            .to_owned(),
    ))
}

/// The agent makes the rulesets from two numbers.
pub(super) fn landlock(request: &Request<'_>) -> Prepared {
    let settings = &request.configuration.settings;
    let keys = [("layers", settings.layers), ("rules", settings.rules)];
    let keys = keys.into_iter().filter_map(|(key, n)| Some((key, n?)));
    Prepared {
        keys: keys.chain(denials::key(request)).collect(),
        ..Prepared::default()
    }
}

/// LoadPin only restricts where modules may be loaded from.
pub(super) fn loadpin(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    let what = "loadable modules for LoadPin to check";
    tools::need(request, what, "CONFIG_MODULES")?;
    let enforce = u8::from(request.configuration.policy == Policy::Enforcing);
    Ok(Prepared {
        kernel_arguments: vec![format!("loadpin.enforce={enforce}")],
        steps: vec![format!(
            "loadpin: loadpin.enforce={enforce} on the kernel's command line"
        )],
        ..Prepared::default()
    })
}

/// Allowed changes of user IDs.
pub(super) fn safesetid(request: &Request<'_>) -> Prepared {
    let rules = request.configuration.settings.rules.unwrap_or(0);
    Prepared {
        steps: vec![format!(
            "safesetid: 1000:1001, 1001:1001 and {rules} rules for other users"
        )],
        files: vec![("policy".to_owned(), user_ids(rules).into_bytes())],
        ..Prepared::default()
    }
}

/// Each target user needs a rule of its own. Otherwise the kernel reports an insecure policy
/// (`verify_ruleset()`).
fn user_ids(rules: u32) -> String {
    const OTHERS: u32 = 100_000;
    let mut text = String::from("1000:1001\n1001:1001\n");
    for user in OTHERS..OTHERS + rules {
        let _ = writeln!(text, "{user}:{user}");
    }
    text
}

/// Process 1 is recorded only if audit was enabled before its creation. Tasks created under a rule
/// `task,never` are not recorded; in that case, audit is enabled together with the rule, as Fedora
/// does.
pub(super) fn audit(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "audit")?;
    tools::need(request, "audit", "CONFIG_AUDIT")?;
    tools::need(request, "system-call auditing", "CONFIG_AUDITSYSCALL")?;
    if let Some(of) = given::of(request, "audit") {
        return given::audit(request, of);
    }
    let rules = request.configuration.settings.audit_rules;
    let kernel_arguments = audit_arguments(rules != Some(AuditRules::NeverTask));
    // `enum audit_set` of the guest's `settings/audit.h`.
    let set = rules.map(|rules| match rules {
        AuditRules::FileAccess => 0,
        AuditRules::None => 1,
        AuditRules::NeverTask => 2,
        AuditRules::One => 3,
        AuditRules::Stig => 4,
    });
    let set = set.map(|set| ("audit_rules", set));
    Ok(Prepared {
        keys: request.rules().into_iter().chain(set).collect(),
        steps: vec![format!("audit: booted with {}", kernel_arguments.join(" "))],
        kernel_arguments,
        ..Prepared::default()
    })
}

pub(super) fn audit_arguments(starts_on: bool) -> Vec<String> {
    let on = starts_on.then_some("audit=1").into_iter();
    let arguments = on.chain(["audit_backlog_limit=8192"]);
    arguments.map(str::to_owned).collect()
}

/// The guest writes the policy, rule by rule, or the kernel uses a built-in one. A kernel without
/// `CONFIG_IMA_WRITE_POLICY` also accepts a policy, but only once (`ima_release_policy()` of
/// security/integrity/ima/ima_fs.c).
pub(super) fn ima(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "IMA")?;
    tools::need(request, "IMA", "CONFIG_IMA")?;
    if let Some(of) = given::of(request, "ima") {
        return given::ima(request, of);
    }
    tools::need(request, "IMA appraisal", "CONFIG_IMA_APPRAISE")?;
    let policy = request.configuration.settings.ima_policy;
    // The numbers are defined in the guest's policy/ima.c.
    let of_kernel = match policy.unwrap_or(ImaPolicy::FileSystem) {
        ImaPolicy::FileSystem => None,
        ImaPolicy::Tcb => Some((1, "ima_policy=tcb".to_owned())),
        ImaPolicy::AppraiseTcb => Some((2, "ima_policy=appraise_tcb".to_owned())),
        ImaPolicy::TcbAndAppraiseTcb => Some((3, "ima_policy=tcb|appraise_tcb".to_owned())),
    };
    let (number, argument) = of_kernel.unzip();
    let step = |argument: &String| format!("ima: booted with {argument}");
    let key = number.map(|number| ("ima_policy", number));
    let integrity = tools::integrity_argument(request).into_iter();
    Ok(Prepared {
        keys: request.rules().into_iter().chain(key).collect(),
        steps: argument.iter().map(step).collect(),
        kernel_arguments: integrity.chain(argument).collect(),
        ..Prepared::default()
    })
}

/// The guest makes the keys and enables EVM.
pub(super) fn evm(request: &Request<'_>) -> Result<Prepared, PolicyError> {
    tools::vm_only(request, "EVM")?;
    tools::need(request, "EVM", "CONFIG_EVM")?;
    tools::need(request, "encrypted keys for EVM", "CONFIG_ENCRYPTED_KEYS")?;
    Ok(Prepared {
        kernel_arguments: tools::integrity_argument(request).into_iter().collect(),
        ..Prepared::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_be_become_has_a_rule() {
        let text = user_ids(10_000);
        let pairs: Vec<(&str, &str)> = text.lines().map(|l| l.split_once(':').unwrap()).collect();
        assert_eq!(pairs.len(), 10_002);
        let from: std::collections::HashSet<&str> = pairs.iter().map(|(from, _)| *from).collect();
        assert!(pairs.iter().all(|(_, to)| from.contains(to)));
    }
}
