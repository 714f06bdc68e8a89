// SPDX-License-Identifier: GPL-2.0-or-later
//! How a document came to be: method and environment.

use maud::{Markup, html};
use model::{
    Document, Environment, Experiment, Kind, Monitoring, PlacementDocument, PolicyProof, Tool,
};

use crate::gather::Content;
use crate::text::printable;

/// Longest text of one value, in characters.
const VALUE_LIMIT: usize = 400;

pub(super) fn about(content: &Content) -> Markup {
    let (method, facts, setups) = match content {
        Content::Measured(document) => (method(document.kind), facts(document), &*document.setups),
        Content::Placement(document) => (OF_PLACEMENT, sources(document), &[] as &[PolicyProof]),
    };
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

const OF_PLACEMENT: &str = "The kernel's sources are read, not compiled or run. Counts are for \
     the path that a system call takes if all goes well, and at most; D is the number of \
     components of a path, S that of symbolic links.";

fn method(kind: Kind) -> &'static str {
    match kind {
        Kind::Profile => {
            "Every call on the operation's most frequent path through the guest's kernel is \
             counted by instruction. A hook's instructions are those from its calls to its \
             returns; calls from inside other hooks are not counted again."
        }
        Kind::Sensitivity => {
            "Decisions at hooks are made to take longer, step by step, and a line is fitted \
             to what an operation costs then. Its slope is how many decisions the operation \
             asks for. The hooks called without delays are counted beside it."
        }
        Kind::Recording => {
            "eBPF programs count every call of a hook on the live machine, and take its time \
             where that was asked for."
        }
        _ => {
            "Each operation runs in its own window. Instructions are counted in the guest's \
             kernel, on the path that most windows take; time and throughput are medians of \
             samples with a 95 % bootstrap interval. Instructions are not time. An overhead \
             is (tested - baseline) / baseline, or (baseline - tested) / baseline of a \
             throughput, so that more is worse."
        }
    }
}

fn facts(document: &Document) -> Facts {
    let mut facts = tool(&document.tool);
    let times = [("began", &document.started), ("ended", &document.finished)];
    facts.extend(
        times
            .into_iter()
            .filter_map(|(what, time)| Some((what, time.clone()?))),
    );
    facts.extend(document.experiment.iter().flat_map(asked));
    facts.extend(document.monitor.iter().flat_map(watched));
    facts.extend(environment(&document.environment));
    facts
}

fn watched(monitor: &Monitoring) -> Facts {
    let cost = monitor.cost;
    vec![
        ("whose calls", monitor.scope.clone()),
        ("noted of each call", monitor.mode.to_string()),
        ("kernel", monitor.release.clone()),
        ("modules", monitor.active_lsms.join(",")),
        (
            "cost of watching",
            match cost.added_ns {
                0 => "could not be measured".to_owned(),
                added => format!(
                    "{added} ns a call, of which {} ns lay within the times and are subtracted",
                    cost.within_ns
                ),
            },
        ),
    ]
}

fn sources(placement: &PlacementDocument) -> Facts {
    let mut facts = tool(&placement.tool);
    facts.push(("sources", placement.tree.clone()));
    let coverage = placement.coverage;
    facts.push((
        "read",
        format!("{} files, {} functions", coverage.files, coverage.functions),
    ));
    facts
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
