// SPDX-License-Identifier: GPL-2.0-or-later
//! All figures of one function, in lines.

use model::{Bucket, Calls, Interval, WatchedHook};
use ratatui::text::{Line, Span};

use super::draw::Theme;
use super::figures::{Figure, Key, RATES};
use super::state::View;
use super::units::{self, NONE};

/// The maximum number of lines of a histogram: one for each of a time's 64 bits, and a reserve.
const BUCKETS_LIMIT: usize = 72;
const NAMES_MIN: usize = 16;

pub fn lines(view: &View, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let Some(figure) = view.selected_figure() else {
        return vec![Line::from("No hook is selected.")];
    };
    let mut lines = vec![title(&figure, theme)];
    lines.extend(summary(&figure).map(Line::from));
    let empty = WatchedHook {
        calls: Calls::default(),
        errnos: Default::default(),
        histogram: Vec::new(),
        system_calls: Vec::new(),
        ..figure.total.clone()
    };
    let hook = figure.hook.unwrap_or(&empty);
    let mut section = |heading: &str, content: Vec<Line<'static>>| {
        if !content.is_empty() {
            lines.push(Line::default());
            lines.push(Line::styled(heading.to_owned(), theme.bold()));
            lines.extend(content);
        }
    };
    if let Some(rates) = view.figures().rates(&Key::new(figure.total)) {
        let highest = rates.iter().copied().fold(0.0, f64::max);
        let heading = format!("Recent calls/s (up to {})", units::amount(highest));
        let bars = units::sparkline(rates.iter(), width.min(RATES));
        section(&heading, vec![Line::styled(bars, theme.bar())]);
    }
    section("Times", histogram(&hook.histogram, width, theme));
    section("System calls", system_calls(hook, figure.interval, theme));
    section("Errors", errors(hook, theme));
    section("The same hook elsewhere", others(view, &figure, theme));
    lines
}

fn owner(hook: &WatchedHook) -> &str {
    hook.module.as_deref().unwrap_or("framework")
}

fn title(figure: &Figure<'_>, theme: &Theme) -> Line<'static> {
    let total = figure.total;
    Line::from(vec![
        Span::styled(total.hook.clone(), theme.bold()),
        Span::raw(format!("  {}  {}", total.function, owner(total))),
    ])
}

fn time(ns: Option<f64>) -> String {
    ns.map_or(NONE.to_owned(), units::time)
}

fn summary(figure: &Figure<'_>) -> impl Iterator<Item = String> {
    let rate = figure.rate().map_or(NONE.to_owned(), units::amount);
    let mut counts = format!("calls {}  {rate}/s", units::count(figure.calls()));
    let calls = figure.hook.map(|hook| &hook.calls);
    if let Some(hook) = figure.hook
        && hook.calls.sum_ns.is_some()
    {
        counts += &format!(
            "  errors {}  denied {}",
            units::count(hook.calls.errors),
            units::count(hook.denials())
        );
    }
    let times = calls.filter(|calls| calls.sum_ns.is_some()).map(|calls| {
        format!(
            "mean {}  min {}  max {}  {} of a processor",
            time(calls.mean_ns()),
            time(calls.min_ns.map(|ns| ns as f64)),
            time(calls.max_ns.map(|ns| ns as f64)),
            figure.share().map_or(NONE.to_owned(), units::percent),
        )
    });
    let percentiles = calls.and_then(|calls| calls.percentiles_ns);
    let percentiles = percentiles.map(|percentiles| {
        let [p50, p90, p99] = [percentiles.p50, percentiles.p90, percentiles.p99].map(units::time);
        format!("p50 {p50}  p90 {p90}  p99 {p99}")
    });
    [counts].into_iter().chain(times).chain(percentiles)
}

fn filled(histogram: &[Bucket]) -> Vec<Bucket> {
    let mut filled: Vec<Bucket> = Vec::new();
    for &bucket in histogram {
        while let Some(to_ns) = filled.last().and_then(|last| last.to_ns)
            && (1..bucket.from_ns).contains(&to_ns)
            && filled.len() < BUCKETS_LIMIT
        {
            let next_ns = to_ns.saturating_mul(2).min(bucket.from_ns);
            filled.push(Bucket {
                from_ns: to_ns,
                to_ns: Some(next_ns),
                count: 0,
            });
        }
        if filled.len() < BUCKETS_LIMIT {
            filled.push(bucket);
        }
    }
    filled
}

fn histogram(histogram: &[Bucket], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    const LABELS: usize = 10 + 1 + 10 + 2 + 8 + 9 + 1;
    let buckets = filled(histogram);
    let highest = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let all: f64 = buckets.iter().map(|bucket| bucket.count as f64).sum();
    let line = |bucket: &Bucket| {
        let to = match bucket.to_ns {
            Some(to_ns) => units::time(to_ns as f64),
            None => "more".to_owned(),
        };
        let labels = format!(
            "{:>10} {:<10}  {:>8} {:>8} ",
            units::time(bucket.from_ns as f64),
            format!("- {to}"),
            units::count(bucket.count),
            units::percent(bucket.count as f64 / all),
        );
        let part = bucket.count as f64 / highest as f64;
        let bar = units::bar(part, width.saturating_sub(LABELS));
        Line::from(vec![Span::raw(labels), Span::styled(bar, theme.bar())])
    };
    buckets.iter().map(line).collect()
}

fn calls_table(
    rows: &[(String, &Calls, Option<f64>)],
    seconds: f64,
    with_times: bool,
    theme: &Theme,
) -> Vec<Line<'static>> {
    if rows.is_empty() {
        return Vec::new();
    }
    let width = rows.iter().map(|(name, ..)| name.chars().count()).max();
    let with_share = rows.iter().any(|(_, _, share)| share.is_some());
    let width = width.unwrap_or(0).max(NAMES_MIN);
    let mut heading = format!("{:width$} {:>8} {:>8}", "", "calls", "calls/s");
    if with_times {
        heading += &format!(" {:>8} {:>8} {:>8} {:>8}", "mean", "errors", "p50", "p99");
    }
    if with_share {
        heading += &format!(" {:>8}", "share");
    }
    let line = |(name, calls, share): &(String, &Calls, Option<f64>)| {
        let rate = match seconds > 0.0 {
            true => units::amount(calls.count as f64 / seconds),
            false => NONE.to_owned(),
        };
        let mut text = format!("{name:<width$} {:>8} {rate:>8}", units::count(calls.count));
        if with_times {
            let percentiles = calls.percentiles_ns;
            text += &format!(
                " {:>8} {:>8} {:>8} {:>8}",
                time(calls.mean_ns()),
                units::count(calls.errors),
                time(percentiles.map(|percentiles| percentiles.p50)),
                time(percentiles.map(|percentiles| percentiles.p99)),
            );
        }
        if with_share {
            let share = share.map_or(NONE.to_owned(), units::percent);
            text += &format!(" {share:>8}");
        }
        Line::from(text)
    };
    let heading = Line::styled(heading, theme.faint());
    [heading].into_iter().chain(rows.iter().map(line)).collect()
}

fn system_calls(hook: &WatchedHook, interval: &Interval, theme: &Theme) -> Vec<Line<'static>> {
    let mut calls: Vec<_> = hook.system_calls.iter().collect();
    calls.sort_by(|a, b| {
        let by_count = b.calls.count.cmp(&a.calls.count);
        by_count.then_with(|| a.system_call.cmp(&b.system_call))
    });
    let rows = calls.into_iter().map(|call| {
        let share = interval.share_of_system_call(call);
        (call.system_call.clone(), &call.calls, share)
    });
    let rows: Vec<_> = rows.collect();
    calls_table(&rows, interval.seconds, hook.calls.sum_ns.is_some(), theme)
}

fn errors(hook: &WatchedHook, theme: &Theme) -> Vec<Line<'static>> {
    let mut errnos: Vec<_> = hook.errnos.iter().collect();
    errnos.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let line = |(name, count): (&String, &u64)| {
        let text = format!("{name:<NAMES_MIN$} {:>8}", units::count(*count));
        match name.as_str() {
            "EACCES" | "EPERM" => Line::styled(text + "  denied", theme.bad()),
            _ => Line::from(text),
        }
    };
    errnos.into_iter().map(line).collect()
}

fn others(view: &View, figure: &Figure<'_>, theme: &Theme) -> Vec<Line<'static>> {
    let of_hook = |other: &&WatchedHook| {
        other.hook == figure.total.hook && Key::new(other) != Key::new(figure.total)
    };
    let nothing = Calls::default();
    let others = view.figures().total.hooks.iter().filter(of_hook);
    let rows: Vec<_> = others
        .map(|other| {
            let name = format!("{}  {}", owner(other), other.function);
            let shown = view.figures().figure(other, view.since).hook;
            (name, shown.map_or(&nothing, |hook| &hook.calls), None)
        })
        .collect();
    let with_times = figure.total.calls.sum_ns.is_some();
    calls_table(&rows, figure.interval.seconds, with_times, theme)
}
