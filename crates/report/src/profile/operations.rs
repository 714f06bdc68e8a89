// SPDX-License-Identifier: GPL-2.0-or-later
//! Many operations, one in each row.

use std::collections::HashMap;

use experiment::{Profile, ProfileDocument};

use super::operation::differing;
use super::{
    StackNames, configured, difference, full_name, grouped, has_figures, operation_of, residual,
    sum, where_profiled,
};
use crate::format::{count, share};
use crate::table::{Align, Column, Footnotes, Row, TEXT_LIMIT, Table, Tone, Value, without_figure};
use crate::text::printable;

pub(super) fn tables(document: &ProfileDocument) -> Vec<Table> {
    grouped(&document.profiles, |profile| {
        (profile.kernel.as_str(), profile.filesystem.as_str())
    })
    .into_iter()
    .map(|(_, profiles)| table(document, &profiles))
    .collect()
}

/// One stack's operations.
struct Side<'a> {
    stack: &'a [String],
    profiles: HashMap<(&'a str, &'a str), &'a Profile>,
    /// Some are compared with a baseline.
    compared: bool,
}

impl<'a> Side<'a> {
    fn columns(&self) -> usize {
        if self.compared { 7 } else { 4 }
    }

    fn with_figures(&self) -> impl Iterator<Item = &'a Profile> {
        self.profiles
            .values()
            .copied()
            .filter(|profile| has_figures(profile))
    }

    /// The stack in full, with what its profiles say of its policies.
    fn configured(&self) -> String {
        let first = self.profiles.values().next();
        first.map_or_else(|| full_name(self.stack), |profile| configured(profile))
    }
}

fn table(document: &ProfileDocument, profiles: &[&Profile]) -> Table {
    let sides: Vec<Side<'_>> = grouped(profiles.iter().copied(), |p| p.stack.as_slice())
        .into_iter()
        .map(|(stack, of)| Side {
            stack,
            compared: of.iter().any(|p| p.baseline.is_some()),
            profiles: of.into_iter().map(|p| (operation_of(p), p)).collect(),
        })
        .collect();
    let names = StackNames::of(profiles);
    let mut columns = vec![Column::new("operation", Align::Left)];
    for side in &sides {
        let name = names.short(side.stack);
        let group = (sides.len() > 1).then_some(name.as_str());
        let titles = [
            "total", "hooks", "share", "calls", "d total", "d hooks", "residual",
        ];
        let titles = titles.into_iter().take(side.columns());
        columns.extend(titles.map(|title| Column::figures(title, group)));
    }
    let mut notes = Footnotes::default();
    let operations = grouped(profiles.iter().copied(), operation_of);
    let mut rows: Vec<Row> = operations
        .iter()
        .map(|(operation, of)| {
            let title = of.first().map(|p| p.title()).unwrap_or_default();
            let mut values = vec![Value::plain(printable(&title, TEXT_LIMIT))];
            for side in &sides {
                let start = values.len();
                values.extend(figures(side.profiles.get(operation).copied(), &mut notes));
                values.resize(start + side.columns(), Value::default());
            }
            Row {
                values,
                summary: false,
            }
        })
        .collect();
    if operations.len() > 1 {
        rows.push(summary(&sides));
    }
    let mut title = format!(
        "{}, {} clock: ",
        where_profiled(profiles),
        document.environment.clock
    );
    if let [side] = sides.as_slice() {
        title += &format!("{}: ", side.configured());
    }
    title += "guest kernel instructions per operation, and of them in hooks";
    Table {
        title,
        legend: legend(&sides, &names),
        columns,
        fixed_columns: 1,
        rows,
        footnotes: notes.texts,
    }
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
            if let Some(baseline) = &profile.baseline
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

fn hook_calls(profile: &Profile) -> u64 {
    sum(profile.hooks.iter().map(|hook| hook.calls))
}

fn share_of(hooked: u64, total: u64) -> String {
    share(hooked, total).unwrap_or_else(|| "n/a".to_owned())
}

fn figures(profile: Option<&Profile>, notes: &mut Footnotes) -> Vec<Value> {
    let Some(profile) = profile else {
        let mark = notes.mark("not measured".to_owned());
        return vec![Value::toned(format!("- {mark}"), Tone::Missing)];
    };
    if !has_figures(profile) {
        return vec![without_figure(
            profile.status,
            profile.reason.as_deref(),
            notes,
        )];
    }
    let mut values: Vec<Value> = [
        count(profile.total),
        count(profile.hooked),
        share_of(profile.hooked, profile.total),
        count(hook_calls(profile)),
    ]
    .map(Value::plain)
    .into();
    if let Some(baseline) = &profile.baseline {
        values.push(differing(difference(profile.total, baseline.total)));
        values.push(differing(difference(profile.hooked, baseline.hooked)));
        values.push(residual::value(profile, baseline, notes));
    }
    values
}

fn summary(sides: &[Side<'_>]) -> Row {
    let mut values = vec![Value::plain("all operations")];
    for side in sides {
        let total = sum(side.with_figures().map(|p| p.total));
        let hooked = sum(side.with_figures().map(|p| p.hooked));
        let calls = sum(side.with_figures().map(hook_calls));
        values.extend([
            Value::plain(count(total)),
            Value::plain(count(hooked)),
            Value::plain(share_of(hooked, total)),
            Value::plain(count(calls)),
        ]);
        if side.compared {
            let pairs = || {
                side.with_figures()
                    .filter_map(|p| Some((p, p.baseline.as_ref()?)))
            };
            let total: i128 = pairs().map(|(p, b)| difference(p.total, b.total)).sum();
            let hooked: i128 = pairs().map(|(p, b)| difference(p.hooked, b.hooked)).sum();
            // Their sum would hide residuals that cancel out.
            let held = pairs()
                .filter(|(p, b)| residual::residual(p, b) != 0)
                .count();
            values.push(differing(total));
            values.push(differing(hooked));
            values.push(match held {
                0 => Value::plain("all 0"),
                n => Value::toned(format!("{n} not 0"), Tone::Worse),
            });
        }
    }
    Row {
        values,
        summary: true,
    }
}
