// SPDX-License-Identifier: GPL-2.0-or-later
//! How a document came to be: method and environment.

use experiment::{AnyDocument, Environment, Experiment, PolicyProof, Tool};
use maud::{Markup, html};

use crate::text::printable;

/// Longest text of one value, in characters.
const VALUE_LIMIT: usize = 400;

pub(super) fn about(document: &AnyDocument) -> Markup {
    let (method, facts, setups) = told(document);
    html! {
        details.about {
            summary { "Method and environment" }
            p { (method) }
            dl {
                @for (name, value) in facts {
                    dt { (name) }
                    dd { (printable(&value, VALUE_LIMIT)) }
                }
            }
            @for setup in setups {
                p {
                    "Policies in force under "
                    (printable(&setup.configuration.title(), VALUE_LIMIT))
                    " on " (printable(&setup.kernel, VALUE_LIMIT)) ":"
                }
                ol { @for step in &setup.steps { li { (printable(step, VALUE_LIMIT)) } } }
            }
        }
    }
}

type Facts = Vec<(&'static str, String)>;

fn told(document: &AnyDocument) -> (&'static str, Facts, &[PolicyProof]) {
    match document {
        AnyDocument::Run(run) => {
            let mut facts = tool(&run.tool);
            facts.push(("began", run.started.clone()));
            facts.push(("ended", run.finished.clone()));
            facts.extend(asked(&run.experiment));
            facts.extend(environment(&run.environment));
            (
                "Each operation runs in its own window. Instructions are counted in the guest's \
                 kernel, on the path that most windows take; time and throughput are medians of \
                 samples with a 95 % bootstrap interval. Instructions are not time. An overhead \
                 is (tested - baseline) / baseline, or (baseline - tested) / baseline of a \
                 throughput, so that more is worse.",
                facts,
                &run.setups,
            )
        }
        AnyDocument::Profile(profile) => {
            let mut facts = tool(&profile.tool);
            facts.extend(environment(&profile.environment));
            (
                "Every call on the operation's most frequent path through the guest's kernel is \
                 counted by instruction. A hook's instructions are those from its calls to its \
                 returns; calls from inside other hooks are not counted again.",
                facts,
                &[],
            )
        }
        AnyDocument::Sensitivity(sweep) => {
            let mut facts = tool(&sweep.tool);
            facts.extend(environment(&sweep.environment));
            (
                "Decisions at hooks are made to take longer, step by step, and a line is fitted \
                 to what an operation costs then. Its slope is how many decisions the operation \
                 asks for. The hooks called without delays are counted beside it.",
                facts,
                &sweep.setups,
            )
        }
        AnyDocument::Monitor(recording) => {
            let mut facts = tool(&recording.tool);
            let of = &recording.monitor;
            facts.push(("began", of.started.clone()));
            facts.push(("whose calls", of.scope.clone()));
            facts.push(("noted of each call", of.mode.to_string()));
            facts.push(("kernel", of.release.clone()));
            facts.push(("modules", of.active_lsms.join(",")));
            let cost = of.cost;
            facts.push((
                "cost of watching",
                format!(
                    "{} ns a call, of which {} ns lay within the times and are subtracted",
                    cost.added_ns, cost.within_ns
                ),
            ));
            facts.extend(environment(&recording.environment));
            (
                "eBPF programs count every call of a hook on the live machine, and take its time \
                 where that was asked for.",
                facts,
                &[],
            )
        }
        AnyDocument::Placement(placement) => {
            let mut facts = tool(&placement.tool);
            facts.push(("sources", placement.tree.clone()));
            let coverage = placement.coverage;
            facts.push((
                "read",
                format!("{} files, {} functions", coverage.files, coverage.functions),
            ));
            (
                "The kernel's sources are read, not compiled or run. Counts are for the path \
                 that a system call takes if all goes well, and at most; D is the number of \
                 components of a path, S that of symbolic links.",
                facts,
                &[],
            )
        }
    }
}

fn tool(tool: &Tool) -> Facts {
    vec![("written by", format!("{} {}", tool.name, tool.version))]
}

fn asked(experiment: &Experiment) -> Facts {
    let metrics: Vec<&str> = experiment.metrics.iter().map(|m| m.as_str()).collect();
    let samples: Vec<String> = experiment
        .metrics
        .iter()
        .map(|metric| format!("{} of {metric}", experiment.samples.of(*metric)))
        .collect();
    let mut facts = vec![
        ("where", experiment.place.to_string()),
        ("kernels", experiment.kernels.join(", ")),
        ("metrics", metrics.join(", ")),
        ("samples of a cell", samples.join(", ")),
        ("warm-up", format!("{} operations", experiment.warmup)),
        ("rounds", experiment.rounds.to_string()),
    ];
    if let Some(description) = &experiment.description {
        facts.insert(0, ("experiment", description.clone()));
    }
    if !experiment.cmdline.is_empty() {
        facts.push(("kernel command line", experiment.cmdline.clone()));
    }
    facts
}

fn environment(environment: &Environment) -> Facts {
    let mut facts = vec![
        ("host", environment.os.clone()),
        ("host kernel", environment.host_kernel.clone()),
        ("processor", environment.cpu.clone()),
        ("processors used", environment.cores.to_string()),
        ("KVM", if environment.kvm { "yes" } else { "no" }.to_owned()),
        ("clock", environment.clock.to_string()),
    ];
    if let Some(qemu) = &environment.qemu {
        let text = format!("{}, {}, {}", qemu.version, qemu.machine, qemu.cpu);
        facts.push(("QEMU", text));
    }
    if !environment.host_lsms.is_empty() {
        facts.push(("host's modules", environment.host_lsms.join(",")));
    }
    facts
}
