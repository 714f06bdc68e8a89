// SPDX-License-Identifier: GPL-2.0-or-later
//! The hooks of a kernel that operations call, and those that none calls.

use std::collections::{BTreeMap, BTreeSet};

use model::{Cell, Document, HookCost};
use serde::Deserialize;

use crate::cells::releases;
use crate::column::Columns;
use crate::format::{count, listed};
use crate::table::{Report, Table, Value, warnings};
use crate::text::{printable, short};

const FACTS: &str = include_str!("../../facts/unreached.toml");
/// Requirements for calling a hook, and their explanation; the easiest to satisfy first.
const NEEDS: [[&str; 2]; 8] = [
    [
        "variant",
        "another variant of a benchmark calls it (--variants all)",
    ],
    [
        "benchmark",
        "no benchmark makes these system calls, though one could",
    ],
    [
        "policy",
        "only under a policy, labels or rules that lsmeter does not load",
    ],
    [
        "module",
        "code in a loadable module, or behind an option that is not set",
    ],
    [
        "later",
        "called after the operation, for example after a grace period",
    ],
    ["hardware", "a device that the guests do not have"],
    [
        "kernel",
        "the kernel does it by itself, for example at boot",
    ],
    ["configuration", "nothing in this kernel calls it"],
];
const NAMED: usize = 3;
const REASON_LIMIT: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fact {
    hooks: Vec<String>,
    needs: String,
    /// The option that the calling code depends on: `CONFIG_TUN`.
    option: Option<String>,
    why: String,
    code: String,
}

#[derive(Deserialize)]
struct Facts {
    fact: Vec<Fact>,
}

type Callers = BTreeMap<String, (u64, u64)>;

pub fn coverage_report(profiles: &[&Document]) -> Report {
    let mut kernels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (kernel, hooks) in profiles.iter().flat_map(|profile| &profile.kernel_hooks) {
        let known = kernels.entry(kernel).or_default();
        known.extend(hooks.iter().map(String::as_str));
    }
    let facts: Facts = toml::from_str(FACTS).unwrap_or(Facts { fact: Vec::new() });
    let tables = kernels.iter().map(|(kernel, hooks)| {
        let cells = profiles.iter().flat_map(|profile| &profile.cells);
        let cells: Vec<&Cell> = cells.filter(|cell| cell.key.kernel == *kernel).collect();
        kernel_tables(kernel, hooks, &cells, &facts)
    });
    let doubts = profiles
        .iter()
        .flat_map(|profile| warnings(&profile.warnings));
    Report::new(tables, doubts.collect())
}

fn kernel_tables(
    kernel: &str,
    hooks: &BTreeSet<&str>,
    cells: &[&Cell],
    facts: &Facts,
) -> Vec<Table> {
    let mut callers: BTreeMap<&str, Callers> = BTreeMap::new();
    for cell in cells {
        let costs = cell.hooks().into_iter().flatten();
        for (hook, calls) in costs.flat_map(|cost| called(cost, hooks)) {
            let operations = callers.entry(hook).or_default();
            let (least, most) = operations.entry(cell.title()).or_insert((calls, calls));
            (*least, *most) = ((*least).min(calls), (*most).max(calls));
        }
    }
    let callers = callers.into_iter();
    let (known, others): (Vec<_>, Vec<_>) = callers.partition(|(hook, _)| hooks.contains(hook));
    let names: BTreeSet<&str> = known.iter().map(|(hook, _)| *hook).collect();
    let others: Vec<&str> = others.iter().map(|(hook, _)| *hook).collect();
    let releases = releases(cells.iter().copied()).join(", ");
    let place = format!("{} ({})", short(kernel), short(&releases));
    let total = format!("{} of {place}", hooks.len());
    let configurations = cells.iter().map(|cell| cell.configuration_title());
    let configurations = Vec::from_iter(BTreeSet::from_iter(configurations));
    vec![
        unreached(hooks.difference(&names).copied(), &total, facts),
        Columns::new()
            .left("hook", |(hook, _): &(&str, Callers)| *hook)
            .column("operations", |(_, callers)| callers.len())
            .right("calls", |(_, callers)| {
                let least = callers.values().map(|(least, _)| *least).min()?;
                let most = callers.values().map(|(_, most)| *most).max()?;
                Some(match least == most {
                    true => count(least),
                    false => format!("{} to {}", count(least), count(most)),
                })
            })
            .left("called by", |(_, callers)| {
                let names: Vec<&String> = callers.keys().collect();
                Value::plain(listed(&names, NAMED))
            })
            .table(
                format!("Hooks that operations call: {} of {total}", known.len()),
                &known,
            )
            .legend([
                format!("Measured under {}.", listed(&configurations, usize::MAX)),
                "operations: number that call the hook; calls: fewest and most in one operation \
                 (0: the kernel has no function for the hook itself, but a module's function ran)."
                    .to_owned(),
            ])
            .legend((!others.is_empty()).then(|| {
                format!(
                    "Called, but not in the kernel's list of hooks: {}.",
                    listed(&others, usize::MAX)
                )
            })),
    ]
}

fn called<'a>(
    cost: &'a HookCost,
    hooks: &BTreeSet<&'a str>,
) -> impl Iterator<Item = (&'a str, u64)> {
    let inlined = cost.implementations.iter().filter_map(|own| {
        let name = own.function.split('.').next()?;
        let hook = name.strip_prefix(&*own.module)?.strip_prefix('_')?;
        let is_other = hook != cost.hook && own.calls > 0;
        let hook = hooks.get(hook).filter(|_| is_other)?;
        Some((*hook, 0))
    });
    let inlined: Vec<_> = inlined.collect();
    std::iter::once((cost.hook.as_str(), cost.calls)).chain(inlined)
}

fn unreached<'a>(hooks: impl Iterator<Item = &'a str>, total: &str, facts: &Facts) -> Table {
    let fact = |hook: &str| {
        let mut facts = facts.fact.iter();
        facts.find(|fact| fact.hooks.iter().any(|name| name == hook))
    };
    let needs = |fact: Option<&Fact>, need: &str| fact.is_some_and(|fact| fact.needs == need);
    let rank = |fact| NEEDS.iter().position(|[need, _]| needs(fact, need));
    let mut lines: Vec<(&str, Option<&Fact>)> = hooks.map(|hook| (hook, fact(hook))).collect();
    lines.sort_by_key(|(_, fact)| rank(*fact));
    let is_named = |[need, _]: &&[&str; 2]| lines.iter().any(|(_, fact)| needs(*fact, need));
    let legend = NEEDS.iter().filter(is_named);
    let legend = legend.map(|[need, meaning]| format!("{need}: {meaning}."));
    let is_unexplained = lines.iter().any(|(_, fact)| fact.is_none());
    Columns::new()
        .left("hook", |(hook, _): &(&str, Option<&Fact>)| *hook)
        .left("needs", |(_, fact)| match fact {
            Some(fact) => Value::from(&fact.needs),
            None => Value::dash().shown("unexplained"),
        })
        .left("why", |(_, fact)| {
            let fact = (*fact)?;
            let option = fact.option.iter().map(|option| format!(" ({option})"));
            let why = format!("{}{}", fact.why, option.collect::<String>());
            let code = format!("Seen in {}.", printable(&fact.code, REASON_LIMIT));
            Some(Value::long(&why, REASON_LIMIT).noted([code]))
        })
        .table(
            format!("Hooks that no operation calls: {} of {total}", lines.len()),
            &lines,
        )
        .fixed(2)
        .legend(legend)
        .legend(is_unexplained.then_some(
            "unexplained: unknown reason; benchmarks that were not measured may call it.",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_whole_and_name_no_hook_twice() {
        let facts: Facts = toml::from_str(FACTS).unwrap();
        let mut seen = BTreeSet::new();
        for fact in &facts.fact {
            let needs = NEEDS.iter().any(|[need, _]| *need == fact.needs);
            let texts = !fact.why.is_empty() && !fact.code.is_empty();
            let option = fact.option.as_deref();
            let option = option.is_none_or(|option| option.starts_with("CONFIG_"));
            assert!(needs && texts && option, "{:?}", fact.hooks);
            for hook in &fact.hooks {
                assert!(!hook.is_empty() && seen.insert(hook), "{hook} occurs twice");
            }
        }
    }
}
