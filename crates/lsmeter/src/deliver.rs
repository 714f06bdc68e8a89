// SPDX-License-Identifier: GPL-2.0-or-later
//! Prints and saves a command's results as its flags request, in the same way for all commands.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use report::{Records, Report};

use crate::cli::{Common, Format, OutputArgs};
use crate::output;

pub struct Delivery<'a> {
    pub document: &'a dyn Fn(&mut dyn Write) -> Result<()>,
    pub tables: &'a dyn Fn() -> Report,
    pub records: &'a dyn Fn() -> Records<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdoutTaken(pub bool);

impl<F: ValueEnum + Send + Sync + 'static> OutputArgs<F> {
    /// Fails before a long measurement if a file is not writable, or if two outputs use standard
    /// output. `more`: the command's other files. `printed`: the number of its other flags that
    /// print.
    pub fn check(&self, more: &[&Option<PathBuf>], printed: usize) -> Result<StdoutTaken> {
        let all = [&self.output].into_iter().chain(more.iter().copied());
        let paths: Vec<&Path> = all.flatten().map(PathBuf::as_path).collect();
        let printed = printed + usize::from(self.is_json());
        output::check_all(&paths, printed).map(StdoutTaken)
    }

    fn is_json(&self) -> bool {
        self.json || matches!(self.format, Format::Common(Common::Json))
    }

    /// Whether tables are printed, rather than machine-readable output.
    pub fn is_for_readers(&self, stdout: StdoutTaken) -> bool {
        let tables = [Common::Table, Common::Markdown];
        let common = match &self.format {
            Format::Common(common) => tables.contains(common),
            Format::Own(_) => false,
        };
        common && !stdout.0 && !self.json
    }

    /// Saves and prints results. If the command's own format was requested, it is returned instead
    /// of being printed.
    pub fn deliver(&self, stdout: StdoutTaken, found: &Delivery<'_>) -> Result<Option<&F>> {
        self.save(found)?;
        self.print(stdout, found)
    }

    pub fn save(&self, found: &Delivery<'_>) -> Result<()> {
        match &self.output {
            Some(path) => output::write(path, found.document),
            None => Ok(()),
        }
    }

    pub fn print(&self, stdout: StdoutTaken, found: &Delivery<'_>) -> Result<Option<&F>> {
        let to = Path::new("-");
        if self.is_json() {
            output::write(to, found.document)?;
        } else if !stdout.0 {
            match &self.format {
                Format::Own(own) => return Ok(Some(own)),
                Format::Common(Common::Table) => output::print_report(&(found.tables)())?,
                Format::Common(Common::Markdown) => {
                    output::print(&report::markdown(&(found.tables)()))?;
                }
                Format::Common(Common::Csv) => output::write(to, csv(found))?,
                Format::Common(Common::Json) => {}
            }
        }
        Ok(None)
    }
}

fn csv<'a>(found: &'a Delivery<'_>) -> impl FnOnce(&mut dyn Write) -> Result<()> + 'a {
    |to| Ok(report::csv((found.records)(), to)?)
}
