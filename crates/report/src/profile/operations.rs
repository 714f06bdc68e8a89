// SPDX-License-Identifier: GPL-2.0-or-later
//! Many operations, one in each row.

use std::collections::HashMap;

use experiment::Clock;

use super::{
    Profile, StackNames, configured, difference, full_name, grouped, residual, sum, where_profiled,
};
use crate::cells::{not_measured, without_figure};
use crate::column::Columns;
use crate::format::share;
use crate::table::{Table, Tone, Value};

pub(super) fn tables(profiles: &[Profile<'_>], clock: Clock) -> Vec<Table> {
    grouped(profiles, |profile| (profile.kernel(), profile.filesystem()))
        .into_iter()
        .map(|(_, profiles)| table(&profiles, clock))
        .collect()
}

/// One stack's operations.
struct Side<'a> {
    stack: &'a [String],
    profiles: HashMap<(&'a str, &'a str), &'a Profile<'a>>,
    /// Some are compared with a baseline.
    compared: bool,
}

impl<'a> Side<'a> {
    fn with_figures(&self) -> impl Iterator<Item = &'a Profile<'a>> {
        self.profiles
            .values()
            .copied()
            .filter(|profile| profile.figures.is_some())
    }

    /// The stack in full, with what its profiles say of its policies.
    fn configured(&self) -> String {
        let first = self.profiles.values().next();
        first.map_or_else(|| full_name(self.stack), |profile| configured(profile))
    }

    /// Its columns beside those of other stacks, which are told apart by `name`.
    fn add<'c>(
        &'c self,
        columns: Columns<'c, Operation<'c>>,
        name: Option<&str>,
    ) -> Columns<'c, Operation<'c>> {
        let ok = |of| {
            self.profiles
                .get(&of)
                .copied()
                .filter(|p| p.figures.is_some())
        };
        let pair = move |of| ok(of).and_then(|p| Some((p, p.residual()?)));
        columns
            .grouped(name, "total", |of| match self.profiles.get(&of) {
                None => not_measured("not measured"),
                Some(p) if p.figures.is_some() => p.total().into(),
                Some(p) => without_figure(p.cell.status(), p.cell.reason()),
            })
            .grouped(name, "hooks", move |of| ok(of).map(|p| p.hooked()))
            .grouped(name, "share", move |of| {
                ok(of).map(|p| share_of(p.hooked(), p.total()))
            })
            .grouped(name, "calls", move |of| ok(of).map(hook_calls))
            .only_if(self.compared, |columns| {
                columns
                    .grouped(name, "d total", move |of| {
                        pair(of)
                            .map(|(p, b)| Value::difference(difference(p.total(), b.path.total)))
                    })
                    .grouped(name, "d hooks", move |of| {
                        pair(of)
                            .map(|(p, b)| Value::difference(difference(p.hooked(), b.path.hooked)))
                    })
                    .grouped(name, "residual", move |of| {
                        pair(of).map(|(_, b)| residual::value(b))
                    })
            })
    }
}

/// Benchmark and variant.
type Operation<'a> = (&'a str, &'a str);

fn table(profiles: &[&Profile<'_>], clock: Clock) -> Table {
    let sides: Vec<Side<'_>> = grouped(profiles.iter().copied(), |p| p.stack())
        .into_iter()
        .map(|(stack, of)| Side {
            stack,
            compared: of.iter().any(|p| p.residual().is_some()),
            profiles: of.into_iter().map(|p| (p.operation(), p)).collect(),
        })
        .collect();
    let names = StackNames::of(profiles);
    let mut columns = Columns::new().left("operation", |(benchmark, variant): Operation<'_>| {
        experiment::cell_title(benchmark, variant)
    });
    for side in &sides {
        let name = (sides.len() > 1).then(|| names.short(side.stack));
        columns = side.add(columns, name.as_deref());
    }
    let operations = grouped(profiles.iter().copied(), |p| p.operation());
    let summary = (operations.len() > 1).then(|| summary(&sides));
    let mut title = format!("{}, {} clock: ", where_profiled(profiles), clock);
    if let [side] = sides.as_slice() {
        title += &format!("{}: ", side.configured());
    }
    title += "guest kernel instructions per operation, and of them in hooks";
    let operations = operations.iter().map(|(operation, _)| *operation);
    columns
        .summed_up(title, operations, summary)
        .legend(legend(&sides, &names))
}

fn legend(sides: &[Side<'_>], names: &StackNames<'_>) -> Vec<String> {
    let mut legend = vec![
        "hooks: instructions inside hooks, a hook inside a hook counted with the outer one; \
         share: of them in total; calls: of hooks."
            .to_owned(),
    ];
    let baselines: Vec<String> = {
        let mut seen: Vec<&[String]> = Vec::new();
        for profile in sides.iter().flat_map(Side::with_figures) {
            if let Some(baseline) = profile.residual()
                && !seen.contains(&baseline.stack.as_slice())
            {
                seen.push(&baseline.stack);
            }
        }
        seen.iter().map(|stack| full_name(stack)).collect()
    };
    if !baselines.is_empty() {
        legend.push(format!(
            "d: difference to {}; residual: d total less d hooks; 0 proves that the hooks are all \
             there is.",
            baselines.join(" or ")
        ));
    }
    if sides
        .iter()
        .any(|side| names.short(side.stack) != side.configured())
        && sides.len() > 1
    {
        let stacks: Vec<String> = sides
            .iter()
            .map(|side| (names.short(side.stack), side.configured()))
            .filter(|(short, full)| short != full)
            .map(|(short, full)| format!("{short} is {full}"))
            .collect();
        legend.push(format!("Stacks: {}.", stacks.join("; ")));
    }
    legend
}

fn hook_calls(profile: &Profile<'_>) -> u64 {
    sum(profile.hooks().iter().map(|hook| hook.calls))
}

fn share_of(hooked: u64, total: u64) -> String {
    share(hooked, total).unwrap_or_else(|| "n/a".to_owned())
}

fn summary(sides: &[Side<'_>]) -> Vec<Value> {
    let mut values = vec![Value::plain("all operations")];
    for side in sides {
        let total = sum(side.with_figures().map(|p| p.total()));
        let hooked = sum(side.with_figures().map(|p| p.hooked()));
        let calls = sum(side.with_figures().map(hook_calls));
        values.extend([
            total.into(),
            hooked.into(),
            Value::plain(share_of(hooked, total)),
            calls.into(),
        ]);
        if side.compared {
            let pairs = || side.with_figures().filter_map(|p| Some((p, p.residual()?)));
            let total: i128 = pairs()
                .map(|(p, b)| difference(p.total(), b.path.total))
                .sum();
            let hooked: i128 = pairs()
                .map(|(p, b)| difference(p.hooked(), b.path.hooked))
                .sum();
            // Their sum would hide residuals that cancel out.
            let held = pairs().filter(|(_, b)| b.instructions != 0).count();
            values.extend([Value::difference(total), Value::difference(hooked)]);
            values.push(match held {
                0 => Value::plain("all 0"),
                n => Value::toned(format!("{n} not 0"), Tone::Worse),
            });
        }
    }
    values
}
