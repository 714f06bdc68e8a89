// SPDX-License-Identifier: GPL-2.0-or-later
//! Differences between two placements, for reviewers of a patch.

use model::placement::{
    HookChange, HookDifference, HookPart, ModuleDifference, PlacementDifference, PlacementSide,
    Side, SyscallDifference,
};

use super::{calls, names, on, renamed, times};
use crate::column::{Columns, Records};
use crate::format::{count, difference as signed, word};
use crate::table::{Report, Table, Tone, Value};
use crate::text::short;

const NAMED: usize = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DifferenceOptions {
    /// Also show hooks that differ only in their upper bound, or only off the success path.
    pub reach: bool,
    pub trace: bool,
}

pub fn difference_report(document: &PlacementDifference, options: &DifferenceOptions) -> Report {
    let strings = options.trace.then(|| call_strings(document)).flatten();
    let changes = changes(document, options);
    let tables = [Some(sides(document)), modules(document), changes, strings];
    Report::new(tables, Vec::new())
}

fn sides(document: &PlacementDifference) -> Table {
    let (before, after) = (&document.before, &document.after);
    let hooks = i128::from(after.hooks) - i128::from(before.hooks);
    let lines = i128::from(after.loc) - i128::from(before.loc);
    let change = vec![
        Value::plain("change"),
        Value::default(),
        Value::plain(signed(hooks)),
        Value::plain(signed(lines)),
        renamed(&document.framework),
    ];
    let versions = [before, after].map(|side| short(&side.version));
    let versions = match before.version == after.version {
        true => format!("{}, two trees", versions[0]),
        false => versions.join(" and "),
    };
    let title = format!("Linux {versions}: hooks and their callers");
    Columns::new()
        .left("", |(what, _): (&str, &PlacementSide)| what)
        .left("version", |(_, side)| &side.version)
        .column("hooks", |(_, side)| side.hooks)
        .column("lines", |(_, side)| side.loc)
        .left("tree", |(_, side)| Value::long(&side.tree, 200))
        .summed_up(title, [("before", before), ("after", after)], [change])
        .legend([answer(document)])
        .legend(only(document))
}

fn answer(document: &PlacementDifference) -> String {
    let compared = count(u64::from(document.compared));
    let asking: Vec<String> = document.asking_more().map(title).collect();
    if asking.is_empty() {
        return format!(
            "No system call gains a hook call on its success path ({compared} compared)."
        );
    }
    let more = match asking.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    format!(
        "{} of {compared} system calls gain hook calls on their success path: {}{more}.",
        count(asking.len() as u64),
        asking[..asking.len().min(NAMED)].join(", ")
    )
}

fn only(document: &PlacementDifference) -> Vec<String> {
    let only = |side: Side| {
        let calls = document.changes.iter();
        let its = calls.filter(|call| call.only == Some(side)).map(title);
        let its: Vec<String> = its.collect();
        (!its.is_empty()).then(|| format!("Only {}: {}.", word(side), names(&its).text()))
    };
    [Side::Before, Side::After]
        .map(only)
        .into_iter()
        .flatten()
        .collect()
}

fn title(call: &SyscallDifference) -> String {
    on(&call.title(), &call.filesystem)
}

fn modules(document: &PlacementDifference) -> Option<Table> {
    let hooks = Some("hooks");
    Columns::new()
        .left("module", |module: &ModuleDifference| &module.module)
        .grouped(hooks, "before", |module| module.hooks_before)
        .grouped(hooks, "after", |module| module.hooks_after)
        .right("lines", |module| {
            let [before, after] = module.loc.map(i128::from);
            Value::plain(signed(after - before))
        })
        .left("implements", |module| renamed(&module.implements))
        .table("Modules that differ", &document.modules)
        .if_any()
}

fn part(part: &HookPart) -> String {
    match part {
        HookPart::Own => String::new(),
        HookPart::Teardown => "teardown".to_owned(),
        HookPart::Inside(modules) => format!("within {}", short(modules)),
    }
}

fn tone(change: HookChange) -> Tone {
    match change {
        HookChange::Added | HookChange::More => Tone::Worse,
        HookChange::Fewer | HookChange::Removed => Tone::Better,
        _ => Tone::Faint,
    }
}

fn both(document: &PlacementDifference) -> impl Iterator<Item = &SyscallDifference> {
    document.changes.iter().filter(|call| call.only.is_none())
}

fn changes(document: &PlacementDifference, options: &DifferenceOptions) -> Option<Table> {
    let all = || both(document).flat_map(hooks_of);
    let shown = |hook: &HookDifference| options.reach || hook.change.is_nominal();
    let left_out = all().filter(|(_, hook)| !shown(hook)).count() as u64;
    let (success_path, at_most) = (Some("success path"), Some("at most"));
    let table = Columns::new()
        .left("system call", |(call, _): Line<'_>| {
            Value::plain(title(call))
        })
        .left("hook", |(_, hook)| &hook.hook)
        .left("change", |(_, hook)| {
            Value::toned(word(hook.change), tone(hook.change))
        })
        .left("when", |(_, hook)| Value::plain(part(&hook.part)))
        .grouped(success_path, "before", |(_, hook)| {
            times(hook.before.success_path)
        })
        .grouped(success_path, "after", |(_, hook)| {
            times(hook.after.success_path)
        })
        .grouped(at_most, "before", |(_, hook)| times(hook.before.max))
        .grouped(at_most, "after", |(_, hook)| times(hook.after.max))
        .left("implemented by", |(_, hook)| names(&hook.modules))
        .table(
            "System calls that differ",
            all().filter(|(_, hook)| shown(hook)),
        )
        .fixed(2);
    let hooks = match left_out {
        0 => return table.if_any(),
        1 => "1 more hook differs".to_owned(),
        n => format!("{} more hooks differ", count(n)),
    };
    Some(table.legend([format!(
        "{hooks} off the success path only: --reach shows them."
    )]))
}

fn call_strings(document: &PlacementDifference) -> Option<Table> {
    let lines = both(document).flat_map(hooks_of);
    let lines = lines.flat_map(|line| strings(line.1).map(move |string| (line, string)));
    type OfString<'a> = (Line<'a>, (&'static str, &'a Vec<String>));
    Columns::new()
        .left("system call", |((call, _), _): OfString<'_>| {
            Value::plain(title(call))
        })
        .left("hook", |((_, hook), _)| &hook.hook)
        .left("", |(_, (sign, _))| sign)
        .left("called by", |(_, (_, string))| calls(string))
        .table("Call strings that are new (+) and gone (-)", lines)
        .fixed(3)
        .if_any()
}

fn strings(hook: &HookDifference) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
    let gone = hook.gone_calls.iter().map(|calls| ("-", calls));
    gone.chain(hook.new_calls.iter().map(|calls| ("+", calls)))
}

/// A row per system call and hook that differs. Columns: `docs/export.md`.
pub fn difference_records(document: &PlacementDifference) -> Records<'_> {
    let strings = |calls: &[Vec<String>]| {
        let joined: Vec<String> = calls.iter().map(|calls| calls.join(" > ")).collect();
        joined.join("; ")
    };
    Columns::new()
        .column("syscall", |(call, _): Line<'_>| &call.syscall)
        .column("case", |(call, _)| &call.case)
        .column("fs", |(call, _)| &call.filesystem)
        .column("only", |(call, _)| call.only.map(word))
        .column("hook", |(_, hook)| &hook.hook)
        .column("when", |(_, hook)| part(&hook.part))
        .column("change", |(_, hook)| word(hook.change))
        .column("success_path_before", |(_, hook)| hook.before.success_path)
        .column("success_path_after", |(_, hook)| hook.after.success_path)
        .column("upper_bound_before", |(_, hook)| hook.before.max)
        .column("upper_bound_after", |(_, hook)| hook.after.max)
        .column("modules", |(_, hook)| hook.modules.join(","))
        .column("new_calls", move |(_, hook)| strings(&hook.new_calls))
        .column("gone_calls", move |(_, hook)| strings(&hook.gone_calls))
        .records(document.changes.iter().flat_map(hooks_of))
}

type Line<'a> = (&'a SyscallDifference, &'a HookDifference);

fn hooks_of(call: &SyscallDifference) -> impl Iterator<Item = Line<'_>> {
    call.hooks.iter().map(move |hook| (call, hook))
}
