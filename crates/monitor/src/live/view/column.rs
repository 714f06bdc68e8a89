// SPDX-License-Identifier: GPL-2.0-or-later
//! The table's columns: content, sort order, and priority on narrow terminals.

use std::cmp::Ordering;

use model::MonitorMode;

use super::figures::Figure;
use super::units::{self, NONE};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Column {
    #[default]
    Hook,
    Module,
    Rate,
    Calls,
    Denials,
    Errors,
    Mean,
    P50,
    P99,
    Min,
    Max,
    /// Share of one processor's time.
    Share,
    Recent,
}

#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    Name(&'a str),
    Figure(Option<f64>, fn(f64) -> String),
}

impl Value<'_> {
    pub fn text(&self) -> String {
        match *self {
            Value::Name(name) => name.to_owned(),
            Value::Figure(figure, written) => figure.map_or(NONE.to_owned(), written),
        }
    }
}

const HOOK_MIN: u16 = 22;
const HOOK_MAX: u16 = 40;

impl Column {
    pub fn all(mode: MonitorMode, modules: bool) -> Vec<Column> {
        use Column::{
            Calls, Denials, Errors, Hook, Max, Mean, Min, Module, P50, P99, Rate, Recent, Share,
        };
        let mut columns = vec![Hook];
        if modules {
            columns.push(Module);
        }
        columns.extend([Rate, Calls]);
        columns.extend(match mode {
            MonitorMode::Count => &[][..],
            MonitorMode::Time => &[Denials, Errors, Mean, Min, Max, Share],
            MonitorMode::Histogram => &[Denials, Errors, Mean, P50, P99, Share],
        });
        columns.push(Recent);
        columns
    }

    pub fn that_fit(columns: &[Column], sorted: Column, width: u16) -> Vec<Column> {
        use Column::{Calls, Errors, Max, Mean, Min, Module, P50, P99, Recent, Share};
        let mut kept = columns.to_vec();
        for first_to_go in [
            Recent, Min, P50, Errors, Max, P99, Module, Calls, Mean, Share,
        ] {
            if needed(&kept) <= width {
                break;
            }
            kept.retain(|&column| column != first_to_go || column == sorted);
        }
        let may_go = |&column: &Column| column != sorted && column != Column::Hook;
        while needed(&kept) > width
            && let Some(last) = kept.iter().rposition(may_go)
        {
            kept.remove(last);
        }
        kept
    }

    pub fn hook_width(columns: &[Column], width: u16) -> u16 {
        let room = (width + HOOK_MIN).saturating_sub(needed(columns));
        // The bars get the remaining width.
        room.min(HOOK_MAX)
    }

    pub fn title(self) -> &'static str {
        match self {
            Column::Hook => "hook",
            Column::Module => "module",
            Column::Rate => "calls/s",
            Column::Calls => "calls",
            Column::Denials => "denied",
            Column::Errors => "errors",
            Column::Mean => "mean",
            Column::P50 => "p50",
            Column::P99 => "p99",
            Column::Min => "min",
            Column::Max => "max",
            Column::Share => "CPU",
            Column::Recent => "recent calls/s",
        }
    }

    pub fn width(self) -> u16 {
        match self {
            Column::Hook => HOOK_MIN,
            Column::Module => 10,
            Column::Recent => 14,
            _ => 8,
        }
    }

    /// Names are left-aligned, figures right-aligned.
    pub fn is_left(self) -> bool {
        matches!(self, Column::Hook | Column::Module | Column::Recent)
    }

    pub fn value<'a>(self, figure: &Figure<'a>) -> Value<'a> {
        let time = |ns| Value::Figure(ns, units::time);
        let count = |count: u64| Value::Figure(Some(count as f64), units::whole);
        let calls = figure.hook.map(|hook| &hook.calls);
        let percentiles = calls.and_then(|calls| calls.percentiles_ns);
        match self {
            Column::Hook => Value::Name(&figure.total.hook),
            Column::Module => Value::Name(figure.total.module.as_deref().unwrap_or("framework")),
            Column::Rate => Value::Figure(figure.rate(), units::amount),
            Column::Calls => count(figure.calls()),
            Column::Denials => count(figure.hook.map_or(0, |hook| hook.denials())),
            Column::Errors => count(calls.map_or(0, |calls| calls.errors)),
            Column::Mean => time(calls.and_then(|calls| calls.mean_ns())),
            Column::P50 => time(percentiles.map(|percentiles| percentiles.p50)),
            Column::P99 => time(percentiles.map(|percentiles| percentiles.p99)),
            Column::Min => time(calls.and_then(|calls| calls.min_ns).map(|ns| ns as f64)),
            Column::Max => time(calls.and_then(|calls| calls.max_ns).map(|ns| ns as f64)),
            Column::Share => Value::Figure(figure.share(), units::percent),
            Column::Recent => Value::Name(""),
        }
    }

    /// Names in alphabetical order, figures descending.
    pub fn compare(self, a: &Figure<'_>, b: &Figure<'_>) -> Ordering {
        match (self.value(a), self.value(b)) {
            (Value::Figure(a, _), Value::Figure(b, _)) => {
                let known = |figure: Option<f64>| figure.unwrap_or(f64::NEG_INFINITY);
                known(b).total_cmp(&known(a))
            }
            (Value::Name(a), Value::Name(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }
}

fn needed(columns: &[Column]) -> u16 {
    let widths = columns.iter().map(|column| column.width() + 1);
    widths.sum::<u16>().saturating_sub(1)
}
