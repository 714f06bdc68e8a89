// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter report`: a page of result files, or one of their figures.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use model::{Document, Exit, nearest};
use report::{Content, Figure, Gathered, Report, Source, figures};

use super::documents;
use crate::cli::{ReportArgs, ReportFormat};
use crate::failure::usage;
use crate::output;

pub fn report(args: &ReportArgs) -> Result<Exit> {
    output::check(&args.output)?;
    let names = names(&args.documents);
    let named = names.into_iter().zip(&args.documents);
    let sources: Vec<Source> = named
        .map(|(name, path)| {
            let content = documents::read_as(path, documents::ANY, Content::parse)?;
            Ok(Source { name, content })
        })
        .collect::<Result<_>>()?;
    if args.list_figures {
        output::print(&listed(&figures(&sources)))?;
        return Ok(Exit::Fine);
    }
    let tables = args.coverage.then(|| coverage(&sources)).transpose()?;
    let format = args.format.unwrap_or(match tables {
        Some(_) => ReportFormat::Markdown,
        None => ReportFormat::Html,
    });
    let for_reading = format != ReportFormat::Html || args.figure.is_some();
    if !for_reading && output::is_stdout(&args.output) && std::io::stdout().is_terminal() {
        return Err(usage(
            "standard output is a terminal, and the report is HTML",
            "add --output report.html, or --format markdown",
        ));
    }
    let bytes = if let Some(name) = &args.figure {
        let ending = ending(&args.output)?;
        let figures = figures(&sources);
        let figure = find(&figures, name)?;
        match (ending, args.width) {
            ("csv", _) => figure.csv().into_bytes(),
            ("json", _) => figure.json()?,
            (_, None) => figure.svg().into_bytes(),
            (_, Some(width_mm)) => figure.svg_for_paper(width_mm).into_bytes(),
        }
    } else {
        match (&tables, format) {
            (Some(tables), ReportFormat::Html) => report::tables_page(COVERAGE, tables),
            (Some(tables), ReportFormat::Markdown) => report::markdown(tables),
            (None, ReportFormat::Html) => report::page(&sources),
            (None, ReportFormat::Markdown) => report::markdown_page(&sources),
        }
        .into_bytes()
    };
    output::write(&args.output, |to| Ok(to.write_all(&bytes)?))?;
    Ok(Exit::Fine)
}

const COVERAGE: &str = "Hooks that operations call";

fn coverage(sources: &[Source]) -> Result<Report> {
    let profiles = sources.iter().map(|source| match &source.content {
        Content::Measured(document) if !document.kernel_hooks.is_empty() => Ok(&**document),
        _ => Err(usage(
            format!("{} does not list its kernel's hooks", source.name),
            "give result files from `lsmeter profile`",
        )),
    });
    let profiles: Vec<&Document> = profiles.collect::<Result<_>>()?;
    Ok(report::coverage_report(&profiles))
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    let last = |path: &PathBuf| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let short: BTreeSet<String> = paths.iter().filter_map(last).collect();
    let all_differ = short.len() == paths.len();
    let name = |path: &PathBuf| last(path).filter(|_| all_differ);
    let names = paths.iter().map(|path| (name(path), path.display()));
    names
        .map(|(name, path)| name.unwrap_or_else(|| path.to_string()))
        .collect()
}

fn ending(path: &Path) -> Result<&str> {
    if output::is_stdout(path) {
        return Ok("svg");
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(ending @ ("svg" | "csv" | "json")) => Ok(ending),
        _ => Err(usage(
            format!(
                "cannot write a figure to {}: unknown extension",
                path.display()
            ),
            "use .svg, .csv or .json: --output figure.svg",
        )),
    }
}

fn listed(figures: &[Gathered]) -> String {
    let names = figures
        .iter()
        .map(|gathered| gathered.figure.name.chars().count());
    let width = names.max().unwrap_or(0);
    figures
        .iter()
        .map(|gathered| {
            format!(
                "{:<width$}  {}\n",
                gathered.figure.name, gathered.figure.title
            )
        })
        .collect()
}

fn find<'a>(figures: &'a [Gathered], name: &str) -> Result<&'a Figure> {
    let found = figures.iter().find(|gathered| gathered.figure.name == name);
    found.map(|gathered| &gathered.figure).ok_or_else(|| {
        let names = figures.iter().map(|gathered| gathered.figure.name.as_str());
        let hint = nearest(name, names).map_or_else(
            || "--list-figures lists all figures".to_owned(),
            |near| format!("did you mean `{near}`? --list-figures lists all figures"),
        );
        usage(
            format!("unknown figure `{}`", report::printable(name, 80)),
            hint,
        )
    })
}
