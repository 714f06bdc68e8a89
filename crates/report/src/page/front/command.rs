// SPDX-License-Identifier: GPL-2.0-or-later
//! The command that measures a cell of a map beside its baseline.

use model::{Document, GivenPolicy, Policy};

use crate::cells::{Configuration, Group};
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// What a reader types to see this configuration's cells with their hooks, beside the baseline's;
/// but for the operation at its end.
pub(super) fn command(run: &Document, group: &Group<'_>, configuration: &Configuration) -> String {
    let mut words = vec!["lsmeter".to_owned(), "profile".to_owned()];
    let mut flag = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    let mut kernels: Vec<&str> = Vec::new();
    if !group.of_kernels {
        kernels.push(&group.subject);
    }
    kernels.extend(configuration.kernel.as_deref());
    kernels.dedup();
    for kernel in kernels {
        flag("kernel", kernel);
    }
    // What is on another kernel a profile does not compare with.
    let baseline = group.baseline.as_ref().filter(|of| of.kernel.is_none());
    let baseline = baseline.map(|of| of.stack.join(","));
    let stack = configuration.stack.join(",");
    if let Some(baseline) = baseline.filter(|of| *of != stack) {
        flag("stack", &baseline);
        flag("diff", &baseline);
    }
    flag("stack", &stack);
    if !configuration.integrity.is_empty() {
        let all: Vec<&str> = configuration
            .integrity
            .iter()
            .map(|of| of.as_str())
            .collect();
        flag("integrity", &all.join(","));
    }
    let custom: Vec<&GivenPolicy> = {
        let names = configuration.tuning.given.values();
        let known = run.experiment.as_ref().map(|of| &of.given);
        names.filter_map(|name| known?.get(name)).collect()
    };
    // A custom policy of a module is enforced.
    let is_custom = configuration.tuning.has_given_modules();
    if configuration.policy != Policy::None && !is_custom {
        flag("policy", configuration.policy.as_str());
    }
    for policy in custom {
        of_policy(policy, &mut flag);
    }
    let settings = configuration.tuning.pairs().into_iter();
    for (key, value) in settings.filter(|(key, _)| !["given", "denials"].contains(key)) {
        flag(&key.replace('_', "-"), &value);
    }
    flag("fs", group.filesystem);
    if configuration.tuning.denials {
        words.push("--denials".to_owned());
    }
    words.push("--bench".to_owned());
    words.join(" ")
}

fn of_policy(policy: &GivenPolicy, flag: &mut impl FnMut(&str, &str)) {
    let files = match policy.module.as_str() {
        "apparmor" => "apparmor-profiles",
        "selinux" => "selinux-modules",
        "tomoyo" => "tomoyo-policy",
        "smack" => "smack-policy",
        "ima" => "ima-rules",
        "landlock" => "landlock-ruleset",
        _ => "bpf-lsm",
    };
    for file in &policy.files {
        flag(files, file);
    }
    for (name, value) in [
        ("apparmor-profile", &policy.profile),
        ("selinux-context", &policy.context),
        ("selinux-file-contexts", &policy.file_contexts),
        ("selinux-files-context", &policy.files_context),
        ("tomoyo-domain", &policy.domain),
        ("smack-label", &policy.label),
        ("smack-files-label", &policy.files_label),
    ] {
        if let Some(value) = value {
            flag(name, value);
        }
    }
    for (name, is_on) in &policy.booleans {
        flag(
            "selinux-boolean",
            &format!("{name}={}", if *is_on { "on" } else { "off" }),
        );
    }
    for (path, label) in &policy.labels {
        flag("smack-path-label", &format!("{path}={label}"));
    }
    for (name, accesses) in [
        ("denied", &policy.denied),
        ("allowed", &policy.allowed),
        ("measured", &policy.measured),
        ("not-measured", &policy.not_measured),
    ] {
        for access in accesses {
            flag(name, &access.to_string());
        }
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let word = printable(word, TEXT_LIMIT);
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.,:/+=@".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word;
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
