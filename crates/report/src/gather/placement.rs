// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of placements.

use model::PlacementDocument;
use model::placement::SyscallPlacement;

use super::Draft;
use crate::figure::{Bars, Chart};
use crate::group::grouped;
use crate::text::short;

const DEPTHS: [(u32, &str); 2] = [(1, "path of 1 component"), (8, "path of 8 components")];

pub(super) fn drafts(document: &PlacementDocument) -> Vec<Draft> {
    let version = short(&document.version);
    let mut drafts = vec![modules(document, &version)];
    for (fs, calls) in grouped(&document.syscalls, |call| call.filesystem.as_str()) {
        drafts.push(reach(&calls, fs, &version));
    }
    drafts
}

fn modules(document: &PlacementDocument, version: &str) -> Draft {
    let mut bars = Bars::new("hooks", "module", "category");
    bars.stacked = true;
    for module in &document.modules {
        bars.category(&module.module);
        for (name, hooks) in &module.categories {
            bars.add(&module.module, name, f64::from(*hooks));
        }
    }
    Draft::new(
        "modules",
        format!("Hooks that modules implement, by category: Linux {version}"),
        "Stacked bars: for each module of the tree how many hooks of each category it implements.",
        Chart::Bars(bars),
    )
    .about(&[&document.version])
}

fn reach(calls: &[&SyscallPlacement], fs: &str, version: &str) -> Draft {
    let fs_title = short(fs);
    let mut bars = Bars::new("hook calls on the success path", "system call", "path");
    let mut unbounded = 0;
    for call in calls {
        let title = call.title();
        bars.category(&title);
        for (depth, path) in DEPTHS {
            let counts = call.hooks.iter().map(|hook| hook.success_path.at(depth, 0));
            match counts.sum::<Option<u64>>() {
                Some(sum) => {
                    bars.add(&title, path, sum as f64);
                }
                None => unbounded += 1,
            }
        }
    }
    Draft::new(
        "reach",
        format!("Hook calls on success paths: Linux {version}, {fs_title}"),
        "Bars: how often each system call calls hooks if all goes well, for a short and a long path \
         without symbolic links, by the sources alone.",
        Chart::Bars(bars),
    )
    .about(&[fs])
    .noted((unbounded > 0).then(|| format!("{unbounded} counts have no bound and are not drawn.")))
}
