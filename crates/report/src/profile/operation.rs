// SPDX-License-Identifier: GPL-2.0-or-later
//! One operation's hooks, stacks beside each other.

use std::cmp::Reverse;
use std::collections::HashMap;

use experiment::{Clock, HookCost, HookedPath, Implementation, Residual};

use super::{Profile, StackNames, configured, difference, full_name, grouped, residual};
use crate::cells::without_figure;
use crate::column::Columns;
use crate::format::count;
use crate::table::{TEXT_LIMIT, Table, Value};
use crate::text::printable;

/// Columns of a stack.
const COLUMNS: usize = 4;

pub(super) fn tables(profiles: &[Profile<'_>], clock: Clock) -> Vec<Table> {
    grouped(profiles, |profile| {
        (profile.kernel(), profile.filesystem(), profile.operation())
    })
    .into_iter()
    .map(|(_, profiles)| table(&profiles, clock))
    .collect()
}

/// One stack's figures, or two stacks' compared.
struct Side<'a> {
    profile: &'a Profile<'a>,
    baseline: Option<&'a Residual>,
    tested_costs: Costs<'a>,
    baseline_costs: Costs<'a>,
}

/// The hooks of a stack and what it called of the modules.
#[derive(Default)]
struct Costs<'a> {
    hooks: HashMap<&'a str, &'a HookCost>,
    /// By hook, module and function.
    behind: HashMap<(&'a str, &'a str, &'a str), &'a Implementation>,
}

impl<'a> Costs<'a> {
    fn of(hooks: &'a [HookCost]) -> Costs<'a> {
        let mut costs = Costs::default();
        for hook in hooks {
            costs.hooks.insert(&hook.hook, hook);
            for behind in &hook.implementations {
                let key = (
                    hook.hook.as_str(),
                    behind.module.as_str(),
                    behind.function.as_str(),
                );
                costs.behind.insert(key, behind);
            }
        }
        costs
    }
}

impl<'a> Side<'a> {
    fn of(profile: &'a Profile<'a>) -> Side<'a> {
        let baseline = profile.residual();
        Side {
            profile,
            baseline,
            tested_costs: Costs::of(profile.hooks()),
            baseline_costs: Costs::of(baseline.map_or(&[], |of| &of.path.hooks)),
        }
    }

    fn costs(&self) -> [&Costs<'a>; 2] {
        [&self.tested_costs, &self.baseline_costs]
    }

    /// What stands in a row of its columns.
    fn values(&self, line: &Line<'_>) -> [Value; COLUMNS] {
        let tested = line.figures(&self.tested_costs);
        match self.baseline {
            Some(_) => compared(tested, line.figures(&self.baseline_costs)),
            None => alone(tested),
        }
    }
}

/// What stands in a row for one stack.
#[derive(Clone, Copy)]
struct Figures {
    calls: u64,
    inclusive: u64,
    /// Exclusive and dispatch.
    own: Option<(u64, u64)>,
}

impl From<&HookCost> for Figures {
    fn from(hook: &HookCost) -> Figures {
        Figures {
            calls: hook.calls,
            inclusive: hook.inclusive,
            own: Some((hook.exclusive, hook.dispatch)),
        }
    }
}

impl From<&Implementation> for Figures {
    fn from(implementation: &Implementation) -> Figures {
        Figures {
            calls: implementation.calls,
            inclusive: implementation.inclusive,
            own: None,
        }
    }
}

fn table(profiles: &[&Profile<'_>], clock: Clock) -> Table {
    let mut shown = profiles.to_vec();
    // What others are compared with already stands beside them.
    shown.retain(|profile| {
        profile.figures.is_none()
            || profile.residual().is_some()
            || !profiles.iter().any(|other| {
                let baseline = other.residual();
                baseline.is_some_and(|baseline| baseline.stack == profile.stack())
            })
    });
    let names = StackNames::of(&shown);
    let sides: Vec<Side<'_>> = shown.iter().map(|profile| Side::of(profile)).collect();
    let title = profiles.first().map(|p| p.cell.title()).unwrap_or_default();
    let mut title = format!(
        "{}, {} clock: {}",
        super::where_profiled(profiles),
        clock,
        printable(&title, TEXT_LIMIT)
    );
    if let [side] = sides.as_slice() {
        title += &format!(", {}", configured(side.profile));
        if let Some(baseline) = side.baseline {
            title += &format!(" against {}", full_name(&baseline.stack));
        }
    }
    title += ": guest kernel instructions per operation";
    let lines = lines(&sides);
    columns(&sides, &names)
        .summed_up(title, &lines, summary(&sides))
        .legend(legend(&sides, &names))
}

fn columns<'a>(sides: &'a [Side<'a>], names: &StackNames<'_>) -> Columns<'a, &'a Line<'a>> {
    let mut columns = Columns::new().left("hook", |line: &Line<'_>| Value::plain(line.label()));
    let alone = sides.len() == 1;
    for side in sides {
        let name = names.short(side.profile.stack());
        let titles = match side.baseline {
            Some(baseline) if alone => [
                "calls".to_owned(),
                names.short(&baseline.stack),
                name.clone(),
                "difference".to_owned(),
            ],
            Some(_) => ["calls", "baseline", "tested", "difference"].map(str::to_owned),
            None if alone => ["calls", "inclusive", "exclusive", "dispatch"].map(str::to_owned),
            None => ["calls", "incl", "excl", "dispatch"].map(str::to_owned),
        };
        let group = (!alone).then_some(name.as_str());
        for (at, title) in titles.into_iter().enumerate() {
            columns = columns.grouped(group, printable(&title, TEXT_LIMIT), move |line| {
                side.values(line).into_iter().nth(at)
            });
        }
    }
    columns
}

fn legend(sides: &[Side<'_>], names: &StackNames<'_>) -> Vec<String> {
    let mut legend = Vec::new();
    let compared = sides.iter().any(|side| side.baseline.is_some());
    if sides.len() > 1 {
        let stacks = sides.iter().map(|side| {
            let (short, full) = (names.short(side.profile.stack()), configured(side.profile));
            let against = match side.baseline {
                Some(baseline) => format!(" against {}", full_name(&baseline.stack)),
                None => String::new(),
            };
            if short == full {
                format!("{full}{against}")
            } else {
                format!("{short} is {full}{against}")
            }
        });
        legend.push(format!(
            "Stacks: {}.",
            stacks.collect::<Vec<_>>().join("; ")
        ));
    }
    if compared {
        legend.push(
            "Figures: inclusive, from call to return, of the baseline and of the tested stack; \
             difference: tested less baseline; calls: a -> b where the two differ. Below a hook: \
             the modules' functions that it called."
                .to_owned(),
        );
    }
    if sides.iter().any(|side| side.baseline.is_none()) {
        let (inclusive, exclusive) = if sides.len() == 1 {
            ("inclusive", "exclusive")
        } else {
            ("incl", "excl")
        };
        legend.push(format!(
            "{inclusive}: from call to return, with all that was called; {exclusive}: the hook \
             function's own; dispatch: {inclusive} less the modules' functions, which stand below \
             their hook."
        ));
    }
    let mut last = "nested once: a hook inside a hook counts with the outer one.".to_owned();
    if compared {
        last += " residual: what differs outside of hooks; 0 proves that they are all there is.";
    }
    legend.push(last);
    legend.extend(windows(sides, names));
    legend
}

/// How sure the figures are: a line of the legend.
fn windows(sides: &[Side<'_>], names: &StackNames<'_>) -> Option<String> {
    let mut texts: Vec<(String, String)> = Vec::new();
    for side in sides {
        let profile = side.profile;
        let Some((counted, path)) = profile.figures else {
            continue;
        };
        let mut text = format!(
            "{} of {}, {} dirty, {} REP iterations",
            count(path.windows),
            count(counted.windows()),
            count(counted.dirty()),
            count(path.rep_iterations.unwrap_or_default())
        );
        if let Some(baseline) = side.baseline {
            let (path, all) = (baseline.path.windows, baseline.windows);
            text += &format!(" (baseline {} of {})", count(path), count(all));
        }
        texts.push((names.short(profile.stack()), text));
    }
    let (_, first) = texts.first()?;
    let text = if sides.len() == 1 {
        first.clone()
    } else if texts.len() == sides.len() && texts.iter().all(|(_, text)| text == first) {
        format!("{first}, each stack")
    } else {
        let texts: Vec<String> = texts
            .iter()
            .map(|(name, text)| format!("{name} {text}"))
            .collect();
        texts.join("; ")
    };
    Some(format!("Clean windows on the profiled path: {text}."))
}

/// Hooks that were called, the dearest first, each with the modules' functions.
fn lines<'a>(sides: &[Side<'a>]) -> Vec<Line<'a>> {
    let costs = || sides.iter().flat_map(Side::costs);
    let mut hooks: HashMap<&str, u64> = HashMap::new();
    let mut behind: HashMap<&str, HashMap<(&str, &str), u64>> = HashMap::new();
    for hook in costs().flat_map(|costs| costs.hooks.values()) {
        if hook.calls > 0 || hook.inclusive > 0 {
            dearest(&mut hooks, hook.hook.as_str(), hook.inclusive);
        }
    }
    for (&(hook, module, function), implementation) in costs().flat_map(|costs| &costs.behind) {
        let of_hook = behind.entry(hook).or_default();
        dearest(of_hook, (module, function), implementation.inclusive);
    }
    let mut lines = Vec::new();
    for hook in sorted(hooks) {
        lines.push(Line { hook, behind: None });
        let functions = sorted(behind.remove(hook).unwrap_or_default()).into_iter();
        lines.extend(functions.map(|of| Line {
            hook,
            behind: Some(of),
        }));
    }
    lines
}

/// What a row is of: a hook, or a module's function behind it.
struct Line<'a> {
    hook: &'a str,
    /// Module and function.
    behind: Option<(&'a str, &'a str)>,
}

impl Line<'_> {
    fn label(&self) -> String {
        match self.behind {
            None => printable(self.hook, TEXT_LIMIT),
            Some((module, function)) => implementation(module, function),
        }
    }

    fn figures(&self, costs: &Costs<'_>) -> Option<Figures> {
        match self.behind {
            None => costs.hooks.get(self.hook).map(|&cost| cost.into()),
            Some((module, function)) => {
                let key = (self.hook, module, function);
                costs.behind.get(&key).map(|&cost| cost.into())
            }
        }
    }
}

fn dearest<K: Eq + std::hash::Hash>(costs: &mut HashMap<K, u64>, name: K, cost: u64) {
    let most = costs.entry(name).or_default();
    *most = cost.max(*most);
}

/// Names by cost, the dearest first.
fn sorted<K: Ord + Copy>(cost: HashMap<K, u64>) -> Vec<K> {
    let mut names: Vec<(Reverse<u64>, K)> =
        cost.into_iter().map(|(k, c)| (Reverse(c), k)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name).collect()
}

/// `  selinux_inode_permission`; with the module where the name does not say it.
fn implementation(module: &str, function: &str) -> String {
    let prefix = if module == "capability" {
        "cap"
    } else {
        module
    };
    let label = printable(&format!("  {function}"), TEXT_LIMIT);
    if module.is_empty() || function.starts_with(prefix) {
        label
    } else {
        format!("{label} ({})", printable(module, 20))
    }
}

fn alone(figures: Option<Figures>) -> [Value; COLUMNS] {
    let Some(figures) = figures else {
        return absent();
    };
    [
        figures.calls.into(),
        figures.inclusive.into(),
        figures.own.map(|own| own.0).into(),
        figures.own.map(|own| own.1).into(),
    ]
}

fn absent() -> [Value; COLUMNS] {
    let mut values: [Value; COLUMNS] = Default::default();
    values[0] = Value::plain("-");
    values
}

fn compared(tested: Option<Figures>, baseline: Option<Figures>) -> [Value; COLUMNS] {
    // An absent side has `-` for its figure, so that its calls need not say it again.
    let calls = match (baseline, tested) {
        (None, None) => return absent(),
        (Some(was), Some(is)) if was.calls != is.calls => {
            Value::plain(format!("{} -> {}", count(was.calls), count(is.calls)))
        }
        (_, Some(one)) | (Some(one), None) => one.calls.into(),
    };
    let inclusive = |figures: Option<Figures>| figures.map(|figures| figures.inclusive);
    let [was, is] = [inclusive(baseline), inclusive(tested)];
    let shown = |cost: Option<u64>| cost.map_or_else(|| Value::plain("-"), Value::from);
    [
        calls,
        shown(was),
        shown(is),
        Value::difference(difference(is.unwrap_or(0), was.unwrap_or(0))),
    ]
}

fn summary(sides: &[Side<'_>]) -> Vec<Vec<Value>> {
    let mut rows = vec![
        summary_row("hooks, nested once", sides, |of| of.hooked),
        summary_row("outside hooks", sides, |of| {
            of.total.saturating_sub(of.hooked)
        }),
        summary_row("total", sides, |of| of.total),
    ];
    let Some(total) = rows.last_mut() else {
        return rows;
    };
    for (index, side) in sides.iter().enumerate() {
        if side.profile.figures.is_none() {
            total[1 + index * COLUMNS + 1] =
                without_figure(side.profile.cell.status(), side.profile.cell.reason());
        }
    }
    if sides.iter().any(|side| side.baseline.is_some()) {
        let residuals = sides.iter().flat_map(|side| {
            let baseline = side.baseline;
            let residual = baseline.map(residual::value);
            let mut of_side: [Value; COLUMNS] = Default::default();
            of_side[3] = residual.unwrap_or_default();
            of_side
        });
        let label = std::iter::once(Value::plain("residual"));
        rows.push(label.chain(residuals).collect());
    }
    rows
}

fn summary_row(label: &str, sides: &[Side<'_>], figure: impl Fn(&HookedPath) -> u64) -> Vec<Value> {
    let mut values = vec![Value::plain(label)];
    for side in sides {
        let mut of_side: [Value; COLUMNS] = Default::default();
        if let Some(tested) = side.profile.path().map(&figure) {
            if let Some(base) = side.baseline.map(|baseline| figure(&baseline.path)) {
                of_side[1] = base.into();
                of_side[2] = tested.into();
                of_side[3] = Value::difference(difference(tested, base));
            } else {
                of_side[1] = tested.into();
            }
        }
        values.extend(of_side);
    }
    values
}
