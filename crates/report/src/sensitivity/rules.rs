// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts over the depth of a path.

use std::collections::HashMap;

use model::{ALL_HOOKS, Caches, DepthRule, SweepFindings, Unit};

use super::{Swept, numbers};
use crate::column::Columns;
use crate::group::grouped;
use crate::table::{Table, Value};
use crate::text::short;

const DEPTHS_LISTED: usize = 8;

pub(super) fn tables(findings: &SweepFindings, swept: &[Swept<'_>], by_hook: bool) -> Vec<Table> {
    let mut units: HashMap<_, Unit> = HashMap::new();
    for of in swept {
        let (kernel, module, _, _, unit) = of.place();
        units.entry((kernel, module)).or_insert(unit);
    }
    grouped(&findings.rules, |rule| (rule.kernel.as_str(), rule.module))
        .into_iter()
        .filter_map(|(key, rules)| table(&rules, units.get(&key).copied(), by_hook))
        .collect()
}

fn is_whole(rule: &DepthRule) -> bool {
    rule.hook == ALL_HOOKS || rule.hook.contains(',')
}

fn table(rules: &[&DepthRule], unit: Option<Unit>, by_hook: bool) -> Option<Table> {
    let first = rules.first()?;
    let mut caches = Caches::ALL.to_vec();
    caches.retain(|caches| rules.iter().any(|rule| rule.caches == *caches));
    let mut lines: Vec<(String, Vec<&DepthRule>)> = Vec::new();
    for (benchmark, of_benchmark) in grouped(rules.iter().copied(), |r| r.benchmark.as_str()) {
        let hooks = grouped(of_benchmark, |rule| rule.hook.as_str());
        let any_whole = hooks.iter().any(|(_, of)| of.iter().any(|r| is_whole(r)));
        for (hook, of_hook) in hooks {
            let whole = of_hook.first().is_some_and(|rule| is_whole(rule));
            if !whole && any_whole && !by_hook {
                continue;
            }
            let label = match (whole, any_whole) {
                (true, _) => benchmark.to_owned(),
                (false, true) => format!("  {hook}"),
                (false, false) => format!("{benchmark}, {hook}"),
            };
            lines.push((label, of_hook));
        }
    }
    let mut columns = Columns::new().left("benchmark", |(label, _): Line<'_>| label);
    for &caches_of in &caches {
        let name = format!("{caches_of} caches");
        let group = (caches.len() > 1).then_some(name.as_str());
        columns = columns
            .grouped(group, "rule", move |line| {
                of(line, caches_of).map_or("-".to_owned(), |of| numbers::rule(of.a, of.b))
            })
            .grouped(group, "off by", move |line| {
                of(line, caches_of).map(|of| numbers::decimals(of.residual, 4))
            })
            .grouped(group, "r²", move |line| {
                of(line, caches_of).map(|of| numbers::r2(of.r2))
            })
            .grouped(group, "β1", move |line| {
                of(line, caches_of)?.beta1.map(numbers::cost)
            })
            .grouped(group, "depths", move |line| {
                of(line, caches_of).map(|of| Value::plain(depths(&of.depths)))
            });
    }
    let mut title = format!("{}, {}", short(&first.kernel), first.module);
    if let [caches] = caches.as_slice() {
        title += &format!(", {caches} caches");
    }
    title += ": decisions per operation by the depth d of its path";
    let unit = unit.map_or("the slopes' unit", Unit::as_str);
    Some(columns.table(title, &lines).legend([format!(
        "off by: largest distance of a slope from the rule; β1: what each further decision \
         costs an operation without delays, in {unit}, the walk through a component of the \
         path with it."
    )]))
}

type Line<'a> = &'a (String, Vec<&'a DepthRule>);

fn of<'a>((_, rules): Line<'a>, caches: Caches) -> Option<&'a DepthRule> {
    let mut rules = rules.iter().copied();
    rules.find(|rule| rule.caches == caches)
}

/// `1, 2, 4, 8`, or `1 to 64 (20)`.
fn depths(depths: &[u32]) -> String {
    if depths.len() <= DEPTHS_LISTED {
        let depths: Vec<String> = depths.iter().map(u32::to_string).collect();
        return depths.join(", ");
    }
    let ends = [depths.iter().min(), depths.iter().max()];
    let [least, most] = ends.map(|depth| depth.copied().unwrap_or(0));
    format!("{least} to {most} ({})", depths.len())
}
