// SPDX-License-Identifier: GPL-2.0-or-later
//! What changed, as bars.

use super::found::Found;
use crate::figure::model::drawable;
use crate::figure::{Bar, Bars, Chart, Figure};
use crate::format;
use crate::gather::position;

const UNKNOWN: &str = "not known";

impl Found<'_> {
    /// Changes relative to BASE, the worst first, coloured by the responsible module or by verdict;
    /// estimates have intervals and one colour. `name` is the figure's.
    pub(crate) fn picture(&self, name: String) -> Figure {
        let is_exact = self.metric.is_counted();
        let is_explained = self.changed.iter().any(|of| of.holder.is_some());
        let drawn = self.changed.iter().filter_map(|of| {
            let percent = of.cell.overhead? * 100.0;
            drawable(percent).then_some((of, percent))
        });
        let (mut categories, mut series, mut bars) = (Vec::new(), Vec::new(), Vec::new());
        if !is_exact {
            series.push("change".to_owned());
        }
        for (of, value) in drawn {
            let held = match of.holder {
                Some(holder) => holder.module(),
                None if is_explained => UNKNOWN.to_owned(),
                None => of.cell.verdict.to_string(),
            };
            let at = match is_exact {
                true => position(&mut series, held),
                false => 0,
            };
            let interval = of.cell.ci95.filter(|_| !is_exact);
            let interval = interval.map(|ends| ends.map(|end| end * 100.0));
            bars.push(Bar {
                category: categories.len(),
                series: at,
                value,
                interval: interval.filter(|ends| ends.iter().all(|end| drawable(*end))),
            });
            categories.push(self.label(of.cell));
        }
        Figure {
            name,
            title: format!("What changed: {}", format::measured(self.metric)),
            description: if is_exact {
                "Bars: each operation's change as a part of BASE, the worst first, coloured by \
                 the module whose function holds most of it, as far as that is known."
            } else {
                "Bars: each operation's change as a part of BASE with its 95 % interval, the \
                 worst first."
            }
            .to_owned(),
            chart: Chart::Bars(Bars {
                categories,
                series,
                bars,
                stacked: is_exact,
                ..Bars::new("change, % (more is worse)", "operation", "held by")
            }),
            notes: Vec::new(),
        }
    }
}
