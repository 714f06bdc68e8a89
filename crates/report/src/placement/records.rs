// SPDX-License-Identifier: GPL-2.0-or-later
//! A placement for programs: rows for modules and for hooks of system calls.

use std::slice::from_ref;

use model::PlacementDocument;
use model::placement::{
    ComparedHook, Comparison, HookPlacement, ModulePlacement, Reach, SyscallPlacement,
};

use crate::column::{Columns, Records};
use crate::format::word;

#[derive(Clone, Copy, Default)]
struct Line<'a> {
    level: &'static str,
    modules: &'a [String],
    category: Option<&'a String>,
    hooks: Option<u32>,
    unconditional: Option<u32>,
    loc: Option<u64>,
    module: Option<&'a ModulePlacement>,
    of: Option<(&'a SyscallPlacement, &'a HookPlacement)>,
    reach: Option<Reach>,
    teardown: Option<Reach>,
}

/// A row for the framework, one per module and category of its hooks, then one per system call,
/// file system and hook. Columns: `docs/export.md`.
pub fn placement_records(document: &PlacementDocument) -> Records<'_> {
    Columns::new()
        .column("version", |_: Line<'_>| &document.version)
        .column("level", |line| line.level)
        .column("module", |line| line.modules.join(","))
        .column("category", |line| line.category)
        .column("hooks", |line| line.hooks)
        .column("unconditional", |line| line.unconditional)
        .column("file_accessing", |line| Some(line.module?.file_accessing))
        .column("loc", |line| line.loc)
        .column("loc_per_hook", |line| Some(line.module?.loc_per_hook))
        .column("syscall", |line| line.of.map(|(call, _)| &call.syscall))
        .column("case", |line| line.of.map(|(call, _)| &call.case))
        .column("fs", |line| line.of.map(|(call, _)| &call.filesystem))
        .column("hook", |line| line.of.map(|(_, hook)| &hook.hook))
        .column("success_path", |line| {
            Some(line.reach?.success_path.to_string())
        })
        .column("upper_bound", |line| Some(line.reach?.max.to_string()))
        .column("teardown_success_path", |line| {
            Some(line.teardown?.success_path.to_string())
        })
        .column("teardown_upper_bound", |line| {
            Some(line.teardown?.max.to_string())
        })
        .records(lines(document))
}

fn lines(document: &PlacementDocument) -> impl Iterator<Item = Line<'_>> {
    let framework = Line {
        level: "framework",
        hooks: Some(document.framework.hooks),
        unconditional: Some(document.framework.unconditional),
        loc: Some(document.framework.loc),
        ..Line::default()
    };
    let modules = document.modules.iter().flat_map(of_module);
    let hooks = document.syscalls.iter().flat_map(|call| {
        let hooks = call.hooks.iter();
        hooks.flat_map(move |hook| of_hook(call, hook))
    });
    std::iter::once(framework).chain(modules).chain(hooks)
}

fn of_module(module: &ModulePlacement) -> impl Iterator<Item = Line<'_>> {
    let whole = Line {
        level: "module",
        modules: from_ref(&module.module),
        hooks: Some(module.hooks),
        unconditional: Some(module.unconditional),
        loc: Some(module.loc),
        module: Some(module),
        ..Line::default()
    };
    let categories = module.categories.iter().map(|(category, hooks)| Line {
        level: "category",
        modules: from_ref(&module.module),
        category: Some(category),
        hooks: Some(*hooks),
        ..Line::default()
    });
    std::iter::once(whole).chain(categories)
}

fn of_hook<'a>(
    call: &'a SyscallPlacement,
    hook: &'a HookPlacement,
) -> impl Iterator<Item = Line<'a>> {
    let own = Line {
        level: "hook",
        modules: &hook.modules,
        of: Some((call, hook)),
        reach: Some(Reach {
            success_path: hook.success_path,
            max: hook.max,
        }),
        teardown: Some(hook.teardown),
        ..Line::default()
    };
    let nested = hook.nested.iter().map(move |(modules, reach)| Line {
        level: "nested",
        modules: from_ref(modules),
        of: Some((call, hook)),
        reach: Some(*reach),
        ..Line::default()
    });
    std::iter::once(own).chain(nested)
}

/// A row per operation (`benchmark:variant`), file system and hook: calls measured, on the success
/// path and at most (empty without a bound), and how they agree. Later versions only append
/// columns.
pub fn agreement_records(comparison: &Comparison) -> Records<'_> {
    Columns::new()
        .column("operation", |hook: &ComparedHook| &hook.operation)
        .column("fs", |hook| &hook.filesystem)
        .column("hook", |hook| &hook.hook)
        .column("measured", |hook| hook.measured)
        .column("success_path", |hook| {
            (hook.success_path < u64::MAX).then_some(hook.success_path)
        })
        .column("upper_bound", |hook| hook.max)
        .column("agreement", |hook| word(hook.agreement))
        .records(&comparison.hooks)
}
