// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of placements.

use model::{PlacementDocument, placement::SyscallPlacement};

use super::{Draft, bar, position};
use crate::figure::{Bars, Chart};
use crate::group::grouped;
use crate::table::TEXT_LIMIT;
use crate::text::printable;

/// Components of the paths that system calls are compared at.
const DEPTHS: [u32; 2] = [1, 8];

pub(super) fn drafts(document: &PlacementDocument) -> Vec<Draft> {
    let version = printable(&document.version, TEXT_LIMIT);
    let mut drafts = vec![modules(document, &version)];
    for (fs, calls) in grouped(&document.syscalls, |call| call.filesystem.as_str()) {
        drafts.push(reach(&calls, fs, &version));
    }
    drafts
}

/// Hooks that each module implements, by category (the paper's Table 5).
fn modules(document: &PlacementDocument, version: &str) -> Draft {
    let mut series: Vec<&str> = Vec::new();
    let mut bars = Vec::new();
    for (category, module) in document.modules.iter().enumerate() {
        for (name, hooks) in &module.categories {
            let at = position(&mut series, name);
            bars.push(bar(category, at, f64::from(*hooks)));
        }
    }
    let names = document.modules.iter().map(|m| &m.module);
    Draft {
        base: "modules",
        subjects: vec![document.version.clone()],
        title: format!("Hooks that modules implement, by category: Linux {version}"),
        description: "Stacked bars: for each module of the tree how many hooks of each category \
                      it implements."
            .to_owned(),
        chart: Chart::Bars(Bars {
            axis: "hooks".to_owned(),
            category: "module".to_owned(),
            kind: "category".to_owned(),
            categories: names.map(|name| printable(name, TEXT_LIMIT)).collect(),
            colours: (0..series.len()).collect(),
            series: series.iter().map(|of| printable(of, TEXT_LIMIT)).collect(),
            bars,
            stacked: true,
        }),
        notes: Vec::new(),
    }
}

/// Calls of hooks on the nominal path of each system call (Table 7).
fn reach(calls: &[&SyscallPlacement], fs: &str, version: &str) -> Draft {
    let fs_title = printable(fs, TEXT_LIMIT);
    let mut bars = Vec::new();
    let mut unbounded = 0;
    for (category, call) in calls.iter().enumerate() {
        for (series, depth) in DEPTHS.iter().enumerate() {
            let counts = call.hooks.iter().map(|hook| hook.nominal.at(*depth, 0));
            let sum = counts.sum::<Option<u64>>();
            let Some(sum) = sum else {
                unbounded += 1;
                continue;
            };
            bars.push(bar(category, series, sum as f64));
        }
    }
    let titles = calls
        .iter()
        .map(|call| printable(&call.title(), TEXT_LIMIT));
    let names = DEPTHS.iter().map(|depth| match depth {
        1 => "path of 1 component".to_owned(),
        n => format!("path of {n} components"),
    });
    Draft {
        base: "reach",
        subjects: vec![fs.to_owned()],
        title: format!("Hook calls on nominal paths: Linux {version}, {fs_title}"),
        description: "Bars: how often each system call calls hooks if all goes well, for a short \
                      and a long path without symbolic links, by the sources alone."
            .to_owned(),
        chart: Chart::Bars(Bars {
            axis: "hook calls on the nominal path".to_owned(),
            category: "system call".to_owned(),
            kind: "path".to_owned(),
            categories: titles.collect(),
            series: names.collect(),
            colours: (0..DEPTHS.len()).collect(),
            bars,
            stacked: false,
        }),
        notes: (unbounded > 0)
            .then(|| format!("{unbounded} counts have no bound and are not drawn."))
            .into_iter()
            .collect(),
    }
}
