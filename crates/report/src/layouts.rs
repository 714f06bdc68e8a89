// SPDX-License-Identifier: GPL-2.0-or-later
//! What stacks add over several layouts of one kernel: `build:NAME.1`, `build:NAME.2` and so on,
//! which `lsmeter kernel build --layouts` makes. Where the linker puts functions changes times by
//! more than boots do, so the interval is one over layouts.

use std::collections::BTreeMap;

use experiment::Metric;
use stats::{Centre, centre};

use crate::cells::{Configuration, Group, Operation};
use crate::column::Columns;
use crate::format;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// With fewer there is no interval that holds 95 %.
const LEAST: usize = 6;

/// `build:um` of `build:um.3`.
fn base(kernel: &str) -> Option<&str> {
    let (base, number) = kernel.rsplit_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && base.starts_with("build:")).then_some(base)
}

/// A table for each kernel of which there are enough layouts; `groups` are a run's.
pub(crate) fn layouts(groups: &[Group<'_>]) -> Vec<Table> {
    let timed = groups.iter().filter(|group| group.metric == Metric::Time);
    let mut of_one: BTreeMap<_, Vec<&Group<'_>>> = BTreeMap::new();
    for group in timed.filter(|group| !group.of_kernels) {
        if let Some(base) = base(&group.subject) {
            let key = (base, group.filesystem);
            of_one.entry(key).or_default().push(group);
        }
    }
    let enough = of_one.iter().filter(|(_, groups)| groups.len() >= LEAST);
    enough
        .filter_map(|((base, _), groups)| table(&printable(base, TEXT_LIMIT), groups))
        .collect()
}

fn table(base: &str, groups: &[&Group<'_>]) -> Option<Table> {
    let first = groups.first()?;
    let baseline = first.baseline.as_ref()?;
    let figure = |group: &Group<'_>, row, of: &Configuration| {
        let timed = group.cell(row, of)?.timed()?;
        // What else the machine does adds time, often to a whole round.
        let rounds = timed.rounds.iter().copied();
        rounds.reduce(f64::min).or(Some(timed.estimate.median))
    };
    let mut columns = Columns::new()
        .left("benchmark", |(benchmark, variant): Operation<'_>| {
            experiment::cell_title(benchmark, variant)
        })
        .right(printable(&first.heading(baseline), TEXT_LIMIT), |row| {
            let all = groups
                .iter()
                .filter_map(|group| figure(group, row, baseline));
            let all: Vec<f64> = all.collect();
            centre(&all).map(|of| format::figure(of.value))
        });
    let tested = first.configurations.iter().filter(|of| *of != baseline);
    for configuration in tested {
        let title = printable(&first.heading(configuration), TEXT_LIMIT);
        columns = columns.right(title, move |row| {
            let differences = groups.iter().filter_map(|group| {
                Some(figure(group, row, configuration)? - figure(group, row, baseline)?)
            });
            let differences: Vec<f64> = differences.collect();
            centre(&differences).map(value)
        });
    }
    let layouts = groups.len();
    let title = format!(
        "{base}, {}: nanoseconds that stacks add, over {layouts} layouts",
        printable(first.filesystem, TEXT_LIMIT)
    );
    Some(
        columns
            .table(title, first.rows.iter().copied())
            .fixed(2)
            .legend([
                "The centre (Hodges-Lehmann) over kernels that differ in where functions lie, with its 95 % \
                 interval over them; of each kernel and stack the median of the quietest round. ~: 0 is in the interval.",
            ]),
    )
}

fn value(of: Centre) -> Value {
    let signed = |ns: f64| {
        let sign = if ns < 0.0 { "-" } else { "+" };
        format!("{sign}{}", format::figure(ns.abs()))
    };
    let [low, high] = of.ci95;
    let doubt = if low <= 0.0 && high >= 0.0 { "~" } else { "" };
    let value = signed(of.value);
    Value::plain(format!(
        "{doubt}{value} [{}, {}]",
        signed(low),
        signed(high)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_told_by_their_numbers() {
        assert_eq!(base("build:um.3"), Some("build:um"));
        assert_eq!(base("build:6.12-all"), None);
        assert_eq!(base("build:um."), None);
        assert_eq!(base("debian:6.12"), None);
    }
}
