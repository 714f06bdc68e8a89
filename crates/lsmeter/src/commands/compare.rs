// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter compare`: differences between two result files, and their significance.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use compare::{BUDGET_LIMIT_BYTES, Budget, Named, Options};
use model::{ComparisonDocument, Document, Exit, Stored as _, comparison::GateVerdict};
use report::ComparisonOptions;

use super::documents::{self, unreadable};
use crate::cli::{CompareArgs, CompareFormat, Format};
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::output;

pub fn compare(args: &CompareArgs) -> Result<Exit> {
    let options = Options {
        alpha: args.alpha,
        trust_environment: args.trust_environment,
        budget: budget(args)?,
        explain: args.explain || args.out.format == Format::Own(CompareFormat::Html),
    };
    check_format(args, &options)?;
    let stdout = args.out.check(&[], 0)?;

    let (base, base_name) = read(&args.base)?;
    let named = |document, name| Named { name, document };
    let document = match (&args.new, args.across) {
        (Some(new), None) => {
            let (new, new_name) = read(new)?;
            compare::compare(named(&base, &base_name), named(&new, &new_name), &options)?
        }
        (_, Some(axis)) => {
            let value = args.baseline.as_deref();
            compare::across(named(&base, &base_name), axis, value, &options)?
        }
        (None, None) => {
            return Err(usage(
                "no second result file is given",
                "give a second result file, or add --across kernel",
            ));
        }
    };
    deliver(args, &document, stdout)?;
    Ok(verdict(&document))
}

/// Limits of --budget, and --fail-above for all other measurements.
fn budget(args: &CompareArgs) -> Result<Option<Budget>> {
    let file = args.budget.as_deref().map(read_budget).transpose()?;
    let all = args.fail_above.as_deref().map(Budget::of_all).transpose();
    let all = all.context("--fail-above")?;
    Ok(match (file, all) {
        (Some(file), Some(all)) => Some(file.over(all)),
        (file, all) => file.or(all),
    })
}

fn read_budget(path: &Path) -> Result<Budget> {
    let hint = "give a TOML file with limits (docs/compare.md)";
    let mut toml = String::new();
    let read = File::open(path)
        .and_then(|file| file.take(BUDGET_LIMIT_BYTES + 1).read_to_string(&mut toml));
    read.map_err(|error| unreadable(path, error, hint))?;
    if toml.len() as u64 > BUDGET_LIMIT_BYTES {
        return Err(unreadable(path, "it is too large for a budget", hint));
    }
    Budget::parse(&toml).with_context(|| path.display().to_string())
}

fn check_format(args: &CompareArgs, options: &Options) -> Result<()> {
    if let Format::Common(_) | Format::Own(CompareFormat::Html) = args.out.format {
        return Ok(());
    }
    if options.budget.is_none() {
        return Err(usage(
            "formats ktap and junit need a gate",
            "add --fail-above 1%, or --budget FILE",
        ));
    }
    Ok(())
}

fn read(path: &Path) -> Result<(Document, String)> {
    let document = documents::read_as(path, documents::ANY, Document::parse)?;
    Ok((document, path.display().to_string()))
}

fn deliver(args: &CompareArgs, document: &ComparisonDocument, stdout: StdoutTaken) -> Result<()> {
    let options = ComparisonOptions {
        changed: args.changed,
    };
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::comparison_report(document, &options),
        records: &|| report::comparison_records(document),
    };
    let own = args.out.deliver(stdout, &found)?;
    match own {
        None => Ok(()),
        Some(CompareFormat::Html) => output::print_as_it_is(&report::comparison_page(document)),
        Some(CompareFormat::Ktap) => output::print(&report::ktap(document)),
        Some(CompareFormat::Junit) => output::print(&report::junit(document)),
    }
}

pub fn verdict(document: &ComparisonDocument) -> Exit {
    note!("compared: {}", report::comparison_summary(document));
    let Some(gate) = &document.gate else {
        if document.compared.is_empty() {
            note!("inconclusive: no measurement from BASE is in NEW");
            return Exit::Inconclusive;
        }
        return Exit::Fine;
    };
    let counts = format!(
        "{} within their limit, {} above it, {} undecided",
        gate.passed, gate.failed, gate.inconclusive
    );
    for reason in &gate.reasons {
        note!("inconclusive: {reason}");
    }
    let (word, exit) = match gate.verdict {
        GateVerdict::Pass => ("passed", Exit::Fine),
        GateVerdict::Fail => ("failed", Exit::Regression),
        GateVerdict::Inconclusive => ("inconclusive", Exit::Inconclusive),
    };
    note!("gate: {word}: {counts}");
    exit
}
