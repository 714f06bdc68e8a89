// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts from a kernel's source next to published counts of hooks or lines.

use model::{PlacementDocument, placement::ModulePlacement};

use crate::{Figure, Quantity};

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
