// SPDX-License-Identifier: GPL-2.0-or-later
//! A run's counts next to published ones: calls of hooks, and system calls.

use model::placement::ModulePlacement;
use model::{
    Caches, Cell, Document, HookCost, Metric, PlacementDocument, Status, glob, path_components,
};

use crate::beside::{Comparison, Verdict, comparison, explained};
use crate::lookup::{Cells, Place};
use crate::{Figure, Operation, Quantity};

/// Counts derived from totals are not quite whole: 1.001 calls are one.
const EQUAL: f64 = 0.01;

pub(crate) fn counts<'a>(
    cells: &Cells<'a>,
    place: Place<'a>,
    figure: &'static Figure,
    comparisons: &mut Vec<Comparison>,
) {
    let is_slope = figure.quantity == Quantity::Slope && place.2 == Metric::Slope;
    if place.2 != Metric::Instructions && !is_slope {
        return;
    }
    if figure.quantity == Quantity::Checks {
        comparisons.extend(checks(cells, place, figure));
        return;
    }
    for operation in &figure.ours {
        let Some((cell, ours)) = ours(cells, place, figure, operation) else {
            continue;
        };
        if !ours.is_finite() {
            continue;
        }
        let components = match figure.per_component {
            true => f64::from(path_components(&operation.variant)),
            false => 1.0,
        };
        let low = figure
            .low
            .filter(|_| figure.quantity != Quantity::CallsAtMost);
        let high = figure
            .high
            .filter(|_| figure.quantity != Quantity::CallsAtLeast);
        let bounds = [low, high].map(|bound| bound.map(|bound| bound * components));
        let mut comparison = comparison(figure, place, cell, operation.to_string(), ours, bounds);
        let theirs = comparison.theirs;
        comparison.verdict = match figure.quantity {
            Quantity::Slope | Quantity::HookShare => Verdict::of(ours, theirs),
            _ if (ours - theirs).abs() < EQUAL => Verdict::Agrees,
            _ => Verdict::Differs,
        };
        comparisons.push(explained(comparison));
    }
}

fn checks<'a>(cells: &Cells<'a>, place: Place<'a>, figure: &'static Figure) -> Option<Comparison> {
    let setup = figure.tested.first()?;
    let mut ours = 0.0;
    let mut first = None;
    for operation in &figure.ours {
        let (cell, hooks) = with_hooks(cells.tested(place, operation, setup))?;
        let of_hooks = hooks.iter().filter(|hook| is_of(figure, hook));
        let all = of_hooks.flat_map(|hook| &hook.implementations);
        let own = all.filter(|of| figure.modules.contains(&of.module));
        ours += sum(own.map(|of| of.calls));
        first = first.or(Some((cell, &operation.benchmark)));
    }
    let (cell, benchmark) = first?;
    let name = format!("{benchmark}, {} variants", figure.ours.len());
    let mut comparison = comparison(figure, place, cell, name, ours, [figure.low, figure.high]);
    if comparison.difference.abs() < EQUAL {
        comparison.verdict = Verdict::Agrees;
    }
    Some(explained(comparison))
}

fn ours<'a>(
    cells: &Cells<'a>,
    place: Place<'a>,
    figure: &Figure,
    operation: &Operation,
) -> Option<(&'a Cell, f64)> {
    let here = || {
        cells
            .here(place, operation)
            .filter(|c| c.status() == Status::Ok)
    };
    // Module calls depend on the stack; framework calls are the same under every stack, if there is
    // a framework.
    let asked = |cell: &&Cell| figure.tested.iter().any(|setup| setup.is_of(cell));
    let module = figure
        .tested
        .first()
        .and_then(|setup| setup.stack.as_str().split(',').next_back());
    let has_module = |cell: &&Cell| {
        let active = &cell.active_lsms;
        let names = if active.is_empty() {
            &cell.key.stack
        } else {
            active
        };
        names.iter().any(|name| Some(name.as_str()) == module)
    };
    let has_hooks = |cell: &&Cell| {
        cell.hooks().is_some_and(|hooks| !hooks.is_empty())
            && cell.key.stack.iter().all(|name| name != "none")
    };
    Some(match figure.quantity {
        Quantity::Slope if place.2 == Metric::Slope => {
            let cell = here().find(|cell| is_delayed_at(cell, &figure.hooks))?;
            (cell, cell.slope()?.slope)
        }
        Quantity::Slope | Quantity::HookCalls | Quantity::HookShare | Quantity::CallsAtLeast => {
            let cell = here()
                .filter(has_hooks)
                .find(asked)
                .or_else(|| here().find(has_hooks));
            let (cell, hooks) = with_hooks(cell)?;
            let own = hooks.iter().filter(|hook| is_of(figure, hook));
            let calls = sum(own.map(|hook| hook.calls));
            let whole = match figure.quantity {
                Quantity::HookShare => sum(hooks.iter().map(|hook| hook.calls)),
                _ => 1.0,
            };
            (cell, calls / whole)
        }
        Quantity::CallsAtMost => {
            let (cell, hooks) = with_hooks(here().filter(has_hooks).find(has_module))?;
            let of_hooks = hooks.iter().filter(|hook| is_of(figure, hook));
            let implementations = of_hooks.flat_map(|hook| &hook.implementations);
            let of_module = implementations.filter(|i| Some(i.module.as_str()) == module);
            (cell, sum(of_module.map(|i| i.calls)))
        }
        Quantity::SystemCalls => {
            let calls = |cell: &'a Cell| Some(&cell.counted()?.hooked.as_ref()?.system_calls);
            let cell = here().find(|&cell| calls(cell).is_some_and(|calls| !calls.is_empty()))?;
            (cell, sum(calls(cell)?.values().copied()))
        }
        _ => return None,
    })
}

/// Exactly these hooks were delayed together, with warm caches.
fn is_delayed_at(cell: &Cell, hooks: &[String]) -> bool {
    cell.key.delay.as_ref().is_some_and(|delay| {
        delay.caches == Caches::Warm
            && delay.hooks.len() == hooks.len()
            && hooks.iter().all(|hook| delay.hooks.contains(hook))
    })
}

fn with_hooks(cell: Option<&Cell>) -> Option<(&Cell, &[HookCost])> {
    let cell = cell?;
    Some((cell, cell.hooks()?))
}

pub(crate) fn is_of(figure: &Figure, hook: &HookCost) -> bool {
    figure.hooks.iter().any(|pattern| glob(pattern, &hook.hook))
}

/// As a float: counts in a document may be anything.
fn sum(calls: impl Iterator<Item = u64>) -> f64 {
    // `sum()` of nothing is -0.
    calls.fold(0.0, |sum, calls| sum + calls as f64)
}

/// Instructions per call of a figure's hooks in the first of our operations that calls them, under
/// its configuration or a substitute, with a description. None if the figure is not a hook's time,
/// or no operation calls them.
pub(crate) fn hook_cost(document: &Document, figure: &'static Figure) -> Option<(String, String)> {
    if figure.quantity != Quantity::HookTime || figure.hooks.is_empty() {
        return None;
    }
    let cells = Cells::of(document);
    let counted = |place: &&(&str, &str, Metric)| place.2 == Metric::Instructions;
    cells.places.iter().filter(counted).find_map(|&place| {
        figure.ours.iter().find_map(|operation| {
            figure.tested.iter().find_map(|setup| {
                let cell = cells.tested(place, operation, setup)?;
                let hooks = cell.hooks()?.iter().filter(|hook| is_of(figure, hook));
                let (calls, instructions) = hooks.fold((0, 0), |(calls, all), hook| {
                    (calls + hook.calls, all + hook.inclusive)
                });
                if calls == 0 {
                    return None;
                }
                let each = instructions as f64 / calls as f64;
                let times = match calls {
                    1 => "call".to_owned(),
                    calls => format!("{calls} calls"),
                };
                let ours = format!("{each:.0} instructions, {times}");
                Some((ours, format!("{operation}, {}", cell.configuration_title())))
            })
        })
    })
}

const FRAMEWORK: &str = "framework";

/// Sum over the figure's modules in this tree; None if the figure counts something else, or the
/// tree does not have a module.
pub(crate) fn counted(placement: &PlacementDocument, figure: &Figure) -> Option<f64> {
    let lines = match figure.quantity {
        Quantity::ModuleHooks => false,
        Quantity::Lines => true,
        _ => return None,
    };
    let counts = figure.modules.iter().map(|name| {
        let counts = Counts::of(placement, name)?;
        counts.count(lines, figure.of.as_deref())
    });
    let counts: Vec<Count> = counts.collect::<Option<_>>()?;
    if counts.is_empty() {
        return None;
    }
    let sum = counts.iter().map(|count| count.n as f64).sum::<f64>();
    match counts.iter().map(|count| count.per).sum::<u64>() {
        0 => Some(sum),
        per => Some(sum / per as f64),
    }
}

/// A count and its divisor; a divisor of 0 means none.
struct Count {
    n: u64,
    per: u64,
}

enum Counts<'a> {
    Framework(&'a PlacementDocument),
    Module(&'a ModulePlacement),
}

impl<'a> Counts<'a> {
    fn of(placement: &'a PlacementDocument, name: &str) -> Option<Counts<'a>> {
        if name == FRAMEWORK {
            return Some(Counts::Framework(placement));
        }
        let mut modules = placement.modules.iter();
        modules.find(|of| of.module == name).map(Counts::Module)
    }

    fn count(&self, lines: bool, of: Option<&str>) -> Option<Count> {
        let (hooks, general, loc) = match self {
            Counts::Framework(placement) => {
                let framework = &placement.framework;
                (framework.hooks, framework.unconditional, framework.loc)
            }
            Counts::Module(module) => (module.hooks, module.unconditional, module.loc),
        };
        let n = match (lines, of, self) {
            (true, Some("per-hook"), _) => {
                return (hooks > 0).then_some(Count {
                    n: loc,
                    per: u64::from(hooks),
                });
            }
            (true, None, _) => loc,
            (false, None, _) => u64::from(hooks),
            (false, Some("general"), _) => u64::from(general),
            (false, Some("file-accessing"), Counts::Module(module)) => {
                u64::from(module.file_accessing)
            }
            (false, Some(category), Counts::Module(module)) => {
                u64::from(module.categories.get(category).copied().unwrap_or(0))
            }
            _ => return None,
        };
        Some(Count { n, per: 0 })
    }
}
