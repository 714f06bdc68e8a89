// SPDX-License-Identifier: GPL-2.0-or-later
//! The golden run document as every kind of table, and documents that lie.

use experiment::{Configuration, HookCost, Implementation, Metric, Run, Status};
use proptest::prelude::*;
use report::{Layout, Options, check, csv, markdown, report, run_records, terminal};

fn golden() -> Run {
    Run::parse(include_bytes!("../../experiment/tests/golden/v1.json")).unwrap()
}

fn shown(run: &Run, details: bool, layout: Layout) -> String {
    terminal(&report(run, &Options { details }), &layout)
}

fn csv_of(run: &Run) -> String {
    let mut bytes = Vec::new();
    csv(run_records(run), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn terminal_table() {
    insta::assert_snapshot!(shown(&golden(), false, Layout::default()));
}

#[test]
fn terminal_table_in_a_narrow_window() {
    let text = shown(
        &golden(),
        false,
        Layout {
            width: Some(60),
            colour: false,
        },
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 60),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn terminal_details() {
    insta::assert_snapshot!(shown(
        &golden(),
        true,
        Layout {
            width: Some(120),
            colour: false
        }
    ));
}

#[test]
fn markdown_tables() {
    insta::assert_snapshot!(markdown(&report(&golden(), &Options { details: true })));
}

#[test]
fn csv_rows() {
    insta::assert_snapshot!(csv_of(&golden()));
}

#[test]
fn colour_only_if_asked() {
    let plain = shown(&golden(), false, Layout::default());
    let coloured = shown(
        &golden(),
        false,
        Layout {
            width: None,
            colour: true,
        },
    );
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains("\u{1b}["));
    // Colour adds nothing but colour.
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
    let mut run = golden();
    run.cells
        .retain(|cell| cell.stack.len() > 1 && cell.metric == Metric::Instructions);
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}

#[test]
fn one_stack_is_no_comparison() {
    let mut run = golden();
    run.cells
        .retain(|cell| cell.stack.len() == 1 && cell.metric == Metric::Time);
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
    let mut run = golden();
    run.cells.retain(|cell| cell.metric == Metric::Instructions);
    for cell in &mut run.cells {
        if cell.stack.len() == 1 && cell.benchmark == "open" {
            cell.unusable(Status::Failed, "");
        }
    }
    let text = shown(&run, false, Layout::default());
    assert!(text.contains("n/a  6,567"), "{text}");
    assert!(text.contains("[1] failed: no reason was given"), "{text}");
}

#[test]
fn a_throughput_that_rises_costs_less() {
    let mut run = golden();
    run.cells.retain(|cell| cell.metric == Metric::Throughput);
    let text = shown(&run, false, Layout::default());
    assert!(
        text.contains("+33.3 %") && text.contains("~+0.1 %"),
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
            cell.benchmark.clone_from(&hostile);
            cell.stack.push(hostile.clone());
            cell.active_lsms = vec![hostile.clone()];
            if cell.reason.is_some() {
                cell.reason = Some(hostile.clone());
            }
        }
        run.warnings[0].message.clone_from(&hostile);
        let options = Options { details: true };
        let made = report(&run, &options);
        let widest = made.tables.iter().map(|table| table.columns.len()).collect::<Vec<_>>();
        for text in [shown(&run, true, Layout { width: Some(80), colour: false }), markdown(&made)] {
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
            prop_assert_eq!(record.len(), 33);
            for field in &record {
                prop_assert!(!field.starts_with(['=', '@']));
            }
        }
    }

    #[test]
    fn any_width_keeps_every_figure(width in 0usize..200) {
        let text = shown(&golden(), false, Layout { width: Some(width), colour: false });
        for figure in ["4,979", "6,567", "+31.9 %", "5,386", "[2]"] {
            prop_assert!(text.contains(figure), "{figure}: {text}");
        }
    }
}

/// Without a majority the modal path says little: the median stands, with its interval.
#[test]
fn a_count_without_a_majority_is_a_median() {
    let mut run = golden();
    for cell in &mut run.cells {
        if let (Some(counts), Some(median)) = (&mut cell.counts, cell.median) {
            counts.modal.windows = 20;
            counts.modal.instructions = 1;
            cell.ci95 = Some([median - 3_000.0, median + 3_000.0]);
        }
    }
    let text = shown(&run, false, Layout::default());
    assert!(text.contains("4,979 ±3,000"), "{text}");
    assert!(text.contains("~+31.9 %  6,567 ±3,000"), "{text}");
    assert!(
        text.contains("±: no path holds half of the windows"),
        "{text}"
    );
}

#[test]
fn a_check_names_what_costs_more() {
    let found = check(&golden(), 0.1);
    assert_eq!(found.compared, 8);
    assert_eq!(
        found.worse[0],
        "open:AA/BB, debian:6.1 under capability,selinux: 6,567 instructions against 4,979 (+31.9 %)"
    );
    // AppArmor's 8 % are allowed.
    assert!(found.worse.iter().all(|line| line.contains("selinux")));
    assert_eq!(check(&golden(), 1e9).worse, [""; 0]);
}

/// The golden run on a second kernel too, whose operations take ten instructions more.
fn two_kernels() -> Run {
    let mut run = golden();
    let mut patched = run.cells.clone();
    for cell in &mut patched {
        cell.kernel = "./patched/bzImage".to_owned();
        if let Some(counts) = &mut cell.counts {
            counts.modal.instructions += 10;
        }
    }
    run.cells.extend(patched);
    run.experiment.kernels.push("./patched/bzImage".to_owned());
    run
}

#[test]
fn kernels_side_by_side() {
    let mut run = two_kernels();
    run.experiment.baseline_kernel = Some("debian:6.1".to_owned());
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
    let found = check(&run, 0.0);
    assert_eq!(
        found.worse[0],
        "open:AA/BB, ./patched/bzImage under capability: 4,989 instructions against 4,979 (+0.2 %)"
    );
}

#[test]
fn a_baseline_of_another_kernel_is_in_every_table() {
    let mut run = two_kernels();
    run.cells
        .retain(|cell| (cell.kernel == "debian:6.1") == (cell.stack == ["capability"]));
    run.experiment.configurations[0].kernel = Some("debian:6.1".to_owned());
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}

#[test]
fn orders_of_one_stack_are_compared() {
    let mut run = golden();
    let mut turned = run.cells.clone();
    turned.retain(|cell| cell.stack == ["capability", "selinux"]);
    for cell in &mut turned {
        cell.stack.reverse();
        if let Some(counts) = &mut cell.counts {
            counts.modal.instructions += u64::from(cell.benchmark == "open") * 7;
        }
    }
    run.cells.extend(turned);
    run.cells.retain(|cell| cell.metric == Metric::Instructions);
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}

#[test]
fn the_bare_framework_is_split_where_hooks_are_known() {
    let mut run = golden();
    run.cells
        .retain(|cell| cell.metric == Metric::Instructions && cell.stack == ["capability"]);
    let mut bare = run.cells.clone();
    for cell in &mut bare {
        cell.kernel = "build:dac".to_owned();
        cell.stack = vec!["none".to_owned()];
        if let Some(counts) = &mut cell.counts {
            counts.modal.instructions -= 400;
        }
    }
    for cell in run.cells.iter_mut().filter(|cell| cell.benchmark == "open") {
        cell.hooks = Some(vec![HookCost {
            called_by: Vec::new(),
            hook: "file_open".to_owned(),
            function: "security_file_open".to_owned(),
            calls: 1,
            inclusive: 350,
            exclusive: 300,
            dispatch: 310,
            outermost: 350,
            implementations: vec![Implementation {
                module: "capability".to_owned(),
                function: "cap_file_open".to_owned(),
                calls: 1,
                inclusive: 40,
            }],
        }]);
    }
    bare.extend(std::mem::take(&mut run.cells));
    run.cells = bare;
    run.experiment.kernels.insert(0, "build:dac".to_owned());
    run.experiment.configurations = vec![
        Configuration {
            kernel: Some("build:dac".to_owned()),
            ..Configuration::of_stack("none".parse().unwrap())
        },
        Configuration::of_stack("capability".parse().unwrap()),
    ];
    insta::assert_snapshot!(shown(&run, false, Layout::default()));
}
