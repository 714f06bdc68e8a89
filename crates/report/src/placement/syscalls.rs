// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that system calls can reach: the paper's Table 7.

use std::collections::BTreeSet;

use model::PlacementDocument;
use model::placement::{Count, HookPlacement, ModulePlacement, Reach, SyscallPlacement};

use super::{kernel, names, times, title};
use crate::column::Columns;
use crate::format::count;
use crate::group::grouped;
use crate::table::{Table, Value};
use crate::text::short;

pub(super) const VARIABLES: &str = "D: components looked up on a path, including those in targets \
                                    of symbolic links; S: symbolic links followed on it.";

pub(super) fn overview(document: &PlacementDocument) -> Option<Table> {
    let systems = grouped(&document.syscalls, |call| call.filesystem.as_str());
    let rows = grouped(&document.syscalls, |call| (&call.syscall, &call.case));
    let rows: Vec<_> = rows.into_iter().map(|(_, calls)| calls).collect();
    if rows.is_empty() {
        return None;
    }
    type Line<'a> = &'a Vec<&'a SyscallPlacement>;
    let mut columns = Columns::new().left("system call", |calls: Line<'_>| {
        Some(calls.first()?.title())
    });
    for &(fs, _) in &systems {
        let group = (systems.len() > 1).then(|| short(fs));
        let group = group.as_deref();
        let sums = Columns::new()
            .grouped(group, "hooks", |sums: Option<Sums>| Some(sums?.hooks))
            .grouped(group, "success path", |sums| Some(sums?.success_path))
            .grouped(group, "at most", |sums| Some(sums?.max))
            .grouped(group, "teardown", |sums| Some(times(sums?.teardown)))
            .grouped(group, "others", |sums| Some(sums?.reachable - sums?.hooks));
        columns = columns.all(sums, move |calls: Line<'_>| {
            let call = calls.iter().rev().find(|call| call.filesystem == fs);
            call.map(|call| Sums::new(call))
        });
    }
    let on = match systems.as_slice() {
        [(fs, _)] => format!(", {}", short(fs)),
        _ => String::new(),
    };
    let title = format!("{}{on}: calls of hooks by system call", kernel(document));
    Some(columns.table(title, &rows).legend([
        "hooks: different hooks on the success path; success path: their calls on it; at most: their \
         calls on any path; teardown: calls on the success path while objects are released; \
         others: hooks reached only on other paths, in teardown or from inside hooks. \
         --syscall NAME shows them.",
        VARIABLES,
    ]))
}

#[derive(Clone, Copy, Default)]
struct Sums {
    hooks: usize,
    reachable: usize,
    success_path: Count,
    max: Count,
    teardown: Count,
}

impl Sums {
    fn new(call: &SyscallPlacement) -> Sums {
        let mut sums = Sums {
            reachable: call.hooks.len(),
            ..Sums::default()
        };
        for hook in &call.hooks {
            sums.teardown = sums.teardown.plus(hook.teardown.success_path);
            if !hook.success_path.is_zero() {
                sums.hooks += 1;
                sums.success_path = sums.success_path.plus(hook.success_path);
                sums.max = sums.max.plus(hook.max);
            }
        }
        sums
    }
}

pub(super) fn details(document: &PlacementDocument, call: &SyscallPlacement, reach: bool) -> Table {
    let listed = |hook: &&HookPlacement| reach || is_nominal(hook);
    let hooks: Vec<&HookPlacement> = call.hooks.iter().filter(listed).collect();
    let left_out = match call.hooks.len() - hooks.len() {
        0 => String::new(),
        1 => "1 more hook is on other paths: --reach shows it.".to_owned(),
        n => format!(
            "{} more hooks are on other paths: --reach shows them.",
            count(n as u64)
        ),
    };
    let teardown = Some("teardown");
    Columns::new()
        .left("hook", |hook: &HookPlacement| &hook.hook)
        .right("success path", |hook| times(hook.success_path))
        .right("at most", |hook| times(hook.max))
        .grouped(teardown, "success path", |hook| {
            times(hook.teardown.success_path)
        })
        .grouped(teardown, "at most", |hook| times(hook.teardown.max))
        .left("inside hooks", move |hook| inside(hook, reach))
        .left("implemented by", |hook| names(&hook.modules))
        .table(title(document, call), hooks)
        .legend([
            "success path: calls if the system call succeeds; at most: on any \
             path; teardown: while objects are released; inside hooks: calls by modules from \
             within other hooks, success_path/at most.",
            VARIABLES,
            &left_out,
        ])
}

pub(super) fn is_nominal(hook: &HookPlacement) -> bool {
    let nested = hook.nested.values().map(|reach| reach.success_path);
    let mut all = nested.chain([hook.success_path, hook.teardown.success_path]);
    all.any(|count: Count| !count.is_zero())
}

pub(super) fn shown(nested: &Reach, reach: bool) -> bool {
    reach || !nested.success_path.is_zero()
}

fn inside(hook: &HookPlacement, reach: bool) -> Value {
    let nested = hook
        .nested
        .iter()
        .filter(|(_, nested)| shown(nested, reach));
    let text = |(modules, reach): (&String, &Reach)| {
        format!("{modules} {}/{}", reach.success_path, reach.max)
    };
    names(&nested.map(text).collect::<Vec<_>>())
}

pub(super) fn modules(document: &PlacementDocument) -> Table {
    let framework = &document.framework;
    let sum = vec![
        Value::plain("framework"),
        number(framework.hooks).into(),
        number(framework.unconditional).into(),
        Value::default(),
        framework.loc.into(),
    ];
    let direct = document.modules.iter().any(|module| module.direct);
    let direct =
        direct.then_some("*: called directly, without the framework: functions, not hooks.");
    Columns::new()
        .left("module", |module: &ModulePlacement| {
            Value::plain(heading(module))
        })
        .column("hooks", |module| number(module.hooks))
        .column("general", |module| number(module.unconditional))
        .column("file accessing", |module| number(module.file_accessing))
        .column("lines", |module| module.loc)
        .column("lines per hook", |module| module.loc_per_hook.round())
        .summed_up(
            format!("{}: hooks by module", kernel(document)),
            &document.modules,
            [sum],
        )
        .legend([
            "general: hooks outside every #if; file accessing: hooks on inodes, dentries, files, \
             superblocks, paths and bprm; lines: of code, without blank lines and comments; for \
             the framework, those of all of security/.",
        ])
        .legend(direct)
}

pub(super) fn categories(document: &PlacementDocument) -> Option<Table> {
    let modules = || document.modules.iter();
    let all: BTreeSet<&String> = modules()
        .flat_map(|module| module.categories.keys())
        .collect();
    let mut columns = Columns::new().left("category", |category: &String| category);
    for module in modules() {
        columns = columns.column(heading(module), move |category| {
            number(*module.categories.get(category)?)
        });
    }
    let sum = |title: &str, figures: fn(&ModulePlacement) -> u32| {
        let figures = modules().map(|module| number(figures(module)).into());
        [Value::plain(title)].into_iter().chain(figures).collect()
    };
    let sums = [
        sum("file accessing", |module| module.file_accessing),
        sum("all", |module| module.hooks),
    ];
    let title = format!("{}: hooks by category and module", kernel(document));
    (!all.is_empty()).then(|| columns.summed_up(title, all, sums))
}

fn heading(module: &ModulePlacement) -> String {
    let mark = if module.direct { "*" } else { "" };
    format!("{}{mark}", short(&module.module))
}

fn number(value: u32) -> Option<u32> {
    Some(value).filter(|value| *value != 0)
}
