// SPDX-License-Identifier: GPL-2.0-or-later
//! What system calls can reach: the paper's Table 7.

use std::collections::BTreeMap;

use experiment::PlacementDocument;
use experiment::placement::{Count, HookPlacement, Reach, SyscallPlacement};

use super::{kernel, name, names, times, title};
use crate::format::count;
use crate::table::{Align, Column, Row, TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// What D and S are.
pub(super) const VARIABLES: &str = "D: components looked up on a path, with those in the targets of symbolic \
                         links; S: symbolic links followed on it.";

/// Columns of a file system in the overview.
const COLUMNS: usize = 5;

/// One line for each system call, file systems beside each other; None if there are none.
pub(super) fn overview(document: &PlacementDocument) -> Option<Table> {
    let mut systems: Vec<&str> = Vec::new();
    let mut rows: Vec<(String, BTreeMap<&str, &SyscallPlacement>)> = Vec::new();
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for call in &document.syscalls {
        if !systems.contains(&call.fs.as_str()) {
            systems.push(&call.fs);
        }
        let place = *places
            .entry((&call.syscall, &call.case))
            .or_insert_with(|| {
                rows.push((call.title(), BTreeMap::new()));
                rows.len() - 1
            });
        rows[place].1.insert(&call.fs, call);
    }
    if rows.is_empty() {
        return None;
    }
    let mut columns = vec![Column::new("system call", Align::Left)];
    for fs in &systems {
        let fs = (systems.len() > 1).then(|| printable(fs, TEXT_LIMIT));
        let titles: [_; COLUMNS] = ["hooks", "nominal", "at most", "teardown", "others"];
        columns.extend(titles.map(|title| Column::figures(title, fs.as_deref())));
    }
    let rows = rows
        .iter()
        .map(|(title, by_system)| {
            let mut values = vec![name(title)];
            for fs in &systems {
                match by_system.get(fs) {
                    Some(call) => values.extend(sums(call)),
                    None => values.extend((0..COLUMNS).map(|_| Value::default())),
                }
            }
            Row {
                values,
                summary: false,
            }
        })
        .collect();
    let on = match systems.as_slice() {
        [fs] => format!(", {}", printable(fs, TEXT_LIMIT)),
        _ => String::new(),
    };
    Some(Table {
        title: format!("{}{on}: calls of hooks by system call", kernel(document)),
        legend: vec![
            "hooks: different ones on the nominal path; nominal: their calls on it; at most: their \
             calls on any path; teardown: calls on the nominal path while objects are released; \
             others: hooks that are reached only on other paths, in teardown or from inside hooks. \
             --syscall NAME shows them."
                .to_owned(),
            VARIABLES.to_owned(),
        ],
        columns,
        fixed_columns: 1,
        rows,
        footnotes: Vec::new(),
    })
}

fn sums(call: &SyscallPlacement) -> [Value; COLUMNS] {
    let reach = call.reach();
    [
        Value::plain(count(u64::from(reach.hooks))),
        Value::plain(reach.nominal.to_string()),
        Value::plain(reach.max.to_string()),
        times(reach.teardown),
        Value::plain(count(u64::from(reach.reachable - reach.hooks))),
    ]
}

/// Every hook of one system call.
pub(super) fn details(document: &PlacementDocument, call: &SyscallPlacement, reach: bool) -> Table {
    let listed = |hook: &&HookPlacement| reach || is_nominal(hook);
    let hooks: Vec<&HookPlacement> = call.hooks.iter().filter(listed).collect();
    let mut columns = vec![Column::new("hook", Align::Left)];
    columns.extend(["nominal", "at most"].map(|title| Column::figures(title, None)));
    let teardown = ["nominal", "at most"];
    columns.extend(teardown.map(|title| Column::figures(title, Some("teardown"))));
    columns.push(Column::new("inside hooks", Align::Left));
    columns.push(Column::new("implemented by", Align::Left));
    let rows = hooks.iter().map(|hook| Row {
        values: vec![
            name(&hook.hook),
            times(hook.nominal),
            times(hook.max),
            times(hook.teardown.nominal),
            times(hook.teardown.max),
            Value::plain(inside(hook, reach)),
            Value::plain(names(&hook.modules)),
        ],
        summary: false,
    });
    let mut legend = vec![
        "nominal: calls on the path that the call takes if all goes well; at most: on any path; \
         teardown: while objects are released; inside hooks: calls by modules from within other \
         hooks, nominal/at most."
            .to_owned(),
        VARIABLES.to_owned(),
    ];
    let left_out = call.hooks.len() - hooks.len();
    if left_out > 0 {
        let hooks = match left_out {
            1 => "1 more hook is".to_owned(),
            n => format!("{} more hooks are", count(n as u64)),
        };
        legend.push(format!("{hooks} on other paths: --reach shows them."));
    }
    Table {
        title: format!("{}: {}", kernel(document), title(call)),
        legend,
        columns,
        fixed_columns: 1,
        rows: rows.collect(),
        footnotes: Vec::new(),
    }
}

/// Is it called on the nominal path, by whomever?
pub(super) fn is_nominal(hook: &HookPlacement) -> bool {
    let nested = hook.nested.values().map(|reach| reach.nominal);
    let mut all = nested.chain([hook.nominal, hook.teardown.nominal]);
    all.any(|count: Count| !count.is_zero())
}

/// Is what modules call from within other hooks printed?
pub(super) fn shown(nested: &Reach, reach: bool) -> bool {
    reach || !nested.nominal.is_zero()
}

/// `ima 1/2, selinux+ima 0/1`.
fn inside(hook: &HookPlacement, reach: bool) -> String {
    let texts: Vec<String> = hook
        .nested
        .iter()
        .filter(|(_, nested)| shown(nested, reach))
        .map(|(modules, reach)| format!("{modules} {}/{}", reach.nominal, reach.max))
        .collect();
    names(&texts)
}
