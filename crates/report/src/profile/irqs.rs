// SPDX-License-Identifier: GPL-2.0-or-later
//! How long operations disable interrupts.

use model::{Cell, IrqsOff};

use super::{baseline, configured, path, where_profiled};
use crate::column::Columns;
use crate::group::grouped;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

pub(super) fn tables(profiles: &[Cell]) -> Vec<Table> {
    let counted = profiles.iter().filter(|cell| own(cell).is_some());
    let groups = grouped(counted, |cell| (&cell.key.kernel, &cell.key.filesystem));
    groups.iter().map(|(_, of)| table(of)).collect()
}

fn own(cell: &Cell) -> Option<&IrqsOff> {
    path(cell)?.irqs_off.as_ref()
}

fn table(cells: &[&Cell]) -> Table {
    let compared = cells.iter().any(|cell| baseline(cell).is_some());
    Columns::new()
        .left("operation", |cell: &Cell| {
            cell.title()
        })
        .left("stack", |cell| Value::plain(configured(cell)))
        .column("instructions", |cell| own(cell).map(|off| off.instructions))
        .only_if(compared, |columns| {
            columns.right("more", |cell| {
                let base = baseline(cell)?.path.irqs_off.as_ref()?;
                let more = super::difference(own(cell)?.instructions, base.instructions);
                Some(Value::difference(more))
            })
        })
        .left("switched off by", |cell| {
            let by = own(cell)?.functions.join(" < ");
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
            "Of the path that stands for the operation, from the instruction that switches \
             interrupts off to the one that lets them come again; REP instructions once, and \
             without the ways into the kernel and out of it, which are the same for all. Switched off \
             by: the function, and after each < who called it.",
        ])
}
