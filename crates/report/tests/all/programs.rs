// SPDX-License-Identifier: GPL-2.0-or-later
//! Tables of whole programs, from the document of `docs/results/workloads.md`.

use std::path::Path;

use model::{Cell, DifferingHook, Document, Evidence, Outcome, Program};
use report::{Options, markdown, report};

fn make_noop() -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/make-noop.json.xz");
    Document::parse(&testing::unpack(&std::fs::read(path).unwrap())).unwrap()
}

/// The rows of the tables with a title that begins so, a group's after the other's; the first is the
/// headings.
fn rows(document: &Document, title: &str, details: bool) -> Vec<Vec<String>> {
    let text = markdown(&report(
        document,
        &Options {
            details,
            ..Options::default()
        },
    ));
    let begin = format!("**{title}");
    let tables = text.split(&begin).skip(1);
    tables
        .flat_map(|table| {
            let rows = table.lines().skip_while(|line| !line.starts_with('|'));
            rows.take_while(|line| line.starts_with('|'))
        })
        .filter(|row| !row.starts_with("| -"))
        .map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// The rows of the table of hooks.
fn hooks(document: &Document, details: bool) -> Vec<Vec<String>> {
    let rows = rows(document, "What hooks add to programs: ", details).into_iter();
    rows.filter(|row| row[1] != "program").collect()
}

fn number(text: &str) -> i64 {
    text.replace(',', "").parse().unwrap()
}

#[test]
fn hooks_add_up_to_what_all_add() {
    let document = make_noop();
    let rows = hooks(&document, true);
    let hooked = |cell: &Cell| {
        let counted = cell.counted().unwrap();
        i64::try_from(counted.hooked.as_ref().unwrap().hooked).unwrap()
    };
    let base = |cell: &Cell| {
        let of_kernel = |other: &&Cell| {
            other.key.kernel == cell.key.kernel && other.key.stack == ["capability"]
        };
        hooked(document.cells.iter().find(of_kernel).unwrap())
    };
    let cells = document.cells.iter();
    let adds: i64 = cells.map(|cell| hooked(cell) - base(cell)).sum();
    let told: i64 = rows.iter().map(|row| number(&row[4])).sum();
    assert_eq!(told, adds);
    assert!(rows.iter().all(|row| number(&row[4]) != 0));
    // Without details only those that differ most.
    assert!(hooks(&document, false).len() < rows.len());
    let first = &rows[0];
    assert_eq!(
        (first[3].as_str(), first[6].as_str()),
        ("inode\\_permission", "selinux")
    );
}

#[test]
fn what_runs_differ_in_is_told() {
    let mut document = make_noop();
    let title = "Hooks that runs differ in: ";
    for cell in &mut document.cells {
        if let Outcome::Ok {
            evidence: Evidence::Counted(counted),
        } = &mut cell.outcome
        {
            let program = counted.program.as_mut().unwrap();
            program.same_hooks = true;
            program.differing = Vec::new();
        }
    }
    assert!(rows(&document, title, true).is_empty());
    let differing = |hook: &str, instructions_max| DifferingHook {
        hook: hook.to_owned(),
        calls_min: 40,
        calls_max: 44,
        instructions_min: 1_000,
        instructions_max,
    };
    if let Outcome::Ok {
        evidence: Evidence::Counted(counted),
    } = &mut document.cells[0].outcome
    {
        let program = counted.program.as_mut().unwrap();
        program.same_hooks = false;
        program.differing = vec![
            differing("file_permission", 1_002),
            differing("socket_recvmsg", 1_100),
        ];
    }
    let rows = rows(&document, title, false);
    assert_eq!(rows.len(), 3);
    assert_eq!(
        rows[1][3..8],
        ["socket\\_recvmsg", "40", "44", "1,000", "1,100"]
    );
}

#[test]
fn residuals_tell_what_is_explained() {
    let mut document = make_noop();
    let column = |document: &Document, title, heading: &str| {
        let rows = rows(document, title, true);
        rows[0].iter().position(|cell| cell == heading)
    };
    let totals = "What totals differ by: ";
    let text = |document: &Document| {
        markdown(&report(
            document,
            &Options {
                details: true,
                ..Options::default()
            },
        ))
    };
    let at = column(&document, totals, "explained").unwrap();
    let rows = rows(&document, totals, true);
    let program = |cell: &Cell| cell.counted().unwrap().program.clone().unwrap();
    let residuals: Vec<_> = document
        .cells
        .iter()
        .filter_map(|cell| program(cell).residual)
        .collect();
    let told = rows.iter().filter(|row| row[1] != "program");
    let told: Vec<_> = told
        .map(|row| (number(&row[at]), number(&row[at + 1])))
        .collect();
    let expected = residuals
        .iter()
        .map(|of| (of.explained, i64::try_from(of.unexplained).unwrap()));
    assert_eq!(told, expected.collect::<Vec<_>>());
    // The functions that hold the most are in a footnote, with what explains them.
    let largest = &residuals[0].functions[0];
    let name = largest.function.replace('_', "\\_");
    assert!(text(&document).contains(&name), "{}", text(&document));

    // Compared with something else it is not told.
    let change = |document: &mut Document, to: &dyn Fn(&mut Program)| {
        for cell in &mut document.cells {
            if let Outcome::Ok {
                evidence: Evidence::Counted(counted),
            } = &mut cell.outcome
            {
                counted.program.as_mut().map(to);
            }
        }
    };
    let mut other = document.clone();
    change(&mut other, &|program| {
        if let Some(residual) = &mut program.residual {
            residual.instructions += 1;
        }
    });
    assert_eq!(column(&other, totals, "explained"), None);
    // Nor in documents that do not have it.
    change(&mut document, &|program| program.residual = None);
    assert_eq!(column(&document, totals, "explained"), None);
    assert_eq!(
        column(&document, "What programs cost: ", "not explained"),
        None
    );
    assert!(column(&document, "What programs cost: ", "residual").is_some());
}
