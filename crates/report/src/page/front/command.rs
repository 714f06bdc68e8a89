// SPDX-License-Identifier: GPL-2.0-or-later
//! The command that measures a map's measurement and its baseline.

use std::collections::BTreeMap;

use model::{CustomPolicy, Document, Policy, Spec};

use crate::cells::{Configuration, Group};
use crate::group::distinct;
use crate::text::short;

pub(super) fn command(run: &Document, group: &Group<'_>, configuration: &Configuration) -> String {
    let mut words = vec!["lsmeter".to_owned(), "profile".to_owned()];
    let mut flag = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    let kernels = [
        (!group.of_kernels).then_some(&*group.subject),
        configuration.kernel.as_deref(),
    ];
    for kernel in distinct(kernels.into_iter().flatten()) {
        flag("kernel", kernel);
    }
    // A profile does not compare kernels.
    let baseline = group.baseline.as_ref();
    let baseline = baseline.filter(|baseline| baseline.kernel.is_none());
    let baseline = baseline.map(|baseline| baseline.stack.join(","));
    let stack = configuration.stack.join(",");
    if let Some(baseline) = baseline.filter(|baseline| *baseline != stack) {
        flag("stack", &baseline);
        flag("baseline", &baseline);
    }
    flag("stack", &stack);
    if !configuration.integrity.is_empty() {
        let features = configuration.integrity.iter();
        let names: Vec<&str> = features.map(|feature| feature.as_str()).collect();
        flag("integrity", &names.join(","));
    }
    let settings = &configuration.settings;
    // A module with a custom policy enforces it.
    if configuration.policy != Policy::None && !settings.has_given_modules() {
        flag("policy", configuration.policy.as_str());
    }
    for (name, value) in [("rules", settings.rules), ("layers", settings.layers)] {
        if let Some(value) = value {
            flag(name, &value.to_string());
        }
    }
    let experiment = run.experiment.as_ref();
    let custom = settings.custom.values().filter_map(|name| {
        let mut policy = experiment?.custom.get(name)?.clone();
        policy.digest.clear();
        Some((name.clone(), policy))
    });
    let custom: BTreeMap<String, CustomPolicy> = custom.collect();
    let spec = Spec {
        avc_entries: settings.avc_entries,
        selinux_policy: settings.selinux_policy,
        labels: settings.labels,
        denials: settings.denials.then_some(true),
        first_after: settings.first_after.map(|event| vec![event]),
        audit_rules: settings.audit_rules,
        ima_policy: settings.ima_policy,
        work_dir: experiment.and_then(|experiment| experiment.work_dir.clone()),
        processors: experiment.and_then(|of| of.processors).filter(|n| *n > 2),
        custom: Some(custom).filter(|custom| !custom.is_empty()),
        ..Spec::default()
    };
    for (key, value) in toml::Table::try_from(spec).unwrap_or_default() {
        flag("set", &format!("{key}={value}"));
    }
    if group.metric.is_of_transfers() {
        flag("metric", group.metric.as_str());
    }
    flag("fs", group.filesystem);
    words.push("--bench".to_owned());
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let word = short(word);
    let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.,:/+=@".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return word;
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
