// SPDX-License-Identifier: GPL-2.0-or-later
//! Turns a spec's stacks and states into configurations, and chooses the baseline.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::configuration::{Configuration, Settings};
use crate::given::{self, CustomPolicy};
use crate::hint::{excerpt, nearest};
use crate::layout::are_layouts;
use crate::resolve::{KERNELS_LIMIT, list, number, printable};
use crate::spec::{Baseline, ConfigurationSpec, IntegrityList, Spec, SpecError};
use crate::stack::Stack;
use crate::words::{AuditRules, FirstAfter, ImaPolicy, Integrity, Place, Policy};

const CONFIGURATIONS_LIMIT: usize = 256;

pub const DEFAULT_KERNEL: &str = "debian:6.12";
const DEFAULT_STACKS: [&str; 5] = [
    "capability",
    "capability,selinux",
    "capability,apparmor",
    "capability,tomoyo",
    "default",
];

pub(crate) struct Matrix {
    pub(crate) kernels: Vec<String>,
    pub(crate) configurations: Vec<Configuration>,
    pub(crate) baseline: u32,
    pub(crate) baseline_kernel: Option<String>,
}

impl Matrix {
    pub(crate) fn resolve(spec: &Spec, place: Place) -> Result<Matrix, SpecError> {
        let kernels = kernels(spec.kernels.as_deref(), place)?;
        let configurations = configurations(spec, place)?;
        for configuration in &configurations {
            if let Some(kernel) = &configuration.kernel
                && !kernels.iter().any(|of| configuration.is_on(of))
            {
                return Err(no_kernel("kernel", kernel, &kernels));
            }
        }
        let baseline = baseline(spec.baseline.as_ref(), &configurations)?;
        let baseline_kernel = match &spec.baseline_kernel {
            Some(kernel) if kernels.contains(kernel) => Some(kernel.clone()),
            Some(kernel) => return Err(no_kernel("baseline_kernel", kernel, &kernels)),
            // If there is one configuration, kernels are compared; the layouts of one kernel count
            // as one kernel.
            None => (kernels.len() > 1 && configurations.len() == 1 && !are_layouts(&kernels))
                .then(|| kernels[0].clone()),
        };
        Ok(Matrix {
            kernels,
            configurations,
            baseline,
            baseline_kernel,
        })
    }
}

fn no_kernel(key: &str, kernel: &str, kernels: &[String]) -> SpecError {
    let (kernel, n, known) = (excerpt(kernel), kernels.len(), kernels.join(" · "));
    SpecError::instead(
        format!("`{key}` is `{kernel}`, which is not one of the {n} kernels: {known}"),
        "add it to `kernels`",
    )
}

fn kernels(kernels: Option<&[String]>, place: Place) -> Result<Vec<String>, SpecError> {
    if place == Place::Host {
        return Ok(vec!["host".to_owned()]);
    }
    let default = [DEFAULT_KERNEL.to_owned()];
    let kernels = match (kernels, place) {
        (Some(kernels), _) => kernels,
        (None, Place::Um) => {
            return Err(SpecError::instead(
                "where = \"um\" needs a UML kernel",
                "build one, and set kernels = [\"build:um\"]: lsmeter kernel build um \
                 --source linux-source-6.12 --flavour um",
            ));
        }
        (None, _) => &default,
    };
    list("kernels", kernels, KERNELS_LIMIT)?;
    kernels
        .iter()
        .map(|name| printable("kernels", name.clone()))
        .collect()
}

fn configurations(spec: &Spec, place: Place) -> Result<Vec<Configuration>, SpecError> {
    let no_policies = BTreeMap::new();
    let custom = spec.custom.as_ref().unwrap_or(&no_policies);
    let of_programs = spec.root.is_some() || spec.workloads.is_some();
    given::check(custom, of_programs)?;
    let mut all = product(spec, place, custom)?;
    for written in spec.configurations.iter().flatten() {
        all.push(resolve(written, custom)?);
    }
    list("configurations", &all, CONFIGURATIONS_LIMIT)?;
    given::check_used(custom, &all)?;
    for configuration in &all {
        given::check_together(custom, configuration)?;
    }
    Ok(all)
}

fn product(
    spec: &Spec,
    place: Place,
    custom: &BTreeMap<String, CustomPolicy>,
) -> Result<Vec<Configuration>, SpecError> {
    let stacks: Vec<Stack> = match (place, &spec.stacks) {
        (Place::Host, _) => vec![Stack::distribution()],
        (Place::Lab | Place::Um, None) if spec.configurations.is_some() => Vec::new(),
        (Place::Lab | Place::Um, None) if !custom.is_empty() => {
            parse(given::stacks_of(custom).iter().map(String::as_str))?
        }
        (Place::Lab | Place::Um, None) => parse(DEFAULT_STACKS)?,
        (Place::Lab | Place::Um, Some(stacks)) => {
            list("stacks", stacks, CONFIGURATIONS_LIMIT)?;
            parse(stacks.iter().map(String::as_str))?
        }
    };
    // A custom policy is enforced by default. Policies of subsystems do not depend on the modules'
    // state.
    let is_subsystem = |policy: &CustomPolicy| given::subsystem(&policy.module).is_some();
    let default = if custom.values().all(is_subsystem) {
        Policy::None
    } else {
        Policy::Enforcing
    };
    let policies = spec.policies.clone().unwrap_or(vec![default]);
    list("policies", &policies, Policy::ALL.len())?;
    let integrity = spec.integrity.clone().unwrap_or_default();
    let integrity = if spec.integrity.is_some() {
        list("integrity", &integrity, 8)?;
        integrity
    } else {
        let subsystems = custom.values();
        let subsystems: BTreeSet<Integrity> = subsystems
            .filter_map(|policy| given::subsystem(&policy.module))
            .collect();
        let with = IntegrityList(subsystems.into_iter().collect());
        let with = (!with.0.is_empty()).then_some(with);
        [IntegrityList::default()].into_iter().chain(with).collect()
    };
    let numbers = |key, values: &Option<Vec<u32>>| match values {
        None => Ok(vec![None]),
        Some(values) => {
            list(key, values, 64)?;
            Ok::<_, SpecError>(values.iter().copied().map(Some).collect::<Vec<_>>())
        }
    };
    let rules = numbers("rules", &spec.rules)?;
    let layers = numbers("layers", &spec.layers)?;
    let has = |one| integrity.iter().any(|of| of.has(one));
    if let Some(rules) = spec.audit_rules.filter(|_| !has(Integrity::Audit)) {
        return Err(not_at_work("audit_rules", rules, Integrity::Audit));
    }
    if let Some(policy) = spec.ima_policy.filter(|_| !has(Integrity::Ima)) {
        return Err(not_at_work("ima_policy", policy, Integrity::Ima));
    }
    let of_selinux = spec.selinux_policy.is_some() || spec.labels.is_some();
    let has_policy = policies.iter().any(|policy| *policy != Policy::None);
    let has_selinux = stacks.iter().any(|stack| stack.may_have("selinux"));
    if of_selinux && !(has_policy && has_selinux) {
        return Err(SpecError::instead(
            "`selinux_policy` and `labels` need a stack with SELinux and a policy",
            "add SELinux and policy = \"enforcing\" (--policy enforcing), or leave them out",
        ));
    }
    let denials = spec.denials == Some(true);
    if denials && !policies.contains(&Policy::Enforcing) {
        return Err(deny_nothing("the experiment"));
    }
    let events = spec.first_after.clone();
    let events = events.unwrap_or_else(|| vec![FirstAfter::Nothing]);
    list("first_after", &events, FirstAfter::ALL.len())?;
    for event in &events {
        let any = |policy: &Policy| stacks.iter().any(|stack| can_be(*event, stack, *policy));
        if *event != FirstAfter::Nothing && !policies.iter().any(any) {
            return Err(nothing_forgotten(*event, "the experiment"));
        }
    }
    let with_layers = rules.iter().flat_map(|of| layers.iter().map(|l| (*of, *l)));
    let sizes: Vec<(Option<u32>, Option<u32>, FirstAfter)> = with_layers
        .flat_map(|(rules, layers)| events.iter().map(move |event| (rules, layers, *event)))
        .collect();
    let mut all: Vec<Configuration> = Vec::new();
    for stack in &stacks {
        for &policy in &policies {
            // Capabilities need no policy, so they have a single state.
            let policy = if stack.as_str() == "capability" {
                Policy::None
            } else {
                policy
            };
            let labelled = policy != Policy::None && stack.may_have("selinux");
            for integrity in &integrity {
                for &(rules, layers, event) in &sizes {
                    let has_event = can_be(event, stack, policy);
                    let written = ConfigurationSpec {
                        kernel: None,
                        stack: stack.to_string(),
                        policy,
                        integrity: integrity.clone(),
                        rules: rules.filter(|_| has_rules(policy, integrity)),
                        layers: layers.filter(|_| policy != Policy::None),
                        avc_entries: spec.avc_entries,
                        selinux_policy: spec.selinux_policy.filter(|_| labelled),
                        labels: spec.labels.filter(|_| labelled),
                        denials: denials && can_deny(stack, policy),
                        first_after: if has_event {
                            event
                        } else {
                            FirstAfter::Nothing
                        },
                        audit_rules: spec.audit_rules.filter(|_| integrity.has(Integrity::Audit)),
                        ima_policy: spec.ima_policy.filter(|_| integrity.has(Integrity::Ima)),
                        custom: Vec::new(),
                    };
                    let configuration = resolve(&written, custom)?;
                    for chosen in given::choices(custom, stack, policy, integrity) {
                        let mut configuration = configuration.clone();
                        configuration.settings.custom = chosen;
                        given::check_beside(&configuration)?;
                        // Without a policy, sizes have no effect, so the stack is measured once.
                        if policy != Policy::None && has_event || !all.contains(&configuration) {
                            all.push(configuration);
                        }
                    }
                }
            }
        }
    }
    Ok(all)
}

fn has_rules(policy: Policy, integrity: &IntegrityList) -> bool {
    let takes = |of: &Integrity| matches!(of, Integrity::Audit | Integrity::Ima);
    policy != Policy::None || integrity.0.iter().any(takes)
}

/// Only enforced policies deny. Capabilities have no state; they are the usual baseline.
fn can_deny(stack: &Stack, policy: Policy) -> bool {
    policy == Policy::Enforcing || stack.as_str() == "capability"
}

fn deny_nothing(what: &str) -> SpecError {
    SpecError::instead(
        format!("`denials` needs an enforced policy, but {what} has none"),
        "set policy = \"enforcing\" (--policy enforcing), or leave out `denials`",
    )
}

/// Whether a module of the stack caches decisions that this event invalidates.
fn can_be(event: FirstAfter, stack: &Stack, policy: Policy) -> bool {
    let modules: &[&str] = match event {
        FirstAfter::Nothing => return true,
        FirstAfter::Load => &["selinux", "apparmor"],
        FirstAfter::Relabel => &["selinux"],
    };
    policy != Policy::None && modules.iter().any(|module| stack.may_have(module))
}

fn nothing_forgotten(event: FirstAfter, what: &str) -> SpecError {
    let modules = match event {
        FirstAfter::Relabel => "SELinux",
        FirstAfter::Nothing | FirstAfter::Load => "SELinux or AppArmor",
    };
    SpecError::instead(
        format!(
            "`first_after` is `{event}`, which needs {modules} with a policy, but {what} has none"
        ),
        format!(
            "add {modules} and policy = \"enforcing\" (--policy enforcing), or leave out `first_after`"
        ),
    )
}

fn parse<'a>(stacks: impl IntoIterator<Item = &'a str>) -> Result<Vec<Stack>, SpecError> {
    let stacks = stacks.into_iter().map(str::parse);
    Ok(stacks.collect::<Result<_, _>>()?)
}

fn resolve(
    written: &ConfigurationSpec,
    custom: &BTreeMap<String, CustomPolicy>,
) -> Result<Configuration, SpecError> {
    let number = |key, value: Option<u32>, min, max| {
        value
            .map(|value| number(key, value, min..=max, ""))
            .transpose()
    };
    let stack: Stack = written.stack.parse()?;
    let settings = Settings {
        rules: number("rules", written.rules, 1, 100_000)?,
        layers: number("layers", written.layers, 1, 16)?,
        avc_entries: number("avc_entries", written.avc_entries, 16, 65_536)?,
        selinux_policy: written.selinux_policy,
        labels: number("labels", written.labels, 1, 4_096)?,
        denials: written.denials,
        first_after: Some(written.first_after).filter(|of| *of != FirstAfter::Nothing),
        audit_rules: written.audit_rules,
        ima_policy: written.ima_policy,
        custom: given::named(
            &written.custom,
            custom,
            &stack,
            written.policy,
            &written.integrity,
        )?,
    };
    let is_bare = written.policy == Policy::None;
    let of_policy = [settings.layers, settings.labels]
        .iter()
        .any(Option::is_some)
        || settings.selinux_policy.is_some();
    if is_bare && of_policy
        || settings.rules.is_some() && !has_rules(written.policy, &written.integrity)
    {
        return Err(SpecError::instead(
            format!("`{stack}` has no policy, so it cannot have rules, layers or labels"),
            "set policy = \"enforcing\", or leave out `rules`, `layers`, `labels` and `selinux_policy`",
        ));
    }
    if settings.denials && !can_deny(&stack, written.policy) {
        return Err(deny_nothing(&format!("`{stack}`")));
    }
    if !can_be(written.first_after, &stack, written.policy) {
        return Err(nothing_forgotten(
            written.first_after,
            &format!("`{stack}`"),
        ));
    }
    if settings.denials && written.integrity.has(Integrity::Audit) {
        return Err(SpecError::instead(
            "`denials` cannot be combined with audit, which would record each denied open",
            "leave out `denials`, or remove audit from `integrity`",
        ));
    }
    if let Some(rules) = settings.audit_rules {
        check_audit(rules, settings.rules, written)?;
    }
    if let Some(policy) = settings.ima_policy {
        check_ima(policy, settings.rules, written)?;
    }
    if stack.is_none() && (written.policy != Policy::None || !written.integrity.0.is_empty()) {
        return Err(SpecError::instead(
            "a kernel without LSMs has neither policies nor integrity subsystems",
            "use another stack, or leave out `policy` and `integrity`",
        ));
    }
    let configuration = Configuration {
        kernel: written
            .kernel
            .clone()
            .map(|kernel| printable("kernel", kernel))
            .transpose()?,
        stack,
        policy: written.policy,
        integrity: written.integrity.0.clone(),
        settings,
    };
    given::check_beside(&configuration)?;
    Ok(configuration)
}

fn not_at_work(key: &str, value: impl fmt::Display, subsystem: Integrity) -> SpecError {
    SpecError::instead(
        format!("`{key}` is `{value}`, but {subsystem} is not active"),
        format!("set integrity = \"{subsystem}\" (--integrity {subsystem}), or leave out `{key}`"),
    )
}

/// Checks rules for audit. A number of rules extends an existing rule set.
fn check_audit(
    audit_rules: AuditRules,
    rules: Option<u32>,
    written: &ConfigurationSpec,
) -> Result<(), SpecError> {
    if !written.integrity.has(Integrity::Audit) {
        return Err(not_at_work("audit_rules", audit_rules, Integrity::Audit));
    }
    let has_none = matches!(audit_rules, AuditRules::None | AuditRules::NeverTask);
    if has_none && rules.is_some() {
        return Err(SpecError::instead(
            format!("`audit_rules` is `{audit_rules}`: `rules` needs a rule to repeat"),
            "leave out `rules`, or set audit_rules = \"one\"",
        ));
    }
    Ok(())
}

/// Checks a policy for IMA. Rules cannot be added to the kernel's built-in policies.
fn check_ima(
    ima_policy: ImaPolicy,
    rules: Option<u32>,
    written: &ConfigurationSpec,
) -> Result<(), SpecError> {
    if !written.integrity.has(Integrity::Ima) {
        return Err(not_at_work("ima_policy", ima_policy, Integrity::Ima));
    }
    if ima_policy != ImaPolicy::FileSystem && rules.is_some() {
        return Err(SpecError::instead(
            format!(
                "`ima_policy` is `{ima_policy}`: `rules` cannot extend the kernel's own policy"
            ),
            "leave out `rules`, or set ima_policy = \"file-system\"",
        ));
    }
    Ok(())
}

fn baseline(
    baseline: Option<&Baseline>,
    configurations: &[Configuration],
) -> Result<u32, SpecError> {
    let (found, name) = match baseline {
        None => return Ok(0),
        Some(Baseline::Index(index)) => {
            let is_one = (*index as usize) < configurations.len();
            (is_one.then_some(*index), index.to_string())
        }
        Some(Baseline::Stack(name)) => {
            let stack: Stack = name.parse()?;
            let mut all = (0u32..).zip(configurations);
            let found = all.find(|(_, configuration)| configuration.stack == stack);
            (found.map(|(index, _)| index), name.clone())
        }
    };
    found.ok_or_else(|| {
        let is_plain = |c: &Configuration| *c == Configuration::of_stack(c.stack.clone());
        let plain = configurations.iter().all(is_plain);
        let what = if plain { "stacks" } else { "configurations" };
        let modules: Vec<String> = configurations
            .iter()
            .flat_map(|c| c.stack.names())
            .collect();
        let near = nearest(&name, modules.iter().map(String::as_str));
        let has_it =
            |c: &&Configuration| c.stack.names().iter().any(|module| Some(&**module) == near);
        let near = configurations.iter().find(has_it);
        let (n, known) = (configurations.len(), configurations.iter());
        let known: Vec<String> = known.map(ToString::to_string).collect();
        let known = known.join(" · ");
        SpecError::instead(
            format!("baseline `{name}` is not one of the {n} {what}: {known}"),
            match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("choose one of these, or add `{name}` to the {what} (--stack)"),
            },
        )
    })
}
