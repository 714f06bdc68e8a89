// SPDX-License-Identifier: GPL-2.0-or-later
//! A run as tables.

use compare::judge::{Judgements, Layouts};
use model::{Cell, Counted, Document, Metric};
use stats::median_of_sorted;

use crate::architectures::architectures;
use crate::cells::{
    Configuration, Group, Operation, added_modules, groups, not_measured, operation_title,
    without_figure,
};
use crate::column::Columns;
use crate::comparison::aa_tables;
use crate::format;
use crate::format::{count, difference, figure};
use crate::group::distinct;
use crate::layouts::{is_one_of, layouts};
use crate::policies::{avc, growth, setup};
use crate::program::programs;
use crate::stacks::{framework, order};
use crate::table::{Report, Table, Tone, Value, warnings};
use crate::text::short;

const UNCLEAR: &str = "~: the difference may be chance, see `lsmeter compare`.";
const IN_HOOKS: &str = "in hooks: for operations without a dominant path, the cost added in hooks \
                        over the baseline, on the most frequent path of each stack.";

/// A table per kernel, file system and metric; more with details, and for stacks that differ only
/// in order. Rows are in the order of the measurements.
pub fn report(run: &Document, details: bool) -> Report {
    let mut tables = Vec::new();
    let mut judgements = Judgements::new(run);
    let groups = groups(run);
    let drawn = Layouts::in_run(run);
    tables.extend(layouts(&drawn, &groups, &run.environment.cpu));
    tables.extend(architectures(run, &groups, &judgements));
    for group in groups {
        // Small differences there may come from the layout.
        if is_one_of(&group, &drawn) && !details {
            continue;
        }
        let program_tables = programs(run, &group, details);
        if !program_tables.is_empty() {
            tables.extend(program_tables);
            continue;
        }
        tables.push(main_table(run, &group, &judgements));
        tables.extend(order(run, &group, &mut judgements));
        tables.extend(framework(run, &group));
        // Memory has no measured regions and no paths.
        if details && group.metric != Metric::Memory {
            tables.push(detailed(run, &group));
        }
    }
    tables.extend(setup(run, details));
    tables.extend(avc(run));
    tables.extend(growth(run));
    tables.extend(aa_tables(run.aa.as_ref()));
    tables.extend(machines(run));
    Report::new([tables], warnings(&run.warnings))
}

/// Counts that vary with memory addresses, in each machine (`--aa`).
fn machines(run: &Document) -> Option<Table> {
    let cells = run.cells.iter();
    let varying = cells
        .filter_map(|cell| Some((cell, cell.counted()?)).filter(|(_, counted)| counted.varies()));
    let sorted = varying.map(|(cell, counted)| {
        let mut figures = counted.machines.clone();
        figures.sort_unstable_by(f64::total_cmp);
        (cell, figures)
    });
    type Row<'a> = (&'a Cell, Vec<f64>);
    let spread = |(_, figures): &Row<'_>| {
        let spread = figures[figures.len() - 1] - figures[0];
        let median = median_of_sorted(figures);
        (median > 0.0).then(|| format::percent(spread / median))
    };
    let kernels = distinct(run.cells.iter().map(|cell| &cell.key.kernel));
    let rows: Vec<Row<'_>> = sorted.collect();
    let table = Columns::new()
        .left("benchmark", |(cell, _): &Row<'_>| cell.title())
        .only_if(kernels.len() > 1, |columns| {
            columns.left("kernel", |(cell, _)| cell.key.kernel.clone())
        })
        .left("stack", |(cell, _)| cell.configuration_title())
        .column("machines", |(_, figures)| figures.len() as u64)
        .right("least", |(_, figures)| figures[0])
        .right("median", |(_, figures)| median_of_sorted(figures))
        .right("most", |(_, figures)| figures[figures.len() - 1])
        .right("spread", spread)
        .table("Counts that vary with memory addresses", &rows)
        .legend([
            "Each configuration was counted in several virtual machines that differ only in a few \
             unused pages of memory. spread: (most - least) / median.",
        ]);
    table.if_any()
}

fn what_measured(metric: Metric) -> String {
    let figure = match metric {
        metric if metric.is_recorded() => ", dominant path",
        _ if metric.is_counted() => "",
        _ => ", median",
    };
    format::measured(metric).to_owned() + figure
}

fn main_table<'a>(run: &Document, group: &Group<'a>, judgements: &Judgements<'a>) -> Table {
    let baseline = group.baseline.as_ref();
    let mut columns = Columns::new().left("benchmark", |row: Operation<'a>| operation_title(row));
    for configuration in &group.configurations {
        let title = short(&group.heading(configuration));
        let compared = baseline.is_some_and(|baseline| baseline != configuration);
        columns = columns.right(title, move |row| {
            let base = group.baseline_cell(row).filter(|_| compared);
            value(group.cell(row, configuration), base, compared, judgements)
        });
    }
    let title = format!("{}: {}", group.place(run), what_measured(group.metric));
    let summed_up = group.metric.has_mean() && baseline.is_some() && group.configurations.len() > 1;
    let summary = summed_up.then(|| summary(group));
    columns
        .summed_up(title, group.rows.iter().copied(), summary)
        .fixed(1 + usize::from(baseline.is_some()))
        .legend(legend(group))
        .legend(group.own_policies())
}

fn value<'a>(
    cell: Option<&'a Cell>,
    base: Option<&'a Cell>,
    compared: bool,
    judgements: &Judgements<'a>,
) -> Value {
    let Some(cell) = cell else {
        return not_measured("not measured");
    };
    let Some(absolute) = format::headline(cell) else {
        return without_figure(cell);
    };
    if !compared {
        return Value::plain(absolute);
    }
    let overhead = base.and_then(|base| overhead(cell, base, judgements));
    let overhead = overhead.unwrap_or_else(|| Value::toned("n/a", Tone::Missing));
    overhead.beside(absolute)
}

/// Overhead over the baseline or, for counts that may differ by chance, only the part in hooks.
pub(crate) fn overhead<'a>(
    cell: &'a Cell,
    base: &'a Cell,
    judgements: &Judgements<'a>,
) -> Option<Value> {
    let judged = judgements.verdict(base, cell)?;
    let tone = Tone::from_verdict(judged.verdict);
    if cell.key.metric.is_of_transfers() && judged.is_clear() {
        let difference = cell.headline()? - base.headline()?;
        return Some(Value::toned(format::signed(difference), tone));
    }
    let overhead = judged.overhead?;
    if judged.is_clear() {
        return Some(Value::toned(format::percent(overhead), tone));
    }
    let text = match hooked(cell).zip(hooked(base)) {
        Some((own, base)) => format!("{} in hooks", format::difference(own - base)),
        None => "~".to_owned(),
    };
    Some(Value::toned(text, tone))
}

/// Instructions in hooks on the most frequent path; None if that path covers less than a tenth of
/// the measured regions, because then hooks may vary as much as other code.
fn hooked(cell: &Cell) -> Option<i128> {
    let counted = cell.counted()?;
    let path = counted.hooked.as_ref()?;
    let is_frequent = 10 * u128::from(path.regions) >= u128::from(counted.regions());
    is_frequent.then_some(path.hooked.into())
}

fn summary(group: &Group<'_>) -> Vec<Value> {
    let value = |configuration| {
        if group.baseline.as_ref() == Some(configuration) {
            return Value::default();
        }
        match group.mean(&group.rows, configuration) {
            Some((overhead, n)) => Value::plain(format::percent(overhead)).beside(format!("n={n}")),
            None => Value::toned("n/a", Tone::Missing),
        }
    };
    let first = [Value::plain("geometric mean")].into_iter();
    first
        .chain(group.configurations.iter().map(value))
        .collect()
}

fn legend(group: &Group<'_>) -> Vec<String> {
    let mut legend = Vec::new();
    match &group.baseline {
        Some(baseline) if group.configurations.len() > 1 => {
            let name = short(&group.heading(baseline));
            let better = match group.metric.direction() {
                stats::Direction::LowerIsBetter => "more",
                stats::Direction::HigherIsBetter => "fewer",
            };
            let last = match (group.metric.has_mean(), group.metric.is_counted()) {
                (false, _) => "",
                (_, true) => {
                    " Last row: geometric mean of the n operations with a dominant path, without \
                     getppid."
                }
                _ => " Last row: geometric mean of the n operations, without getppid.",
            };
            let plus = |c: &Configuration| c.short_title(Some(baseline)).starts_with('+');
            let added = match group.configurations.iter().any(plus) {
                true => format!("; +x: {name} with x added"),
                false => String::new(),
            };
            legend.push(format!(
                "Columns: {name}, the baseline; others: overhead (+: {better}) and the value itself{added}.{last}"
            ));
        }
        Some(_) => {}
        None => legend.push("Columns: the values; the baseline was not measured.".to_owned()),
    }
    if !group.metric.is_counted() {
        legend.push(format!("±: 95 % interval of the median; {UNCLEAR}"));
    } else if !group.is_exact() {
        let varies = |cell: &Cell| cell.counted().is_some_and(Counted::varies);
        let of_machines = match group.cells().any(varies) {
            true => " or, where machines differ, of all machines,",
            false => "",
        };
        legend.push(format!(
            "±: no dominant path, so this is the median of all measured regions{of_machines} and its \
             95 % interval; {UNCLEAR}"
        ));
        let has_hooks = group.cells().any(|cell| hooked(cell).is_some());
        legend.extend(has_hooks.then(|| IN_HOOKS.to_owned()));
    }
    legend.extend(added_modules(group.cells()));
    legend
}

type DetailLine<'a> = (&'a Cell, &'a Configuration, Option<&'a Cell>);

fn detailed(run: &Document, group: &Group<'_>) -> Table {
    let lines = { group.measured() }
        .filter(|(.., cell)| cell.headline().is_some())
        .map(|(row, configuration, cell)| (cell, configuration, group.baseline_cell(row)));
    let columns = Columns::new()
        .left("benchmark", |(cell, ..): DetailLine<'_>| cell.title())
        .left("stack", |(_, configuration, _)| configuration.title());
    let title = format!("Details: {}, {}", group.place(run), group.metric);
    let (columns, legend) = if group.metric.is_counted() {
        (
            counted(columns, group.metric),
            "REP: iterations of string instructions, counted separately; lines: transfers of \
             64-byte lines, whose number depends on where objects lie; dominant: measured regions \
             on the dominant path; clean, dirty: regions kept and dropped; paths: number of other \
             paths; range: counts over all paths.",
        )
    } else {
        (timed(columns), "n: samples; batch: operations per sample.")
    };
    columns.table(title, lines).fixed(2).legend([legend])
}

fn counted<'a>(
    columns: Columns<'a, DetailLine<'a>>,
    metric: Metric,
) -> Columns<'a, DetailLine<'a>> {
    let (name, beside): (_, fn(&Cell) -> Option<u64>) = match metric.is_of_transfers() {
        true => ("lines", |cell| cell.paths()?.dominant.lines),
        false => ("REP", |cell| Some(cell.paths()?.dominant.rep_iterations)),
    };
    columns
        .column(metric.unit(), |(cell, ..)| cell.headline())
        .column(name, move |(cell, ..)| beside(cell))
        .right("vs base", move |(cell, _, base)| {
            let (own, base) = (beside(cell)?, beside(base?)?);
            Some(difference(i128::from(own) - i128::from(base)))
        })
        .column("dominant", |(cell, ..)| {
            Some(cell.paths()?.dominant.regions)
        })
        .column("clean", |(cell, ..)| Some(cell.counted()?.regions()))
        .column("dirty", |(cell, ..)| Some(cell.paths()?.dirty))
        .column("paths", |(cell, ..)| Some(cell.paths()?.others.len()))
        .right("range", |(cell, ..)| {
            let found = cell.paths()?;
            let all = found.others.iter().chain([&found.dominant]);
            let all = all.map(|path| path.instructions);
            let (min, max) = (all.clone().min()?, all.max()?);
            (min < max).then(|| format!("{}-{}", count(min), count(max)))
        })
}

fn timed<'a>(columns: Columns<'a, DetailLine<'a>>) -> Columns<'a, DetailLine<'a>> {
    columns
        .column("median", |(cell, ..)| Some(cell.estimate()?.median))
        .right("95 % interval", |(cell, ..)| {
            let [low, high] = cell.ci95()?.map(figure);
            Some(format!("{low}-{high}"))
        })
        .column("mean", |(cell, ..)| cell.estimate()?.mean)
        .column("stddev", |(cell, ..)| cell.estimate()?.stddev)
        .column("min", |(cell, ..)| cell.estimate()?.min)
        .column("max", |(cell, ..)| cell.estimate()?.max)
        .column("n", |(cell, ..)| Some(cell.estimate()?.n))
        .column("batch", |(cell, ..)| cell.timed()?.batch)
}
