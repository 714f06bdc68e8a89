// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter coverage`: which hooks of a kernel the benchmarks call, and why not the others.

mod documents;
mod measure;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use coverage::{Facts, Inputs, KernelHooks, cover};
use kernels::{Kernel, Store};
use model::{Document, Exit, Kind, Status, coverage::CoverageFindings};
use report::CoverageOptions;

use crate::cli::CoverageArgs;
use crate::commands::journals;
use crate::commands::kernel::obtain;
use crate::commands::measure::Signals;
use crate::config::{Config, cache_dir};
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::progress::Line;

/// What was measured, on which kernel.
struct Measured {
    document: Document,
    /// The kernel as its cells name it.
    name: String,
    kernel: Kernel,
    /// Modules of the stacks by default that the kernel lacks.
    lacking: Vec<String>,
}

/// Measures, or reads what was measured, and says which hooks are called.
pub fn coverage(args: &CoverageArgs) -> Result<Exit> {
    let config = Config::read()?;
    let facts = Facts::load()?;
    let stdout = args.out.check(&[], 0)?;
    if let Some(document) = documents::covered(args)? {
        return told(args, &document, stdout);
    }
    let mut line = Line::new(args.quiet);
    // Before minutes are spent on measurements.
    let source = source::open(args, &line)?;
    let store = Store::open(&cache_dir())?;
    let journals = match args.documents.is_empty() {
        true => {
            let output = args.out.output.as_deref();
            Some(journals::choose("coverage", output, args.resume.as_ref())?)
        }
        false => None,
    };
    let measured = match &journals {
        Some(journals) => measure::measure(args, &config, &facts, journals, &mut line)?,
        None => {
            let (document, name) = documents::read(&args.documents, args.kernel.as_deref())?;
            let kernel = kernel(&name, args, &store, &config, &line)?;
            documents::check_kernel(&document, &kernel, &name)?;
            Some(Measured {
                document,
                name,
                kernel,
                lacking: Vec::new(),
            })
        }
    };
    let Some(measured) = measured else {
        return Ok(Exit::CellsFailed);
    };
    let Measured {
        mut document,
        name,
        kernel,
        lacking,
    } = measured;
    let hooks = kernel_hooks(&store, &kernel, name, &facts)?;
    let reached = source::reached(source, &document, &kernel, &line)?;
    line.done();
    let catalogue = lab::catalogue::catalogue().iter();
    let suites: BTreeMap<_, _> = catalogue.map(|of| (of.name.clone(), of.suite)).collect();
    let findings = cover(&Inputs {
        kernel: &hooks,
        cells: &document.cells,
        facts: &facts,
        reached: reached.as_ref(),
        suites: &suites,
        lacking: &lacking,
    })?;
    document.kind = Kind::Coverage;
    document.coverage = Some(findings);
    let exit = told(args, &document, stdout)?;
    if let Some(journals) = &journals {
        journals::remove(journals)?;
    }
    Ok(exit)
}

fn told(args: &CoverageArgs, document: &Document, stdout: StdoutTaken) -> Result<Exit> {
    deliver(args, document, stdout)?;
    let findings = document.coverage.as_ref();
    Ok(findings.map_or(Exit::Inconclusive, |of| verdict(args, document, of)))
}

/// A kernel by its name; fetched if it is not here.
fn kernel(
    name: &str,
    args: &CoverageArgs,
    store: &Store,
    config: &Config,
    line: &Line,
) -> Result<Kernel> {
    let signals = Signals::watch()?;
    let names = [name.to_owned()];
    let found = signals.unattended(|| obtain(&names, store, config, args.lab.offline, line));
    let missing = || {
        usage(
            format!("there is no kernel {name}"),
            "name one with --kernel",
        )
    };
    found?.pop().ok_or_else(missing)
}

/// What the kernel's image says of its hooks.
fn kernel_hooks(
    store: &Store,
    kernel: &Kernel,
    name: String,
    facts: &Facts,
) -> Result<KernelHooks> {
    let found = lab::KernelHooks::of(store, kernel)?;
    let options = facts.options().into_iter();
    let options =
        options.filter_map(|name| Some((name.to_owned(), found.option(name)?.to_owned())));
    Ok(KernelHooks {
        name,
        release: kernel.release.clone(),
        hooks: found.list.iter().map(str::to_owned).collect(),
        options: options.collect(),
        implementations: found.implementations,
    })
}

fn deliver(args: &CoverageArgs, document: &Document, stdout: StdoutTaken) -> Result<()> {
    let options = CoverageOptions {
        all: args.all,
        ..CoverageOptions::default()
    };
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::coverage_report(document, &options),
        records: &|| report::coverage_records(document),
    };
    args.out.deliver(stdout, &found)?;
    Ok(())
}

fn verdict(args: &CoverageArgs, document: &Document, findings: &CoverageFindings) -> Exit {
    let percent = findings.share.percent().unwrap_or(0.0);
    if let Some(least) = args.at_least
        && percent < least
    {
        let share = report::coverage_share(findings);
        note!("coverage: less than {least} %: {share}");
        return Exit::Regression;
    }
    let failed = match args.documents.is_empty() {
        true => failed(document),
        false => BTreeSet::new(),
    };
    for title in &failed {
        let title = report::printable(title, 100);
        note!("failed: {title} under every stack: it tells of no hook");
    }
    match failed.is_empty() {
        true => Exit::Fine,
        false => Exit::CellsFailed,
    }
}

/// Operations that gave nothing under any configuration, and failed under one. What one policy
/// denies another stack shows.
fn failed(document: &Document) -> BTreeSet<String> {
    let of = |status: Status| {
        let cells = document.cells.iter();
        cells
            .filter(move |cell| cell.status() == status)
            .map(|cell| cell.title())
    };
    let measured: BTreeSet<String> = of(Status::Ok).collect();
    of(Status::Failed)
        .filter(|title| !measured.contains(title))
        .collect()
}
