// SPDX-License-Identifier: GPL-2.0-or-later
//! Configuration of a boot: stack, policies and integrity subsystems.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::given::subsystem;
use crate::layout::names_kernel;
use crate::stack::Stack;
use crate::words::{AuditRules, FirstAfter, ImaPolicy, Integrity, Policy, SelinuxPolicy};

/// A stack with the state of its policies and of the integrity subsystems.
#[skip_serializing_none]
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Configuration {
    /// The only kernel for this configuration: a name or a pattern (`build:um.*`). None means every
    /// kernel.
    pub kernel: Option<String>,
    pub stack: Stack,
    #[serde(default)]
    pub policy: Policy,
    /// Active integrity subsystems, in the order of [`Integrity::ALL`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub integrity: Vec<Integrity>,
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
}

/// Settings of policies other than their state. Missing keys: the defaults in `docs/policies.md`.
#[skip_serializing_none]
#[derive(
    Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Settings {
    /// Rules in each module's policy beyond those that the benchmarks need: 1 to 100,000.
    pub rules: Option<u32>,
    /// Nested Landlock rulesets: 1 to 16.
    pub layers: Option<u32>,
    /// Entries in SELinux's access vector cache: 16 to 65,536. Default: 512, as in the kernel
    /// and in the paper.
    pub avc_entries: Option<u32>,
    /// Which policy SELinux loads.
    pub selinux_policy: Option<SelinuxPolicy>,
    /// Number of different SELinux labels of the benchmarks' files: 1 to 4,096.
    pub labels: Option<u32>,
    /// Whether the policies also deny access to a few files made for that purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub denials: bool,
    /// Event before each operation; None: no event.
    pub first_after: Option<FirstAfter>,
    pub audit_rules: Option<AuditRules>,
    /// Which rules IMA has.
    pub ima_policy: Option<ImaPolicy>,
    /// Custom policies by module: their names in the experiment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, String>,
}

impl Settings {
    pub fn is_default(&self) -> bool {
        *self == Settings::default()
    }

    /// Whether a module of the stack has a custom policy. IMA and audit are not modules of the stack.
    pub fn has_given_modules(&self) -> bool {
        self.custom.keys().any(|module| subsystem(module).is_none())
    }

    /// Whether no setting of a module is changed. Rules of audit and IMA do not count.
    pub fn is_default_of_modules(&self) -> bool {
        let mut custom = self.custom.clone();
        custom.retain(|module, _| subsystem(module).is_none());
        let without = Settings {
            audit_rules: None,
            ima_policy: None,
            custom,
            ..self.clone()
        };
        without.is_default()
    }

    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        // Destructured in full, so that a new key cannot be forgotten here.
        let Settings {
            rules,
            layers,
            avc_entries,
            selinux_policy,
            labels,
            denials,
            first_after,
            audit_rules,
            ima_policy,
            custom,
        } = self;
        let number = |key, value: &Option<u32>| value.map(|value| (key, value.to_string()));
        let custom = custom.values().map(|name| ("custom", name.clone()));
        let others = [
            number("rules", rules),
            number("layers", layers),
            number("avc_entries", avc_entries),
            selinux_policy.map(|policy| ("selinux_policy", policy.to_string())),
            number("labels", labels),
            denials.then(|| ("denials", "true".to_owned())),
            first_after.map(|event| ("first_after", event.to_string())),
            audit_rules.map(|rules| ("audit_rules", rules.to_string())),
            ima_policy.map(|policy| ("ima_policy", policy.to_string())),
        ];
        others.into_iter().flatten().chain(custom).collect()
    }
}

impl Configuration {
    pub fn of_stack(stack: Stack) -> Configuration {
        Configuration {
            kernel: None,
            stack,
            policy: Policy::None,
            integrity: Vec::new(),
            settings: Settings::default(),
        }
    }

    pub fn is_on(&self, kernel: &str) -> bool {
        let only = self.kernel.as_deref();
        only.is_none_or(|only| names_kernel(only, kernel))
    }

    /// The title without the kernel: `capability,selinux +audit (enforcing)`.
    pub fn title(&self) -> String {
        title(
            self.stack.as_str(),
            &self.integrity,
            self.policy,
            &self.settings,
        )
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title())?;
        match &self.kernel {
            Some(kernel) => write!(f, " on {kernel}"),
            None => Ok(()),
        }
    }
}

pub fn title(stack: &str, integrity: &[Integrity], policy: Policy, settings: &Settings) -> String {
    let mut title = stack.to_owned();
    if !integrity.is_empty() {
        let words: Vec<&str> = integrity.iter().map(|i| i.as_str()).collect();
        title += &format!(" +{}", words.join(","));
    }
    let mut state = Vec::new();
    if policy != Policy::None {
        state.push(policy.to_string());
    }
    state.extend(settings.pairs().into_iter().map(|(key, value)| match key {
        "selinux_policy" => format!("{value} policy"),
        "audit_rules" => format!("audit rules: {value}"),
        "ima_policy" => format!("IMA policy: {value}"),
        "denials" => key.to_owned(),
        "custom" => format!("policy {value}"),
        "first_after" => format!("first after {value}"),
        key => format!("{value} {}", key.replace('_', " ")),
    }));
    if !state.is_empty() {
        title += &format!(" ({})", state.join(", "));
    }
    title
}
