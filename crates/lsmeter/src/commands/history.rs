// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter history`: run documents over time.

use std::path::{Path, PathBuf};

use anyhow::Result;
use diagnostics::Exit;
use experiment::{History, Pattern, Stored as _};
use history::{Added, Archive, Selection};
use report::{HistoryOptions, printable};

use crate::cli::{HistoryAddArgs, HistoryPlotArgs, HistorySelectArgs, HistoryShowArgs};
use crate::deliver::Delivery;
use crate::failure::usage;
use crate::{config, output};

/// Levels of significance that say something.
const ALPHAS: std::ops::RangeInclusive<f64> = 0.0005..=0.5;

/// Adds run documents. Those before one that cannot be added are kept.
///
/// # Errors
/// If one cannot be read or written, or is none.
pub fn add(args: &HistoryAddArgs) -> Result<Exit> {
    let mut archive = Archive::create(&directory(args.place.dir.as_deref()))?;
    tell_left_out(&archive);
    for run in &args.runs {
        let shown = printable(&run.display().to_string(), 200);
        match archive.add(run, args.label.as_deref())? {
            Added::New(file) => note!("{shown}: added as {file}"),
            Added::Before(file) => note!("{shown}: is there as {file}"),
        }
    }
    Ok(Exit::Fine)
}

/// Shows where figures changed.
///
/// # Errors
/// If there is no history, or what is asked for makes no sense.
pub fn show(args: &HistoryShowArgs) -> Result<Exit> {
    let stdout = args.out.check(&[], 0)?;
    let history = &select(&args.series)?;
    let options = HistoryOptions {
        unchanged: args.all,
    };
    let found = Delivery {
        document: &|to| Ok(history.write(to)?),
        tables: &|| report::history_report(history, &options),
        records: &|| report::history_records(history),
    };
    args.out.save(&found)?;
    if args.out.is_for_readers(stdout) && (found.tables)().tables.is_empty() {
        let (series, runs) = (history.series.len(), history.runs.len());
        output::print(&format!("Nothing changed: {series} series, {runs} runs.\n"))?;
    } else {
        args.out.print(stdout, &found)?;
    }
    args.out.export(&found)?;
    Ok(Exit::Fine)
}

/// Draws figures over time.
///
/// # Errors
/// As [`show`]; or if nothing changed, or there is more than one drawing.
pub fn plot(args: &HistoryPlotArgs) -> Result<Exit> {
    output::check(&args.output)?;
    let history = select(&args.series)?;
    let figures = report::history_figures(&history, args.all);
    let [figure] = figures.as_slice() else {
        if figures.is_empty() {
            return Err(usage(
                format!("nothing changed in {} series", history.series.len()),
                "--all draws series without a change, too",
            ));
        }
        let titles: Vec<&str> = figures.iter().map(|figure| figure.title.as_str()).collect();
        return Err(usage(
            format!(
                "these are {} drawings: {}",
                figures.len(),
                titles.join("; ")
            ),
            "name one kernel, file system or metric: --kernel, --metric",
        ));
    };
    output::write(
        &args.output,
        |to| Ok(to.write_all(figure.svg().as_bytes())?),
    )?;
    Ok(Exit::Fine)
}

fn select(args: &HistorySelectArgs) -> Result<History> {
    let history = selected(args)?;
    if history.series.is_empty() {
        return Err(usage(
            format!(
                "no series in {} is of what was asked for",
                directory(args.place.dir.as_deref()).display()
            ),
            "`lsmeter history add` adds runs; `lsmeter history show --all` shows all series",
        ));
    }
    Ok(history)
}

/// The series that are selected, if there are any.
///
/// # Errors
/// If there is no history, or what is asked for makes no sense.
pub fn selected(args: &HistorySelectArgs) -> Result<History> {
    if !ALPHAS.contains(&args.alpha) {
        return Err(usage(
            format!("a level of significance of {} is of no use", args.alpha),
            "give one from 0.0005 to 0.5",
        ));
    }
    let patterns = args.benchmarks.iter();
    let selection = Selection {
        benchmarks: patterns
            .map(|pattern| pattern.parse::<Pattern>())
            .collect::<Result<_, _>>()?,
        kernels: args.kernels.clone(),
        configurations: args.configurations.clone(),
        metrics: args.metrics.clone(),
        across_kernels: args.across_kernels,
        last: args.last,
        alpha: args.alpha,
    };
    let directory = directory(args.place.dir.as_deref());
    let archive = Archive::open(&directory)?;
    tell_left_out(&archive);
    Ok(archive.series(&selection))
}

/// Where a history is: where it is said, or where it is unless it is said.
pub fn directory(asked: Option<&Path>) -> PathBuf {
    asked.map_or_else(|| config::data_dir().join("history"), Path::to_owned)
}

fn tell_left_out(archive: &Archive) {
    for file in archive.left_out() {
        note!(
            "left out: {}: {}",
            printable(&file.file, 200),
            printable(&file.why, 300)
        );
    }
}
