// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks add over several layouts of one kernel.

use experiment::{Cell, Configuration, Document, Estimate, Evidence, Key, Metric, Subject, Timed};
use report::{Layout, Options, report, terminal};

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
    let timed = Timed::of(estimate);
    Cell {
        outcome: Evidence::Timed(timed).into(),
        ..Cell::unmeasured(key)
    }
}

/// The tables of kernels with these figures without and with SELinux.
fn tables(kernels: &[(&str, f64, f64)]) -> String {
    tables_with(kernels, &Options::default())
}

fn tables_with(kernels: &[(&str, f64, f64)], options: &Options) -> String {
    let golden = include_bytes!("../../experiment/tests/golden/v1.json");
    let mut run = Document::parse(golden).unwrap();
    run.warnings.clear();
    run.cells.clear();
    for (kernel, without, with) in kernels {
        run.cells.push(cell(kernel, "capability", *without));
        run.cells.push(cell(kernel, "capability,selinux", *with));
    }
    terminal(&report(&run, options), &Layout::default())
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
    let text = tables(&kernels);
    let title = "build:um, tmpfs: nanoseconds that stacks add, over 6 layouts";
    assert!(text.starts_with(title), "{text}");
    // 80, 85, 90, 90, 95 and 100: the second smallest average is 82.5.
    let row = text
        .lines()
        .find(|line| line.starts_with("open:AA"))
        .unwrap();
    assert!(
        row.contains(" 300 ") && row.ends_with("+90 [+82.5, +97.5]"),
        "{row}"
    );
    let shown = text.lines().find(|line| line.starts_with("shown"));
    assert!(shown.unwrap().ends_with("1 of 1"), "{text}");
    // Those of each kernel are details.
    assert!(!text.contains("build:um.2"), "{text}");
    let text = tables_with(&kernels, &Options { details: true });
    assert!(text.contains("build:um.2"), "{text}");
}

#[test]
fn few_layouts_and_other_kernels_have_none() {
    let two = [("build:um.1", 300.0, 380.0), ("build:um.2", 310.0, 400.0)];
    assert!(!tables(&two).contains("layouts"));
    let series: Vec<String> = (1..7).map(|minor| format!("debian:6.{minor}")).collect();
    let series: Vec<_> = series
        .iter()
        .map(|name| (name.as_str(), 300.0, 380.0))
        .collect();
    assert!(!tables(&series).contains("layouts"));
}
