// SPDX-License-Identifier: GPL-2.0-or-later
//! Measures what Linux security modules cost.
//!
//! Parses arguments, prints tables and sets the exit status. The other crates measure.

#![deny(clippy::print_stderr, clippy::print_stdout)]

#[macro_use]
mod notes;

mod cli;
mod commands;
mod config;
mod deliver;
mod failure;
mod output;
mod progress;
mod target;

use std::process::ExitCode;

use clap::Parser;
use model::Exit;

use crate::cli::{Cli, Command, KernelCommand, ListCommand};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let printed = error.print();
            let exit = match printed {
                _ if error.use_stderr() => Exit::Usage,
                Ok(()) => Exit::Fine,
                Err(error) => report(&anyhow::Error::new(error).context("standard output")),
            };
            return ExitCode::from(exit as u8);
        }
    };
    let exit = match dispatch(cli.command) {
        Ok(exit) => exit,
        Err(error) => report(&error),
    };
    ExitCode::from(exit as u8)
}

fn dispatch(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => commands::run::run(*args),
        Command::Profile(args) => commands::profile::profile(*args),
        Command::Sensitivity(args) => commands::sensitivity::sensitivity(&args),
        Command::Monitor(args) => commands::monitor::monitor(&args),
        Command::Placement(args) => commands::placement::placement(&args),
        Command::Predict(args) => commands::predict::predict(&args),
        Command::Estimate(args) => commands::estimate::estimate(&args),
        Command::Bisect(args) => commands::bisect::bisect(&args),
        Command::Compare(args) => commands::compare::compare(&args),
        Command::Merge(args) => commands::merge::merge(&args),
        Command::Export(args) => commands::export::export(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Kernel(KernelCommand::Fetch {
            kernels,
            refresh,
            quiet,
        }) => commands::kernel::fetch(&kernels, refresh, quiet),
        Command::Kernel(KernelCommand::Build(args)) => commands::kernel_build::build(&args),
        Command::Kernel(KernelCommand::Add { files, name }) => {
            commands::kernel::add(&files, name.as_deref())
        }
        Command::Kernel(KernelCommand::List { json }) => commands::kernel::list(json),
        Command::Kernel(KernelCommand::Remove { kernels }) => commands::kernel::remove(&kernels),
        Command::List(ListCommand::Benchmarks { patterns, json }) => {
            commands::list::benchmarks(&patterns, json)
        }
        Command::List(ListCommand::Stacks { json }) => commands::list::stacks(json),
        Command::List(ListCommand::Presets { json }) => commands::list::presets(json),
        Command::Doctor(args) => commands::doctor::doctor(&args),
        Command::Generate { directory } => commands::generate::generate(&directory),
    }
}

fn report(error: &anyhow::Error) -> Exit {
    if output::is_closed_pipe(error) {
        return Exit::Fine;
    }
    let (exit, hint) = failure::explain(error);
    let mut text = String::new();
    for cause in error.chain() {
        let cause = report::printable(&cause.to_string(), 4_000);
        // A transparent error repeats its cause.
        if !text.ends_with(&cause) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&cause);
        }
    }
    note!("error: {text}");
    if let Some(hint) = hint {
        note!("hint: {hint}");
    }
    exit
}
