// SPDX-License-Identifier: GPL-2.0-or-later
//! Specs that come with lsmeter.

use crate::Fault;

use crate::given::MODULES;
use crate::hint::{excerpt, nearest};
use crate::program::Workload;
use crate::spec::{Spec, SpecError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub toml: &'static str,
}

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        &[$(Preset { name: $name, toml: include_str!(concat!("../presets/", $name, ".toml")) }),+]
    };
}

const PRESETS: &[Preset] = presets![
    "quick",
    "suite",
    "every",
    "paper",
    "paper-calls",
    "paper-suite",
    "paper-um",
    "paper-protocol",
    "paper-orders",
    "stacking",
    "denials",
    "tomoyo-entries",
    "audit",
    "avc",
    "integrity",
    "enforcing",
    "debian-policies",
    "first-access",
    "rules",
    "rules-smack",
    "landlock-grid",
    "landlock-sandbox",
    "memory",
    "versions",
    "howells",
    "howells-um",
    "lsmpmon",
    "freenix01",
    "unixbench",
    "workloads",
    "git-status",
    "find-stat",
    "tar",
    "make-noop",
    "gcc",
    "python-import",
    "sqlite",
    "pipeline",
    "web",
    "shell-script",
];

/// The preset that combines those of single workloads.
const ALL_WORKLOADS: &str = "workloads";

pub fn presets() -> &'static [Preset] {
    PRESETS
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown preset `{name}`; known presets: {}", PRESETS.iter().map(|p| p.name).collect::<Vec<_>>().join(", "))]
pub struct UnknownPreset {
    name: String,
}

impl Fault for UnknownPreset {
    fn hint(&self) -> Option<String> {
        if MODULES.contains(&self.name.as_str()) {
            return Some(format!(
                "separate the modules of a stack with commas: --stack capability,{}",
                self.name
            ));
        }
        let near = nearest(&self.name, PRESETS.iter().map(|preset| preset.name));
        Some(near.map_or_else(
            || "`lsmeter list presets` lists presets; for a spec file, give its path".to_owned(),
            |name| format!("did you mean `{name}`?"),
        ))
    }
}

pub fn preset(name: &str) -> Result<&'static Preset, UnknownPreset> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .ok_or_else(|| UnknownPreset {
            name: excerpt(name),
        })
}

impl Preset {
    pub fn spec(&self) -> Result<Spec, SpecError> {
        let mut spec = self.parse()?;
        if self.name == ALL_WORKLOADS {
            // Presets of single workloads follow it.
            let all = PRESETS
                .iter()
                .skip_while(|preset| preset.name != ALL_WORKLOADS);
            for preset in all.skip(1) {
                let one = preset.parse()?;
                if let (Some(root), Some(workloads)) = (one.root, one.workloads) {
                    let workloads = workloads.into_iter().map(|workload| Workload {
                        needs: Some(root.clone()),
                        ..workload
                    });
                    spec.workloads.get_or_insert_default().extend(workloads);
                }
            }
        }
        Ok(spec)
    }

    fn parse(&self) -> Result<Spec, SpecError> {
        Spec::parse(&format!("preset {}", self.name), self.toml)
    }
}
