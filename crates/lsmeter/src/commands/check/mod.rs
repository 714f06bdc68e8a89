// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter check`: do the instruments agree?

mod guest;
mod input;
mod measure;
mod program;
mod source;

use anyhow::Result;
use check::{Facts, Inputs, Subject, check as compare};
use diagnostics::Exit;
use experiment::{CheckDocument, Instrument, Stored as _};
use report::{Disagreement, InstrumentsOptions, disagreements};

use crate::cli::CheckArgs;
use crate::commands::journals;
use crate::commands::measure::cancel_on_signals;
use crate::commands::placement::Input;
use crate::config::Config;
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::progress::Line;
use input::Documents;

/// Disagreements that are named on standard error; the tables have them all.
const NAMED: usize = 5;

/// Checks.
///
/// # Errors
/// If what is asked for makes no sense, or this machine cannot do it at all.
pub fn check(args: &CheckArgs) -> Result<Exit> {
    let config = Config::read()?;
    let journals = journals::choose("check", args.out.output.as_deref(), args.resume.as_ref())?;
    let stdout = args.out.check(&[], 0)?;
    if let Some(directory) = &args.keep {
        measure::directory(directory)?;
    }
    if args.skip.len() >= Instrument::ALL.len() {
        return Err(usage(
            "every instrument is left out",
            "leave two at least, so that one can be held against the other",
        ));
    }
    let wanted = input::wanted(args)?;
    let mut line = Line::new(args.quiet);
    // Before minutes are spent on measurements.
    let open = |path| Input::open(path, Some(source::cache()), &line);
    let source = args.source.as_deref().map(open).transpose()?;
    let documents = match args.from.is_empty() {
        false => Some(Documents::read(&args.from)?),
        true => {
            let cancel = cancel_on_signals()?;
            measure::measure(args, &config, &journals, &cancel, &mut line)?
        }
    };
    let Some(mut documents) = documents else {
        line.done();
        journals::tell_interrupted(&journals);
        return Ok(Exit::CellsFailed);
    };
    for &instrument in &args.skip {
        documents.skip(instrument);
    }
    let instruments = [
        &documents.profile,
        &documents.counts,
        &documents.sensitivity,
    ];
    let subject = Subject::find(&wanted, instruments.into_iter().flatten())?;
    let placement = source::place(source, &mut documents, &subject, &line)?;
    if let Some(directory) = &args.keep {
        documents.keep(directory)?;
    }
    line.done();
    let inputs = Inputs {
        subject,
        profile: documents.profile.as_ref(),
        counts: documents.counts.as_ref(),
        sensitivity: documents.sensitivity.as_ref(),
        placement: placement.as_ref(),
        differences: documents.differences.as_ref(),
        silent: &documents.silent,
    };
    let document = compare(&inputs, &Facts::load()?);
    deliver(args, &document, stdout)?;
    journals::remove(&journals)?;
    Ok(verdict(&document))
}

fn deliver(args: &CheckArgs, document: &CheckDocument, stdout: StdoutTaken) -> Result<()> {
    let options = InstrumentsOptions {
        all: args.all,
        facts: args.verbose,
    };
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::instruments_report(document, &options),
        records: &|| report::instruments_records(document),
    };
    args.out.deliver(stdout, &found)?;
    Ok(())
}

fn verdict(document: &CheckDocument) -> Exit {
    let summary = &document.summary;
    if summary.hooks.disagree + summary.residuals.disagree > 0 {
        tell(document);
        return Exit::Regression;
    }
    let missing = document.benchmarks.iter().flat_map(|b| &b.missing);
    if missing.into_iter().any(|missing| missing.failed) {
        return Exit::CellsFailed;
    }
    if summary.hooks.compared() + summary.residuals.compared() == 0 {
        note!("inconclusive: no two instruments tell of the same hook");
        return Exit::Inconclusive;
    }
    Exit::Fine
}

/// Names the first disagreements.
fn tell(document: &CheckDocument) {
    let all: Vec<Disagreement> = disagreements(document).collect();
    for disagreement in all.iter().take(NAMED) {
        let text = report::printable(&disagreement.to_string(), 300);
        note!("disagree: {text}");
    }
    if all.len() > NAMED {
        let release = report::printable(&document.release, 60);
        note!("disagree: {} more on {release}", all.len() - NAMED);
    }
}
