// SPDX-License-Identifier: GPL-2.0-or-later
//! Do tables, CSV and traces say what the profile document says?

use std::collections::BTreeMap;
use std::io::Read;

use experiment::Profile;

use crate::common::grouped;

/// Every operation has a row with its figures under each stack, in the order of the
/// document; `text` is a terminal's or Markdown's table with one line per operation.
#[track_caller]
pub fn assert_rows_say(text: &str, profiles: &[Profile]) {
    let mut operations: BTreeMap<String, Vec<&Profile>> = BTreeMap::new();
    for profile in profiles {
        operations.entry(profile.title()).or_default().push(profile);
    }
    for (title, profiles) in operations {
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
        for profile in profiles {
            let base = profile.baseline.as_ref().unwrap();
            let calls = profile.hooks.iter().map(|hook| hook.calls).sum();
            for figure in [
                grouped(profile.total),
                grouped(profile.hooked),
                grouped(calls),
                signed(profile.total, base.total),
                signed(profile.hooked, base.hooked),
                profile.residual.unwrap().to_string(),
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
pub fn assert_csv_says(csv: impl Read, profiles: &[Profile]) {
    let mut expected: Vec<Vec<(&str, String)>> = Vec::new();
    for profile in profiles {
        let of_profile = [
            ("kernel", profile.kernel.clone()),
            ("release", profile.release.clone()),
            ("stack", profile.stack.join(",")),
            ("active_lsms", profile.active_lsms.join(",")),
            ("filesystem", profile.filesystem.clone()),
            ("benchmark", profile.benchmark.clone()),
            ("variant", profile.variant.clone()),
            ("status", profile.status.to_string()),
        ];
        let mut row = |level: &str, rest: &[(&'static str, String)]| {
            let level = [("level", level.to_owned())];
            expected.push([&of_profile[..], &level, rest].concat());
        };
        let base = profile.baseline.as_ref().unwrap();
        row(
            "operation",
            &[
                ("total", profile.total.to_string()),
                ("rep_iterations", profile.rep_iterations.to_string()),
                ("hooked", profile.hooked.to_string()),
                ("residual", profile.residual.unwrap().to_string()),
                ("windows", profile.windows.to_string()),
                ("path_windows", profile.path_windows.to_string()),
                ("dirty", profile.dirty.to_string()),
                ("baseline_stack", base.stack.join(",")),
                ("baseline_total", base.total.to_string()),
                ("baseline_hooked", base.hooked.to_string()),
            ],
        );
        for hook in &profile.hooks {
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
pub fn assert_trace_says(text: &str, profiles: &[Profile]) {
    for profile in profiles {
        let mut counted: BTreeMap<String, u64> = BTreeMap::new();
        for hook in traced(text, &profile.title()) {
            *counted.entry(hook).or_default() += 1;
        }
        let hooks = profile.hooks.iter();
        let expected = hooks.map(|hook| (hook.hook.clone(), hook.calls)).collect();
        assert_eq!(counted, expected, "{}", profile.title());
    }
}
