// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks change in memory that other processors write, too: a source of contention.

use std::collections::HashMap;

use model::{Cell, Clock, Events};

use super::super::{StackNames, baseline, difference, where_profiled};
use crate::cells::{Operation, operation, operation_title};
use crate::column::Columns;
use crate::format;
use crate::group::{distinct, grouped};
use crate::table::{Table, Value};

type Pair<'a> = (&'a Events, &'a Events);

fn pair(cell: &Cell) -> Option<Pair<'_>> {
    let base = baseline(cell)?.path.events.as_ref()?;
    Some((super::events(cell)?, base))
}

/// A table per kernel and file system: operations to which some stack adds shared atomics.
pub(super) fn tables(profiles: &[Cell], clock: Clock) -> Vec<Table> {
    let compared = profiles.iter().filter(|cell| pair(cell).is_some());
    let places = grouped(compared, |cell| (&cell.key.kernel, &cell.key.filesystem));
    let tables = places.iter().filter_map(|(_, cells)| table(cells, clock));
    tables.collect()
}

fn table(cells: &[&Cell], clock: Clock) -> Option<Table> {
    let names = StackNames::of(cells);
    let stacks = distinct(cells.iter().map(|cell| &cell.key.stack));
    let by_row: HashMap<(Operation<'_>, &Vec<String>), Pair<'_>> = cells
        .iter()
        .filter_map(|cell| Some(((operation(cell), &cell.key.stack), pair(cell)?)))
        .collect();
    let by_row = &by_row;
    let differs = |of: &Operation<'_>| {
        let mut pairs = stacks.iter().filter_map(|stack| by_row.get(&(*of, *stack)));
        pairs.any(|(own, base)| own.shared_atomics != base.shared_atomics)
    };
    let mut operations = distinct(cells.iter().map(|cell| operation(cell)));
    operations.retain(differs);
    let first = stacks.first().copied()?;
    let base = move |of| by_row.get(&(of, first)).map(|(_, base)| *base);
    let mut columns = Columns::new()
        .left("operation", operation_title)
        .right("baseline", move |of| {
            base(of).map(|base| base.shared_atomics)
        })
        .right("lines", move |of| base(of).map(|base| base.shared_lines));
    for stack in stacks.iter().copied() {
        columns = columns.right(names.short(stack), move |of| {
            by_row.get(&(of, stack)).map(|(own, base)| {
                let more = difference(own.shared_atomics, base.shared_atomics);
                let lines = difference(own.shared_lines, base.shared_lines);
                match (more, lines) {
                    (_, 0) => Value::difference(more),
                    _ => Value::difference(more).shown(format!(
                        "{} ({})",
                        format::difference(more),
                        format::difference(lines)
                    )),
                }
            })
        });
    }
    let title = format!(
        "{}, {clock} clock: atomics to memory that processors share, per operation",
        where_profiled(cells)
    );
    columns
        .table(title, operations)
        .legend([
            "What other processors wait for if they work on the same objects; lines: different cache \
             lines of it. Of a stack what it adds, in brackets lines. Operations to which no stack adds \
             any are not shown.",
        ])
        .if_any()
}
