// SPDX-License-Identifier: GPL-2.0-or-later
//! Do tables, CSV and traces say what the profile document says?

use std::collections::BTreeMap;
use std::io::Read;

use model::Cell;

use super::{counted, residual};
use crate::common::grouped;

/// Every operation has a row with its figures under each stack, in the order of the
/// document; `text` is a terminal's or Markdown's table with one line per operation.
#[track_caller]
pub fn assert_rows_say(text: &str, cells: &[Cell]) {
    let mut operations: BTreeMap<String, Vec<&Cell>> = BTreeMap::new();
    for cell in cells {
        operations.entry(cell.title()).or_default().push(cell);
    }
    for (title, cells) in operations {
        let words = |line: &str| -> Vec<String> {
            let words = line.split_whitespace().filter(|word| *word != "|");
            words.map(|word| word.replace('\\', "")).collect()
        };
        let row = text
            .lines()
            .map(words)
            .find(|words| words.first() == Some(&title))
            .unwrap_or_else(|| panic!("no row {title}:\n{text}"));
        let mut rest = &row[..];
        for cell in cells {
            let path = counted(cell).1;
            let residual = residual(cell);
            let calls = path.hooks.iter().map(|hook| hook.calls).sum();
            for figure in [
                grouped(path.total),
                grouped(path.hooked),
                grouped(calls),
                signed(path.total, residual.path.total),
                signed(path.hooked, residual.path.hooked),
                residual.instructions.to_string(),
            ] {
                let at = rest.iter().position(|word| *word == figure);
                let at = at.unwrap_or_else(|| panic!("{title}: no {figure} in {rest:?}"));
                rest = &rest[at + 1..];
            }
        }
    }
}

fn signed(figure: u64, base: u64) -> String {
    match figure.cmp(&base) {
        std::cmp::Ordering::Less => format!("-{}", grouped(base - figure)),
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", grouped(figure - base)),
    }
}

/// Every operation, hook and implementation has its row, in the document's order.
#[track_caller]
pub fn assert_csv_says(csv: impl Read, cells: &[Cell]) {
    let mut expected: Vec<Vec<(&str, String)>> = Vec::new();
    for cell in cells {
        let of_cell = [
            ("kernel", cell.key.kernel.clone()),
            ("release", cell.release.clone()),
            ("stack", cell.key.stack.join(",")),
            ("active_lsms", cell.active_lsms.join(",")),
            ("filesystem", cell.key.filesystem.clone()),
            ("benchmark", cell.key.benchmark().to_owned()),
            ("variant", cell.key.variant().to_owned()),
            ("status", cell.status().to_string()),
        ];
        let mut row = |level: &str, rest: &[(&'static str, String)]| {
            let level = [("level", level.to_owned())];
            expected.push([&of_cell[..], &level, rest].concat());
        };
        let (of_cell, path) = counted(cell);
        let residual = residual(cell);
        row(
            "operation",
            &[
                ("total", path.total.to_string()),
                ("rep_iterations", path.rep_iterations.unwrap().to_string()),
                ("hooked", path.hooked.to_string()),
                ("residual", residual.instructions.to_string()),
                ("regions", of_cell.regions().to_string()),
                ("path_windows", path.regions.to_string()),
                ("dirty", of_cell.dirty().to_string()),
                ("baseline_stack", residual.stack.join(",")),
                ("baseline_total", residual.path.total.to_string()),
                ("baseline_hooked", residual.path.hooked.to_string()),
            ],
        );
        for hook in &path.hooks {
            row(
                "hook",
                &[
                    ("hook", hook.hook.clone()),
                    ("function", hook.function.clone()),
                    ("calls", hook.calls.to_string()),
                    ("inclusive", hook.inclusive.to_string()),
                    ("exclusive", hook.exclusive.to_string()),
                    ("dispatch", hook.dispatch.to_string()),
                    ("outermost", hook.outermost.to_string()),
                ],
            );
            for behind in &hook.implementations {
                row(
                    "implementation",
                    &[
                        ("hook", hook.hook.clone()),
                        ("function", behind.function.clone()),
                        ("module", behind.module.clone()),
                        ("calls", behind.calls.to_string()),
                        ("inclusive", behind.inclusive.to_string()),
                    ],
                );
            }
        }
    }
    let mut reader = csv::Reader::from_reader(csv);
    let columns = reader.headers().unwrap().clone();
    let mut rows = 0;
    for (row, expected) in reader.records().map(Result::unwrap).zip(&expected) {
        for (column, field) in columns.iter().zip(&row) {
            let wanted = expected.iter().find(|(name, _)| *name == column);
            let wanted = wanted.map_or("", |(_, wanted)| wanted);
            assert_eq!(field, wanted, "{column}: {row:?}");
        }
        rows += 1;
    }
    assert_eq!(rows, expected.len());
}

/// The hooks that a trace shows for an operation, in order.
#[track_caller]
pub fn traced(text: &str, title: &str) -> Vec<String> {
    let heading = format!("{title}: ");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&heading));
    assert!(lines.next().is_some(), "no {title}:\n{text}");
    let mut hooks = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|word| word.parse::<usize>().ok());
        // Without a number it goes on with the callers.
        let (Some(number), Some(hook)) = (number, words.next()) else {
            continue;
        };
        assert_eq!(number, hooks.len() + 1, "{line}");
        let times = words.next().and_then(|word| word.strip_prefix('×'));
        let times = times.map_or(1, |times| times.parse().unwrap());
        hooks.extend(std::iter::repeat_n(hook.to_owned(), times));
    }
    hooks
}

/// The trace of every operation has the calls that its profile counts.
#[track_caller]
pub fn assert_trace_says(text: &str, cells: &[Cell]) {
    for cell in cells {
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        for hook in traced(text, &cell.title()) {
            *calls.entry(hook).or_default() += 1;
        }
        let hooks = counted(cell).1.hooks.iter();
        let expected = hooks.map(|hook| (hook.hook.clone(), hook.calls)).collect();
        assert_eq!(calls, expected, "{}", cell.title());
    }
}
