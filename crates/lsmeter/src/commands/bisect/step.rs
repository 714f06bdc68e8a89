// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect --step`: what the tree as it stands is, for `git bisect run`.

use anyhow::Result;
use bisect::{Repository, Verdict, judge};
use diagnostics::Exit;
use kernels::{Error, Store};
use report::printable;

use super::maker::{self, Maker};
use super::{experiment, limit, read_good};
use crate::cli::BisectArgs;
use crate::commands::counted::Counter;
use crate::commands::measure::Signals;
use crate::config::{Config, cache_dir};
use crate::failure::{explain, usage};
use crate::progress::Line;

/// Builds and measures the tree, and says how it compares with the good end.
///
/// # Errors
/// If what is asked for makes no sense, or this machine cannot measure at all. `git bisect run`
/// is then to end.
pub fn step(args: &BisectArgs) -> Result<Exit> {
    let config = Config::read()?;
    let limit = limit(args)?;
    let Some(path) = &args.good_document else {
        return Err(usage(
            "there is nothing to compare with",
            "give --good-document FILE",
        ));
    };
    let given = read_good(path)?;
    let repository = Repository::open(&args.repo)?;
    let tree = args.repo.canonicalize()?;
    let id = maker::id_of_checkout(&repository);
    let maker = Maker::new(args, Store::open(&cache_dir())?, &config, &tree, &id)?;
    let experiment = experiment(args, Some(&given), &maker.kernel)?;
    let signals = Signals::watch()?;
    let mut line = Line::new(args.quiet);
    let skipped = |error: &anyhow::Error| {
        let reason = printable(&format!("{error:#}"), 300);
        note!("skipped: {reason}");
        Exit::Skip
    };
    match maker.make(&tree, &line, &signals.cancel) {
        Ok(_) => {}
        Err(Error::Interrupted { .. }) => return Ok(Exit::Stop),
        Err(error) => {
            line.done();
            let error = anyhow::Error::from(error);
            return match explain(&error).0 {
                Exit::Usage => Ok(skipped(&error)),
                _ => Err(error),
            };
        }
    }
    let mut counter = Counter::new(experiment, &args.counted.lab, &config, &signals);
    let counted = counter.count(&mut line);
    line.done();
    let measured = match counted {
        Ok(Some(measured)) => measured,
        Ok(None) => return Ok(Exit::Stop),
        Err(error) if explain(&error).0 == Exit::Usage => return Ok(skipped(&error)),
        Err(error) => return Err(error),
    };
    let (document, name) = (&given.0, &*given.1);
    let judged = judge(
        (name, document),
        ("the tree", &measured.document),
        limit.as_ref(),
    )?;
    let change = report::change_line(&judged.comparison);
    note!("{}: {change}", judged.verdict);
    if let Some(reason) = &judged.reason {
        note!("skipped: {}", printable(reason, 300));
    }
    Ok(match judged.verdict {
        Verdict::Good => Exit::Fine,
        Verdict::Bad => Exit::Regression,
        Verdict::Skipped => Exit::Skip,
    })
}
