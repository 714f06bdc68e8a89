// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares a kernel's active modules with the requested stack.

use model::Stack;

use crate::policy::EXCLUSIVE;

pub(crate) fn active_lsms(list: &str) -> Vec<String> {
    let names = list.split(',').filter(|lsm| !lsm.is_empty());
    names.map(str::to_owned).collect()
}

/// Checks whether the requested stack is active. Additional modules are ignored; missing modules
/// and a different order are errors. The error contains a reason, and whether the kernel runs every
/// module that it can: if so, it only uses its own order, or an exclusive module is missing because
/// another one runs.
pub(crate) fn compare_stacks(stack: &Stack, active: &[String]) -> Result<(), (String, bool)> {
    if stack.is_default() {
        return Ok(());
    }
    let asked = if stack.is_none() {
        Vec::new()
    } else {
        stack.names()
    };
    if stack.is_none() && !active.is_empty() {
        let reason = format!(
            "the kernel has LSMs ({}); a kernel without LSMs needs CONFIG_SECURITY=n (lsmeter \
             kernel build --flavour nolsm)",
            active.join(",")
        );
        return Err((reason, false));
    }
    let kept: Vec<&String> = active.iter().filter(|lsm| asked.contains(lsm)).collect();
    if kept.iter().copied().eq(asked.iter()) {
        return Ok(());
    }
    let missing: Vec<&str> = asked
        .iter()
        .filter(|lsm| !active.contains(lsm))
        .map(String::as_str)
        .collect();
    let runs = if active.is_empty() {
        "none".to_owned()
    } else {
        active.join(",")
    };
    Err(if missing.is_empty() {
        let why = match asked.iter().position(|lsm| lsm == "capability") {
            Some(1..) => " (Linux puts capability first, regardless of lsm=: LSM_ORDER_FIRST)",
            _ => "",
        };
        let reason = format!("the kernel did not honour the stack's order: it runs {runs}{why}");
        (reason, true)
    } else if let Some(first) = kept.iter().find(|lsm| EXCLUSIVE.contains(&lsm.as_str()))
        && missing.iter().all(|lsm| EXCLUSIVE.contains(lsm))
    {
        let reason = format!(
            "the kernel runs {first} without {}: of {}, Linux runs only the one that lsm= names \
             first (LSM_FLAG_EXCLUSIVE)",
            missing.join(", "),
            EXCLUSIVE.join(", ")
        );
        (reason, true)
    } else {
        let missing = missing.join(", ");
        let reason =
            format!("the kernel did not honour the stack: it runs {runs}, without {missing}");
        (reason, false)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_in_another_order_is_told() {
        let active = active_lsms("lockdown,capability,selinux,ima");
        for (asked, expected) in [
            ("capability,selinux", None),
            (
                "capability,smack",
                Some(("selinux,ima, without smack", false)),
            ),
            ("selinux,capability", Some(("order", true))),
            (
                "capability,selinux,apparmor",
                Some(("the kernel runs selinux without apparmor: ", true)),
            ),
            (
                "capability,selinux,apparmor,tomoyo",
                Some(("tomoyo", false)),
            ),
        ] {
            let refusal = compare_stacks(&asked.parse().unwrap(), &active).err();
            let refusal = refusal
                .as_ref()
                .map(|(reason, unable)| (reason.as_str(), *unable));
            match (refusal, expected) {
                (None, None) => {}
                (Some((reason, unable)), Some((part, expected))) => {
                    assert!(reason.contains(part) && unable == expected, "{reason}");
                }
                other => panic!("{asked}: {other:?}"),
            }
        }
    }
}
