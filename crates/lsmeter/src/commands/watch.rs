// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter watch`: what each rebuild of a kernel changes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use bisect::{Measured, judge};
use diagnostics::Exit;
use experiment::ComparisonDocument;
use experiment::bisection::StepFigure;
use report::printable;
use serde::Serialize;

use crate::cli::{WatchArgs, WatchFormat};
use crate::commands::counted::{self, Counter};
use crate::commands::measure::Signals;
use crate::config::Config;
use crate::failure::{explain, usage};
use crate::output;
use crate::progress::Line;

/// How often the image is looked at.
const PAUSE: Duration = Duration::from_secs(1);

/// Measures the kernel in a directory, and again whenever it has changed.
///
/// # Errors
/// If what is asked for makes no sense, or this machine cannot measure at all.
pub fn watch(args: &WatchArgs) -> Result<Exit> {
    let config = Config::read()?;
    if !args.repo.is_dir() {
        return Err(usage(
            format!("there is no directory {}", args.repo.display()),
            "give the directory in which the kernel is built with --repo",
        ));
    }
    let named = args.image.as_ref().map(|image| args.repo.join(image));
    let image = named
        .clone()
        .unwrap_or_else(|| args.repo.join(arch::native().source.image));
    // As a build directory it has its modules and its configuration.
    let kernel = named.unwrap_or_else(|| args.repo.clone());
    let kernel = std::path::absolute(kernel)?.to_string_lossy().into_owned();
    let experiment = counted::experiment(&args.counted, &kernel)?;
    let signals = Signals::watch()?;
    let mut watch = Watch {
        image,
        counter: Counter::new(experiment, &args.counted.lab, &config, &signals),
        line: Line::new(args.quiet),
        format: args.format,
        last: None,
        number: 0,
    };
    let most = if args.once { Some(1) } else { args.count };
    watch.follow(most)?;
    watch.line.done();
    Ok(Exit::Fine)
}

/// What tells a file from the one that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata = fs::metadata(path).ok()?;
    (metadata.len() > 0).then(|| Identity {
        inode: metadata.ino(),
        size: metadata.len(),
        changed: (metadata.mtime(), metadata.mtime_nsec()),
    })
}

struct Watch<'a> {
    image: PathBuf,
    counter: Counter<'a>,
    line: Line,
    format: WatchFormat,
    last: Option<Measured>,
    number: u32,
}

/// A line for programs.
#[derive(Serialize)]
struct Told<'a> {
    number: u32,
    kernel: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<usize>,
    /// None of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Vec<Changed<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    figures: Vec<StepFigure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Changed<'a> {
    configuration: &'a str,
    operation: String,
    verdict: String,
    before: Option<f64>,
    after: Option<f64>,
    difference: Option<f64>,
}

impl Watch<'_> {
    /// Measures until `most` lines are told, or the user ends it.
    fn follow(&mut self, most: Option<u32>) -> Result<()> {
        let mut seen = None;
        while most.is_none_or(|most| self.number < most) {
            let Some(found) = self.next(seen) else {
                return Ok(());
            };
            seen = Some(found);
            let counted = self.counter.count(&mut self.line);
            if self.counter.cancelled() {
                return Ok(());
            }
            // What was measured while make wrote is nothing.
            if identity(&self.image) != seen {
                continue;
            }
            match counted {
                Ok(None) => return Ok(()),
                Ok(Some(measured)) => self.tell(measured)?,
                Err(error) if explain(&error).0 == Exit::Usage && self.number > 0 => {
                    self.number += 1;
                    self.tell_failed(&printable(&format!("{error:#}"), 300))?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for another image than `seen` that is the same for a while; None if the user ended
    /// it.
    fn next(&self, seen: Option<Identity>) -> Option<Identity> {
        let mut before = None;
        loop {
            if self.counter.cancelled() {
                return None;
            }
            let found = identity(&self.image).filter(|found| Some(*found) != seen);
            match found {
                Some(found) if before == Some(found) => return Some(found),
                // It was there when lsmeter came.
                Some(found) if seen.is_none() && is_old(&self.image) => return Some(found),
                _ => {}
            }
            before = found;
            let image = self.image.display();
            self.line.idle(&match seen {
                None => format!("waiting for {image}"),
                Some(_) => format!("waiting for another {image}"),
            });
            std::thread::sleep(PAUSE);
        }
    }

    fn tell(&mut self, measured: Measured) -> Result<()> {
        self.number += 1;
        let document = &measured.document;
        let figures = report::figures_of(document);
        let change = match &self.last {
            None => None,
            Some(last) => {
                let sides = (("before", &last.document), ("now", document));
                Some(judge(sides.0, sides.1, None)?.comparison)
            }
        };
        match self.format {
            WatchFormat::Text => {
                let said = match &change {
                    None => report::step_figures(&figures, &[]),
                    Some(change) => report::change_line(change),
                };
                self.print(&format!("{}: {said}\n", self.number))?;
            }
            WatchFormat::Json => self.print_json(&Told {
                number: self.number,
                kernel: self.kernel(),
                digest: document.kernel_digests.values().next(),
                cells: Some(figures.len()),
                changed: change.as_ref().map(changed),
                figures,
                error: None,
            })?,
        }
        self.last = Some(measured);
        Ok(())
    }

    fn tell_failed(&self, why: &str) -> Result<()> {
        match self.format {
            WatchFormat::Text => self.print(&format!("{}: not measured: {why}\n", self.number)),
            WatchFormat::Json => self.print_json(&Told {
                number: self.number,
                kernel: self.kernel(),
                digest: None,
                cells: None,
                changed: None,
                figures: Vec::new(),
                error: Some(why.to_owned()),
            }),
        }
    }

    fn kernel(&self) -> &str {
        let kernels = &self.counter.experiment().kernels;
        kernels.first().map_or("", String::as_str)
    }

    fn print_json(&self, told: &Told<'_>) -> Result<()> {
        let text = format!("{}\n", serde_json::to_string(told)?);
        self.line.aside(|| output::print_as_it_is(&text))
    }

    fn print(&self, text: &str) -> Result<()> {
        self.line.aside(|| output::print(text))
    }
}

/// Was it written some time ago?
fn is_old(path: &Path) -> bool {
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > 2 * PAUSE))
}

fn changed(comparison: &ComparisonDocument) -> Vec<Changed<'_>> {
    let cells = comparison.compared.iter();
    let cells = cells.filter(|cell| cell.verdict != experiment::comparison::Verdict::Same);
    let changed = cells.map(|cell| Changed {
        configuration: &cell.place.configuration,
        operation: cell.title(),
        verdict: cell.verdict.to_string(),
        before: cell.base.value,
        after: cell.new.value,
        difference: cell.difference,
    });
    changed.collect()
}
