// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts the hooks of benchmarks under each module in turn, without a policy and with one.

use anyhow::Result;
use coverage::Facts;
use kernels::{Kernel, Store};
use lab::BuiltIn;
use lab::journal::Journals;
use lab::policy::has_policy;
use lab::prepare::Hooks;
use model::{ConfigurationSpec, DEFAULT_KERNEL, Experiment, Metric, Place, Policy, Select, Spec};

use super::{Measured, kernel};
use crate::cli::CoverageArgs;
use crate::commands::kernel::the_one;
use crate::commands::measure::{
    Machines, Signals, check_selection, count_hooks, lab_flags, read_spec, read_stack, some,
};
use crate::config::{Config, cache_dir};
use crate::failure::usage;
use crate::progress::Line;

const PRESET: &str = "every";
/// Modules that are measured in turn, as far as the kernel has them.
const MODULES: [&str; 6] = ["selinux", "apparmor", "smack", "tomoyo", "landlock", "bpf"];
/// States of policies: all hooks run without one, some only under one.
const POLICIES: [Policy; 2] = [Policy::None, Policy::Enforcing];

/// Measures. None if the user ended it.
pub fn measure(
    args: &CoverageArgs,
    config: &Config,
    facts: &Facts,
    journals: &Journals,
    line: &mut Line,
) -> Result<Option<Measured>> {
    let later = facts.later();
    let store = Store::open(&cache_dir())?;
    let name = args.kernel.as_deref().unwrap_or(DEFAULT_KERNEL);
    let name = &the_one(name, &args.lab.arch)?;
    let kernel = kernel(name, args, &store, config, line)?;
    let (stacks, lacking) = stacks(args, &store, &kernel)?;
    let experiment = experiment(args, name, stacks)?;
    let signals = Signals::watch()?;
    let found = signals.unattended(|| Machines::find(&args.lab, config, &experiment, line));
    let machines = found?;
    let counted = count_hooks(
        &experiment,
        &machines,
        None,
        Hooks {
            later: &later,
            ..Hooks::default()
        },
        journals,
        &signals,
        line,
    )?;
    Ok(counted.map(|outcome| Measured {
        document: lab::profiles::document(&outcome, None),
        name: name.to_owned(),
        kernel,
        lacking,
    }))
}

/// The stacks, and the modules that are left out because the kernel lacks them.
fn stacks(
    args: &CoverageArgs,
    store: &Store,
    kernel: &Kernel,
) -> Result<(Vec<String>, Vec<String>)> {
    if !args.stacks.is_empty() {
        for text in &args.stacks {
            read_stack(text)?;
        }
        return Ok((args.stacks.clone(), Vec::new()));
    }
    let built_in = BuiltIn::of(store, kernel)?;
    let (has, lacking): (Vec<&str>, Vec<&str>) =
        MODULES.iter().partition(|module| built_in.may_have(module));
    if has.is_empty() {
        return Err(usage(
            format!(
                "{} has none of the modules {}",
                kernel.name,
                MODULES.join(", ")
            ),
            "name a stack with --stack",
        ));
    }
    let stack = |module: &&str| format!("capability,{module}");
    let lacking = lacking.into_iter().map(str::to_owned);
    Ok((has.iter().map(stack).collect(), lacking.collect()))
}

/// Each stack without a policy, and those of which a module has one under it, too.
fn configurations(args: &CoverageArgs, stacks: &[String]) -> Result<Vec<ConfigurationSpec>> {
    let policies = some(&args.policies).unwrap_or_else(|| POLICIES.to_vec());
    let mut configurations = Vec::new();
    for text in stacks {
        let decides = read_stack(text)?
            .names()
            .iter()
            .any(|module| has_policy(module));
        for &policy in &policies {
            if policy == Policy::None || decides {
                configurations.push(ConfigurationSpec {
                    stack: text.clone(),
                    policy,
                    ..ConfigurationSpec::default()
                });
            }
        }
    }
    if configurations.is_empty() {
        return Err(usage(
            "no module of these stacks has a policy",
            "measure them with --policy none",
        ));
    }
    Ok(configurations)
}

fn experiment(args: &CoverageArgs, kernel: &str, stacks: Vec<String>) -> Result<Experiment> {
    let (_, preset) = read_spec(PRESET)?;
    let spec = preset.merge(Spec {
        kernels: Some(vec![kernel.to_owned()]),
        configurations: Some(configurations(args, &stacks)?),
        place: Some(Place::Lab),
        metrics: Some(vec![Metric::Instructions]),
        benchmarks: some(&args.benchmarks),
        suites: some(&args.suites),
        select: Some(args.variants.unwrap_or(Select::First)),
        ..lab_flags(&args.lab)?
    });
    let mut experiment = spec.resolve()?;
    lab::policy::take_in(&mut experiment)?;
    check_selection(&experiment)?;
    Ok(experiment)
}
