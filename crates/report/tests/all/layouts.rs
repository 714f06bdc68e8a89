// SPDX-License-Identifier: GPL-2.0-or-later
//! Cost that stacks add over several layouts of one kernel.

use model::{Cell, Configuration, Document, Estimate, Evidence, Key, Metric, Subject, Timed};
use report::{Layout, report, terminal};

/// A median of `ns` under a stack of a kernel.
fn cell(kernel: &str, stack: &str, ns: f64) -> Cell {
    let key = Key {
        stack: stack.split(',').map(str::to_owned).collect(),
        ..Key::new(
            kernel,
            &Configuration::of_stack("none".parse().unwrap()),
            "tmpfs",
            Subject::benchmark("open", "AA"),
            Metric::Time,
        )
    };
    let estimate = Estimate {
        n: 64,
        median: ns,
        mean: None,
        stddev: None,
        min: None,
        max: None,
        ci95: Some([ns - 1.0, ns + 1.0]),
        samples: None,
    };
    let timed = Timed::new(estimate);
    Cell {
        outcome: Evidence::Timed(timed).into(),
        ..Cell::unmeasured(key)
    }
}

/// The golden run without its measurements.
fn empty() -> Document {
    let golden = include_bytes!("../../../model/tests/golden/run.json");
    let mut run = Document::parse(golden).unwrap();
    run.warnings.clear();
    run.cells.clear();
    run
}

/// The tables of kernels with these values without and with SELinux.
fn tables(kernels: &[(&str, f64, f64)], details: bool) -> String {
    let mut run = empty();
    for (kernel, without, with) in kernels {
        run.cells.push(cell(kernel, "capability", *without));
        run.cells.push(cell(kernel, "capability,selinux", *with));
    }
    terminal(&report(&run, details), &Layout::default())
}

#[test]
fn an_interval_is_over_layouts_and_comes_first() {
    let kernels = [
        ("build:um.1", 300.0, 380.0),
        ("build:um.2", 310.0, 400.0),
        ("build:um.3", 290.0, 390.0),
        ("build:um.4", 300.0, 390.0),
        ("build:um.5", 300.0, 385.0),
        ("build:um.6", 300.0, 395.0),
    ];
    let text = tables(&kernels, false);
    let title = "build:um, tmpfs: nanoseconds that stacks add, over 6 layouts";
    assert!(text.starts_with(title), "{text}");
    // 80, 85, 90, 90, 95 and 100: for six values the interval is the range.
    let row = text
        .lines()
        .find(|line| line.starts_with("open:AA"))
        .unwrap();
    assert!(
        row.contains(" 300 ") && row.ends_with("+90 [+80, +100]"),
        "{row}"
    );
    let shown = text.lines().find(|line| line.starts_with("shown"));
    assert!(shown.unwrap().ends_with("1 of 1"), "{text}");
    // Those of each kernel are details.
    assert!(!text.contains("build:um.2"), "{text}");
    let text = tables(&kernels, true);
    assert!(text.contains("build:um.2"), "{text}");
}

#[test]
fn few_layouts_and_other_kernels_have_none() {
    let two = [("build:um.1", 300.0, 380.0), ("build:um.2", 310.0, 400.0)];
    assert!(!tables(&two, false).contains("layouts"));
    let series: Vec<String> = (1..7).map(|minor| format!("debian:6.{minor}")).collect();
    let series: Vec<_> = series
        .iter()
        .map(|name| (name.as_str(), 300.0, 380.0))
        .collect();
    assert!(!tables(&series, false).contains("layouts"));
}

/// The same under DAC, another kernel, with layouts of these numbers.
fn over_dac(numbers: &[u32]) -> String {
    let mut run = empty();
    let mut kernels = Vec::new();
    for number in numbers {
        let kernel = format!("build:dac.{number}");
        run.cells.push(cell(&kernel, "none", 200.0));
        kernels.push(kernel);
    }
    for number in 1..=6 {
        let kernel = format!("build:um.{number}");
        let ns = f64::from(number);
        run.cells.push(cell(&kernel, "capability", 250.0 + ns));
        run.cells
            .push(cell(&kernel, "capability,selinux", 300.0 + ns));
        kernels.push(kernel);
    }
    let experiment = run.experiment.as_mut().unwrap();
    experiment.kernels = kernels;
    let bound = |kernel: &str, stack: &str| Configuration {
        kernel: Some(kernel.to_owned()),
        ..Configuration::of_stack(stack.parse().unwrap())
    };
    experiment.configurations = vec![
        bound("build:dac.*", "none"),
        bound("build:um.*", "capability"),
        bound("build:um.*", "capability,selinux"),
    ];
    experiment.baseline = 0;
    experiment.baseline_kernel = None;
    terminal(&report(&run, false), &Layout::default())
}

#[test]
fn a_baseline_may_be_another_kernels() {
    let paired = over_dac(&[1, 2, 3, 4, 5, 6]);
    insta::assert_snapshot!(paired);
    // Other numbers: nothing is left out, and the page explains the method.
    let others = over_dac(&[1, 2, 3, 4, 5, 7]);
    assert!(
        others.contains("each layout is compared with every other"),
        "{others}"
    );
    assert!(others.contains("+103.5 ["), "{others}");
    // Without its own layouts there is no value.
    assert!(!over_dac(&[]).contains("build:dac"), "{}", over_dac(&[]));
}
