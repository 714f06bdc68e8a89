// SPDX-License-Identifier: GPL-2.0-or-later
//! Figures of runs: the paper's Figures 2, 3 and 6, as far as measured.

use compare::judge::Judgements;
use model::{Cell, Document, Kind, Metric, Status, comparison::Method, path_depth};

use super::{Content, Draft, Source, hooks, position};
use crate::cells::{Configuration, Group, Operation, groups, operation_title};
use crate::figure::model::drawable;
use crate::figure::{Bar, Bars, Chart, Lines, Point, Series};
use crate::group::grouped;
use crate::table::TEXT_LIMIT;
use crate::text::{printable, short};

pub(super) fn drafts(run: &Document) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let judgements = Judgements::new(run);
    for group in groups(run) {
        let figures = Figures {
            group: &group,
            place: group.place(run),
            judgements: &judgements,
        };
        drafts.push(figures.absolute());
        // The baseline often has no transfers.
        drafts.extend((!group.metric.is_of_transfers()).then(|| figures.overhead()));
        drafts.extend(figures.path_depth());
        drafts.extend(figures.hooks());
    }
    drafts
}

struct Figures<'a, 'b> {
    group: &'b Group<'a>,
    place: String,
    judgements: &'b Judgements<'a>,
}

impl<'a> Figures<'a, '_> {
    fn draft(&self, base: &'static str, title: &str, description: &str, chart: Chart) -> Draft {
        let group = self.group;
        let subjects = [&*group.subject, group.filesystem, group.metric.as_str()];
        let draft = Draft::new(base, format!("{title}: {}", self.place), description, chart);
        draft.about(&subjects).noted(group.own_policies())
    }

    fn heading(&self, configuration: &Configuration) -> String {
        short(&self.group.heading(configuration))
    }

    fn bars(
        &self,
        axis: String,
        configurations: &[&Configuration],
        value: impl Fn(&'a Cell, Operation<'a>) -> Option<(f64, Option<[f64; 2]>)>,
    ) -> (Bars, usize) {
        let mut bars = Vec::new();
        let mut missing = 0;
        for (category, row) in self.group.rows.iter().enumerate() {
            for (series, configuration) in configurations.iter().enumerate() {
                let cell = self.group.cell(*row, configuration);
                let found = cell.and_then(|cell| value(cell, *row));
                let found = found.filter(|(value, _)| drawable(*value));
                missing += usize::from(found.is_none());
                bars.extend(
                    found.map(|(value, interval)| Bar::new(category, series, value, interval)),
                );
            }
        }
        let names = configurations.iter().map(|c| self.heading(c));
        let kind = match self.group.of_kernels {
            true => "kernel",
            false => "configuration",
        };
        let place = |&one: &_| {
            self.group
                .configurations
                .iter()
                .position(|other| other == one)
        };
        let rows = self.group.rows.iter();
        let bars = Bars {
            categories: rows.map(|row| operation_title(*row)).collect(),
            series: names.collect(),
            colours: configurations.iter().filter_map(place).collect(),
            bars,
            ..Bars::new(&axis, "operation", kind)
        };
        (bars, missing)
    }

    fn absolute(&self) -> Draft {
        let all: Vec<&Configuration> = self.group.configurations.iter().collect();
        let axis = per_operation(self.group.metric);
        let (bars, missing) = self.bars(axis, &all, |cell, _| {
            Some((cell.headline()?, interval(cell)))
        });
        let draft = self.draft(
            "absolute",
            "Cost by operation",
            "Bars: cost of each operation in each configuration, with 95 % intervals where \
             values are statistical.",
            Chart::Bars(bars),
        );
        draft.noted(missing_note(missing))
    }

    fn overhead(&self) -> Draft {
        let group = self.group;
        let shown: Vec<&Configuration> = group.tested().collect();
        let name = group.baseline.as_ref().map(|c| self.heading(c));
        let name = name.unwrap_or_else(|| "the baseline".to_owned());
        let axis = format!("overhead over {name} (%), {}", group.metric);
        let judged = |cell, row| self.judgements.verdict(group.baseline_cell(row)?, cell);
        let (bars, missing) = self.bars(axis, &shown, |cell, row| {
            let judged = judged(cell, row)?;
            let interval = judged.ci95.filter(|_| judged.method != Method::Exact);
            let interval = interval.map(|ends| ends.map(|end| end * 100.0));
            Some((judged.overhead? * 100.0, interval))
        });
        let others = { group.measured() }.filter(|(_, column, _)| shown.contains(column));
        let judged = others.filter_map(|(row, _, cell)| judged(cell, row));
        let unclear = judged.filter(|judged| !judged.is_clear()).count();
        let missing = missing_note(missing).filter(|_| !bars.bars.is_empty());
        let draft = self.draft(
            "overhead",
            "Overhead by operation",
            "Bars: added cost of an operation over the baseline, in per cent; to the \
             left of 0 it costs less. Whiskers: the 95 % interval of this \
             operation's overhead.",
            Chart::Bars(bars),
        );
        let unclear =
            (unclear > 0).then(|| format!("{unclear} overheads may be chance: `~` in the table."));
        draft.noted(missing.into_iter().chain(unclear))
    }

    fn path_depth(&self) -> Vec<Draft> {
        let group = self.group;
        let mut drafts = Vec::new();
        for (benchmark, rows) in grouped(&group.rows, |row| row.0) {
            let deep = rows
                .iter()
                .filter_map(|row| Some((path_depth(row.1)?, **row)));
            let mut deep: Vec<(u32, Operation<'_>)> = deep.collect();
            deep.sort_unstable();
            deep.dedup_by_key(|(depth, _)| *depth);
            if deep.len() < 2 {
                continue;
            }
            let line = |configuration: &Configuration| {
                let points = deep.iter().filter_map(|(depth, row)| {
                    let cell = group.cell(*row, configuration)?;
                    Some(Point {
                        x: f64::from(*depth),
                        y: cell.headline().filter(|y| drawable(*y))?,
                        interval: interval(cell),
                    })
                });
                Series::new(self.heading(configuration), points.collect())
            };
            let lines = Lines {
                x: "components of the path".to_owned(),
                y: per_operation(group.metric),
                kind: "configuration".to_owned(),
                figure: None,
                series: group.configurations.iter().map(line).collect(),
            };
            let name = short(benchmark);
            let mut draft = self.draft(
                "path-depth",
                &format!("Cost of {name} by the depth of its path"),
                "Lines: cost of the operation over the number of components of its path, a \
                 line for each configuration.",
                Chart::Lines(lines),
            );
            draft.subjects.insert(0, benchmark.to_owned());
            drafts.push(draft);
        }
        drafts
    }

    fn hooks(&self) -> Vec<Draft> {
        let group = self.group;
        let mut drafts = Vec::new();
        for configuration in &group.configurations {
            let operation = |row: &Operation<'a>| {
                let cell = group.cell(*row, configuration)?;
                // Without a dominant path, the hooks have little meaning.
                let has_one_path = cell.status() == Status::Ok && cell.is_exact();
                let hooks = cell.hooks().filter(|_| has_one_path)?;
                Some(hooks::Operation {
                    title: operation_title(*row),
                    total: cell.paths()?.dominant.instructions,
                    hooks,
                })
            };
            let operations: Vec<_> = group.rows.iter().filter_map(operation).collect();
            let subjects = [&*group.subject, group.filesystem];
            let (stack, metric) = (configuration.title(), group.metric);
            drafts.extend(hooks::drafts(
                &operations,
                &self.place,
                &stack,
                metric,
                &subjects,
            ));
        }
        drafts
    }
}

#[derive(Debug, Clone)]
struct Mean {
    place: Place,
    kernel: String,
    configuration: String,
    overhead: f64,
    n: usize,
}

/// Key shared by comparable means: file system, metric, baseline, machine.
type Place = (String, Metric, String, String);

fn of_how_many(means: &[&Mean]) -> Option<String> {
    let n = || means.iter().map(|mean| mean.n);
    let (fewest, most) = (n().min()?, n().max()?);
    Some(match fewest == most {
        true => format!("Each mean is over {most} operations."),
        false => format!(
            "Means are over {fewest} to {most} operations, so they do not all cover the same \
             operations."
        ),
    })
}

fn runs(sources: &[Source]) -> impl Iterator<Item = &Document> {
    sources.iter().filter_map(|source| match &source.content {
        Content::Measured(run) if run.kind == Kind::Run => Some(&**run),
        _ => None,
    })
}

fn means(sources: &[Source]) -> Vec<Mean> {
    let mut found = Vec::new();
    for run in runs(sources) {
        for group in groups(run).iter().filter(|group| !group.of_kernels) {
            let Some(baseline) = &group.baseline else {
                continue;
            };
            let place = (
                group.filesystem.to_owned(),
                group.metric,
                baseline.title(),
                run.environment.machine(group.metric),
            );
            let means = group.tested().filter_map(|configuration| {
                let (overhead, n) = group.mean(&group.rows, configuration)?;
                Some(Mean {
                    place: place.clone(),
                    kernel: group.subject.clone(),
                    configuration: configuration.title(),
                    overhead,
                    n,
                })
            });
            found.extend(means);
        }
    }
    found
}

/// Geometric means of overheads by kernel, from all runs on the same kind of machine.
pub(super) fn kernels(sources: &[Source]) -> Vec<Draft> {
    let found = means(sources);
    let mut drafts = Vec::new();
    for (place, means) in grouped(&found, |mean| &mean.place) {
        let (filesystem, metric, baseline, machine) = place;
        let axis = format!("overhead, geometric mean (%), {metric}");
        let mut bars = Bars::new(&axis, "kernel", "configuration");
        let notes = of_how_many(&means);
        let mut repeated = false;
        for mean in means {
            bars.category(&mean.kernel);
            if drawable(mean.overhead) {
                let value = mean.overhead * 100.0;
                repeated |= !bars.add(&mean.kernel, &mean.configuration, value);
            }
        }
        if bars.categories.len() < 2 {
            continue;
        }
        let once = "A kernel and configuration that several result files contain is shown once, \
                    from the first file.";
        let once = repeated.then(|| once.to_owned());
        // The first colour belongs to the baseline, which is not shown.
        bars.colours = (1..=bars.series.len()).collect();
        let baseline = short(baseline);
        let machine = printable(machine, 2 * TEXT_LIMIT);
        let filesystem = short(filesystem);
        let draft = Draft::new(
            "kernels",
            format!("Overhead by kernel: {metric} on {filesystem}, over {baseline} ({machine})"),
            "Bars: the geometric mean of an operation's cost over the baseline's of the same \
             kernel, minus 1, for each kernel and configuration; over operations that have a dominant \
             path, without getppid.",
            Chart::Bars(bars),
        );
        let draft = draft.about(&[&filesystem, metric.as_str(), &baseline, &machine]);
        drafts.push(draft.noted(notes.into_iter().chain(once)));
    }
    drafts
}

/// Each benchmark over the kernels of several result files, with a line per variant and
/// configuration. Only runs on the same kind of machine are included.
pub(super) fn benchmarks(sources: &[Source]) -> Vec<Draft> {
    let cells = runs(sources).flat_map(|run| run.cells.iter().map(move |cell| (run, cell)));
    let all: Vec<(&Document, &Cell)> = cells.collect();
    let by_benchmark = grouped(&all, |(run, cell)| {
        let machine = run.environment.machine(cell.key.metric);
        let key = &cell.key;
        (key.benchmark(), &key.filesystem, key.metric, machine)
    });
    let drafts = by_benchmark.into_iter().filter_map(|(place, cells)| {
        let mut kernels: Vec<&str> = Vec::new();
        for (_, cell) in &cells {
            position(&mut kernels, cell.key.kernel.as_str());
        }
        let first = cells.first()?.0;
        if kernels.len() < 2 || cells.iter().all(|(run, _)| std::ptr::eq(*run, first)) {
            return None;
        }
        let lines = grouped(cells, |(_, cell)| {
            format!("{}, {}", cell.title(), cell.configuration_title())
        });
        let series = lines.into_iter().map(|(label, cells)| {
            let points = kernels.iter().enumerate().filter_map(|(at, kernel)| {
                let mut of_kernel = cells.iter().filter(|(_, cell)| cell.key.kernel == *kernel);
                let (_, cell) = of_kernel.find(|(_, cell)| cell.headline().is_some())?;
                Some(Point {
                    x: at as f64 + 1.0,
                    y: cell.headline().filter(|figure| drawable(*figure))?,
                    interval: interval(cell),
                })
            });
            Series::new(short(&label), points.collect())
        });
        let series = series.filter(|line| line.points.len() > 1).collect();
        let (benchmark, filesystem, metric, machine) = place;
        let [benchmark, filesystem] = [benchmark, filesystem].map(short);
        let machine = printable(&machine, 2 * TEXT_LIMIT);
        let named = kernels.iter().enumerate();
        let named = named.map(|(at, kernel)| format!("{} {}", at + 1, printable(kernel, 40)));
        let draft = Draft::new(
            "benchmark",
            format!("{benchmark} by kernel: {metric} on {filesystem} ({machine})"),
            "Lines: value of each operation and configuration, kernel by kernel.",
            Chart::Lines(Lines {
                x: named.collect::<Vec<_>>().join(", "),
                y: per_operation(metric),
                kind: "operation and configuration".to_owned(),
                figure: None,
                series,
            }),
        );
        Some(draft.about(&[&benchmark, &filesystem, metric.as_str(), &machine]))
    });
    drafts.collect()
}

fn per_operation(metric: Metric) -> String {
    match metric {
        Metric::Throughput => "operations per second".to_owned(),
        Metric::Memory => "bytes".to_owned(),
        metric => format!("{} per operation", metric.unit()),
    }
}

fn missing_note(missing: usize) -> Option<String> {
    let have = if missing == 1 { " has" } else { "s have" };
    (missing > 0)
        .then(|| format!("{missing} measurement{have} no value; the table gives the reason."))
}

fn interval(cell: &Cell) -> Option<[f64; 2]> {
    let ends = cell.ci95().filter(|_| !cell.is_exact())?;
    ends.iter().all(|end| drawable(*end)).then_some(ends)
}
