// SPDX-License-Identifier: GPL-2.0-or-later
//! Nanoseconds that stacks add over several layouts of one kernel.

use compare::judge::Layouts;
use model::{Key, Metric, Status, layouts_base, path_depth};
use stats::Centre;

use crate::cells::{Configuration, Group, Operation, operation_title, without_figure};
use crate::column::Columns;
use crate::format;
use crate::group::grouped;
use crate::table::{Table, Value};
use crate::text::short;

pub(crate) fn is_one_of(group: &Group<'_>, drawn: &[Layouts<'_>]) -> bool {
    let of_time = group.metric == Metric::Time && !group.of_kernels;
    of_time && drawn.iter().any(|layouts| is_of(group, layouts))
}

fn is_of(group: &Group<'_>, layouts: &Layouts<'_>) -> bool {
    layouts_base(&group.subject) == Some(layouts.kernel) && group.filesystem == layouts.filesystem
}

/// Makes tables for each kernel with enough layouts. `groups`: the run's on this processor.
pub(crate) fn layouts(drawn: &[Layouts<'_>], groups: &[Group<'_>], processor: &str) -> Vec<Table> {
    let timed = |group: &&Group<'_>| group.metric == Metric::Time && !group.of_kernels;
    let tables = drawn.iter().flat_map(|layouts| {
        let mut groups = groups.iter().filter(timed);
        // Any group will do, because all have the same rows and columns.
        let group = groups.find(|group| is_of(group, layouts));
        let all = |group| Drawing::all(layouts, group, processor);
        let drawings = group.map_or_else(Vec::new, all);
        Vec::from_iter(drawings.into_iter().flat_map(|drawing| drawing.tables()))
    });
    tables.collect()
}

struct Drawing<'a> {
    layouts: &'a Layouts<'a>,
    group: &'a Group<'a>,
    baseline: &'a Configuration,
    processor: &'a str,
}

impl<'a> Drawing<'a> {
    /// The cost that stacks add to the baseline. If the baseline is another kernel, also the cost
    /// added to the first stack of this kernel, which is more precise.
    fn all(layouts: &'a Layouts<'a>, group: &'a Group<'a>, processor: &'a str) -> Vec<Drawing<'a>> {
        let mut all = group.configurations.iter();
        let own = all.find(|configuration| configuration.kernel.is_none());
        let own = own.filter(|_| layouts.baseline().is_some());
        let several =
            |configuration: &&Configuration| Some(*configuration) != group.configurations.last();
        let baselines = group.baseline.iter().chain(own.filter(several));
        let drawing = |baseline| Drawing {
            layouts,
            group,
            baseline,
            processor,
        };
        baselines.map(drawing).collect()
    }

    fn tables(&self) -> Vec<Table> {
        let tables = [Some(self.table()), Some(self.parts()), self.slopes()];
        tables.into_iter().flatten().collect()
    }

    fn tested(&self) -> impl Iterator<Item = &'a Configuration> + use<'a> {
        let (all, baseline) = (self.group.configurations.iter(), self.baseline);
        let is_other = |configuration: &&Configuration| configuration.kernel.is_some();
        let foreign = baseline.kernel.is_none() && self.layouts.baseline().is_some();
        all.filter(move |configuration| {
            *configuration != baseline && !(foreign && is_other(configuration))
        })
    }

    fn heading(&self, column: &Configuration) -> String {
        let mut column = column.clone();
        let kernel = column.kernel.as_deref();
        let base = kernel.map(|kernel| layouts_base(kernel).unwrap_or(kernel).to_owned());
        column.kernel = base;
        short(&column.short_title(Some(self.baseline)))
    }

    fn title(&self, what: &str) -> String {
        let (layouts, baseline) = (self.layouts, self.baseline);
        let base = layouts.baseline();
        let over = base.map(|_| format!(" to {}", self.heading(baseline)));
        format!(
            "{}, {}: {what}{}, over {} layouts",
            short(layouts.kernel),
            short(layouts.filesystem),
            over.unwrap_or_default(),
            layouts.count()
        )
    }

    fn pairing(&self) -> Option<String> {
        let other = self.layouts.baseline();
        let other = other.filter(|_| self.baseline.kernel.is_some())?;
        let (name, count) = (short(other.kernel), other.count);
        Some(match other.is_paired {
            true => format!("{name} is another kernel: layouts with the same number are compared."),
            false => format!(
                "{name} is another kernel with {count} layouts of other numbers: each layout is compared with \
                 every other (Hodges-Lehmann shift, with the exact Mann-Whitney interval)."
            ),
        })
    }

    fn key<'b>(&'b self, row: Operation<'b>, configuration: &Configuration) -> Option<&'b Key> {
        Some(&self.group.cell(row, configuration)?.key)
    }

    fn added(&self, row: Operation<'_>, configuration: &Configuration) -> Option<Centre> {
        let base = self.key(row, self.baseline)?;
        self.layouts.added(base, self.key(row, configuration)?)
    }

    fn part(&self, row: Operation<'_>, configuration: &Configuration) -> Option<Centre> {
        let base = self.key(row, self.baseline)?;
        let tested = self.key(row, configuration)?;
        let ratio = self.layouts.ratio(&[base], &[tested])?;
        Some(Centre {
            value: ratio.value - 1.0,
            ci95: ratio.ci95.map(|end| end - 1.0),
        })
    }

    fn table(&self) -> Table {
        let (layouts, group, baseline) = (self.layouts, self.group, self.baseline);
        let mut columns = Columns::new().left("benchmark", operation_title).right(
            self.heading(baseline),
            |row| {
                let figure = self.key(row, baseline).and_then(|key| layouts.figure(key));
                match (figure, group.cell(row, baseline)) {
                    (Some(centre), _) => Value::plain(format::figure(centre.value)),
                    (None, Some(cell)) if cell.status() != Status::Ok => without_figure(cell),
                    (None, _) => Value::dash(),
                }
            },
        );
        for configuration in self.tested() {
            columns = columns.right(self.heading(configuration), move |row| {
                self.added(row, configuration).map(nanoseconds)
            });
        }
        let resolved = self.tested().map(|configuration| {
            let all = group.rows.iter();
            let all = all.filter_map(|row| self.added(*row, configuration));
            let seen = all.clone().filter(|centre| !holds_zero(centre)).count();
            Value::plain(format!("{seen} of {}", all.count()))
        });
        let mut summary = vec![Value::plain("shown"), Value::default()];
        summary.extend(resolved);
        let title = self.title("nanoseconds that stacks add");
        let legend = "Centre (Hodges-Lehmann) over kernels whose functions have different addresses, with \
             its 95 % interval. Each kernel and stack counts with the lower quartile of its \
             rounds; a round is the 10th percentile of its samples. ~: the interval includes 0. \
             Last row: operations whose interval excludes 0. --details prints a table for each \
             layout.";
        columns
            .summed_up(title, group.rows.iter().copied(), [summary])
            .fixed(2)
            .legend([self.honest(), legend.to_owned()])
            .legend(self.pairing())
    }

    fn honest(&self) -> String {
        format!(
            "Time in a UML kernel on {}: no entry and exit of a system \
             call, one processor, no SMAP (docs/time.md).",
            short(self.processor)
        )
    }

    fn parts(&self) -> Table {
        let mut columns = Columns::new().left("benchmark", operation_title);
        for configuration in self.tested() {
            columns = columns.right(self.heading(configuration), move |row| {
                self.part(row, configuration).map(percent)
            });
        }
        let title = self.title("per cent that stacks add");
        columns
            .table(title, self.group.rows.iter().copied())
            .legend([self.honest()])
            .legend(self.pairing())
    }

    fn slopes(&self) -> Option<Table> {
        let (group, baseline) = (self.group, self.baseline);
        let rows = group.rows.iter().filter_map(|row| {
            let depth = path_depth(row.1)?;
            Some((f64::from(depth), *row))
        });
        let rows: Vec<Point<'_>> = rows.collect();
        let mut benchmarks = grouped(&rows, |(_, (benchmark, _))| *benchmark);
        benchmarks.retain(|(_, points)| points.len() >= FEWEST_DEPTHS);
        if benchmarks.is_empty() {
            return None;
        }
        let slope = |points: &[&Point<'_>], configuration: &Configuration, added: bool| {
            let keys = points.iter().map(|(depth, row)| {
                let (base, tested) = (self.key(*row, baseline)?, self.key(*row, configuration)?);
                Some((*depth, tested, added.then_some(base)))
            });
            self.layouts.slope(&keys.collect::<Option<Vec<_>>>()?)
        };
        let mut columns = Columns::new()
            .left("benchmark", |(benchmark, _): &Benchmark<'_>| benchmark)
            .column("depths", |(_, points)| points.len() as u64)
            .right(self.heading(baseline), |(_, points)| {
                slope(points, baseline, false).map(nanoseconds)
            });
        for configuration in self.tested() {
            columns = columns.right(self.heading(configuration), move |(_, points)| {
                slope(points, configuration, true).map(nanoseconds)
            });
        }
        let title = self.title(match self.layouts.baseline() {
            Some(_) => "nanoseconds per component of the path, and those that stacks add",
            None => "nanoseconds per component of the path",
        });
        let legend = "Cost of each further component, and the cost that stacks add: for each layout the slope of the line \
             through all depths (Theil-Sen), then the centre of the slopes with its 95 % interval.";
        let table = columns.table(title, &benchmarks).legend([legend]);
        Some(table.legend(self.pairing()))
    }
}

type Point<'a> = (f64, Operation<'a>);
type Benchmark<'a> = (&'a str, Vec<&'a Point<'a>>);

const FEWEST_DEPTHS: usize = 3;

fn holds_zero(centre: &Centre) -> bool {
    let [low, high] = centre.ci95;
    low <= 0.0 && high >= 0.0
}

fn nanoseconds(centre: Centre) -> Value {
    shown(&centre, format::added(centre.value, centre.ci95))
}

fn percent(centre: Centre) -> Value {
    let bare = |part: f64| format::percent(part).trim_end_matches(" %").to_owned();
    let [low, high] = centre.ci95.map(bare);
    shown(&centre, format!("{} [{low}, {high}]", bare(centre.value)))
}

fn shown(centre: &Centre, text: String) -> Value {
    let interval = text.find('[').unwrap_or(0);
    Value::plain(match holds_zero(centre) {
        true => format!("~ {}", &text[interval..]),
        false => text,
    })
}
