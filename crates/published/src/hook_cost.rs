// SPDX-License-Identifier: GPL-2.0-or-later
//! Our instructions per hook next to others' times.

use model::{Document, Metric};

use crate::counts::is_of;
use crate::lookup::Cells;
use crate::{Figure, Quantity};

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
