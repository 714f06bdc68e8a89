// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter report`: documents as a page, or one figure of them.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use experiment::{Kind, nearest};
use report::{Content, Figure, Fonts, Gathered, Source, figures};

use super::documents;
use crate::cli::{ReportArgs, ReportFormat};
use crate::exit::Exit;
use crate::failure::usage;
use crate::output;

/// What a figure is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FigureFormat {
    Svg,
    Pdf,
    Csv,
    Json,
}

/// Writes a report, or one figure.
///
/// # Errors
/// If a document cannot be read, there is no such figure, or the file cannot be written.
pub fn report(args: &ReportArgs) -> Result<Exit> {
    output::check(&args.output)?;
    let names = names(&args.documents);
    let named = names.into_iter().zip(&args.documents);
    let sources: Vec<Source> = named
        .map(|(name, path)| {
            let content = documents::read_as(path, documents::ANY, Content::parse)?;
            if content.kind() == Kind::Counts {
                return Err(usage(
                    format!(
                        "{} holds a monitor's counts, of which there is no report",
                        path.display()
                    ),
                    "`lsmeter check --from` compares them with those of other instruments",
                ));
            }
            Ok(Source { name, content })
        })
        .collect::<Result<_>>()?;
    if args.list_figures {
        output::print(&listed(&figures(&sources)))?;
        return Ok(Exit::Fine);
    }
    let for_reading = args.format != ReportFormat::Html || args.figure.is_some();
    if !for_reading && output::is_stdout(&args.output) && std::io::stdout().is_terminal() {
        return Err(usage(
            "a page of HTML is not for a terminal",
            "--output report.html writes it to a file, --format markdown is for reading here",
        ));
    }
    let bytes = if let Some(name) = &args.figure {
        let format = figure_format(&args.output)?;
        let figures = figures(&sources);
        rendered(find(&figures, name)?, format)?
    } else {
        match args.format {
            ReportFormat::Html => report::page(&sources),
            ReportFormat::Markdown => report::markdown_page(&sources),
            ReportFormat::Latex => report::latex(&sources),
        }
        .into_bytes()
    };
    output::write(&args.output, |to| Ok(to.write_all(&bytes)?))?;
    Ok(Exit::Fine)
}

/// What documents are called: by their files, without directories unless they are needed.
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

fn figure_format(path: &Path) -> Result<FigureFormat> {
    if output::is_stdout(path) {
        return Ok(FigureFormat::Svg);
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(FigureFormat::Svg),
        Some("pdf") => Ok(FigureFormat::Pdf),
        Some("csv") => Ok(FigureFormat::Csv),
        Some("json") => Ok(FigureFormat::Json),
        _ => Err(usage(
            format!("no figure can be written as {}", path.display()),
            "let its name end in .svg, .pdf, .csv or .json",
        )),
    }
}

fn listed(figures: &[Gathered]) -> String {
    let names = figures.iter().map(|of| of.figure.name.chars().count());
    let width = names.max().unwrap_or(0);
    figures
        .iter()
        .map(|of| format!("{:<width$}  {}\n", of.figure.name, of.figure.title))
        .collect()
}

fn find<'a>(figures: &'a [Gathered], name: &str) -> Result<&'a Figure> {
    let found = figures.iter().find(|of| of.figure.name == name);
    found.map(|of| &of.figure).ok_or_else(|| {
        let names = figures.iter().map(|of| of.figure.name.as_str());
        let hint = nearest(name, names).map_or_else(
            || "--list-figures lists those that there are".to_owned(),
            |near| format!("did you mean `{near}`? --list-figures lists all"),
        );
        usage(
            format!("there is no figure `{}`", report::printable(name, 80)),
            hint,
        )
    })
}

fn rendered(figure: &Figure, format: FigureFormat) -> Result<Vec<u8>> {
    Ok(match format {
        FigureFormat::Svg => figure.svg().into_bytes(),
        FigureFormat::Pdf => {
            let fonts = Fonts::from(|fonts| fonts.load_system_fonts())?;
            figure.pdf(&fonts)
        }
        FigureFormat::Csv => figure.csv().into_bytes(),
        FigureFormat::Json => figure.json()?,
    })
}
