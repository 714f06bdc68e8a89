// SPDX-License-Identifier: GPL-2.0-or-later
//! What was seen of a live machine's hooks, as tables.

mod csv;

use std::cmp::Reverse;

use experiment::{
    Calls, Interval, MonitorDocument, MonitorMode, Monitoring, WatchedHook, WatchedSystemCall,
};

use crate::format::{count, figure, fraction, share};
use crate::profile::full_name;
use crate::table::{Align, Column, Report, Row, TEXT_LIMIT, Table, Tone, Value, warnings};
use crate::text::printable;

pub use csv::{MONITOR_CSV_COLUMNS, monitor_csv};

/// Rows of a table unless more are asked for.
const ROWS_SHOWN: usize = 25;
/// Names of functions that are listed below a table.
const NAMES_SHOWN: usize = 8;

/// What a report of a recording shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonitorOptions {
    /// Rows of each table; None for 25, 0 for all.
    pub rows: Option<usize>,
}

/// The hooks of a recording, and the pairs of a hook and a system call, those that took
/// most (time, or calls if only they are known) first.
pub fn monitor_report(document: &MonitorDocument, options: &MonitorOptions) -> Report {
    let mut report = interval_report(&document.monitor, &document.total(), options);
    report.warnings = warnings(&document.warnings);
    report
}

/// As [`monitor_report`], of one interval or all of them together.
pub fn interval_report(monitor: &Monitoring, total: &Interval, options: &MonitorOptions) -> Report {
    let rows = match options.rows {
        None => ROWS_SHOWN,
        Some(0) => usize::MAX,
        Some(rows) => rows,
    };
    let view = View {
        monitor,
        total,
        rows,
    };
    let mut tables = vec![view.hooks()];
    tables.extend(view.system_calls());
    tables.extend(view.wholes());
    Report {
        tables,
        warnings: Vec::new(),
    }
}

struct View<'a> {
    monitor: &'a Monitoring,
    total: &'a Interval,
    rows: usize,
}

impl View<'_> {
    /// The framework's functions, each with its modules' below it.
    fn hooks(&self) -> Table {
        let mut hooks: Vec<&WatchedHook> = self.framework().collect();
        hooks.sort_by_key(|hook| Reverse(weight(&hook.calls)));
        let mut columns = vec![Column::new("hook", Align::Left)];
        columns.extend(self.columns());
        columns.extend(self.share_column());
        let mut rows = Vec::new();
        let mut named = Vec::new();
        for hook in hooks.iter().take(self.rows) {
            named.push(hook.hook.as_str());
            rows.push(self.row(vec![name(&hook.hook)], &hook.calls, Some(hook)));
            for own in self.implementations(&hook.hook) {
                let function = format!("  {}", own.function);
                rows.push(self.row(vec![name(&function)], &own.calls, Some(own)));
            }
        }
        // Of hooks whose framework function is not watched.
        let orphan = |own: &&WatchedHook| {
            own.module.is_some() && !hooks.iter().any(|hook| hook.hook == own.hook)
        };
        for own in self.total.hooks.iter().filter(orphan).take(self.rows) {
            rows.push(self.row(vec![name(&own.function)], &own.calls, Some(own)));
        }
        let mut sum = Calls::default();
        for hook in &hooks {
            sum.add(&hook.calls);
        }
        if hooks.len() > 1 {
            let label = format!("{} hooks", hooks.len());
            let mut row = self.row(vec![Value::plain(label)], &sum, None);
            row.summary = true;
            rows.push(row);
        }
        Table {
            title: self.title(),
            legend: self.legend(hooks.len()),
            columns,
            fixed_columns: 1,
            rows,
            footnotes: Vec::new(),
        }
    }

    fn system_calls(&self) -> Option<Table> {
        let mut pairs: Vec<(&str, &WatchedSystemCall)> = self
            .framework()
            .flat_map(|hook| {
                let calls = hook.system_calls.iter();
                calls.map(|call| (hook.hook.as_str(), call))
            })
            .collect();
        pairs.sort_by_key(|(_, call)| Reverse(weight(&call.calls)));
        let mut columns = vec![
            Column::new("system call", Align::Left),
            Column::new("hook", Align::Left),
        ];
        columns.extend(self.columns());
        columns.extend(self.share_column());
        let rows: Vec<Row> = pairs
            .iter()
            .take(self.rows)
            .map(|(hook, call)| self.pair(hook, call))
            .collect();
        let mut legend = Vec::new();
        if self.monitor.mode != MonitorMode::Count {
            legend.push("errors: all of them; which they are is known by hook only.".to_owned());
        }
        legend.extend((pairs.len() > rows.len()).then(|| {
            let shown = rows.len();
            format!(
                "The first {shown} of {} pairs; --rows 0 shows all.",
                pairs.len()
            )
        }));
        (!rows.is_empty()).then(|| Table {
            title: "Hooks by the system call that they were called in".to_owned(),
            legend,
            columns,
            fixed_columns: 2,
            rows,
            footnotes: Vec::new(),
        })
    }

    /// A hook in a system call.
    fn pair(&self, hook: &str, call: &WatchedSystemCall) -> Row {
        let names = vec![name(&call.system_call), name(hook)];
        let mut row = self.row(names, &call.calls, None);
        if let Some(last) = row.values.last_mut().filter(|_| self.has_wholes()) {
            let share = self.total.share_of_system_call(call);
            *last = Value::plain(share.map(fraction).unwrap_or_default());
        }
        row
    }

    /// System calls from entry to exit, and what hooks have of their time.
    fn wholes(&self) -> Option<Table> {
        let mut wholes: Vec<_> = self.total.system_calls.iter().collect();
        wholes.sort_by_key(|whole| Reverse(whole.sum_ns));
        let mut columns = vec![Column::new("system call", Align::Left)];
        let titles = [
            "calls",
            "calls/s",
            "mean",
            "hooks/call",
            "in hooks",
            "share",
        ];
        columns.extend(titles.map(|title| Column::figures(title, None)));
        let rows: Vec<Row> = wholes
            .iter()
            .take(self.rows)
            .map(|whole| {
                let mut inside = Calls::default();
                let pairs = self.framework().flat_map(|hook| &hook.system_calls);
                for pair in pairs.filter(|pair| pair.system_call == whole.system_call) {
                    inside.add(&pair.calls);
                }
                let calls = whole.count.max(1) as f64;
                let inside_ns = inside.sum_ns.unwrap_or(0).max(0) as f64;
                let whole_ns = whole.sum_ns.max(0) as f64;
                let per_second = calls / self.total.seconds.max(1e-9);
                let mut values = vec![name(&whole.system_call)];
                values.extend(
                    [
                        count(whole.count),
                        figure(per_second.round()),
                        figure((whole_ns / calls).round()),
                        figure((inside.count as f64 / calls * 100.0).round() / 100.0),
                        figure((inside_ns / calls).round()),
                        fraction(inside_ns / whole_ns.max(1.0)),
                    ]
                    .map(Value::plain),
                );
                Row {
                    values,
                    summary: false,
                }
            })
            .collect();
        (!rows.is_empty()).then(|| Table {
            title: "System calls as a whole".to_owned(),
            legend: vec![
                "mean: ns from entry to exit, with what they waited; hooks/call: calls of \
                 hooks; in hooks: ns in them; share: of them in mean."
                    .to_owned(),
            ],
            columns,
            fixed_columns: 1,
            rows,
            footnotes: Vec::new(),
        })
    }

    fn has_wholes(&self) -> bool {
        !self.total.system_calls.is_empty()
    }

    fn share_column(&self) -> Option<Column> {
        self.has_wholes().then(|| Column::figures("share", None))
    }

    fn framework(&self) -> impl Iterator<Item = &WatchedHook> {
        self.total.hooks.iter().filter(|hook| hook.module.is_none())
    }

    fn implementations(&self, hook: &str) -> impl Iterator<Item = &WatchedHook> {
        let own = move |own: &&WatchedHook| own.module.is_some() && own.hook == hook;
        self.total.hooks.iter().filter(own)
    }

    fn title(&self) -> String {
        let monitor = self.monitor;
        let mut title = printable(&monitor.release, TEXT_LIMIT);
        if !monitor.active_lsms.is_empty() {
            title += &format!(", {}", full_name(&monitor.active_lsms));
        }
        title += &format!(
            ": LSM hooks of {} in {} s",
            printable(&monitor.scope, TEXT_LIMIT),
            figure(round(self.total.seconds))
        );
        title
    }

    fn legend(&self, hooks: usize) -> Vec<String> {
        let cost = self.monitor.cost;
        let mut text = String::new();
        if self.monitor.mode != MonitorMode::Count {
            text += "denied: returned EACCES or EPERM; errors: returned another error; times in \
                     ns, without what hooks called by them took and without what watching added; \
                     load: share of one processor. ";
        }
        text += &format!(
            "Watching added {} ns to a call",
            count(u64::from(cost.added_ns))
        );
        if self.has_wholes() {
            text.insert_str(
                0,
                "share: of the time of the system calls that it was called in, waiting included. ",
            );
        }
        if cost.within_ns > 0 {
            text += &format!(
                ", {} ns of it within the times, where it is subtracted",
                count(u64::from(cost.within_ns))
            );
        }
        text += ".";
        let mut legend = vec![text];
        if hooks > self.rows {
            legend.push(format!(
                "The first {} of {hooks} hooks; --rows 0 shows all.",
                self.rows
            ));
        }
        if self.total.lost > 0 {
            legend.push(format!(
                "{} more calls were seen and are in no figure.",
                count(self.total.lost)
            ));
        }
        let left_out = &self.monitor.left_out;
        if !left_out.is_empty() {
            let names: Vec<String> = left_out
                .iter()
                .take(NAMES_SHOWN)
                .map(|function| printable(&function.name, TEXT_LIMIT))
                .collect();
            let more = left_out.len() - names.len();
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            legend.push(format!("Not watched: {}{more}.", names.join(", ")));
        }
        legend
    }

    fn columns(&self) -> Vec<Column> {
        let mut titles = vec!["calls", "calls/s"];
        match self.monitor.mode {
            MonitorMode::Count => {}
            MonitorMode::Time => titles.extend(["denied", "errors", "mean", "min", "max", "load"]),
            MonitorMode::Histogram => {
                titles.extend(["denied", "errors", "mean", "p50", "p90", "p99", "load"]);
            }
        }
        let titles = titles.into_iter();
        titles.map(|title| Column::figures(title, None)).collect()
    }

    /// `whole` knows what errors were: only a function's own row does.
    fn row(&self, mut values: Vec<Value>, calls: &Calls, whole: Option<&WatchedHook>) -> Row {
        let per_second = calls.count as f64 / self.total.seconds.max(1e-9);
        values.push(Value::plain(count(calls.count)));
        values.push(Value::plain(figure(per_second.round())));
        let ns =
            |ns: Option<f64>| Value::plain(ns.map_or_else(String::new, |ns| figure(ns.round())));
        let times = match self.monitor.mode {
            MonitorMode::Count => None,
            MonitorMode::Time => Some(vec![
                calls.min_ns.map(|ns| ns as f64),
                calls.max_ns.map(|ns| ns as f64),
            ]),
            MonitorMode::Histogram => {
                let percentiles = calls.percentiles_ns;
                let of = |take: fn(experiment::Percentiles) -> f64| percentiles.map(take);
                Some(vec![of(|p| p.p50), of(|p| p.p90), of(|p| p.p99)])
            }
        };
        if let Some(times) = times {
            match whole {
                Some(hook) => {
                    let denied = hook.denials();
                    let tone = if denied > 0 { Tone::Worse } else { Tone::Plain };
                    values.push(Value::toned(count(denied), tone));
                    values.push(Value::plain(count(calls.errors.saturating_sub(denied))));
                }
                None => {
                    values.push(Value::default());
                    values.push(Value::plain(count(calls.errors)));
                }
            }
            values.push(ns(calls.mean_ns()));
            values.extend(times.into_iter().map(ns));
            let part = calls.sum_ns.unwrap_or(0).max(0) as u64;
            let load = share(part, (self.total.seconds * 1e9) as u64);
            values.push(Value::plain(load.unwrap_or_default()));
        }
        if self.has_wholes() {
            let share = whole.and_then(|hook| self.total.share_of_system_calls(&hook.system_calls));
            values.push(Value::plain(share.map(fraction).unwrap_or_default()));
        }
        Row {
            values,
            summary: false,
        }
    }
}

/// Time if it is known, else calls.
fn weight(calls: &Calls) -> (i64, u64) {
    (calls.sum_ns.unwrap_or(0), calls.count)
}

fn name(text: &str) -> Value {
    Value::plain(printable(text, TEXT_LIMIT))
}

fn round(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}
