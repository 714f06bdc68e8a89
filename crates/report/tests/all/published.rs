// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures: that they are what they should be.

use std::collections::HashSet;

use published::{Quantity, Setup, explanations, published, sources};
use report::published::{published_records, published_report};
use report::{Layout, csv, terminal};

#[test]
fn every_figure_has_a_source_and_a_sane_value() {
    let mut ids = HashSet::new();
    for figure in published() {
        let id = &figure.id;
        assert!(ids.insert(id), "{id} twice");
        assert!(sources().iter().any(|s| s.id == figure.source), "{id}");
        assert!(!figure.place.is_empty() && !figure.lines.is_empty(), "{id}");
        let (least, most) = match figure.quantity {
            Quantity::Overhead => (-0.5, 50.0),
            Quantity::ThroughputOverhead => (-0.5, 1.0),
            Quantity::HookShare => (0.0, 1.0),
            Quantity::Latency => (0.1, 2e6),
            Quantity::AddedLatency => (0.01, 10.0),
            Quantity::Throughput => (100.0, 20_000.0),
            Quantity::HookTime => (0.01, 50.0),
            Quantity::HookCalls | Quantity::Slope => (0.5, 20.0),
            Quantity::CallsAtMost | Quantity::CallsAtLeast => (0.0, 6.0),
            Quantity::Checks => (1.0, 4.0),
            Quantity::ModuleHooks => (0.0, 300.0),
            Quantity::Lines => (10.0, 100_000.0),
            Quantity::SystemCalls => (1.0, 6.0),
        };
        for value in [figure.low, figure.high].into_iter().flatten() {
            assert!((least..=most).contains(&value), "{id}: {value}");
        }
        if figure.quantity.is_overhead() {
            let both = !figure.tested.is_empty() && !figure.baseline.is_empty();
            assert!(both, "{id}");
            let exact = |setups: &[Setup]| setups[0].why.is_none();
            assert!(exact(&figure.tested) && exact(&figure.baseline), "{id}");
            // What stands in says for what it is not.
            let others = figure.tested[1..].iter().chain(&figure.baseline[1..]);
            assert!(others.into_iter().all(|setup| setup.why.is_some()), "{id}");
        }
        if matches!(
            figure.quantity,
            Quantity::Slope | Quantity::HookCalls | Quantity::HookShare | Quantity::Checks
        ) {
            assert!(!figure.hooks.is_empty(), "{id}");
        }
    }
    assert!(ids.len() > 400, "{}", ids.len());
}

#[test]
fn benchmarks_are_in_the_catalogue() {
    let known: HashSet<String> = lab::catalogue::catalogue()
        .iter()
        .map(|benchmark| format!("{}:{}", benchmark.name, benchmark.variant))
        .collect();
    let preset = model::preset("unixbench").unwrap().spec().unwrap();
    let programs = preset.resolve().unwrap().programs.unwrap();
    let workloads = programs.workloads.into_iter().map(|workload| workload.name);
    let known: HashSet<String> = known.into_iter().chain(workloads).collect();
    for figure in published() {
        let mut ours = HashSet::new();
        for operation in &figure.ours {
            let is_known = known.contains(&operation.to_string());
            assert!(
                is_known && ours.insert(operation),
                "{}: {operation}",
                figure.id
            );
        }
    }
}

#[test]
fn explanations_are_of_something() {
    let mut ids = HashSet::new();
    for explanation in explanations() {
        assert!(ids.insert(&explanation.id), "{} twice", explanation.id);
        assert!(!explanation.text.is_empty());
        for pattern in explanation.figures.iter().chain(&explanation.except) {
            let is_known = !published_report(pattern).tables.is_empty();
            assert!(is_known, "{}: {pattern} fits nothing", explanation.id);
        }
    }
}

#[test]
fn all_figures_listed() {
    insta::assert_snapshot!(terminal(&published_report("howells:*"), &Layout::default()));
    assert_eq!(published_report("*").tables.len(), sources().len());
    let mut bytes = Vec::new();
    csv(published_records("*"), &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text.lines().next().unwrap(),
        "figure,source,place,lines,their_kernel,their_benchmark,their_configuration,quantity,unit,\
         low,high,hooks,per_component,ours,note"
    );
    assert_eq!(text.lines().count(), published().len() + 1);
    assert_eq!(published_report("no such").warnings.len(), 1);
}
