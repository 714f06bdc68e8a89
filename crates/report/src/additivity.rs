// SPDX-License-Identifier: GPL-2.0-or-later
//! Does a stack cost the sum of what its modules cost alone? Section 5.1.2 of the LSM overhead
//! paper says that it costs more.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Document};

use crate::cells::{Configuration, Group, Operation, instructions, operation_title};
use crate::column::Columns;
use crate::format;
use crate::table::{Table, Value};
use crate::text::short;

const HOOKS_SHOWN: usize = 3;
const OPERATIONS_SHOWN: usize = 25;

/// A row for each stack of which a base, and the base with each of its modules alone, were counted;
/// a row for each operation in which the whole is not the sum. Empty without such a stack.
pub(crate) fn additivity(run: &Document, group: &Group<'_>) -> Vec<Table> {
    if group.of_kernels || !group.metric.is_counted() {
        return Vec::new();
    }
    // Of several orders of the same modules only the first: another table compares orders.
    let stacks = group.configurations.iter().enumerate().filter(|(at, of)| {
        let mut earlier = group.configurations[..*at].iter();
        !earlier.any(|other| other.is_reordered(of))
    });
    let stacks: Vec<Whole<'_>> = stacks.filter_map(|(_, of)| Whole::of(of, group)).collect();
    let place = group.place(run);
    let summary = Columns::new()
        .left("stack", |of: &Whole<'_>| of.stack.title())
        .left("base", |of| of.base.title())
        .column("operations", |of| of.sums.len())
        .column("the sum", |of| of.count(|interaction| interaction == 0))
        .column("dearer", |of| of.count(|interaction| interaction > 0))
        .column("cheaper", |of| of.count(|interaction| interaction < 0))
        .left("dearest", |of| of.furthest(1))
        .left("cheapest", |of| of.furthest(-1))
        .table(
            format!("Is a stack's cost the sum of its modules'? {place}"),
            &stacks,
        )
        .fixed(1)
        .legend([
            "What each module adds to the base by itself, added up, against what the stack adds, over operations \
             that have one path in all of them: in how many the whole is exactly the sum, and how many \
             instructions it is away from it at most.",
        ])
        .if_any();
    let mut apart: Vec<(&Whole<'_>, &Sum<'_>)> = stacks
        .iter()
        .flat_map(|of| of.sums.iter().map(move |sum| (of, sum)))
        .filter(|(_, sum)| sum.interaction() != 0)
        .collect();
    apart.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.interaction().unsigned_abs()));
    let left_out = match apart.len().saturating_sub(OPERATIONS_SHOWN) {
        0 => String::new(),
        n => format!("{n} that are less apart are not shown."),
    };
    apart.truncate(OPERATIONS_SHOWN);
    let operations = Columns::new()
        .left("benchmark", |(_, sum): (&Whole<'_>, &Sum<'_>)| {
            operation_title(sum.row)
        })
        .left("stack", |(of, _)| of.stack.title())
        .right("adds", |(_, sum)| format::difference(sum.whole))
        .right("sum of modules", |(_, sum)| format::difference(sum.parts))
        .right("difference", |(_, sum)| {
            format::difference(sum.interaction())
        })
        .left("of it in hooks", |(_, sum)| {
            Value::plain(told_in_hooks(&sum.in_hooks))
        })
        .table(format!("Where the whole is not the sum: {place}"), apart)
        .fixed(2)
        .legend([
            "Instructions beyond the base. Hooks need --with-hooks.",
            &left_out,
        ])
        .if_any();
    [summary, operations].into_iter().flatten().collect()
}

struct Whole<'a> {
    stack: &'a Configuration,
    base: &'a Configuration,
    sums: Vec<Sum<'a>>,
}

struct Sum<'a> {
    row: Operation<'a>,
    whole: i128,
    parts: i128,
    in_hooks: BTreeMap<&'a str, i128>,
}

impl<'a> Whole<'a> {
    fn of(stack: &'a Configuration, group: &'a Group<'_>) -> Option<Whole<'a>> {
        let alike = |other: &&Configuration| {
            let same = |configuration: &Configuration| Configuration {
                stack: Vec::new(),
                ..configuration.clone()
            };
            same(other) == same(stack)
        };
        let alike: Vec<&Configuration> = group.configurations.iter().filter(alike).collect();
        let set = |of: &'a Configuration| of.stack.iter().collect::<BTreeSet<_>>();
        let all = set(stack);
        let bases = alike.iter().copied().filter_map(|base| {
            let below = set(base);
            let modules: Vec<_> = all.difference(&below).copied().collect();
            if modules.len() < 2 || !below.is_subset(&all) {
                return None;
            }
            let alone = modules.iter().map(|module| {
                let wanted: BTreeSet<_> = below.iter().copied().chain([*module]).collect();
                alike.iter().copied().find(|other| set(other) == wanted)
            });
            Some((base, alone.collect::<Option<Vec<_>>>()?))
        });
        let (base, alone) = bases.max_by_key(|(_, alone)| alone.len())?;
        let sums = group.rows.iter().filter_map(|&row| {
            let cell = |of: &Configuration| group.cell(row, of);
            let parts: Option<Vec<_>> = alone.iter().map(|of| cell(of)).collect();
            Sum::of(row, cell(stack)?, cell(base)?, &parts?)
        });
        Some(Whole {
            stack,
            base,
            sums: sums.collect(),
        })
    }

    fn count(&self, fits: fn(i128) -> bool) -> usize {
        self.sums
            .iter()
            .filter(|sum| fits(sum.interaction()))
            .count()
    }

    fn furthest(&self, sign: i128) -> Option<Value> {
        let far = |sum: &&Sum<'_>| sum.interaction() * sign;
        let sum = self
            .sums
            .iter()
            .max_by_key(far)
            .filter(|sum| far(sum) > 0)?;
        let (title, apart) = (
            operation_title(sum.row),
            format::difference(sum.interaction()),
        );
        Some(Value::plain(format!("{title} {apart}")))
    }
}

impl<'a> Sum<'a> {
    fn of(
        row: Operation<'a>,
        whole: &'a Cell,
        base: &'a Cell,
        parts: &[&'a Cell],
    ) -> Option<Sum<'a>> {
        let base_cost = instructions(base)?;
        let mut sum = Sum {
            row,
            whole: instructions(whole)? - base_cost,
            parts: 0,
            in_hooks: BTreeMap::new(),
        };
        for part in parts {
            sum.parts += instructions(part)? - base_cost;
        }
        let mut add = |cell: &'a Cell, times: i128| {
            for hook in cell.hooks().unwrap_or_default() {
                *sum.in_hooks.entry(&hook.hook).or_default() += times * i128::from(hook.outermost);
            }
        };
        // whole - base - Σ (part - base)
        add(whole, 1);
        add(base, parts.len() as i128 - 1);
        for part in parts {
            add(part, -1);
        }
        Some(sum)
    }

    fn interaction(&self) -> i128 {
        self.whole - self.parts
    }
}

/// Instructions by hook, the largest first: `inode_permission +12, 3 others -4`.
pub(crate) fn told_in_hooks(differences: &BTreeMap<&str, i128>) -> String {
    let mut hooks: Vec<(&str, i128)> = differences.iter().map(|(hook, of)| (*hook, *of)).collect();
    hooks.retain(|(_, of)| *of != 0);
    hooks.sort_by_key(|(_, of)| std::cmp::Reverse(of.unsigned_abs()));
    let (shown, others) = hooks.split_at(hooks.len().min(HOOKS_SHOWN));
    let named = |(hook, of): &(&str, i128)| format!("{} {}", short(hook), format::difference(*of));
    let mut named: Vec<String> = shown.iter().map(named).collect();
    if !others.is_empty() {
        let sum: i128 = others.iter().map(|(_, of)| of).sum();
        named.push(format!(
            "{} others {}",
            others.len(),
            format::difference(sum)
        ));
    }
    named.join(", ")
}
