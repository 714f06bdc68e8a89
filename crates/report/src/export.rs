// SPDX-License-Identifier: GPL-2.0-or-later
//! Result files as one table for DuckDB, R and pandas. Later versions only append columns.

use std::collections::HashMap;

use model::{Cell, Document, Environment, Key};
use stats::overhead;

use crate::column::{Columns, Records};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    Cells,
    /// Measurements whose samples were not kept have no rows.
    Samples,
}

#[derive(Clone, Copy)]
struct Line<'a> {
    document: &'a str,
    run: &'a Document,
    environment: &'a Environment,
    cell: &'a Cell,
    overhead: Option<f64>,
    is_baseline: bool,
    sample: Option<(usize, f64)>,
}

/// The columns of a measurement; with `Rows::Samples` also those of a sample. See `docs/export.md`.
pub fn exported(sources: &[(String, Document)], rows: Rows) -> Records<'_> {
    let columns = match rows {
        Rows::Cells => of_cells(shared()),
        Rows::Samples => shared()
            .column("sample", |line| line.sample.map(|(number, _)| number))
            .column("value", |line| line.sample.map(|(_, figure)| figure)),
    };
    columns.records({ sources.iter() }.flat_map(move |(name, run)| lines(name, run, rows)))
}

pub fn run_records(run: &Document) -> Records<'_> {
    let columns = Columns::new()
        .column("kernel", |line: Line<'_>| &line.cell.key.kernel)
        .all(cell_columns(), |line| line.cell);
    of_cells(columns).records(lines("", run, Rows::Cells))
}

fn shared<'a>() -> Columns<'a, Line<'a>> {
    let moment = |text: &Option<String>| text.as_ref()?.parse::<jiff::Timestamp>().ok();
    Columns::new()
        .column("document", |line: Line<'_>| line.document)
        .column("lsmeter", |line| &line.run.tool.version)
        .column("started", move |line| moment(&line.run.started))
        .column("finished", move |line| moment(&line.run.finished))
        .column("machine", |line| {
            let machine = line.environment.fingerprint(line.cell.key.metric);
            machine.to_string()
        })
        .column("os", |line| &line.environment.os)
        .column("host_kernel", |line| &line.environment.host_kernel)
        .column("cpu", |line| &line.environment.cpu)
        .column("cores", |line| line.environment.cores)
        .column("kvm", |line| line.environment.kvm)
        .column("qemu", |line| {
            Some(&line.environment.qemu.as_ref()?.version)
        })
        .column("kernel", |line| &line.cell.key.kernel)
        .column("kernel_digest", |line| {
            line.run.kernel_digests.get(&line.cell.key.kernel)
        })
        .all(cell_columns(), |line| line.cell)
}

fn cell_columns<'a>() -> Columns<'a, &'a Cell> {
    Columns::new()
        .column("release", |cell: &Cell| &cell.release)
        .column("stack", |cell| cell.key.stack.join(","))
        .column("active_lsms", |cell| cell.active_lsms.join(","))
        .column("integrity", |cell| joined(cell.key.integrity.iter()))
        .column("policy", |cell| cell.key.policy.to_string())
        .column("settings", |cell| {
            let pairs = cell.key.settings.pairs().into_iter();
            joined(pairs.map(|(key, value)| format!("{key}={value}")))
        })
        .column("filesystem", |cell| &cell.key.filesystem)
        .column("benchmark", |cell| cell.key.benchmark())
        .column("variant", |cell| cell.key.variant())
        .column("class", |cell| &cell.class)
        .column("syscalls", |cell| cell.syscalls.join(","))
        .column("metric", |cell| cell.key.metric.to_string())
        .column("unit", |cell| cell.key.metric.unit().to_owned())
}

fn sample_columns<'a>() -> Columns<'a, &'a Cell> {
    Columns::new()
        .column("n", |cell: &Cell| Some(cell.estimate()?.n))
        .column("median", |cell| Some(cell.estimate()?.median))
        .column("mean", |cell| cell.estimate()?.mean)
        .column("stddev", |cell| cell.estimate()?.stddev)
        .column("min", |cell| cell.estimate()?.min)
        .column("max", |cell| cell.estimate()?.max)
        .column("ci95_low", |cell| Some(cell.ci95()?[0]))
        .column("ci95_high", |cell| Some(cell.ci95()?[1]))
}

fn of_cells<'a>(columns: Columns<'a, Line<'a>>) -> Columns<'a, Line<'a>> {
    columns
        .column("status", |line| line.cell.status().to_string())
        .column("reason", |line| line.cell.reason())
        .column("value", |line| line.cell.headline())
        .column("baseline", |line| line.is_baseline)
        .column("overhead", |line| line.overhead)
        .all(sample_columns(), |line| line.cell)
        .column("exact", |line| {
            let counted = line.cell.key.metric.is_counted();
            counted.then(|| line.cell.is_exact())
        })
        .column("rep_iterations", |line| {
            Some(line.cell.paths()?.dominant.rep_iterations)
        })
        .column("dominant_regions", |line| {
            Some(line.cell.paths()?.dominant.regions)
        })
        .column("regions", |line| Some(line.cell.paths()?.regions))
        .column("dirty", |line| Some(line.cell.paths()?.dirty))
        .column("path_hash", |line| line.cell.paths()?.path_hash.as_ref())
        .column("batch", |line| line.cell.timed()?.batch)
        .column("seconds", |line| line.cell.seconds)
}

fn lines<'a>(document: &'a str, run: &'a Document, rows: Rows) -> impl Iterator<Item = Line<'a>> {
    let figures = run.cells.iter();
    let figures = figures.filter_map(|cell| Some((&cell.key, cell.headline()?)));
    let figures: HashMap<&Key, f64> = figures.collect();
    run.cells.iter().enumerate().flat_map(move |(index, cell)| {
        let baseline = run.baseline_of(&cell.key);
        let cost = || {
            let base = figures.get(baseline.as_ref()?)?;
            overhead(cell.headline()?, *base, cell.key.metric.direction())
        };
        let line = Line {
            document,
            run,
            environment: run.environment_of(index),
            cell,
            overhead: cost(),
            is_baseline: baseline.is_none(),
            sample: None,
        };
        let samples = cell.estimate().filter(|_| rows == Rows::Samples);
        let samples = samples.and_then(|estimate| estimate.samples.as_deref());
        let samples = samples.unwrap_or_default().iter().copied().enumerate();
        let samples = samples.map(move |sample| Line {
            sample: Some(sample),
            ..line
        });
        let cell = (rows == Rows::Cells).then_some(line);
        cell.into_iter().chain(samples)
    })
}

fn joined(words: impl Iterator<Item = impl ToString>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    words.join(",")
}
