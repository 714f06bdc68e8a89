// SPDX-License-Identifier: GPL-2.0-or-later
//! Intervals over layouts whose baseline is another kernel.

use std::collections::BTreeMap;

use compare::judge::{Layouts, aa_layouts};
use model::{
    Cell, Configuration, Document, Estimate, Evidence, Key, Metric, Outcome, Subject, Timed,
};
use proptest::prelude::*;
use stats::{centre, shift};

fn configuration(kernel: &str, stack: &str) -> Configuration {
    Configuration {
        kernel: Some(kernel.to_owned()),
        ..Configuration::of_stack(stack.parse().unwrap())
    }
}

fn key(kernel: &str, stack: &str, variant: &str) -> Key {
    let subject = Subject::benchmark("open", variant);
    let configuration = configuration(kernel, stack);
    Key::new(kernel, &configuration, "tmpfs", subject, Metric::Time)
}

fn cell(key: Key, ns: f64) -> Cell {
    let estimate = Estimate {
        n: 64,
        median: ns,
        mean: None,
        stddev: None,
        min: None,
        max: None,
        ci95: None,
        samples: None,
    };
    Cell {
        outcome: Evidence::Timed(Timed::new(estimate)).into(),
        ..Cell::unmeasured(key)
    }
}

/// Nanoseconds by the number of the layout.
type Ns = BTreeMap<u32, f64>;

const VARIANTS: [&str; 3] = ["AA", "AA/BB", "AA/BB/CC"];

/// Measurements of a kernel without modules and of a kernel with modules, in several layouts each.
/// The cost of an operation grows by 10 ns with each component, and that of its modules by 3 ns.
fn run(dac: &Ns, um: &Ns) -> Document {
    let golden = include_bytes!("../../../model/tests/golden/run.json");
    let mut run = Document::parse(golden).unwrap();
    run.cells.clear();
    for (depth, variant) in VARIANTS.into_iter().enumerate() {
        let depth = depth as f64;
        for (name, layouts, stack, each) in [
            ("build:dac", dac, "none", 10.0),
            ("build:um", um, "capability", 13.0),
        ] {
            run.cells.extend(layouts.iter().map(|(number, ns)| {
                let key = key(&format!("{name}.{number}"), stack, variant);
                cell(key, ns + each * depth)
            }));
        }
    }
    let experiment = run.experiment.as_mut().unwrap();
    let mut kernels: Vec<String> = run
        .cells
        .iter()
        .map(|cell| cell.key.kernel.clone())
        .collect();
    kernels.sort_unstable();
    kernels.dedup();
    experiment.kernels = kernels;
    experiment.configurations = vec![
        configuration("build:dac.*", "none"),
        configuration("build:um.*", "capability"),
    ];
    experiment.baseline = 0;
    experiment.baseline_kernel = None;
    run
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6 * (1.0 + a.abs())
}

fn figures() -> impl Strategy<Value = Ns> {
    prop::collection::btree_map(1_u32..=10, 50.0..500.0, 6..=10)
}

proptest! {
    /// If both kernels' layouts have the same numbers, equal numbers are compared. If not, every
    /// layout of one is compared with every layout of the other.
    #[test]
    fn layouts_are_paired_if_their_numbers_are_the_same(dac in figures(), um in figures(), same: bool) {
        let dac: Ns = match same {
            true => um.keys().zip(dac.values().cycle()).map(|(n, ns)| (*n, *ns)).collect(),
            false => dac,
        };
        let run = run(&dac, &um);
        let drawn = Layouts::in_run(&run);
        let drawn = drawn.iter().find(|layouts| layouts.kernel == "build:um").unwrap();
        let other = drawn.baseline().unwrap();
        prop_assert_eq!((other.kernel, other.count), ("build:dac", dac.len()));
        let numbers_fit = dac.keys().eq(um.keys());
        prop_assert_eq!(other.is_paired, numbers_fit);

        // The keys may name any of the layouts.
        let base = key(&format!("build:dac.{}", dac.keys().next().unwrap()), "none", "AA");
        let tested = key(&format!("build:um.{}", um.keys().last().unwrap()), "capability", "AA");
        let added = drawn.added(&base, &tested).unwrap();
        let values = |by_layout: &Ns| by_layout.values().copied().collect::<Vec<f64>>();
        let expected = if numbers_fit {
            centre(&um.iter().map(|(number, ns)| ns - dac[number]).collect::<Vec<f64>>())
        } else {
            shift(&values(&dac), &values(&um))
        };
        prop_assert_eq!(added, expected.unwrap());

        // If all times of one side double, the ratio doubles.
        let ratio = drawn.ratio(&[&base], &[&tested]).unwrap();
        prop_assert!(ratio.ci95[0] <= ratio.value && ratio.value <= ratio.ci95[1]);
        let scaled: Ns = um.iter().map(|(number, ns)| (*number, 2.0 * ns)).collect();
        let twice = self::run(&dac, &scaled);
        let twice = Layouts::in_run(&twice);
        let twice = twice.iter().find(|layouts| layouts.kernel == "build:um").unwrap();
        prop_assert!(close(twice.ratio(&[&base], &[&tested]).unwrap().value, 2.0 * ratio.value));

        // The slope of the added cost is 3 ns in every layout, and between any two layouts.
        let keys: Vec<(f64, Key, Key)> = (1..).map(f64::from).zip(VARIANTS).map(|(depth, variant)| {
            let base = Key { subject: Subject::benchmark("open", variant), ..base.clone() };
            let tested = Key { subject: Subject::benchmark("open", variant), ..tested.clone() };
            (depth, tested, base)
        }).collect();
        let points: Vec<(f64, &Key, Option<&Key>)> =
            keys.iter().map(|(depth, tested, base)| (*depth, tested, Some(base))).collect();
        let slope = drawn.slope(&points).unwrap();
        prop_assert!(close(slope.value, 3.0) && close(slope.ci95[1], 3.0), "{slope:?}");
    }
}

#[test]
fn a_mean_is_of_sums() {
    let (dac, um): (Ns, Ns) = (1..=6)
        .map(|number| ((number, 100.0), (number, 120.0)))
        .unzip();
    let run = run(&dac, &um);
    let drawn = Layouts::in_run(&run);
    let drawn = drawn
        .iter()
        .find(|layouts| layouts.kernel == "build:um")
        .unwrap();
    let base = ["AA", "AA/BB"].map(|variant| key("build:dac.1", "none", variant));
    let tested = ["AA", "AA/BB"].map(|variant| key("build:um.1", "capability", variant));
    let ratio = drawn.ratio(&base.each_ref(), &tested.each_ref()).unwrap();
    assert!(
        close(ratio.value, (120.0 + 133.0) / (100.0 + 110.0)),
        "{ratio:?}"
    );
    // A layout that lacks one of the measurements has no sum.
    let missing = key("build:um.1", "capability", "AA/BB/CC/DD");
    assert!(drawn.ratio(&[&base[0]], &[&missing]).is_none());
}

#[test]
fn a_kernel_whose_name_ends_in_a_number_is_none_of_its_own_layouts() {
    let layouts: Ns = (1..=6).map(|number| (number, 100.0)).collect();
    let mut run = run(&layouts, &layouts);
    for cell in &mut run.cells {
        cell.key.kernel = cell.key.kernel.replace("build:um", "build:um-6.1");
    }
    let experiment = run.experiment.as_mut().unwrap();
    for kernel in &mut experiment.kernels {
        *kernel = kernel.replace("build:um", "build:um-6.1");
    }
    let drawn = Layouts::in_run(&run);
    let drawn = drawn
        .iter()
        .find(|layouts| layouts.kernel == "build:um-6.1")
        .unwrap();
    let base = key("build:dac.2", "none", "AA");
    let tested = key("build:um-6.1.2", "capability", "AA");
    assert_eq!(drawn.figure(&tested).unwrap().value, 100.0);
    assert_eq!(drawn.added(&base, &tested).unwrap().value, 0.0);
}

/// The times of each cell, with the name of its kernel.
fn timed(run: &mut Document) -> impl Iterator<Item = (&str, &mut Timed)> {
    run.cells.iter_mut().map(|cell| match &mut cell.outcome {
        Outcome::Ok {
            evidence: Evidence::Timed(timed),
        } => (&*cell.key.kernel, timed),
        _ => panic!("it was timed"),
    })
}

/// A run on eight layouts. `count` of them were disturbed in all rounds, and took three times as
/// long.
fn disturbed(count: u32, rounds: &[f64]) -> Document {
    let layouts: Ns = (1..=8).map(|number| (number, 100.0)).collect();
    let mut run = run(&layouts, &layouts);
    for (kernel, timed) in timed(&mut run) {
        let number = kernel.rsplit('.').next().unwrap();
        let is_disturbed = number.parse::<u32>().unwrap() <= count;
        timed.disturbed = Some(is_disturbed);
        let times = if is_disturbed { 3.0 } else { 1.0 };
        timed.quiet = rounds.iter().map(|ns| times * ns).collect();
    }
    run
}

#[test]
fn layouts_that_others_disturbed_are_left_out_if_enough_were_not() {
    let tested = key("build:um.1", "capability", "AA");
    for (count, slowest_ns) in [(0, 100.0), (2, 100.0), (3, 300.0)] {
        let run = disturbed(count, &[100.0]);
        let drawn = Layouts::in_run(&run);
        let drawn = drawn
            .iter()
            .find(|layouts| layouts.kernel == "build:um")
            .unwrap();
        let times_ns = drawn.times_ns(&tested);
        let slowest = times_ns.iter().copied().fold(0.0, f64::max);
        assert_eq!(slowest, slowest_ns, "{count} of 8 disturbed");
    }
}

#[test]
fn an_aa_has_what_either_run_was_left_alone_for() {
    // Every other round takes 10 ns longer. Each name gets the slow rounds in half of the layouts.
    let rounds = [100.0, 110.0];
    let [alone, two] = [0, 2].map(|count| disturbed(count, &rounds));
    for runs in [
        [alone.clone(), alone.clone()],
        [two.clone(), alone.clone()],
        [alone, two],
    ] {
        let reports = aa_layouts(&runs);
        let report = reports
            .iter()
            .find(|report| report.kernel == "build:um")
            .unwrap();
        assert_eq!(
            (report.layouts, report.intervals, report.false_intervals),
            (8, 3, 0)
        );
        assert_eq!(report.half_width_largest_ns, 10.0, "{report:?}");
    }
}

#[test]
fn the_median_round_stands_for_rounds_that_were_left_alone_and_a_quiet_one_for_others() {
    let tested = key("build:um.1", "capability", "AA");
    let mut run = disturbed(0, &[100.0, 102.0, 104.0]);
    for (disturbed, ns) in [(Some(false), 102.0), (Some(true), 100.0), (None, 100.0)] {
        for (_, timed) in timed(&mut run) {
            timed.disturbed = disturbed;
        }
        let drawn = Layouts::in_run(&run);
        let drawn = drawn
            .iter()
            .find(|layouts| layouts.kernel == "build:um")
            .unwrap();
        assert_eq!(drawn.figure(&tested).unwrap().value, ns, "{disturbed:?}");
    }
}
