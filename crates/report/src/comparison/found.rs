// SPDX-License-Identifier: GPL-2.0-or-later
//! Findings of a comparison, the most important first. Operations without a dominant path are
//! counted separately and never come first.

use std::collections::HashMap;

use model::comparison::{
    ComparedCell, Explanation, HookChange, ImplementationChange, Method, Place, Verdict,
};
use model::{ComparisonDocument, Metric};

use super::changed::calls;
use crate::format;
use crate::group::{grouped, shared};
use crate::table::TEXT_LIMIT;
use crate::text::{printable, short};

pub(crate) struct Found<'a> {
    pub(crate) metric: Metric,
    pub(crate) n: usize,
    pub(crate) changed: Vec<Changed<'a>>,
    apart: usize,
    places: Places,
}

#[derive(Clone, Copy)]
pub(crate) struct Changed<'a> {
    pub(crate) cell: &'a ComparedCell,
    pub(crate) holder: Option<Holder<'a>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Holder<'a> {
    Hook(&'a HookChange, Option<&'a ImplementationChange>),
    Outside(i64, Option<&'a str>),
}

pub(crate) struct Cause<'a> {
    pub(crate) holder: Holder<'a>,
    pub(crate) cells: usize,
    pub(crate) adds: [i64; 2],
}

pub(crate) struct Answer {
    pub(crate) word: &'static str,
    /// Class in the page's style.
    pub(crate) class: &'static str,
    pub(crate) sentence: String,
}

#[derive(Clone)]
struct Places {
    kernel: bool,
    configuration: bool,
    filesystem: bool,
    /// The first module of all stacks, if it is also a configuration by itself, with its comma.
    shared: Option<String>,
}

impl<'a> Holder<'a> {
    fn find(explained: &'a Explanation) -> Option<Holder<'a>> {
        let sign = explained.difference.signum();
        let same_way = |difference: i64| difference.signum() == sign && sign != 0;
        let hooks = explained.hooks.iter();
        let hooks = hooks.filter(|hook| same_way(hook.difference));
        let hook = hooks.max_by_key(|hook| hook.difference.unsigned_abs());
        let residual = Some(explained.residual).filter(|residual| same_way(*residual));
        let outside = |residual: i64| {
            let functions = explained.residual_functions.iter();
            let functions = functions.filter(|function| same_way(function.difference));
            let most = functions.max_by_key(|function| function.difference.unsigned_abs());
            Holder::Outside(residual, most.map(|function| function.function.as_str()))
        };
        let most = hook.map_or(0, |hook| hook.difference.unsigned_abs());
        match (hook, residual) {
            (_, Some(residual)) if residual.unsigned_abs() > most => Some(outside(residual)),
            (Some(hook), _) => Some(Holder::Hook(hook, within(hook))),
            (None, _) => None,
        }
    }

    pub(crate) fn adds(&self) -> i64 {
        match self {
            Holder::Hook(_, Some(own)) => own.difference,
            Holder::Hook(hook, None) => hook.difference,
            Holder::Outside(difference, _) => *difference,
        }
    }

    pub(crate) fn module(&self) -> String {
        match self {
            Holder::Hook(_, Some(own)) => short(&own.module),
            Holder::Hook(_, None) => "framework".to_owned(),
            Holder::Outside(..) => "outside hooks".to_owned(),
        }
    }

    pub(crate) fn function(&self) -> String {
        let name = match self {
            Holder::Hook(_, Some(own)) => &own.function,
            Holder::Hook(hook, None) => &hook.function,
            Holder::Outside(_, function) => function.unwrap_or("unknown"),
        };
        short(name)
    }

    pub(crate) fn hook(&self) -> String {
        let Holder::Hook(hook, _) = self else {
            return String::new();
        };
        let name = short(&hook.hook);
        match (hook.base_calls, hook.new_calls) {
            (1, 1) => name,
            (base, new) if base == new => format!("{name} ×{}", format::count(new)),
            (base, new) => format!("{name} {} calls", calls(base, new)),
        }
    }

    fn describe(&self) -> String {
        match self {
            Holder::Hook(hook, _) => format!("by {} ({})", short(&hook.hook), self.function()),
            Holder::Outside(_, None) => "outside hooks".to_owned(),
            Holder::Outside(_, Some(_)) => format!("outside hooks ({})", self.function()),
        }
    }
}

/// The module function that accounts for most of the difference, unless the calling function does.
fn within(hook: &HookChange) -> Option<&ImplementationChange> {
    let sign = hook.difference.signum();
    let own = hook.implementations.iter();
    let own = own.filter(|own| own.difference.signum() == sign);
    let most = own.max_by_key(|own| own.difference.unsigned_abs())?;
    let dispatch = match hook.dispatch.signum() == sign {
        true => hook.dispatch.unsigned_abs(),
        false => 0,
    };
    (most.difference.unsigned_abs() >= dispatch).then_some(most)
}

impl<'a> Found<'a> {
    /// Findings by metric: instructions, other counts, times.
    pub(crate) fn all(document: &'a ComparisonDocument) -> Vec<Found<'a>> {
        let explained: HashMap<u32, &Explanation> = (document.explanations.iter())
            .map(|explained| (explained.cell, explained))
            .collect();
        let places = Places::new(document);
        let numbered: Vec<(usize, &ComparedCell)> = document.compared.iter().enumerate().collect();
        let metrics = grouped(&numbered, |(_, cell)| cell.metric);
        let found = metrics.into_iter().map(|(metric, cells)| {
            let is_changed = |verdict| matches!(verdict, Verdict::Worse | Verdict::Better);
            let real = cells.iter().filter(|(_, cell)| is_changed(cell.verdict));
            let (leading, apart): (Vec<_>, Vec<_>) = real
                .copied()
                .partition(|(_, cell)| cell.method == Method::Exact || !metric.is_counted());
            let changed = leading.into_iter().map(|(at, cell)| Changed {
                cell,
                holder: (u32::try_from(at).ok()).and_then(|at| Holder::find(explained.get(&at)?)),
            });
            let mut changed: Vec<Changed<'a>> = changed.collect();
            changed.sort_by(|one, other| {
                let better = |changed: &Changed<'_>| changed.cell.verdict == Verdict::Better;
                let by_size = other.size().total_cmp(&one.size());
                better(one).cmp(&better(other)).then(by_size)
            });
            Found {
                metric,
                n: cells.len(),
                changed,
                apart: apart.len(),
                places: places.clone(),
            }
        });
        let mut found: Vec<Found<'a>> = found.collect();
        let place = |metric: Metric| (metric != Metric::Instructions, !metric.is_counted());
        found.sort_by_key(|found| place(found.metric));
        found
    }

    fn count(&self, verdict: Verdict) -> usize {
        let verdicts = self.changed.iter().map(|changed| changed.cell.verdict);
        verdicts.filter(|other| *other == verdict).count()
    }

    pub(crate) fn answer(&self, document: &ComparisonDocument) -> Answer {
        let (worse, better) = (self.count(Verdict::Worse), self.count(Verdict::Better));
        let with = |verdict| {
            let all = document.compared.iter();
            all.filter(|cell| (cell.metric, cell.verdict) == (self.metric, verdict))
                .count()
        };
        let (same, unclear) = (with(Verdict::Same), with(Verdict::Unclear));
        let (word, class) = match (worse, better) {
            (0, 0) if same == 0 => ("Undecided", "missing"),
            (0, 0) => ("Not changed", "same"),
            (_, 0) => ("Worse", "worse"),
            (0, _) => ("Better", "better"),
            _ => ("Worse and better", "worse"),
        };
        let (changed, apart) = (self.changed.len(), self.apart);
        let all = self.n - apart;
        let cells = if all == 1 { "cell" } else { "cells" };
        let mut sentence = format!("{changed} of {all} {cells} changed");
        if changed == 0 {
            sentence = format!("none of {all} {cells} changed");
        }
        sentence += &match (worse, better) {
            (0, 0) => String::new(),
            (1, 0) | (0, 1) => format!(", for the {}", if worse > 0 { "worse" } else { "better" }),
            (_, 0) => ", all for the worse".to_owned(),
            (0, _) => ", all for the better".to_owned(),
            _ => format!(", {worse} for the worse and {better} for the better"),
        };
        sentence += &format!(" (in {})", self.metric);
        if let Some(most) = self.changed.first() {
            let both = worse > 0 && better > 0;
            let most_word = if both { "worst" } else { "most" };
            sentence += &format!("; {most_word}: {}", self.describe(most));
            let causes = self.causes();
            let own = most.holder.and_then(|holder| {
                let same = |cause: &&Cause<'_>| cause.holder.function() == holder.function();
                causes.iter().find(same).map(|cause| cause.cells)
            });
            sentence += &match own {
                Some(1) | None => String::new(),
                Some(n) if n == changed => ", which accounts for most of every change".to_owned(),
                Some(n) => format!(", which accounts for most of {n} changes"),
            };
        }
        let best = |changed: &&Changed<'_>| changed.cell.verdict == Verdict::Better;
        if let Some(best) = self.changed.iter().find(best).filter(|_| worse > 0) {
            sentence += &format!("; best: {}", self.describe(best));
        }
        sentence.push('.');
        if apart > 0 {
            sentence += &format!(" {apart} more changed, without a dominant path.");
        }
        if unclear > 0 {
            sentence += &format!(" {unclear} undecided.");
        }
        Answer {
            word,
            class,
            sentence,
        }
    }

    /// `open:AA under capability,selinux, +6 instructions (+0.1 %), by inode_permission (…)`.
    fn describe(&self, changed: &Changed<'_>) -> String {
        let cell = changed.cell;
        let mut text = short(&cell.title());
        let place = &cell.place;
        if !place.configuration.is_empty() {
            text += &format!(" under {}", printable(&place.configuration, 2 * TEXT_LIMIT));
        }
        let kernel = Some(&place.kernel).filter(|_| self.places.kernel);
        let filesystem = Some(&place.filesystem).filter(|_| self.places.filesystem);
        for part in kernel.into_iter().chain(filesystem) {
            text += &format!(" on {}", short(part));
        }
        if let Some(difference) = cell.difference {
            text += &format!(", {} {}", format::signed(difference), cell.metric.unit());
        }
        if let Some(overhead) = cell.overhead {
            text += &format!(" ({})", format::percent(overhead));
        }
        if let Some(holder) = changed.holder {
            text += &format!(", {}", holder.describe());
        }
        text
    }

    pub(crate) fn label(&self, cell: &ComparedCell) -> String {
        let label = format!("{} {}", short(&cell.title()), self.place(&cell.place));
        label.trim_end().to_owned()
    }

    pub(crate) fn place(&self, place: &Place) -> String {
        let configuration = self.places.short(&place.configuration);
        let parts = [
            (&configuration, self.places.configuration),
            (&place.kernel, self.places.kernel),
            (&place.filesystem, self.places.filesystem),
        ];
        let named = parts.into_iter().filter(|(_, is_named)| *is_named);
        let named: Vec<String> = named.map(|(part, _)| short(part)).collect();
        named.join(", ")
    }

    pub(crate) fn causes(&self) -> Vec<Cause<'a>> {
        let held = self.changed.iter().filter_map(|changed| changed.holder);
        let held: Vec<Holder<'a>> = held.collect();
        let functions = grouped(&held, |holder| (holder.module(), holder.function()));
        let causes = functions.into_iter().filter_map(|(_, held)| {
            let adds = held.iter().map(|holder| holder.adds());
            Some(Cause {
                holder: **held.first()?,
                cells: held.len(),
                adds: [adds.clone().min()?, adds.max()?],
            })
        });
        let mut causes: Vec<Cause<'a>> = causes.collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.cells));
        causes
    }
}

impl Changed<'_> {
    /// Size of the change relative to BASE; infinite if BASE is 0.
    fn size(&self) -> f64 {
        self.cell.overhead.map_or(f64::INFINITY, f64::abs)
    }
}

impl Places {
    fn new(document: &ComparisonDocument) -> Places {
        let differ = |part: fn(&Place) -> &str| {
            shared(document.compared.iter().map(|cell| part(&cell.place))).is_none()
        };
        let cells = || document.compared.iter();
        let stacks = || cells().map(|cell| cell.place.configuration.as_str());
        let mut longer = stacks().filter_map(|stack| stack.split_once(','));
        let shared = longer.next().map(|(first, _)| first);
        let shared = shared.filter(|first| longer.all(|(other, _)| other == *first));
        let shared = shared.filter(|first| stacks().any(|stack| stack == *first));
        Places {
            kernel: differ(|place| &place.kernel),
            configuration: differ(|place| &place.configuration),
            filesystem: differ(|place| &place.filesystem),
            shared: shared.map(|first| format!("{first},")),
        }
    }

    /// `+selinux`, as in the tables of a run, also for modules added to a single module.
    fn short(&self, configuration: &str) -> String {
        let shared = self.shared.as_deref();
        let added = shared.and_then(|shared| configuration.strip_prefix(shared));
        added.map_or_else(|| configuration.to_owned(), |added| format!("+{added}"))
    }
}
