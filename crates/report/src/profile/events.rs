// SPDX-License-Identifier: GPL-2.0-or-later
//! Events of an operation's instructions, hook by hook.

use std::collections::HashMap;

use model::{Cell, EventKind, Events, HookedPath, IrqsOff};

use super::{StackNames, baseline, configured, full_name, path, where_profiled};
use crate::cells::{Operation, operation, operation_title};
use crate::column::Columns;
use crate::format;
use crate::group::{distinct, grouped};
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::{printable, short};

pub(crate) const LEGEND: [&str; 2] = [
    "taken: jumps that were taken, calls, returns; indirect: jumps and calls through a register or \
     memory; atomics: read-modify-writes; shared: on memory that is neither the task's stack nor \
     per-CPU; REP: REP instructions, and the bytes that they store.",
    "Different cache lines of 64 bytes, counted at the first access: instructions (code), \
     read, written, and changed by shared atomics.",
];

pub(super) fn by_hook(profiles: &[Cell]) -> Vec<Table> {
    profiles.iter().filter_map(hooks_table).collect()
}

pub(super) fn by_operation(profiles: &[Cell]) -> Vec<Table> {
    let mut tables = shared_tables(profiles);
    let counted = profiles.iter().filter(|cell| events(cell).is_some());
    let groups = grouped(counted, |cell| {
        (&cell.key.kernel, &cell.key.filesystem, &cell.key.stack)
    });
    tables.extend(groups.iter().map(|(_, cells)| operations_table(cells)));
    tables
}

fn events(cell: &Cell) -> Option<&Events> {
    path(cell)?.events.as_ref()
}

struct Line {
    name: String,
    calls: Option<u64>,
    instructions: i128,
    events: Vec<i128>,
}

fn numbers(events: &Events) -> Vec<i128> {
    let kinds = Events::KINDS.iter();
    kinds.map(|kind| i128::from((kind.count)(events))).collect()
}

fn chosen(lines: &[Line]) -> Vec<bool> {
    let kinds = 0..Events::KINDS.len();
    let some = |at: usize| lines.iter().any(|line| line.events[at] != 0);
    kinds.map(some).collect()
}

fn columns<'a>(
    chosen: &[bool],
    mut columns: Columns<'a, &'a Line>,
    value: fn(i128) -> Value,
) -> Columns<'a, &'a Line> {
    columns = columns.right("instructions", move |line: &Line| value(line.instructions));
    for (at, kind) in Events::KINDS.iter().enumerate() {
        if chosen[at] {
            columns = columns.right(kind.title, move |line: &Line| value(line.events[at]));
        }
    }
    columns
}

fn count(number: i128) -> Value {
    Value::from(u64::try_from(number).unwrap_or_default())
}

fn hooks_table(cell: &Cell) -> Option<Table> {
    let whole = path(cell)?;
    let all = whole.events.as_ref()?;
    let line = |name: &str, calls, instructions: u64, events: &Option<Events>| {
        Some(Line {
            name: short(name),
            calls,
            instructions: instructions.into(),
            events: numbers(events.as_ref()?),
        })
    };
    let mut hooks: Vec<_> = whole.hooks.iter().collect();
    hooks.sort_by_key(|hook| std::cmp::Reverse(hook.inclusive));
    let mut lines = Vec::new();
    for hook in hooks.into_iter().filter(|hook| hook.events.is_some()) {
        let calls = Some(hook.calls);
        lines.extend(line(&hook.hook, calls, hook.inclusive, &hook.events));
        lines.extend(hook.implementations.iter().filter_map(|own| {
            let name = format!("  {}", own.function);
            line(&name, Some(own.calls), own.inclusive, &own.events)
        }));
    }
    lines.extend(against(whole, cell));
    let elsewhere = elsewhere(&lines, all);
    let chosen = chosen(&lines);
    lines.extend(line("total", None, whole.total, &whole.events));
    let title = format!(
        "{}, deterministic clock: {}, {}: events of its instructions, per operation",
        where_profiled(&[cell]),
        short(&cell.title()),
        configured(cell)
    );
    let first = Columns::new()
        .left("hook", |line: &Line| Value::plain(&line.name))
        .right("calls", |line| line.calls);
    let table = columns(&chosen, first, count_or_difference).table(title, &lines);
    Some(table.legend(LEGEND).legend(elsewhere))
}

fn elsewhere(lines: &[Line], all: &Events) -> Option<String> {
    let chosen = chosen(lines);
    let kinds = Events::KINDS.iter().zip(chosen);
    let others = kinds.filter(|(kind, chosen)| !chosen && (kind.count)(all) > 0);
    let count = |kind: &EventKind| crate::format::count((kind.count)(all));
    let others = others.map(|(kind, _)| format!("{} {}", kind.title, count(kind)));
    let others: Vec<String> = others.collect();
    (!others.is_empty()).then(|| format!("Outside hooks only: {}.", others.join(", ")))
}

fn count_or_difference(number: i128) -> Value {
    match number {
        0.. => count(number),
        _ => Value::difference(number),
    }
}

fn against(whole: &HookedPath, cell: &Cell) -> Option<Line> {
    let (instructions, events) = difference(whole, cell)?;
    let stack = full_name(&baseline(cell)?.stack);
    Some(Line {
        name: format!("more than {stack}"),
        calls: None,
        instructions,
        events,
    })
}

fn difference(whole: &HookedPath, cell: &Cell) -> Option<(i128, Vec<i128>)> {
    let base = &baseline(cell)?.path;
    let own = numbers(whole.events.as_ref()?);
    let pairs = own.into_iter().zip(numbers(base.events.as_ref()?));
    Some((
        super::difference(whole.total, base.total),
        pairs.map(|(own, base)| own - base).collect(),
    ))
}

fn operations_table(cells: &[&Cell]) -> Table {
    let compared = cells.iter().find_map(|cell| baseline(cell));
    let line = |cell: &&Cell| {
        let whole = path(cell)?;
        let (instructions, events) = match compared {
            Some(_) => difference(whole, cell)?,
            None => (whole.total.into(), numbers(whole.events.as_ref()?)),
        };
        Some(Line {
            name: cell.title(),
            calls: None,
            instructions,
            events,
        })
    };
    let lines: Vec<Line> = cells.iter().filter_map(line).collect();
    let mut title = format!(
        "{}, deterministic clock: {}: events of instructions, per operation",
        where_profiled(cells),
        configured(cells[0])
    );
    if let Some(baseline) = compared {
        title += &format!(", more than with {}", full_name(&baseline.stack));
    }
    let first = Columns::new().left("operation", |line: &Line| Value::plain(&line.name));
    let value = compared.map_or(count as fn(i128) -> Value, |_| Value::difference);
    columns(&chosen(&lines), first, value)
        .table(title, &lines)
        .legend(LEGEND)
}

pub(super) fn records<'a, R: Copy + 'a>(
    mut columns: Columns<'a, R>,
    events: fn(R) -> Option<Events>,
) -> Columns<'a, R> {
    for kind in Events::KINDS {
        columns = columns.column(kind.name, move |row| Some((kind.count)(&events(row)?)));
    }
    columns
}

type Pair<'a> = (&'a Events, &'a Events);

fn pair(cell: &Cell) -> Option<Pair<'_>> {
    let base = baseline(cell)?.path.events.as_ref()?;
    Some((events(cell)?, base))
}

fn shared_tables(profiles: &[Cell]) -> Vec<Table> {
    let compared = profiles.iter().filter(|cell| pair(cell).is_some());
    let places = grouped(compared, |cell| (&cell.key.kernel, &cell.key.filesystem));
    let tables = places.iter().filter_map(|(_, cells)| shared_table(cells));
    tables.collect()
}

fn shared_table(cells: &[&Cell]) -> Option<Table> {
    let names = StackNames::new(cells);
    let stacks = distinct(cells.iter().map(|cell| &cell.key.stack));
    let rows = cells.iter();
    let rows = rows.filter_map(|cell| Some(((operation(cell), &cell.key.stack), pair(cell)?)));
    let by_row: &HashMap<(Operation<'_>, &Vec<String>), Pair<'_>> = &rows.collect();
    let differs = |operation: &Operation<'_>| {
        let mut pairs = stacks
            .iter()
            .filter_map(|stack| by_row.get(&(*operation, *stack)));
        pairs.any(|(own, base)| own.shared_atomics != base.shared_atomics)
    };
    let mut operations = distinct(cells.iter().map(|cell| operation(cell)));
    operations.retain(differs);
    let first = stacks.first().copied()?;
    let base = move |row| by_row.get(&(row, first)).map(|(_, base)| *base);
    let mut columns = Columns::new()
        .left("operation", operation_title)
        .right("baseline", move |row| Some(base(row)?.shared_atomics))
        .right("lines", move |row| Some(base(row)?.shared_lines));
    for stack in stacks.iter().copied() {
        columns = columns.right(names.short(stack), move |row| {
            let (own, base) = by_row.get(&(row, stack))?;
            let more = super::difference(own.shared_atomics, base.shared_atomics);
            let lines = super::difference(own.shared_lines, base.shared_lines);
            let [more_shown, lines_shown] = [more, lines].map(format::difference);
            let value = Value::difference(more);
            Some(match lines {
                0 => value,
                _ => value.shown(format!("{more_shown} ({lines_shown})")),
            })
        });
    }
    let title = format!(
        "{}, deterministic clock: atomics on memory that processors share, per operation",
        where_profiled(cells)
    );
    columns
        .table(title, operations)
        .legend([
            "Other processors wait for these if they work on the same objects; lines: different \
             cache lines. Stacks: added atomics, with added lines in brackets. Operations whose \
             atomics no stack changes are not shown.",
        ])
        .if_any()
}

pub(super) fn irq_tables(profiles: &[Cell]) -> Vec<Table> {
    let counted = profiles.iter().filter(|cell| irqs(cell).is_some());
    let groups = grouped(counted, |cell| (&cell.key.kernel, &cell.key.filesystem));
    groups.iter().map(|(_, cells)| irq_table(cells)).collect()
}

fn irqs(cell: &Cell) -> Option<&IrqsOff> {
    path(cell)?.irqs_off.as_ref()
}

fn irq_table(cells: &[&Cell]) -> Table {
    let compared = cells.iter().any(|cell| baseline(cell).is_some());
    Columns::new()
        .left("operation", |cell: &Cell| cell.title())
        .left("stack", |cell| Value::plain(configured(cell)))
        .column("instructions", |cell| Some(irqs(cell)?.instructions))
        .only_if(compared, |columns| {
            columns.right("more", |cell| {
                let base = baseline(cell)?.path.irqs_off.as_ref()?;
                let more = super::difference(irqs(cell)?.instructions, base.instructions);
                Some(Value::difference(more))
            })
        })
        .left("switched off by", |cell| {
            let by = irqs(cell)?.functions.join(" < ");
            Some(Value::plain(printable(&by, 2 * TEXT_LIMIT)))
        })
        .table(
            format!(
                "{}: the longest stretch without interrupts",
                where_profiled(cells)
            ),
            cells.iter().copied(),
        )
        .legend([
            "On the dominant path, from the instruction that switches interrupts off to the one \
             that switches them on; REP instructions count once. Kernel entry and exit, the same \
             for all, are excluded. Switched off by: the function, followed by its callers (<).",
        ])
}
