// SPDX-License-Identifier: GPL-2.0-or-later
//! Words of memory that processors transfer, stacks next to each other.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, PathTree};

use super::{StackNames, where_profiled};
use crate::cells::operation;
use crate::column::Columns;
use crate::group::grouped;
use crate::table::{Table, Value};
use crate::text::short;

/// Transfers by word and function.
type Words<'a> = BTreeMap<(&'a str, &'a str), u64>;

pub(super) fn tables(profiles: &[Cell]) -> Vec<Table> {
    let operations = grouped(profiles, |cell| {
        (&cell.key.kernel, &cell.key.filesystem, operation(cell))
    });
    let tables = operations.iter().filter_map(|(_, cells)| table(cells));
    tables.collect()
}

/// None if nothing is transferred.
fn table(profiles: &[&Cell]) -> Option<Table> {
    let transfers = profiles
        .iter()
        .filter(|cell| cell.key.metric.is_of_transfers());
    let trees = transfers.filter_map(|cell| Some((*cell, cell.counted()?.tree.as_ref()?)));
    let sides = trees.map(|(cell, tree)| (cell, PathTree::words(tree)));
    let sides: Vec<(&Cell, Words<'_>)> = sides.collect();
    let names: Vec<&Cell> = sides.iter().map(|(cell, _)| *cell).collect();
    let names = StackNames::new(&names);
    let words: BTreeSet<&(&str, &str)> = sides.iter().flat_map(|(_, words)| words.keys()).collect();
    let mut columns = Columns::new()
        .left("word", |word: &(&str, &str)| Value::plain(short(word.0)))
        .left("transferred by", |word| Value::plain(short(word.1)));
    for (cell, words) in &sides {
        columns = columns.right(names.short(&cell.key.stack), |word| {
            Value::from(words.get(word).copied().unwrap_or(0))
        });
    }
    let title = format!(
        "{}: {}: transferred words of memory",
        where_profiled(profiles),
        short(&profiles.first()?.title())
    );
    let legend = "A field of an object, cache+offset if its type is unknown, or a variable.";
    columns.table(title, words).legend([legend]).if_any()
}
