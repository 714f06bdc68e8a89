// SPDX-License-Identifier: GPL-2.0-or-later
//! Predicted cost of stacks, by hook, system call and module, and calls with unknown cost.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use model::PredictionDocument;
use model::prediction::{
    Basis, CallCost, PredictedCalls, PredictedLoad, PredictedModule, PredictedStack, Range,
};

use crate::column::{Columns, Records};
use crate::format::{figure, fraction, percent};
use crate::table::{Report, Table, Tone, Value, limit, warnings};
use crate::text::short;

const ROWS_SHOWN: usize = 15;

/// Cost of each stack, hooks and system calls with most of the difference, each module's part, and
/// calls of unknown cost. `rows` is the number per table: 15 by default, 0 for all.
pub fn prediction_report(document: &PredictionDocument, rows: Option<usize>) -> Report {
    let view = View {
        document,
        rows: limit(rows, ROWS_SHOWN),
        several: document.loads.len() > 1,
        timed: document.loads.iter().all(|load| load.seconds.is_some()),
    };
    let tables = [
        Some(view.stacks()),
        view.by("hook", |pair| &pair.hook),
        view.by("system call", |pair| &pair.system_call),
        view.modules(),
        view.uncovered(),
    ];
    Report::new(tables, warnings(&document.warnings))
}

struct View<'a> {
    document: &'a PredictionDocument,
    rows: usize,
    several: bool,
    timed: bool,
}

type Line<'a> = (&'a PredictedLoad, &'a str, &'a PredictedStack);

struct Group<'a> {
    load: &'a PredictedLoad,
    name: &'a str,
    calls: u64,
    ns: Option<i64>,
    /// Fraction of the calls whose cost is known by system call.
    by_system_call: f64,
    added: Vec<Range>,
}

impl<'a> View<'a> {
    fn per(&self, name: &str) -> String {
        let per = if self.timed { "/s" } else { "" };
        format!("{name}{per}")
    }

    fn with_load<R: Copy + 'a>(
        &self,
        load: impl Fn(R) -> &'a PredictedLoad + 'a,
    ) -> Columns<'a, R> {
        Columns::new().only_if(self.several, |columns| {
            columns.left("program", move |row| &load(row).name)
        })
    }

    fn lines(&self) -> Vec<Line<'a>> {
        let names = &self.document.stacks;
        let lines = self.document.loads.iter().flat_map(move |load| {
            let stacks = names.iter().zip(&load.stacks);
            stacks.map(move |(name, stack)| (load, name.as_str(), stack))
        });
        lines.collect()
    }

    fn stacks(&self) -> Table {
        let lines = self.lines();
        let measured = lines.iter().any(|(_, _, stack)| stack.measured.is_some());
        let weighed = self.document.processor.is_some();
        let added = |(load, _, stack): &Line<'_>, end: fn(Range) -> f64| {
            Some(added_value(end(stack.added?) / load.divisor()))
        };
        self.with_load(|(load, ..): &Line<'_>| load)
            .left("stack", |(_, name, _): &Line<'_>| Value::from(*name))
            .right(self.per("added"), |line| added(line, |range| range.middle))
            .right("lowest", |line| added(line, |range| range.low))
            .right("highest", |line| added(line, |range| range.high))
            .only_if(measured, |columns| {
                columns
                    .right("measured", |(_, _, stack)| {
                        stack.measured.map(Value::difference)
                    })
                    .right("error", |(_, _, stack)| error(stack))
            })
            .column("added per call", |(load, _, stack)| {
                let covered = load.coverage.calls() - load.coverage.uncovered;
                let added = stack.added?;
                Some((added.middle / covered.max(1) as f64 * 10.0).round() / 10.0)
            })
            .column(self.per("in hooks"), |(load, _, stack)| {
                (stack.instructions / load.divisor()).round()
            })
            .column(self.per("calls"), |(load, ..)| {
                (load.coverage.calls() as f64 / load.divisor()).round()
            })
            .only_if(weighed, |columns| {
                columns.right(self.time(), |(load, _, stack)| {
                    let added = stack.added_ns? / load.divisor();
                    Some(match load.seconds {
                        Some(_) => percent(added / 1e9),
                        None => Value::difference(added.round() as i128).text(),
                    })
                })
            })
            .table(self.title(), &lines)
            .fixed(1 + usize::from(self.several))
            .legend(self.legend(measured))
    }

    fn time(&self) -> &'static str {
        if self.timed { "of a processor" } else { "ns" }
    }

    fn title(&self) -> String {
        let document = self.document;
        let place = short(&document.release);
        let (what, seconds) = match &document.loads[..] {
            [only] => (short(&only.name), only.seconds),
            loads => (format!("{} programs", loads.len()), None),
        };
        let seconds = seconds.map(|seconds| figure((seconds * 1e3).round() / 1e3));
        let seconds = seconds.map(|seconds| format!(", recorded for {seconds} s"));
        let seconds = seconds.unwrap_or_default();
        format!("Predicted cost of hooks: {what} on {place}{seconds}, in instructions")
    }

    fn legend(&self, measured: bool) -> Vec<String> {
        let document = self.document;
        let baseline = document.stacks.first().map_or("", String::as_str);
        let mut legend = vec![format!(
            "added: instructions in hooks over {} (negative: saved), from the cost of calls in the \
             lab on {}; lowest, highest: if each call cost as much as the cheapest or most \
             expensive call of its hook in the lab.",
            short(baseline),
            short(&document.costs_release)
        )];
        let explained = "measured: cost added in hooks when the program was counted under both; error: \
                         of the prediction.";
        legend.extend(measured.then(|| explained.to_owned()));
        if let Some(processor) = &document.processor {
            legend.push(format!(
                "{}: estimated for {} from events of instructions, for calls whose events are known (docs/estimate.md): cost in the kernel, on one processor.",
                self.time(),
                short(processor)
            ));
        }
        legend.extend(document.loads.iter().map(|load| {
            let coverage = load.coverage;
            let part = |calls: u64| fraction(calls as f64 / coverage.calls().max(1) as f64);
            let name = self.several.then(|| format!(" of {}", short(&load.name)));
            format!(
                "Calls{}: {} have a cost by hook and system call, {} by hook only, {} have none.",
                name.unwrap_or_default(),
                part(coverage.by_system_call),
                part(coverage.by_hook),
                part(coverage.uncovered)
            )
        }));
        legend
    }

    /// Calls grouped by `key`, with those that differ most between stacks first.
    fn groups(&self, key: fn(&PredictedCalls) -> &String) -> Vec<Group<'a>> {
        let mut all = Vec::new();
        for load in &self.document.loads {
            let mut groups: BTreeMap<&str, Group<'_>> = BTreeMap::new();
            let known = |pair: &&PredictedCalls| pair.basis != Basis::Nothing;
            for pair in load.calls.iter().filter(known) {
                let name = key(pair).as_str();
                let group = groups.entry(name).or_insert_with(|| Group {
                    load,
                    name,
                    calls: 0,
                    ns: pair.recorded_ns.map(|_| 0),
                    by_system_call: 0.0,
                    added: vec![Range::default(); self.document.stacks.len()],
                });
                group.add(pair);
            }
            let mut groups: Vec<Group<'_>> = groups.into_values().collect();
            groups.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
            groups.truncate(self.rows);
            all.extend(groups);
        }
        all
    }

    fn by(&self, what: &str, key: fn(&PredictedCalls) -> &String) -> Option<Table> {
        let groups = self.groups(key);
        let timed = groups.iter().any(|group| group.ns.is_some());
        let mut columns = self
            .with_load(|group: &Group<'_>| group.load)
            .left(what, |group: &Group<'_>| group.name)
            .column(self.per("calls"), |group| {
                (group.calls as f64 / group.load.divisor()).round()
            })
            .right("by system call", |group| {
                fraction(group.per_call(group.by_system_call))
            })
            .only_if(timed, |columns| {
                columns.column("recorded ns", |group| {
                    Some(group.per_call(group.ns? as f64).round())
                })
            });
        for (at, stack) in self.document.stacks.iter().enumerate().skip(1) {
            let stack = short(stack);
            columns = columns
                .grouped(Some(&stack), self.per("added"), move |group: &Group<'_>| {
                    added_value(group.added[at].middle / group.load.divisor())
                })
                .grouped(Some(&stack), "share", move |group| {
                    let all = group.load.stacks[at].added?.middle;
                    (all != 0.0).then(|| fraction(group.added[at].middle / all))
                });
        }
        let recorded = "recorded ns: recorded time of a call.";
        columns
            .table(format!("Added, by {what}"), &groups)
            .fixed(1 + usize::from(self.several))
            .legend([
                "by system call: share of calls whose cost is known for their system call; share: \
                 of the total added cost.",
            ])
            .legend(timed.then_some(recorded))
            .if_any()
    }

    fn modules(&self) -> Option<Table> {
        type Part<'a> = (Line<'a>, &'a PredictedModule);
        let parts = self.lines().into_iter().flat_map(|line| {
            let modules = line.2.modules.iter();
            let some = modules.filter(|module| module.instructions.abs() >= 0.5);
            some.map(move |module| (line, module))
        });
        let parts: Vec<Part<'_>> = parts.collect();
        self.with_load(|((load, ..), _): &Part<'_>| load)
            .left("stack", |((_, name, _), _): &Part<'_>| Value::from(*name))
            .left("module", |(_, module)| match &module.module {
                Some(module) => Value::from(module),
                None => Value::plain("(framework)"),
            })
            .column(self.per("in hooks"), |((load, ..), module)| {
                (module.instructions / load.divisor()).round()
            })
            .right("share", |((.., stack), module)| {
                let whole = stack.instructions;
                (whole > 0.0).then(|| fraction(module.instructions / whole))
            })
            .right(self.per("added"), |((load, ..), module)| {
                let base = load.stacks.first()?.modules.iter();
                let base = base.filter(|base| base.module == module.module);
                let base: f64 = base.map(|base| base.instructions).sum();
                Some(added_value((module.instructions - base) / load.divisor()))
            })
            .table("By module", &parts)
            .fixed(2 + usize::from(self.several))
            .if_any()
    }

    fn uncovered(&self) -> Option<Table> {
        type Pair<'a> = (&'a PredictedLoad, &'a PredictedCalls);
        let mut pairs: Vec<Pair<'_>> = Vec::new();
        for load in &self.document.loads {
            let mut own: Vec<Pair<'_>> = load.calls.iter().map(|pair| (load, pair)).collect();
            own.retain(|(_, pair)| pair.basis == Basis::Nothing);
            own.sort_by_key(|(_, pair)| std::cmp::Reverse(pair.calls));
            own.truncate(self.rows);
            pairs.extend(own);
        }
        self.with_load(|(load, _): &Pair<'_>| load)
            .left("hook", |(_, pair): &Pair<'_>| &pair.hook)
            .left("system call", |(_, pair)| &pair.system_call)
            .column("calls", |(_, pair)| pair.calls)
            .right("of all", |(load, pair)| {
                let all = load.coverage.calls().max(1);
                format!("{:.2} %", pair.calls as f64 / all as f64 * 100.0)
            })
            .table(
                "Not covered: no operation of the lab calls these hooks",
                &pairs,
            )
            .fixed(2 + usize::from(self.several))
            .if_any()
    }
}

impl Group<'_> {
    fn add(&mut self, pair: &PredictedCalls) {
        self.calls = self.calls.saturating_add(pair.calls);
        let both = self.ns.zip(pair.recorded_ns);
        self.ns = both.map(|(sum, ns)| sum.saturating_add(ns));
        if pair.basis == Basis::SystemCall {
            self.by_system_call += pair.calls as f64;
        }
        for (at, sum) in self.added.iter_mut().enumerate() {
            *sum = sum.plus(pair.added(at).unwrap_or_default());
        }
    }

    fn per_call(&self, figure: f64) -> f64 {
        figure / self.calls.max(1) as f64
    }

    fn weight(&self) -> f64 {
        let added = self.added.iter().map(|range| range.middle.abs());
        added.fold(0.0, f64::max)
    }
}

fn added_value(added: f64) -> Value {
    let rounded = Value::difference(added.round() as i128);
    let tone = match added.partial_cmp(&0.0) {
        Some(Ordering::Greater) => Tone::Worse,
        Some(Ordering::Less) => Tone::Better,
        _ => Tone::Plain,
    };
    Value::from(added).shown(rounded.text()).tone(tone)
}

fn error(stack: &PredictedStack) -> Option<String> {
    let measured = stack.measured.filter(|measured| *measured != 0)? as f64;
    Some(percent((stack.added?.middle - measured) / measured.abs()))
}

type CsvLine<'a> = (
    &'a PredictedLoad,
    &'a PredictedCalls,
    (usize, &'a String),
    Option<&'a CallCost>,
);

pub fn prediction_records(document: &PredictionDocument) -> Records<'_> {
    let stacks = document.stacks.iter().enumerate();
    let rows = document.loads.iter().flat_map(move |load| {
        let stacks = stacks.clone();
        load.calls.iter().flat_map(move |pair| {
            let stacks = stacks.clone();
            stacks.map(move |stack| -> CsvLine<'_> { (load, pair, stack, pair.costs.get(stack.0)) })
        })
    });
    let baseline = document.stacks.first();
    fn added((_, pair, (at, _), _): CsvLine<'_>, end: fn(Range) -> f64) -> Option<f64> {
        pair.added(at).map(end)
    }
    Columns::new()
        .column("load", |(load, ..): CsvLine<'_>| &load.name)
        .column("seconds", |(load, ..)| load.seconds)
        .column("hook", |(_, pair, ..)| &pair.hook)
        .column("system_call", |(_, pair, ..)| &pair.system_call)
        .column("calls", |(_, pair, ..)| pair.calls)
        .column("recorded_ns", |(_, pair, ..)| pair.recorded_ns)
        .column("basis", |(_, pair, ..)| pair.basis.as_str())
        .column("operations", |(_, pair, ..)| pair.operations)
        .column("stack", |(_, _, (_, stack), _)| stack)
        .column("baseline", move |_| baseline)
        .column("per_call", |(.., cost)| Some(cost?.instructions))
        .column("added", |line| added(line, |range| range.middle))
        .column("added_low", |line| added(line, |range| range.low))
        .column("added_high", |line| added(line, |range| range.high))
        .records(rows)
}
