// SPDX-License-Identifier: GPL-2.0-or-later
//! The bare framework, stacks of the same modules in another order, and sums: does a stack cost the
//! sum of what its modules cost alone? Section 5.1.2 of the LSM overhead paper says that it costs
//! more.

use std::collections::{BTreeMap, BTreeSet};

use compare::judge::Judgements;
use model::comparison::Verdict;
use model::{Cell, Document};

use crate::cells::{Configuration, Group, Operation, cost, instructions, mean, operation_title};
use crate::column::Columns;
use crate::format;
use crate::table::{Table, Tone, Value};
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
    let sums = stacks
        .iter()
        .flat_map(|of| of.sums.iter().map(move |sum| (of, sum)));
    let apart = sums.filter(|(_, sum)| sum.interaction() != 0);
    let mut apart: Vec<(&Whole<'_>, &Sum<'_>)> = apart.collect();
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
        let sums = self.sums.iter();
        sums.filter(|sum| fits(sum.interaction())).count()
    }

    fn furthest(&self, sign: i128) -> Option<Value> {
        let far = |sum: &&Sum<'_>| sum.interaction() * sign;
        let most = self.sums.iter().max_by_key(far);
        let sum = most.filter(|sum| far(sum) > 0)?;
        let title = operation_title(sum.row);
        let apart = format::difference(sum.interaction());
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

pub(crate) fn framework(run: &Document, group: &Group<'_>) -> Option<Table> {
    let baseline = group.baseline.as_ref()?;
    let tested = group.configurations.iter().find(|configuration| {
        configuration.stack == ["capability"] && configuration.integrity.is_empty()
    })?;
    if baseline.stack != ["none"] {
        return None;
    }
    let rows = group.rows.iter();
    let splits: Vec<Split> = rows
        .filter_map(|&row| split(row, group.cell(row, baseline)?, group.cell(row, tested)?))
        .collect();
    let title = format!("What the bare framework costs: {}", group.place(run));
    Columns::new()
        .left("benchmark", |split: &Split| &split.title)
        .column("no LSM", |split| split.bare)
        .column("capability", |split| split.tested)
        .right("difference", |split| {
            format::difference(split.tested - split.bare)
        })
        .right("framework", |split| format::difference(split.framework))
        .right("capability's", |split| format::difference(split.own))
        .right("others'", |split| format::difference(split.others))
        .right("outside", |split| {
            let inside = split.framework + split.own + split.others;
            format::difference(split.tested - split.bare - inside)
        })
        .table(title, &splits)
        .legend([
            "framework: instructions of hooks less those of the modules' functions they call; \
             capability: its functions, called by hooks; others: functions of modules that the \
             kernel adds by itself; outside: the rest of the difference. A kernel without LSMs \
             calls capability's functions itself, so that outside is below 0 where it does.",
        ])
        .if_any()
}

struct Split {
    title: String,
    bare: i128,
    tested: i128,
    framework: i128,
    own: i128,
    others: i128,
}

fn split((benchmark, variant): (&str, &str), bare: &Cell, tested: &Cell) -> Option<Split> {
    let hooks = tested.hooks()?;
    let functions = |own: bool| {
        let functions = hooks.iter().flat_map(|hook| &hook.implementations);
        functions
            .filter(|function| (function.module == "capability") == own)
            .map(|function| i128::from(function.inclusive))
            .sum()
    };
    Some(Split {
        title: model::cell_title(benchmark, variant),
        bare: instructions(bare)?,
        tested: instructions(tested)?,
        framework: hooks.iter().map(|hook| i128::from(hook.dispatch)).sum(),
        own: functions(true),
        others: functions(false),
    })
}

pub(crate) fn order<'a>(
    run: &Document,
    group: &Group<'a>,
    judgements: &mut Judgements<'a>,
) -> Option<Table> {
    if group.of_kernels {
        return None;
    }
    let all = group.configurations.iter().enumerate();
    let pairs = all.flat_map(|(index, first)| {
        let later = group.configurations[index + 1..].iter();
        later.map(move |second| (first, second))
    });
    let pairs: Vec<_> = pairs
        .filter(|(one, other)| one.is_reordered(other))
        .collect();
    let cells = |(first, second)| {
        let cells = move |row| Some((row, (group.cell(row, first)?, group.cell(row, second)?)));
        group.rows.iter().copied().filter_map(cells)
    };
    let all = pairs.iter().flat_map(|&pair| cells(pair));
    judgements.also(all.map(|(_, cells)| cells));
    let cost = |(row, (first, second))| {
        let (overhead, _) = cost(second, first)?;
        let verdict = judgements.verdict(first, second)?.verdict;
        let differs = matches!(verdict, Verdict::Worse | Verdict::Better);
        Some(Cost {
            row,
            overhead,
            cells: (second, first),
            differs,
        })
    };
    let pair = |&(first, second): &(_, _)| Pair {
        first,
        second,
        costs: cells((first, second)).filter_map(cost).collect(),
    };
    let pairs: Vec<Pair<'_>> = pairs.iter().map(pair).collect();
    let title = format!("Order of stacks: {}, {}", group.place(run), group.metric);
    Columns::new()
        .left("first", |pair: &Pair<'_>| pair.first.title())
        .left("second", |pair| pair.second.title())
        .column("operations", |pair| pair.costs.len())
        .column("differ", |pair| {
            pair.costs.iter().filter(|cost| cost.differs).count()
        })
        .right("geometric mean", |pair| {
            match mean(group.metric, pair.costs.iter().map(|cost| cost.cells)) {
                Some((mean, n)) => Value::plain(format!("{} (n={n})", format::percent(mean))),
                None => Value::toned("n/a", Tone::Missing),
            }
        })
        .left("most", |pair| {
            let size = |cost: &Cost<'_>| cost.overhead.abs();
            let differ = pair.costs.iter().filter(|cost| cost.differs);
            let most = differ.max_by(|a, b| size(a).total_cmp(&size(b)))?;
            let title = operation_title(most.row);
            let overhead = format::percent(most.overhead);
            Some(Value::plain(format!("{title} {overhead}")))
        })
        .table(title, &pairs)
        .fixed(2)
        .legend([
            "Each row: the second order against the first, over the operations that both were \
             measured for; how many differ; the mean of those that have a dominant path, without \
             getppid; the one that differs most.",
        ])
        .if_any()
}

struct Pair<'a> {
    first: &'a Configuration,
    second: &'a Configuration,
    costs: Vec<Cost<'a>>,
}

struct Cost<'a> {
    row: Operation<'a>,
    overhead: f64,
    cells: (&'a Cell, &'a Cell),
    differs: bool,
}
