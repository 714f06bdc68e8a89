// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks recorded on a live machine, as tables.

use std::cmp::Reverse;

use model::{
    Calls, Document, Interval, LeftOutFunction, MonitorMode, Monitoring, Percentiles, WatchedHook,
    WatchedSystemCall, WholeSystemCall,
};

use crate::column::{Columns, Records};
use crate::format::{count, figure, fraction, listed, share};
use crate::profile::full_name;
use crate::table::{Report, Table, Tone, Value, limit, warnings};
use crate::text::short;

const ROWS_SHOWN: usize = 25;
const NAMES_SHOWN: usize = 8;

/// Hooks, and pairs of a hook and a system call, ordered by time (by calls if times are unknown).
/// `rows` is the number per table: 25 by default, 0 for all.
pub fn monitor_report(document: &Document, rows: Option<usize>) -> Report {
    let total = document.all_intervals();
    let monitor = document.monitor.as_ref();
    let report = monitor.map(|monitor| interval_report(monitor, &document.left_out, &total, rows));
    Report {
        warnings: warnings(&document.warnings),
        ..report.unwrap_or_default()
    }
}

/// Like [`monitor_report`], for one interval or all together; `left_out` are requested functions
/// that were not watched.
pub fn interval_report(
    monitor: &Monitoring,
    left_out: &[LeftOutFunction],
    total: &Interval,
    rows: Option<usize>,
) -> Report {
    let view = View {
        monitor,
        left_out,
        total,
        rows: limit(rows, ROWS_SHOWN),
    };
    let tables = [Some(view.hooks()), view.system_calls(), view.wholes()];
    Report::new(tables, Vec::new())
}

pub(crate) fn framework(interval: &Interval) -> impl Iterator<Item = &WatchedHook> {
    interval.hooks.iter().filter(|hook| hook.module.is_none())
}

struct View<'a> {
    monitor: &'a Monitoring,
    left_out: &'a [LeftOutFunction],
    total: &'a Interval,
    rows: usize,
}

impl View<'_> {
    fn hooks(&self) -> Table {
        let mut hooks: Vec<&WatchedHook> = framework(self.total).collect();
        hooks.sort_by_key(|hook| Reverse(weight(&hook.calls)));
        let mut lines = Vec::new();
        for &hook in hooks.iter().take(self.rows) {
            lines.push(Line::new(hook.hook.clone(), hook));
            let own = self.total.hooks.iter();
            let own = own.filter(|own| own.module.is_some() && own.hook == hook.hook);
            lines.extend(own.map(|own| Line::new(format!("  {}", own.function), own)));
        }
        // A hook whose framework function is not watched.
        let orphan = |own: &&WatchedHook| {
            own.module.is_some() && !hooks.iter().any(|hook| hook.hook == own.hook)
        };
        let orphans = self.total.hooks.iter().filter(orphan).take(self.rows);
        lines.extend(orphans.map(|own| Line::new(own.function.clone(), own)));
        let sum = Line {
            name: format!("{} hooks", hooks.len()),
            calls: &sum(hooks.iter().map(|hook| &hook.calls)),
            hook: None,
            system_call: None,
        };
        let columns = self.calls(Columns::new().left("hook", |line: &Line<'_>| &line.name));
        let sum = (hooks.len() > 1).then(|| columns.values(&sum));
        columns
            .summed_up(self.title(), &lines, sum)
            .legend(self.legend(hooks.len()))
    }

    fn system_calls(&self) -> Option<Table> {
        let pairs = framework(self.total)
            .flat_map(|hook| hook.system_calls.iter().map(move |call| (hook, call)));
        let mut pairs: Vec<(&WatchedHook, &WatchedSystemCall)> = pairs.collect();
        pairs.sort_by_key(|(_, call)| Reverse(weight(&call.calls)));
        let all = pairs.len();
        pairs.truncate(self.rows);
        let shown = pairs.len();
        let left_out =
            (all > shown).then(|| format!("The first {shown} of {all} pairs; --rows 0 shows all."));
        let errors =
            "errors: calls with any error; denied calls are counted separately only by hook.";
        let errors = (self.monitor.mode != MonitorMode::Count).then_some(errors);
        let lines = pairs.iter().map(|(hook, call)| Line {
            name: hook.hook.clone(),
            calls: &call.calls,
            hook: None,
            system_call: Some(call),
        });
        let lines: Vec<Line<'_>> = lines.collect();
        let columns = Columns::new()
            .left("system call", |line: &Line<'_>| {
                Some(&line.system_call?.system_call)
            })
            .left("hook", |line| &line.name);
        self.calls(columns)
            .table("Hooks by system call", &lines)
            .fixed(2)
            .legend(errors)
            .legend(left_out)
            .if_any()
    }

    fn wholes(&self) -> Option<Table> {
        let mut wholes: Vec<_> = self.total.system_calls.iter().collect();
        wholes.sort_by_key(|whole| Reverse(whole.sum_ns));
        wholes.truncate(self.rows);
        let inside = |whole: &WholeSystemCall| {
            let pairs = framework(self.total).flat_map(|hook| &hook.system_calls);
            let pairs = pairs.filter(|pair| pair.system_call == whole.system_call);
            sum(pairs.map(|pair| &pair.calls))
        };
        type Pair<'a> = (&'a WholeSystemCall, Calls);
        let lines = wholes.into_iter().map(|whole| (whole, inside(whole)));
        let lines: Vec<Pair<'_>> = lines.collect();
        let calls = |whole: &WholeSystemCall| whole.count.max(1) as f64;
        let whole_ns = |whole: &WholeSystemCall| whole.sum_ns.max(0) as f64;
        let inside_ns = |inside: &Calls| inside.sum_ns.unwrap_or(0).max(0) as f64;
        Columns::new()
            .left("system call", |(whole, _): &Pair<'_>| &whole.system_call)
            .column("calls", |(whole, _)| whole.count)
            .column("calls/s", |(whole, _)| self.per_second(calls(whole)))
            .column("mean", |(whole, _)| {
                (whole_ns(whole) / calls(whole)).round()
            })
            .column("hooks/call", |(whole, inside)| {
                let hooks = inside.count as f64;
                (hooks / calls(whole) * 100.0).round() / 100.0
            })
            .column("in hooks", |(whole, inside)| {
                (inside_ns(inside) / calls(whole)).round()
            })
            .right("share", |(whole, inside)| {
                fraction(inside_ns(inside) / whole_ns(whole).max(1.0))
            })
            .table("System calls as a whole", &lines)
            .legend([
                "mean: ns from entry to exit, waiting included; hooks/call: calls of \
                 hooks; in hooks: ns in hooks; share: in hooks / mean.",
            ])
            .if_any()
    }

    fn has_wholes(&self) -> bool {
        !self.total.system_calls.is_empty()
    }

    fn per_second(&self, calls: f64) -> f64 {
        (calls / self.total.seconds.max(1e-9)).round()
    }

    fn title(&self) -> String {
        let monitor = self.monitor;
        let lsms = match &monitor.active_lsms[..] {
            [] => String::new(),
            lsms => format!(", {}", full_name(lsms)),
        };
        format!(
            "{}{lsms}: LSM hooks of {} in {} s",
            short(&monitor.release),
            short(&monitor.scope),
            figure((self.total.seconds * 1e3).round() / 1e3)
        )
    }

    fn legend(&self, hooks: usize) -> Vec<String> {
        let cost = self.monitor.cost;
        let mut text = String::new();
        if self.has_wholes() {
            text += "share: of the time of its system calls, waiting included. ";
        }
        if self.monitor.mode != MonitorMode::Count {
            text += "denied: calls with EACCES or EPERM; errors: calls with another error; times in \
                     ns, without nested hooks and without the overhead of watching; \
                     load: share of one processor. ";
        }
        text += &match cost.added_ns {
            0 => "The overhead of watching a call could not be measured".to_owned(),
            added => format!("Watching added {} ns to a call", count(u64::from(added))),
        };
        if cost.added_ns > 0 && cost.within_ns > 0 {
            let within = count(u64::from(cost.within_ns));
            text += &format!(", {within} ns of it within the times, where it is subtracted");
        }
        text += ".";
        let mut legend = vec![text];
        let (rows, lost) = (self.rows, count(self.total.lost));
        if hooks > rows {
            legend.push(format!(
                "The first {rows} of {hooks} hooks; --rows 0 shows all."
            ));
        }
        if self.total.lost > 0 {
            legend.push(format!("{lost} more calls were lost and are not included."));
        }
        if !self.left_out.is_empty() {
            let left_out = self.left_out.iter();
            let names: Vec<&str> = left_out.map(|hook| hook.name.as_str()).collect();
            legend.push(format!("Not watched: {}.", listed(&names, NAMES_SHOWN)));
        }
        legend
    }

    fn calls<'a>(&'a self, columns: Columns<'a, &'a Line<'a>>) -> Columns<'a, &'a Line<'a>> {
        let rounded = |ns: Option<f64>| ns.map(f64::round);
        let percentile = |quantile: fn(Percentiles) -> f64| {
            move |line: &Line<'_>| rounded(line.calls.percentiles_ns.map(quantile))
        };
        let mode = self.monitor.mode;
        columns
            .column("calls", |line| line.calls.count)
            .column("calls/s", |line| self.per_second(line.calls.count as f64))
            .only_if(mode != MonitorMode::Count, |columns| {
                columns
                    .right("denied", Line::denied)
                    .column("errors", |line| {
                        let denied = line.hook.map_or(0, WatchedHook::denials);
                        line.calls.errors.saturating_sub(denied)
                    })
                    .column("mean", move |line| rounded(line.calls.mean_ns()))
            })
            .only_if(mode == MonitorMode::Time, |columns| {
                columns
                    .column("min", |line| line.calls.min_ns)
                    .column("max", |line| line.calls.max_ns)
            })
            .only_if(mode == MonitorMode::Histogram, |columns| {
                columns
                    .column("p50", percentile(|percentiles| percentiles.p50))
                    .column("p90", percentile(|percentiles| percentiles.p90))
                    .column("p99", percentile(|percentiles| percentiles.p99))
            })
            .only_if(mode != MonitorMode::Count, |columns| {
                columns.right("load", |line| {
                    let part = line.calls.sum_ns.unwrap_or(0).max(0) as u64;
                    share(part, (self.total.seconds * 1e9) as u64)
                })
            })
            .only_if(self.has_wholes(), |columns| {
                columns.right("share", |line| {
                    let total = self.total;
                    let hook = line.hook.map(|hook| &hook.system_calls);
                    let of_hook = hook.and_then(|calls| total.share_of_system_calls(calls));
                    let call = line.system_call;
                    let of_call = call.and_then(|call| total.share_of_system_call(call));
                    of_hook.or(of_call).map(fraction)
                })
            })
    }
}

struct Line<'a> {
    name: String,
    calls: &'a Calls,
    /// The meaning of errors is known only in a function's own row.
    hook: Option<&'a WatchedHook>,
    system_call: Option<&'a WatchedSystemCall>,
}

impl<'a> Line<'a> {
    fn new(name: String, hook: &'a WatchedHook) -> Line<'a> {
        Line {
            name,
            calls: &hook.calls,
            hook: Some(hook),
            system_call: None,
        }
    }

    fn denied(&self) -> Option<Value> {
        let denied = self.hook?.denials();
        let tone = if denied > 0 { Tone::Worse } else { Tone::Plain };
        Some(Value::from(denied).tone(tone))
    }
}

fn sum<'a>(all: impl Iterator<Item = &'a Calls>) -> Calls {
    let mut sum = Calls::default();
    all.for_each(|calls| sum.add(calls));
    sum
}

fn weight(calls: &Calls) -> (i64, u64) {
    (calls.sum_ns.unwrap_or(0), calls.count)
}

const ALL: &str = "all";

#[derive(Clone, Copy)]
struct CsvLine<'a> {
    interval: &'a Interval,
    hook: &'a WatchedHook,
    system_call: &'a str,
    calls: &'a Calls,
}

impl<'a> CsvLine<'a> {
    fn whole(self) -> Option<&'a WholeSystemCall> {
        self.interval.whole(self.system_call)
    }
}

/// For each function in each interval, a row for all system calls and one per system call. Columns:
/// `docs/export.md`.
pub fn monitor_records(document: &Document) -> Records<'_> {
    Columns::new()
        .column("begin_s", |line: CsvLine<'_>| line.interval.begin_s)
        .column("seconds", |line| line.interval.seconds)
        .column("hook", |line| &line.hook.hook)
        .column("function", |line| &line.hook.function)
        .column("module", |line| line.hook.module.as_ref())
        .column("system_call", |line| line.system_call)
        .column("count", |line| line.calls.count)
        .column("errors", |line| line.calls.errors)
        .column("errnos", |line| {
            let errnos = line.hook.errnos.iter().filter(|_| line.system_call == ALL);
            let errnos: Vec<String> = errnos.map(|(name, n)| format!("{name}={n}")).collect();
            errnos.join(" ")
        })
        .column("sum_ns", |line| line.calls.sum_ns)
        .column("mean_ns", |line| line.calls.mean_ns())
        .column("min_ns", |line| line.calls.min_ns)
        .column("max_ns", |line| line.calls.max_ns)
        .column("p50_ns", |line| line.calls.percentiles_ns.map(|ns| ns.p50))
        .column("p90_ns", |line| line.calls.percentiles_ns.map(|ns| ns.p90))
        .column("p99_ns", |line| line.calls.percentiles_ns.map(|ns| ns.p99))
        .column("whole_count", |line| line.whole().map(|whole| whole.count))
        .column("whole_ns", |line| line.whole().map(|whole| whole.sum_ns))
        .records(document.intervals().flat_map(lines))
}

fn lines(interval: &Interval) -> impl Iterator<Item = CsvLine<'_>> {
    interval.hooks.iter().flat_map(move |hook| {
        let line = move |system_call, calls| CsvLine {
            interval,
            hook,
            system_call,
            calls,
        };
        let each = hook.system_calls.iter();
        let each = each.map(move |call| line(call.system_call.as_str(), &call.calls));
        std::iter::once(line(ALL, &hook.calls)).chain(each)
    })
}
