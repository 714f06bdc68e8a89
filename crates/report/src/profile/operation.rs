// SPDX-License-Identifier: GPL-2.0-or-later
//! One operation's hooks, stacks next to each other.

use std::cmp::Reverse;
use std::collections::HashMap;

use model::{Cell, HookCost, HookedPath, Residual};

use super::{
    StackNames, baseline, configured, counted, difference, full_name, path, where_profiled,
};
use crate::cells::{operation, without_figure};
use crate::column::Columns;
use crate::format::count;
use crate::group::{grouped, shared};
use crate::residual;
use crate::table::{Table, Value};
use crate::text::{printable, short};

const COLUMNS: usize = 4;

pub(super) fn tables(profiles: &[Cell]) -> Vec<Table> {
    let operations = grouped(profiles, |cell| {
        (&cell.key.kernel, &cell.key.filesystem, operation(cell))
    });
    operations.iter().map(|(_, cells)| table(cells)).collect()
}

struct Side<'a> {
    profile: &'a Cell,
    baseline: Option<&'a Residual>,
    tested_costs: Costs<'a>,
    baseline_costs: Costs<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Line<'a> {
    hook: &'a str,
    behind: Option<(&'a str, &'a str)>,
}

#[derive(Clone, Copy)]
struct Figures {
    calls: u64,
    inclusive: u64,
    own: Option<[u64; 2]>,
}

type Costs<'a> = HashMap<Line<'a>, Figures>;

fn costs(hooks: &[HookCost]) -> Costs<'_> {
    let mut costs = Costs::new();
    for cost in hooks {
        let hook = cost.hook.as_str();
        let figures = Figures {
            calls: cost.calls,
            inclusive: cost.inclusive,
            own: Some([cost.exclusive, cost.dispatch]),
        };
        costs.insert(Line { hook, behind: None }, figures);
        costs.extend(cost.implementations.iter().map(|own| {
            let behind = Some((own.module.as_str(), own.function.as_str()));
            let figures = Figures {
                calls: own.calls,
                inclusive: own.inclusive,
                own: None,
            };
            (Line { hook, behind }, figures)
        }));
    }
    costs
}

impl<'a> Side<'a> {
    fn new(profile: &'a Cell) -> Side<'a> {
        let baseline = baseline(profile);
        Side {
            profile,
            baseline,
            tested_costs: costs(profile.hooks().unwrap_or_default()),
            baseline_costs: costs(baseline.map_or(&[], |baseline| &baseline.path.hooks)),
        }
    }

    fn title(&self) -> String {
        let stack = configured(self.profile);
        match self.baseline {
            Some(baseline) => format!("{stack} against {}", full_name(&baseline.stack)),
            None => stack,
        }
    }

    fn values(&self, line: &Line<'_>) -> [Value; COLUMNS] {
        let tested = self.tested_costs.get(line);
        match self.baseline {
            Some(_) => compared(tested, self.baseline_costs.get(line)),
            None => alone(tested),
        }
    }
}

fn table(profiles: &[&Cell]) -> Table {
    let baselines: Vec<&Residual> = profiles.iter().filter_map(|cell| baseline(cell)).collect();
    let mut shown = profiles.to_vec();
    // The baseline is already shown next to the others.
    shown.retain(|cell| {
        let is_baseline = |baseline: &&Residual| baseline.stack == cell.key.stack;
        path(cell).is_none() || baseline(cell).is_some() || !baselines.iter().any(is_baseline)
    });
    let names = StackNames::new(&shown);
    let sides: Vec<Side<'_>> = shown.into_iter().map(Side::new).collect();
    let mut title = format!(
        "{}, deterministic clock: {}",
        where_profiled(profiles),
        short(&profiles[0].title())
    );
    if let [side] = sides.as_slice() {
        title += &format!(", {}", side.title());
    }
    title += &format!(": {} per operation", counted(profiles));
    let lines = lines(&sides);
    columns(&sides, &names)
        .summed_up(title, &lines, summary(&sides))
        .legend(legend(&sides, &names))
}

fn columns<'a>(sides: &'a [Side<'a>], names: &StackNames<'_>) -> Columns<'a, &'a Line<'a>> {
    let mut columns = Columns::new().left("hook", |line: &Line<'_>| Value::plain(line.label()));
    let alone = sides.len() == 1;
    for side in sides {
        let name = names.short(&side.profile.key.stack);
        let baseline = side.baseline.map(|baseline| names.short(&baseline.stack));
        let titles = match &baseline {
            Some(baseline) if alone => ["calls", baseline, &name, "difference"],
            Some(_) => ["calls", "baseline", "tested", "difference"],
            None if alone => ["calls", "inclusive", "exclusive", "dispatch"],
            None => ["calls", "incl", "excl", "dispatch"],
        };
        let group = (!alone).then_some(name.as_str());
        for (at, title) in titles.into_iter().enumerate() {
            columns = columns.grouped(group, short(title), move |line| {
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
            let (short, full) = (names.short(&side.profile.key.stack), side.title());
            match short == configured(side.profile) {
                true => full,
                false => format!("{short} is {full}"),
            }
        });
        let stacks: Vec<String> = stacks.collect();
        legend.push(format!("Stacks: {}.", stacks.join("; ")));
    }
    let figures = "Figures: inclusive, from call to return, of the baseline and of the tested \
        stack; difference: tested minus baseline; calls: a -> b where the two differ. Below a \
        hook: the modules' functions that it called.";
    legend.extend(compared.then(|| figures.to_owned()));
    if sides.iter().any(|side| side.baseline.is_none()) {
        let (inclusive, exclusive) = match sides.len() {
            1 => ("inclusive", "exclusive"),
            _ => ("incl", "excl"),
        };
        legend.push(format!(
            "{inclusive}: from call to return, with everything called; {exclusive}: the hook \
             function's own; dispatch: {inclusive} minus the modules' functions, which are listed below \
             their hook."
        ));
    }
    let residual = " residual: difference outside hooks; 0 proves that hooks account for the whole difference.";
    let nested = "nested once: a hook inside a hook counts with the outer one.";
    legend.push(nested.to_owned() + if compared { residual } else { "" });
    legend.extend(regions(sides, names));
    legend
}

fn regions(sides: &[Side<'_>], names: &StackNames<'_>) -> Option<String> {
    let text = |side: &Side<'_>| {
        let (counted, path) = (side.profile.counted()?, path(side.profile)?);
        let mut text = format!(
            "{} of {}, {} dirty, {} REP iterations",
            count(path.regions),
            count(counted.regions()),
            count(counted.dirty()),
            count(path.rep_iterations.unwrap_or_default())
        );
        if let Some(baseline) = side.baseline {
            let (path, all) = (baseline.path.regions, baseline.regions);
            text += &format!(" (baseline {} of {})", count(path), count(all));
        }
        Some((names.short(&side.profile.key.stack), text))
    };
    let texts: Vec<(String, String)> = sides.iter().filter_map(text).collect();
    if texts.is_empty() {
        return None;
    }
    let same = shared(texts.iter().map(|(_, text)| text));
    let text = match same.filter(|_| texts.len() == sides.len()) {
        Some(text) if sides.len() == 1 => text.clone(),
        Some(text) => format!("{text}, each stack"),
        None => {
            let texts = texts.iter().map(|(name, text)| format!("{name} {text}"));
            texts.collect::<Vec<_>>().join("; ")
        }
    };
    let what = "Clean measured regions on the profiled path";
    Some(format!("{what}: {text}."))
}

fn lines<'a>(sides: &[Side<'a>]) -> Vec<Line<'a>> {
    let tested = sides.iter().flat_map(|side| &side.tested_costs);
    let baselines = sides.iter().flat_map(|side| &side.baseline_costs);
    let mut maxima: HashMap<Line<'_>, u64> = HashMap::new();
    for (&line, figures) in tested.chain(baselines) {
        if line.behind.is_some() || figures.calls > 0 || figures.inclusive > 0 {
            let most = maxima.entry(line).or_default();
            *most = figures.inclusive.max(*most);
        }
    }
    let sorted = |(&Line { hook, behind }, cost)| {
        let of_hook = maxima.get(&Line { hook, behind: None })?;
        let own = behind.map(|_| Reverse(cost));
        Some((Reverse(of_hook), hook, own, behind))
    };
    let mut lines: Vec<_> = maxima.iter().filter_map(sorted).collect();
    lines.sort_unstable();
    let line = |(_, hook, _, behind)| Line { hook, behind };
    lines.into_iter().map(line).collect()
}

impl Line<'_> {
    fn label(&self) -> String {
        match self.behind {
            None => short(self.hook),
            Some((module, function)) => implementation(module, function),
        }
    }
}

/// `  selinux_inode_permission`; with the module unless the name contains it.
fn implementation(module: &str, function: &str) -> String {
    let prefix = match module {
        "capability" => "cap",
        _ => module,
    };
    let label = short(&format!("  {function}"));
    match module.is_empty() || function.starts_with(prefix) {
        true => label,
        false => format!("{label} ({})", printable(module, 20)),
    }
}

fn alone(figures: Option<&Figures>) -> [Value; COLUMNS] {
    let Some(figures) = figures else {
        return absent();
    };
    let [exclusive, dispatch] = [0, 1].map(|at| figures.own.map(|own| own[at]).into());
    let [calls, inclusive] = [figures.calls, figures.inclusive].map(Value::from);
    [calls, inclusive, exclusive, dispatch]
}

fn absent() -> [Value; COLUMNS] {
    let none = Value::default;
    [Value::plain("-"), none(), none(), none()]
}

fn compared(tested: Option<&Figures>, baseline: Option<&Figures>) -> [Value; COLUMNS] {
    // A missing side has `-` as its figure, so its calls are omitted.
    let calls = match (baseline, tested) {
        (None, None) => return absent(),
        (Some(was), Some(is)) if was.calls != is.calls => {
            Value::plain(format!("{} -> {}", count(was.calls), count(is.calls)))
        }
        (_, Some(one)) | (Some(one), None) => one.calls.into(),
    };
    let [was, is] = [baseline, tested].map(|side| side.map(|figures| figures.inclusive));
    let shown = |cost: Option<u64>| cost.map_or_else(|| Value::plain("-"), Value::from);
    let more = difference(is.unwrap_or(0), was.unwrap_or(0));
    [calls, shown(was), shown(is), Value::difference(more)]
}

fn summary(sides: &[Side<'_>]) -> Vec<Vec<Value>> {
    let none = Value::default;
    let row = |label: &str, values: &dyn Fn(&Side<'_>) -> [Value; COLUMNS]| {
        let label = std::iter::once(Value::plain(label));
        label.chain(sides.iter().flat_map(values)).collect()
    };
    let total = |side: &Side<'_>| match path(side.profile) {
        None => [none(), without_figure(side.profile), none(), none()],
        Some(_) => summed_up(side, |path| path.total),
    };
    let outside = |path: &HookedPath| path.total.saturating_sub(path.hooked);
    let hooked = |side: &Side<'_>| summed_up(side, |path| path.hooked);
    let mut rows = vec![
        row("hooks, nested once", &hooked),
        row("outside hooks", &|side| summed_up(side, outside)),
        row("total", &total),
    ];
    if sides.iter().any(|side| side.baseline.is_some()) {
        let residual = |side: &Side<'_>| {
            let residual = side.baseline.map(residual::value);
            [none(), none(), none(), residual.unwrap_or_default()]
        };
        rows.push(row("residual", &residual));
    }
    rows
}

fn summed_up(side: &Side<'_>, count: impl Fn(&HookedPath) -> u64) -> [Value; COLUMNS] {
    let none = Value::default;
    let baseline = side.baseline.map(|baseline| count(&baseline.path));
    match (path(side.profile).map(count), baseline) {
        (None, _) => Default::default(),
        (Some(alone), None) => [none(), alone.into(), none(), none()],
        (Some(tested), Some(base)) => {
            let difference = Value::difference(difference(tested, base));
            [none(), base.into(), tested.into(), difference]
        }
    }
}
