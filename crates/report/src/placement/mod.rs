// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that system calls can reach, as tables and CSV.

mod agreement;
mod checks;
mod difference;
mod explained;
mod syscalls;

use std::slice::from_ref;

use model::PlacementDocument;
use model::placement::{
    ComparedHook, Comparison, Count, HookPlacement, ModulePlacement, NameChanges, Reach,
    SyscallPlacement, TraceEntry,
};

use crate::column::{Columns, Records};
use crate::format::{count, share, word};
use crate::table::{Report, Table, Value};
use crate::text::short;

pub use agreement::agreement_report;
pub use checks::{ChecksOptions, checks_records, checks_report};
pub use difference::{DifferenceOptions, difference_records, difference_report};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlacementOptions {
    pub details: bool,
    pub reach: bool,
    pub trace: bool,
    pub explain: bool,
}

pub fn placement_report(document: &PlacementDocument, options: &PlacementOptions) -> Report {
    let mut tables = Vec::new();
    if options.details {
        for call in &document.syscalls {
            tables.push(syscalls::details(document, call, options.reach));
            let trace = options.trace;
            tables.extend(explained::causes(document, call, options.reach, trace));
        }
    } else {
        tables.push(syscalls::modules(document));
        tables.extend(syscalls::categories(document));
        tables.extend(syscalls::overview(document));
    }
    if options.trace {
        let calls = document.syscalls.iter();
        tables.extend(calls.filter_map(|call| trace(document, call)));
    }
    if options.explain {
        tables.extend(explained::tables(document));
    }
    let (unparsed, reachable) = (
        document.unparsed.len() as u64,
        document.coverage.reachable as u64,
    );
    let warning = (unparsed > 0 && !options.explain).then(|| {
        format!(
            "{} of {} functions between system calls and hooks did not parse in full ({}): hooks \
             may be missing. Advice: --explain lists these functions.",
            count(unparsed),
            count(reachable),
            share(unparsed, reachable).unwrap_or_default()
        )
    });
    Report::new([tables], Vec::from_iter(warning))
}

fn kernel(document: &PlacementDocument) -> String {
    format!("Linux {}", short(&document.version))
}

/// `Linux 6.12.118: open (missing) on ext4`.
fn title(document: &PlacementDocument, call: &SyscallPlacement) -> String {
    format!(
        "{}: {}",
        kernel(document),
        on(&call.title(), &call.filesystem)
    )
}

fn on(call: &str, filesystem: &str) -> String {
    let [call, filesystem] = [call, filesystem].map(short);
    format!("{call} on {filesystem}")
}

fn names(texts: &[String]) -> Value {
    Value::long(&texts.join(", "), 200)
}

/// `+new_hook, -old_hook`.
fn renamed(changes: &NameChanges) -> Value {
    let signed = |sign: char| move |name: &String| format!("{sign}{name}");
    let added = changes.added.iter().map(signed('+'));
    let removed = changes.removed.iter().map(signed('-'));
    names(&added.chain(removed).collect::<Vec<_>>())
}

fn calls(calls: &[String]) -> Value {
    Value::long(&calls.join(" > "), 400)
}

/// Empty for 0, so that other counts stand out.
fn times(count: Count) -> Value {
    match count.is_zero() {
        true => Value::default(),
        false => Value::plain(count.to_string()),
    }
}

pub(super) fn trace(document: &PlacementDocument, call: &SyscallPlacement) -> Option<Table> {
    let title = title(document, call);
    Columns::new()
        .right("", |(number, _): (usize, &TraceEntry)| number.to_string())
        .left("hook", |(_, entry)| &entry.hook)
        .right("times", |(_, entry)| {
            (entry.times != Count::ONE).then(|| format!("×{}", entry.times))
        })
        .left("when", |(_, entry)| Value::plain(remark(entry)))
        .left("called by", |(_, entry)| calls(&entry.calls))
        .table(
            format!("{title}: hooks in the order of their calls"),
            (1..).zip(&call.trace),
        )
        .fixed(2)
        .if_any()
}

/// `teardown`, `within ima`.
fn remark(entry: &TraceEntry) -> String {
    let within = (!entry.modules.is_empty()).then(|| names(&entry.modules).text());
    let within = within.map(|modules| format!("within {modules}"));
    let teardown = entry.teardown.then(|| "teardown".to_owned());
    Vec::from_iter(teardown.into_iter().chain(within)).join(", ")
}

#[derive(Clone, Copy, Default)]
struct Line<'a> {
    level: &'static str,
    modules: &'a [String],
    category: Option<&'a String>,
    hooks: Option<u32>,
    unconditional: Option<u32>,
    loc: Option<u64>,
    module: Option<&'a ModulePlacement>,
    pair: Option<(&'a SyscallPlacement, &'a HookPlacement)>,
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
        .column("syscall", |line| line.pair.map(|(call, _)| &call.syscall))
        .column("case", |line| line.pair.map(|(call, _)| &call.case))
        .column("fs", |line| line.pair.map(|(call, _)| &call.filesystem))
        .column("hook", |line| line.pair.map(|(_, hook)| &hook.hook))
        .column("success_path", |line| Some(line.reach?.success_path))
        .column("upper_bound", |line| Some(line.reach?.max))
        .column("teardown_success_path", |line| {
            Some(line.teardown?.success_path)
        })
        .column("teardown_upper_bound", |line| Some(line.teardown?.max))
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
    let modules = document.modules.iter().flat_map(module_lines);
    let hooks = document.syscalls.iter().flat_map(|call| {
        let hooks = call.hooks.iter();
        hooks.flat_map(move |hook| hook_lines(call, hook))
    });
    std::iter::once(framework).chain(modules).chain(hooks)
}

fn module_lines(module: &ModulePlacement) -> impl Iterator<Item = Line<'_>> {
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

fn hook_lines<'a>(
    call: &'a SyscallPlacement,
    hook: &'a HookPlacement,
) -> impl Iterator<Item = Line<'a>> {
    let own = Line {
        level: "hook",
        modules: &hook.modules,
        pair: Some((call, hook)),
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
        pair: Some((call, hook)),
        reach: Some(*reach),
        ..Line::default()
    });
    std::iter::once(own).chain(nested)
}

/// A row per operation (`benchmark:variant`), file system and hook: the measured calls, those on
/// the success path, and their upper bound (empty if there is none), and how they agree. Later
/// versions only append columns.
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
