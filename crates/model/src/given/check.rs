// SPDX-License-Identifier: GPL-2.0-or-later
//! Checks of custom policies.

use std::collections::{BTreeMap, BTreeSet};

use super::{AUDIT, Access, AccessHow, CustomPolicy, IMA, MODULES, is_guest_path};
use crate::configuration::Configuration;
use crate::hint::{excerpt, nearest};
use crate::resolve::{list, printable};
use crate::spec::SpecError;
use crate::words::{AuditRecords, Policy};

const BPF: &str = "bpf";
const ENTRIES_LIMIT: usize = 100_000;
/// The guest's limits for all policies of a machine, from given-accesses.c.
const TOGETHER_LIMIT: usize = 128;
const TEXT_LIMIT_BYTES: usize = 32_000;
/// Enough for the verdict before an access (`not-measured`), a blank and a NUL.
const WORD_BYTES: usize = 16;
/// Each is a step, and a machine has at most 256 steps.
const LABELS_LIMIT: usize = 128;
const POLICIES_LIMIT: usize = 256;
const FILES_LIMIT: usize = 4_096;
const ACCESSES_LIMIT: usize = 64;
/// In bytes: `SMK_LONGLABEL` (security/smack/smack.h) without its NUL.
const SMACK_LABEL_LIMIT: usize = 255;

pub(crate) fn check(
    custom: &BTreeMap<String, CustomPolicy>,
    of_programs: bool,
) -> Result<(), SpecError> {
    if custom.len() > POLICIES_LIMIT {
        let n = custom.len();
        return Err(SpecError::refused(format!(
            "`custom` has {n} policies; at most {POLICIES_LIMIT} are allowed"
        )));
    }
    custom.iter().try_for_each(|(name, of)| {
        check_one(name, of, of_programs)?;
        check_start(name, of, of_programs)
    })
}

fn check_one(name: &str, of: &CustomPolicy, of_programs: bool) -> Result<(), SpecError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+:".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        return Err(SpecError::instead(
            format!("invalid policy name `{}`", excerpt(name)),
            "use up to 64 letters, digits, -, _, ., : and +",
        ));
    }
    let module = of.module.as_str();
    if !MODULES.contains(&module) {
        let near = nearest(module, MODULES).map(|near| format!("; did you mean {near}?"));
        return Err(SpecError::instead(
            format!(
                "the policy {name} is for `{}`, which has no custom policies",
                excerpt(module)
            ),
            format!(
                "use one of {}{}",
                MODULES.join(", "),
                near.unwrap_or_default()
            ),
        ));
    }
    if !of.digest.is_empty() {
        return Err(SpecError::instead(
            format!("the policy {name} has a `digest`, which lsmeter computes itself"),
            "leave out `digest`",
        ));
    }
    list("files", &of.files, FILES_LIMIT)?;
    let texts = [
        &of.domain,
        &of.profile,
        &of.context,
        &of.file_contexts,
        &of.files_context,
        &of.label,
        &of.files_label,
        &of.starts_in,
    ];
    let texts = texts.into_iter().flatten().chain(&of.files);
    let texts = texts.chain(of.booleans.keys()).chain(&of.programs);
    let texts = texts.chain(of.maps.keys());
    let entries = of.maps.values().flatten();
    let texts = texts.chain(entries.flat_map(|(key, value)| [key, value]));
    for text in texts.chain(of.labels.keys()).chain(of.labels.values()) {
        printable("custom", text.clone())?;
    }
    let keys = [
        ("profile", "apparmor", of.profile.is_some()),
        ("domain", "tomoyo", of.domain.is_some()),
        ("context", "selinux", of.context.is_some()),
        ("file_contexts", "selinux", of.file_contexts.is_some()),
        ("files_context", "selinux", of.files_context.is_some()),
        ("booleans", "selinux", !of.booleans.is_empty()),
        ("label", "smack", of.label.is_some()),
        ("files_label", "smack", of.files_label.is_some()),
        ("labels", "smack", !of.labels.is_empty()),
        ("programs", BPF, !of.programs.is_empty()),
        ("maps", BPF, !of.maps.is_empty()),
        ("observed", BPF, !of.observed.is_empty()),
        ("records", AUDIT, of.records.is_some()),
        ("measured", IMA, !of.measured.is_empty()),
        ("not_measured", IMA, !of.not_measured.is_empty()),
    ];
    if let Some((key, whose, _)) = keys.iter().find(|(_, whose, set)| *set && *whose != module) {
        return Err(SpecError::instead(
            format!("the policy {name} is for {module}, but `{key}` is for {whose}"),
            format!("leave out `{key}`"),
        ));
    }
    match module {
        "selinux" => check_selinux(name, of)?,
        "smack" => check_smack(name, of, of_programs)?,
        _ => {}
    }
    if !of.observed.is_empty() {
        list("observed", &of.observed, ACCESSES_LIMIT)?;
    }
    let entries: usize = of.maps.values().map(BTreeMap::len).sum();
    if entries > ENTRIES_LIMIT {
        return Err(SpecError::refused(format!(
            "`maps` of the policy {name} has {entries} entries; at most {ENTRIES_LIMIT} are allowed"
        )));
    }
    check_accesses(name, of)
}

/// Checks where programs start, and whether the policy can apply to them.
fn check_start(name: &str, of: &CustomPolicy, of_programs: bool) -> Result<(), SpecError> {
    let module = of.module.as_str();
    if of.starts_in.is_some() && !of_programs {
        return Err(SpecError::instead(
            format!("the policy {name} has `starts_in`, which is for whole programs"),
            "leave out `starts_in`, or measure a program: --root DIR -- COMMAND",
        ));
    }
    if of.starts_in.is_some() && [AUDIT, "bpf", IMA, "landlock"].contains(&module) {
        return Err(SpecError::instead(
            format!(
                "the policy {name} is for {module}, which has no domains: `starts_in` does not \
                 apply"
            ),
            "leave out `starts_in`",
        ));
    }
    let appraises = !of.denied.is_empty() || !of.allowed.is_empty();
    if module == IMA && of_programs && appraises {
        return Err(SpecError::instead(
            format!(
                "the policy {name} must deny accesses by programs, but IMA's appraisal applies to \
                 benchmarks only"
            ),
            "measure programs with rules that only measure: use `measured` and `not_measured`",
        ));
    }
    Ok(())
}

/// Checks the accesses that test the policy: a denied and an allowed one; for IMA, a measured and
/// an unmeasured one.
fn check_accesses(name: &str, of: &CustomPolicy) -> Result<(), SpecError> {
    let denied = ["denied", "allowed"];
    let measured = ["measured", "not_measured"];
    let is_measured = !of.measured.is_empty() || !of.not_measured.is_empty();
    let is_denied = !of.denied.is_empty() || !of.allowed.is_empty();
    if of.module == AUDIT {
        return match is_denied {
            true => Err(SpecError::instead(
                format!("the policy {name} is for audit, which records accesses and denies none"),
                "leave out `denied` and `allowed`",
            )),
            false => Ok(()),
        };
    }
    if of.module == IMA && !is_measured && !is_denied {
        return Err(SpecError::instead(
            format!("the policy {name} needs accesses to test it with"),
            "for appraisal give `denied` and `allowed`, for measurement `measured` and \
             `not_measured`, for example measured = [\"read /etc/shadow\"]",
        ));
    }
    for ([key, other], [accesses, others]) in [
        (denied, [&of.denied, &of.allowed]),
        (["allowed", "denied"], [&of.allowed, &of.denied]),
        (measured, [&of.measured, &of.not_measured]),
        (
            ["not_measured", "measured"],
            [&of.not_measured, &of.measured],
        ),
    ] {
        let has_other_check = of.module == IMA || !of.observed.is_empty();
        let is_needed = !others.is_empty() || !has_other_check && denied.contains(&key);
        if accesses.is_empty() {
            if is_needed {
                return Err(missing(name, key));
            }
            continue;
        }
        list(key, accesses, ACCESSES_LIMIT)?;
        if let Some(both) = accesses.iter().find(|access| others.contains(access)) {
            let verb = |key| match key {
                "denied" => "deny",
                "allowed" => "allow",
                "measured" => "measure",
                _ => "leave unmeasured",
            };
            return Err(SpecError::refused(format!(
                "the policy {name} must both {} and {} `{both}`",
                verb(key),
                verb(other)
            )));
        }
    }
    let mut files = of.measured.iter().chain(&of.not_measured);
    let is_of_file = |how| matches!(how, AccessHow::Read | AccessHow::Write | AccessHow::Execute);
    if let Some(wrong) = files.find(|access| !is_of_file(access.how)) {
        return Err(SpecError::instead(
            format!("`{wrong}` does not open a file"),
            "name a file that is read, written or executed, for example read /etc/shadow",
        ));
    }
    Ok(())
}

fn missing(name: &str, key: &str) -> SpecError {
    SpecError::instead(
        format!("the policy {name} needs `{key}`"),
        format!(
            "give an access that must be {}: {key} = [\"read /etc/shadow\"]",
            key.replace("not_measured", "unmeasured")
        ),
    )
}

/// A valid label of Smack: `smk_parse_smack()` of security/smack/smack_access.c.
pub fn is_smack_label(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_graphic() && !"/\"\\'".contains(c);
    (1..=SMACK_LABEL_LIMIT).contains(&text.len())
        && !text.starts_with('-')
        && text.chars().all(fits)
}

fn check_smack(name: &str, of: &CustomPolicy, of_programs: bool) -> Result<(), SpecError> {
    let Some(label) = &of.label else {
        return Err(SpecError::instead(
            format!("the policy {name} needs `label`, the benchmarks' label"),
            "use a subject from its rules, for example label = \"User\"",
        ));
    };
    let labels = [Some(label), of.files_label.as_ref()];
    let mut labels = labels.into_iter().flatten().chain(of.labels.values());
    if let Some(wrong) = labels.find(|label| !is_smack_label(label)) {
        return Err(SpecError::instead(
            format!("invalid Smack label `{}`", excerpt(wrong)),
            format!(
                "use up to {SMACK_LABEL_LIMIT} letters, digits and punctuation, without blanks, /, \\, \
                 \" and ', not starting with -"
            ),
        ));
    }
    if ["*", "@"].contains(&label.as_str()) {
        return Err(SpecError::instead(
            format!("no process can have the label `{label}`"),
            "use a subject from the policy's rules",
        ));
    }
    // Accesses use the files that the policy labels.
    let accesses = of.denied.iter().chain(&of.allowed);
    let paths = accesses.filter(|access| !access.how.is_of_port());
    let there: BTreeSet<&str> = paths.flat_map(with_above).collect();
    let refuse = |what: String, hint: &str| Err(SpecError::instead(what, hint));
    if of.labels.len() > LABELS_LIMIT {
        let n = of.labels.len();
        return refuse(
            format!("`labels` has {n} paths; at most {LABELS_LIMIT} are allowed"),
            "use `files_label` for the label of most files",
        );
    }
    if let Some(path) = of.labels.keys().find(|path| !is_guest_path(path)) {
        return refuse(
            format!("invalid path `{}` in `labels`", excerpt(path)),
            "use absolute paths, without . and ..",
        );
    }
    let mut paths = of.labels.keys();
    if let Some(path) = paths.find(|path| !of_programs && !there.contains(path.as_str())) {
        return refuse(
            format!("`{}` has a label, but no access uses it", excerpt(path)),
            "label only paths in `denied` and `allowed`, and directories above those paths",
        );
    }
    Ok(())
}

fn with_above(access: &Access) -> impl Iterator<Item = &str> {
    let ends = access.what.match_indices('/').map(|(at, _)| at);
    let above = ends.filter(|at| *at > 0).map(|at| &access.what[..at]);
    above.chain([access.what.as_str()])
}

/// Refuses rules that cannot be combined with a custom policy.
pub(crate) fn check_beside(of: &Configuration) -> Result<(), SpecError> {
    let settings = &of.settings;
    let refuse = |what: String, instead: &str| Err(SpecError::instead(what, instead));
    let sets = [
        (
            IMA,
            settings
                .ima_policy
                .map(|set| ("ima_policy", set.to_string())),
        ),
        (
            AUDIT,
            settings
                .audit_rules
                .map(|set| ("audit_rules", set.to_string())),
        ),
    ];
    for (module, set) in sets {
        let Some(name) = settings.custom.get(module) else {
            continue;
        };
        if let Some((key, set)) = set {
            return refuse(
                format!("`{key}` is `{set}`, but the policy {name} is also for {module}"),
                "leave out one of the two",
            );
        }
        if settings.rules.is_some() {
            return refuse(
                format!("the policy {name} is for {module}: `rules` cannot extend a custom policy"),
                "leave out `rules`",
            );
        }
    }
    // lsmeter's own policies are not loaded together with a custom IMA policy.
    match settings.custom.get(IMA) {
        Some(name) if of.policy != Policy::None && !settings.has_given_modules() => refuse(
            format!(
                "stack `{}` is {} together with the policy {name} for ima, but none of its modules \
                 has a custom policy",
                of.stack, of.policy
            ),
            "set policy = \"none\" (--policy none), or add a custom policy for a module of the stack",
        ),
        _ => Ok(()),
    }
}

/// Refuses policies that cannot be combined in one configuration.
pub(crate) fn check_together(
    custom: &BTreeMap<String, CustomPolicy>,
    configuration: &Configuration,
) -> Result<(), SpecError> {
    let policies: Vec<&CustomPolicy> = { configuration.settings.custom.values() }
        .filter_map(|name| custom.get(name))
        .collect();
    let records = policies.iter().find_map(|policy| policy.records);
    if let Some(records) = records.filter(|records| *records != AuditRecords::Absent)
        && policies.len() > 1
    {
        return Err(SpecError::instead(
            format!(
                "`records` is `{records}`, but other policies log their denials as audit records"
            ),
            "leave out `records`, or measure the other policies without these rules",
        ));
    }
    let accesses = policies.iter().flat_map(|policy| {
        { policy.denied.iter() }
            .chain(&policy.allowed)
            .chain(&policy.observed)
            .chain(&policy.measured)
            .chain(&policy.not_measured)
    });
    let (mut n, mut bytes) = (0, 0);
    for access in accesses {
        n += 1;
        bytes += access.to_string().len() + WORD_BYTES;
    }
    if n > TOGETHER_LIMIT || bytes > TEXT_LIMIT_BYTES {
        return Err(SpecError::instead(
            format!(
                "the policies of `{}` have {n} accesses of {bytes} bytes; at most {TOGETHER_LIMIT} \
                 of {TEXT_LIMIT_BYTES} are allowed",
                configuration.stack
            ),
            "name fewer accesses",
        ));
    }
    Ok(())
}

fn check_selinux(name: &str, of: &CustomPolicy) -> Result<(), SpecError> {
    let is_context = |text: &String| {
        let parts: Vec<&str> = text.split(':').collect();
        parts.len() >= 3 && parts.iter().all(|part| !part.is_empty()) && !text.contains(' ')
    };
    let Some(context) = &of.context else {
        return Err(SpecError::instead(
            format!("the policy {name} needs `context`, the benchmarks' context"),
            "give for example context = \"user_u:user_r:user_t:s0\"",
        ));
    };
    if let Some(wrong) = [Some(context), of.files_context.as_ref()]
        .into_iter()
        .flatten()
        .find(|text| !is_context(text) || text.len() > 255)
    {
        return Err(SpecError::instead(
            format!("invalid SELinux context `{}`", excerpt(wrong)),
            "use user:role:type, with a level if the policy has levels",
        ));
    }
    if of.file_contexts.is_none() && of.files_context.is_none() {
        return Err(SpecError::instead(
            format!("the policy {name} needs a label for the benchmarks' files"),
            "set `files_context` to a context, or `file_contexts` to a file",
        ));
    }
    Ok(())
}
