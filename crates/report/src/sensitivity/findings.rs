// SPDX-License-Identifier: GPL-2.0-or-later
//! Predicted and measured cost of checks, counts over the depth of a path, and checks that
//! operations repeat for the same object.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use model::{
    ALL_HOOKS, Caches, DepthRule, Prediction, RepeatedQuestion, SweepFindings, Unit, cell_title,
};

use super::{Swept, numbers};
use crate::column::Columns;
use crate::format::{count, listed};
use crate::group::grouped;
use crate::table::{Footnotes, Table, Value};
use crate::text::{printable, short};

const HOOKS_NAMED: usize = 12;

pub(super) fn prediction_tables(findings: &SweepFindings) -> Vec<Table> {
    let groups = grouped(&findings.predictions, |prediction| {
        (prediction.kernel.as_str(), prediction.lsm.as_deref())
    });
    let groups = groups.into_iter();
    let tables = groups.map(|((kernel, lsm), all)| prediction_table(kernel, lsm, &all));
    tables.collect()
}

fn prediction_table(kernel: &str, lsm: Option<&str>, predictions: &[&Prediction]) -> Table {
    let tested = lsm.is_some() || predictions.iter().any(|p| p.measured.is_some());
    let errors = predictions.iter().filter_map(|p| p.error);
    let sizes: Vec<f64> = errors.map(f64::abs).collect();
    let sum = (!sizes.is_empty()).then(|| {
        let label = format!("median of {} errors", count(sizes.len() as u64));
        let median = stats::median(sizes.iter().copied());
        let median = numbers::percent(median).replacen('+', "±", 1);
        let mut values = vec![Value::default(); 5];
        values[0] = Value::plain(label);
        values[4] = Value::plain(median);
        values
    });
    let what = match lsm {
        Some(lsm) => format!("cost that {} adds to operations", short(lsm)),
        None => "cost that decisions add to operations".to_owned(),
    };
    let error =
        ", measured in other benchmarks; error: of the prediction, against the measured cost";
    let error = if tested { error } else { "" };
    let kernel = short(kernel);
    let title = format!("{kernel}: {what}, predicted from slopes: instructions");
    let or_none =
        |figure: Option<f64>, text: fn(f64) -> String| figure.map_or("-".to_owned(), text);
    Columns::new()
        .left("operation", |prediction: &Prediction| {
            cell_title(&prediction.benchmark, &prediction.variant)
        })
        .right("a decision", |prediction| {
            numbers::cost(prediction.decision)
        })
        .right("predicted", |prediction| {
            Value::plain(numbers::cost(prediction.predicted)).noted(unknown(prediction))
        })
        .only_if(tested, |columns| {
            columns
                .right("measured", move |prediction| {
                    or_none(prediction.measured, numbers::cost)
                })
                .right("error", move |prediction| {
                    or_none(prediction.error, numbers::percent)
                })
        })
        .summed_up(title, predictions.iter().copied(), sum)
        .legend([format!(
            "a decision: mean cost of a decision in the operation; predicted: sum over hooks of \
             slope times the cost of a decision in that hook{error}."
        )])
}

fn unknown(prediction: &Prediction) -> Option<String> {
    let hooks = listed(&prediction.unknown, HOOKS_NAMED);
    (!prediction.unknown.is_empty()).then(|| {
        format!(
            "without {hooks}: called in no other benchmark, so the cost of a decision there is \
             unknown"
        )
    })
}

const CHAINS_SHOWN: usize = 6;
const OUTER: usize = 2;
const INNER: usize = 5;
const FUNCTION_LIMIT: usize = 40;

pub(super) fn repeated_tables(findings: &SweepFindings) -> Vec<Table> {
    grouped(&findings.repeated, |question| question.kernel.as_str())
        .into_iter()
        .map(|(kernel, questions)| repeated_table(kernel, &questions))
        .collect()
}

fn repeated_table(kernel: &str, questions: &[&RepeatedQuestion]) -> Table {
    let notes = RefCell::new(Footnotes::default());
    let kernel = short(kernel);
    let title = format!("{kernel}: permission checks repeated for the same object");
    let mut table = Columns::new()
        .left("operation", |question: &RepeatedQuestion| {
            cell_title(&question.benchmark, &question.variant)
        })
        .left("hook", |question| &question.hook)
        .left("object", |question| &question.object)
        .column("times", |question| question.times)
        .left("called by", |question| {
            Value::plain(asked_by(question, &mut notes.borrow_mut()))
        })
        .table(title, questions.iter().copied())
        .legend([
            "object: inode:device:number:generation, and other arguments; called by: \
             the call chains below the table, outermost function first, with their number.",
        ]);
    table.footnotes = notes.into_inner().texts;
    table
}

fn asked_by(question: &RepeatedQuestion, notes: &mut Footnotes) -> String {
    let mut chains = grouped(&question.chains, |chain| chain.as_slice());
    chains.sort_by_key(|(_, same)| Reverse(same.len()));
    let shown = chains.iter().take(CHAINS_SHOWN);
    let shown =
        shown.map(|(chain, same)| format!("{}x {}", same.len(), notes.mark(shortened(chain))));
    let mut texts: Vec<String> = shown.collect();
    if chains.len() > CHAINS_SHOWN {
        texts.push(format!("{} other chains", chains.len() - CHAINS_SHOWN));
    }
    texts.join(", ")
}

fn shortened(chain: &[String]) -> String {
    let name = |function: &String| printable(function, FUNCTION_LIMIT);
    if chain.is_empty() {
        return "an unknown chain".to_owned();
    }
    if chain.len() <= OUTER + INNER + 1 {
        return chain.iter().map(name).collect::<Vec<_>>().join(" > ");
    }
    let mut names: Vec<String> = chain[..OUTER].iter().map(name).collect();
    names.push("...".to_owned());
    names.extend(chain[chain.len() - INNER..].iter().map(name));
    names.join(" > ")
}

const DEPTHS_LISTED: usize = 8;

pub(super) fn rule_tables(
    findings: &SweepFindings,
    swept: &[Swept<'_>],
    by_hook: bool,
) -> Vec<Table> {
    let mut units: HashMap<_, Unit> = HashMap::new();
    for swept in swept {
        let (kernel, module, _, _, unit) = swept.place();
        units.entry((kernel, module)).or_insert(unit);
    }
    grouped(&findings.rules, |rule| (rule.kernel.as_str(), rule.module))
        .into_iter()
        .filter_map(|(key, rules)| rule_table(&rules, units.get(&key).copied(), by_hook))
        .collect()
}

fn is_whole(rule: &DepthRule) -> bool {
    rule.hook == ALL_HOOKS || rule.hook.contains(',')
}

fn rule_table(rules: &[&DepthRule], unit: Option<Unit>, by_hook: bool) -> Option<Table> {
    let first = rules.first()?;
    let mut caches = Caches::ALL.to_vec();
    caches.retain(|caches| rules.iter().any(|rule| rule.caches == *caches));
    let mut lines: Vec<(String, Vec<&DepthRule>)> = Vec::new();
    for (benchmark, of_benchmark) in grouped(rules.iter().copied(), |r| r.benchmark.as_str()) {
        let hooks = grouped(of_benchmark, |rule| rule.hook.as_str());
        let mut all = hooks.iter().flat_map(|(_, rules)| rules);
        let any_whole = all.any(|rule| is_whole(rule));
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
    for &state in &caches {
        let name = format!("{state} caches");
        let group = (caches.len() > 1).then_some(name.as_str());
        columns = columns.all(rule_columns(group), move |(_, rules): Line<'_>| {
            rules.iter().copied().find(|rule| rule.caches == state)
        });
    }
    let mut title = format!("{}, {}", short(&first.kernel), first.module);
    if let [caches] = caches.as_slice() {
        title += &format!(", {caches} caches");
    }
    title += ": permission checks per operation by the depth d of its path";
    let unit = unit.map_or("the slopes' unit", Unit::as_str);
    Some(columns.table(title, &lines).legend([format!(
        "off by: largest distance of a slope from the rule; β1: cost of each further decision \
         in an operation without delays, in {unit}, including the walk through a component of the \
         path."
    )]))
}

type Line<'a> = &'a (String, Vec<&'a DepthRule>);

fn rule_columns<'a>(group: Option<&str>) -> Columns<'a, Option<&'a DepthRule>> {
    let text = |rule: &DepthRule| numbers::rule(rule.a, rule.b);
    Columns::new()
        .grouped(group, "rule", move |rule: Option<&DepthRule>| {
            rule.map_or("-".to_owned(), text)
        })
        .grouped(group, "off by", |rule| {
            Some(numbers::decimals(rule?.residual, 4))
        })
        .grouped(group, "r²", |rule| Some(numbers::r2(rule?.r2)))
        .grouped(group, "β1", |rule| rule?.beta1.map(numbers::cost))
        .grouped(group, "depths", |rule| {
            Some(Value::plain(depths(&rule?.depths)))
        })
}

fn depths(depths: &[u32]) -> String {
    if depths.len() <= DEPTHS_LISTED {
        let depths: Vec<String> = depths.iter().map(u32::to_string).collect();
        return depths.join(", ");
    }
    let ends = [depths.iter().min(), depths.iter().max()];
    let [least, most] = ends.map(|depth| depth.copied().unwrap_or(0));
    format!("{least} to {most} ({})", depths.len())
}
