// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden run as every kind of table, and contradictory result files.

use crate::hooked::{implementation, path};
use compare::Named;
use model::{
    Cell, Configuration, Document, Experiment, HookCost, Key, Metric, Outcome, Paths, Policy,
    Status, Subject, comparison::GateVerdict,
};
use proptest::prelude::*;
use report::{Layout, markdown, report, run_records, terminal};

fn golden() -> Document {
    Document::parse(include_bytes!("../../../model/tests/golden/run.json")).unwrap()
}

fn shown(run: &Document, details: bool, layout: Layout) -> String {
    terminal(&report(run, details), &layout)
}

fn wide(width: usize) -> Layout {
    Layout {
        width: Some(width),
        colour: false,
    }
}

/// The golden run's measurements of one metric.
fn of_metric(metric: Metric) -> Document {
    let mut run = golden();
    run.cells.retain(|cell| cell.key.metric == metric);
    run
}

fn csv_of(run: &Document) -> String {
    crate::written(run_records(run))
}

#[test]
fn terminal_table() {
    insta::assert_snapshot!(shown(&golden(), false, Layout::default()));
}

#[test]
fn terminal_table_in_a_narrow_window() {
    let text = shown(&golden(), false, wide(60));
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn captions_name_the_policies_of_lsmeter() {
    let mut run = golden();
    for cell in &mut run.cells {
        cell.active_lsms = ["capability", "tomoyo"].map(str::to_owned).to_vec();
        cell.key.policy = Policy::None;
    }
    let named = "enforcing: lsmeter's own policies for tomoyo";
    assert!(!shown(&run, false, Layout::default()).contains(named));
    for cell in &mut run.cells {
        cell.key.policy = Policy::Enforcing;
    }
    let text = shown(&run, false, Layout::default());
    assert!(text.contains(named), "{text}");
}

#[test]
fn terminal_details() {
    insta::assert_snapshot!(shown(&golden(), true, wide(120)));
}

#[test]
fn csv_rows() {
    insta::assert_snapshot!(csv_of(&golden()));
}

#[test]
fn colour_only_if_asked() {
    let plain = shown(&golden(), false, Layout::default());
    let colour = Layout {
        width: None,
        colour: true,
    };
    let coloured = shown(&golden(), false, colour);
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}["));
    // Without colours, the text is the same.
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        stripped += &rest[..at];
        rest = &rest[at..];
        rest = &rest[rest.find('m').unwrap() + 1..];
    }
    stripped += rest;
    let squeeze = |text: &str| {
        text.lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_eq!(squeeze(&stripped), squeeze(&plain));
}

#[test]
fn a_run_without_its_baseline_shows_plain_figures() {
    let mut run = of_metric(Metric::Instructions);
    run.cells.retain(|cell| cell.key.stack.len() > 1);
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}

#[test]
fn one_stack_is_no_comparison() {
    let mut run = of_metric(Metric::Time);
    run.cells.retain(|cell| cell.key.stack.len() == 1);
    let text = shown(&run, false, Layout::default());
    assert!(
        !text.contains("geometric mean") && !text.contains("baseline"),
        "{text}"
    );
}

#[test]
fn no_cells_are_no_tables() {
    let mut run = golden();
    run.cells.clear();
    run.warnings.clear();
    assert_eq!(shown(&run, true, Layout::default()), "");
    assert_eq!(csv_of(&run).lines().count(), 1);
}

#[test]
fn a_failed_baseline_leaves_the_figures() {
    let mut run = of_metric(Metric::Instructions);
    for cell in &mut run.cells {
        if cell.key.stack.len() == 1 && cell.key.benchmark() == "open" {
            cell.outcome = Outcome::without(Status::Failed, "");
        }
    }
    let text = shown(&run, false, Layout::default());
    assert!(text.contains("n/a  6,567"), "{text}");
    assert!(text.contains("[1] failed: unknown reason"), "{text}");
}

#[test]
fn a_throughput_that_rises_costs_less() {
    let text = shown(&of_metric(Metric::Throughput), false, Layout::default());
    assert!(
        text.contains("+33.3 %") && text.contains("  ~  2,478,911"),
        "{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_lying_document_cannot_draw(hostile in "\\PC{0,12}|[\\x00-\\x7f|`<]{0,300}|\u{1b}\\[2J.*") {
        let mut run = golden();
        for cell in &mut run.cells {
            cell.release.clone_from(&hostile);
            cell.key.subject = Subject::benchmark(hostile.clone(), cell.key.variant());
            cell.key.stack.push(hostile.clone());
            cell.active_lsms = vec![hostile.clone()];
            if cell.reason().is_some() {
                cell.outcome = Outcome::without(cell.status(), hostile.clone());
            }
        }
        run.warnings[0].message.clone_from(&hostile);
        let made = report(&run, true);
        let widest = made.tables.iter().map(|table| table.columns.len()).collect::<Vec<_>>();
        for text in [shown(&run, true, wide(80)), markdown(&made)] {
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        }
        // No row gains or loses a column.
        let rows = markdown(&made);
        let mut tables = widest.iter();
        let mut inside = false;
        let mut columns = 0;
        for line in rows.lines() {
            if line.starts_with("| ") {
                if !inside {
                    columns = *tables.next().unwrap();
                }
                let bars = line.replace("\\\\", "").replace("\\|", "").matches('|').count();
                prop_assert_eq!(bars, columns + 1, "{}", line);
            }
            inside = line.starts_with("| ");
        }
        let csv = csv_of(&run);
        for record in ::csv::Reader::from_reader(csv.as_bytes()).records() {
            let record = record.unwrap();
            prop_assert_eq!(record.len(), 35);
            for field in &record {
                prop_assert!(!field.starts_with(['=', '@']));
            }
        }
    }
}

/// Without a majority, the dominant path represents little: the value is the median, with its
/// interval.
#[test]
fn a_count_without_a_majority_is_a_median() {
    let mut run = golden();
    for cell in &mut run.cells {
        let Some(counted) = cell.counted_mut() else {
            continue;
        };
        let (Some(paths), Some(estimate)) = (&mut counted.paths, &mut counted.estimate) else {
            continue;
        };
        paths.dominant.regions = 20;
        paths.dominant.instructions = 1;
        estimate.ci95 = Some([estimate.median - 3_000.0, estimate.median + 3_000.0]);
    }
    let text = shown(&run, false, Layout::default());
    assert!(text.contains("4,979 ±3,000"), "{text}");
    assert!(
        text.contains("~  6,567 ±3,000") && !text.contains("31.9 %"),
        "{text}"
    );
    assert!(text.contains("±: no dominant path"), "{text}");
}

/// Number of measurements with a baseline, of regressions beyond the limit, and of possible
/// regressions.
fn check(run: &Document, allowed: &str) -> (usize, Vec<String>, Vec<String>) {
    let options = compare::Options {
        budget: Some(compare::Budget::of_all(allowed).unwrap()),
        ..compare::Options::default()
    };
    let name = "the run";
    let found = compare::with_baselines(
        Named {
            name,
            document: run,
        },
        &options,
    );
    let lines = |verdict| {
        let cells = found.compared.iter();
        let judged = cells.filter_map(|cell| Some((cell, cell.gate.as_ref()?)));
        let judged = judged.filter(|(_, gate)| gate.verdict == verdict);
        let line = judged.map(|(cell, gate)| {
            let on = cell.place.title();
            format!("{} on {on}: {}", cell.title(), gate.message)
        });
        line.collect()
    };
    (
        found.compared.len(),
        lines(GateVerdict::Fail),
        lines(GateVerdict::Inconclusive),
    )
}

#[test]
fn a_check_names_what_costs_more() {
    let (compared, worse, unclear) = check(&golden(), "10%");
    assert_eq!(compared, 8);
    assert!(worse[0].starts_with("open:AA/BB on "), "{worse:?}");
    // AppArmor's 8 % are allowed.
    assert!(worse.iter().all(|line| line.contains("selinux")));
    insta::assert_snapshot!(unclear.join("\n"));
    assert_eq!(check(&golden(), "10000%").1, [""; 0]);
}

/// The experiment of a run.
fn asked(run: &mut Document) -> &mut Experiment {
    run.experiment.as_mut().unwrap()
}

/// Changes the count of a measurement.
fn recount(cell: &mut Cell, change: impl Fn(&Key, &mut u64)) {
    let key = cell.key.clone();
    let paths = |cell| Cell::counted_mut(cell)?.paths.as_mut();
    if let Some(Paths { dominant, .. }) = paths(cell) {
        change(&key, &mut dominant.instructions);
    }
}

/// The golden run on a second kernel, with ten instructions more per operation.
fn two_kernels() -> Document {
    let mut run = golden();
    let mut patched = run.cells.clone();
    for cell in &mut patched {
        cell.key.kernel = "./patched/bzImage".to_owned();
        recount(cell, |_, instructions| *instructions += 10);
    }
    run.cells.extend(patched);
    asked(&mut run).kernels.push("./patched/bzImage".to_owned());
    run
}

#[test]
fn kernels_side_by_side() {
    let mut run = two_kernels();
    asked(&mut run).baseline_kernel = Some("debian:6.1".to_owned());
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
    let (_, worse, _) = check(&run, "0%");
    assert_eq!(
        worse[0],
        "open:AA/BB on ./patched/bzImage, capability, tmpfs: worse by +0.20 %, more than 0 %"
    );
}

#[test]
fn a_baseline_of_another_kernel_is_in_every_table() {
    let mut run = two_kernels();
    run.cells
        .retain(|cell| (cell.key.kernel == "debian:6.1") == (cell.key.stack == ["capability"]));
    asked(&mut run).configurations[0].kernel = Some("debian:6.1".to_owned());
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}

#[test]
fn orders_of_one_stack_are_compared() {
    let mut run = golden();
    let mut turned = run.cells.clone();
    turned.retain(|cell| cell.key.stack == ["capability", "selinux"]);
    for cell in &mut turned {
        cell.key.stack.reverse();
        recount(cell, |key, instructions| {
            *instructions += u64::from(key.benchmark() == "open") * 7;
        });
    }
    run.cells.extend(turned);
    run.cells
        .retain(|cell| cell.key.metric == Metric::Instructions);
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}

#[test]
fn the_bare_framework_is_split_where_hooks_are_known() {
    let mut run = of_metric(Metric::Instructions);
    run.cells.retain(|cell| cell.key.stack == ["capability"]);
    let mut bare = run.cells.clone();
    for cell in &mut bare {
        cell.key.kernel = "build:dac".to_owned();
        cell.key.stack = vec!["none".to_owned()];
        recount(cell, |_, instructions| *instructions -= 400);
    }
    let open = |cell: &&mut Cell| cell.key.benchmark() == "open";
    for cell in run.cells.iter_mut().filter(open) {
        let hook = HookCost {
            hook: "file_open".to_owned(),
            function: "security_file_open".to_owned(),
            calls: 1,
            dispatch: 310,
            outermost: 350,
            implementations: vec![implementation("capability", "cap_file_open", 1, 40)],
            ..HookCost::default()
        };
        cell.counted_mut().unwrap().hooked = Some(path(vec![hook]));
    }
    bare.extend(std::mem::take(&mut run.cells));
    run.cells = bare;
    asked(&mut run).kernels.insert(0, "build:dac".to_owned());
    asked(&mut run).configurations = vec![
        Configuration {
            kernel: Some("build:dac".to_owned()),
            ..Configuration::of_stack("none".parse().unwrap())
        },
        Configuration::of_stack("capability".parse().unwrap()),
    ];
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}
