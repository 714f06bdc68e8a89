// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect`: the commit with which counts changed.

mod maker;
mod search;
mod step;

use std::path::Path;

use anyhow::{Context, Result};
use bisect::{Found, Kept, Measured, Repository, Tree, walk};
use compare::Budget;
use diagnostics::Exit;
use experiment::{BisectionDocument, Document, Experiment, Kind, Spec, Stored as _};
use kernels::Store;

use crate::cli::BisectArgs;
use crate::commands::counted::{self, Counter};
use crate::commands::measure::Signals;
use crate::commands::{documents, measure};
use crate::config::{Config, cache_dir};
use crate::deliver::{Delivery, StdoutTaken};
use crate::failure::usage;
use crate::progress::Line;
use maker::Maker;
use search::Search;

/// Finds the commit, or tells what the tree as it stands is.
///
/// # Errors
/// If what is asked for makes no sense, or an end cannot be built or measured.
pub fn bisect(args: &BisectArgs) -> Result<Exit> {
    match args.step {
        true => step::step(args),
        false => find(args),
    }
}

fn find(args: &BisectArgs) -> Result<Exit> {
    let revision = |flag: &str, revision: &Option<String>| {
        let missing = || usage(format!("there is no {flag}"), "name both ends");
        revision.clone().ok_or_else(missing)
    };
    let config = Config::read()?;
    let limit = limit(args)?;
    let stdout = args.out.check(&[], 0)?;
    let repository = Repository::open(&args.repo)?;
    let good = repository.commit(&revision("--good", &args.good)?)?;
    let bad = repository.commit(&revision("--bad", &args.bad)?)?;
    let range = repository.range(&good, &bad)?;
    let given = args.good_document.as_deref().map(read_good).transpose()?;
    let store = Store::open(&cache_dir())?;
    let place = maker::use_of(args);
    let dir = Tree::path(store.dir(), &repository, place);
    let cache = store.dir().to_path_buf();
    let maker = Maker::new(args, store, &config, &dir, &repository.id())?;
    let experiment = experiment(args, given.as_ref(), &maker.kernel)?;

    let signals = Signals::watch()?;
    let line = Line::new(args.quiet);
    line.say(format!("making a worktree in {}", dir.display()));
    let tree = Tree::open(&repository, &cache, place, &good, &mut || {
        line.say("waiting: another lsmeter is walking this repository");
    })?;
    let kept = Kept::open(tree.place(), &way(&maker, &experiment)?)?;
    if args.start_over {
        kept.forget()?;
    }
    line.keep(&format!(
        "bisect: {range} commits from {} to {}, in {}",
        good.short,
        bad.short,
        dir.display()
    ));
    let mut search = Search {
        counter: Counter::new(experiment, &args.lab, &config, &signals),
        maker,
        tree: &tree,
        kept: &kept,
        signals: &signals,
        line,
        limit: limit.as_ref(),
        base: None,
        steps: Vec::new(),
    };
    let given = given.map(|(document, _)| document);
    if !search.begin(&good, given)? {
        return Ok(search.interrupted());
    }
    let ends_first = args.check_ends;
    let found = walk(&tree, &good, &bad, ends_first, &mut |commit| {
        search.test(commit)
    });
    let found = match found {
        // A signal from a terminal ends git, too.
        Err(_) if search.counter.cancelled() => Found::Cancelled,
        found => found?,
    };
    let candidates = match found {
        Found::Cancelled => return Ok(search.interrupted()),
        Found::First(first) => {
            let document =
                search.conclude(&repository, &args.fail_above, good, bad, range, first)?;
            return end(args, stdout, &document, &search, Exit::Fine);
        }
        Found::OneOf(candidates) => candidates,
        Found::BadEndUntold => vec![bad.clone()],
        Found::Nothing => Vec::new(),
    };
    let nothing = candidates.is_empty();
    let document = BisectionDocument {
        candidates,
        ..search.document(&repository, &args.fail_above, good, bad, range)
    };
    if nothing {
        deliver(args, stdout, &document)?;
        search.line.done();
        let (good, bad) = (&document.good.short, &document.bad.short);
        anstream::eprintln!("nothing to find: {bad} has the counts of {good}");
        anstream::eprintln!(
            "hint: select the cells that differ with --bench and --stack; `lsmeter run --kernel` \
             and `lsmeter compare` show them"
        );
        return Ok(Exit::Inconclusive);
    }
    end(args, stdout, &document, &search, Exit::Inconclusive)
}

/// The limit of `--fail-above`.
fn limit(args: &BisectArgs) -> Result<Option<Budget>> {
    let limit = args.fail_above.as_deref().map(Budget::of_all).transpose();
    limit.context("--fail-above")
}

/// The good end's document, and what the user calls it.
fn read_good(path: &Path) -> Result<(Document, String)> {
    let hint = "give a document of `lsmeter run` of the good commit's kernel";
    let document = documents::read_kind(path, Kind::Run, hint)?;
    Ok((document, path.display().to_string()))
}

/// What is measured: as the flags say, or if they say nothing of cells what is in the good end's
/// document.
fn experiment(
    args: &BisectArgs,
    given: Option<&(Document, String)>,
    kernel: &str,
) -> Result<Experiment> {
    let chosen = Spec {
        jobs: None,
        boot_timeout_s: None,
        cell_timeout_s: None,
        ..measure::flags(&args.cells, &args.lab)
    };
    match given {
        Some((document, name)) if chosen == Spec::default() && args.spec == "quick" => {
            counted::experiment_of(document, name, kernel)
        }
        _ => counted::experiment(&args.spec, &args.cells, &args.given, &args.lab, kernel),
    }
}

/// All that decides a commit's counts besides the commit.
fn way(maker: &Maker<'_>, experiment: &Experiment) -> Result<Vec<String>> {
    let mut way = maker.describe()?;
    let counted = Experiment {
        jobs: None,
        ..experiment.clone()
    };
    way.push(serde_json::to_string(&counted).context("cannot write the experiment")?);
    way.push(env!("CARGO_PKG_VERSION").to_owned());
    Ok(way)
}

fn deliver(args: &BisectArgs, stdout: StdoutTaken, document: &BisectionDocument) -> Result<()> {
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::bisection_report(document),
        records: &|| report::bisection_records(document),
    };
    args.out.deliver(stdout, &found)?;
    Ok(())
}

fn end(
    args: &BisectArgs,
    stdout: StdoutTaken,
    document: &BisectionDocument,
    search: &Search<'_>,
    exit: Exit,
) -> Result<Exit> {
    search.line.done();
    deliver(args, stdout, document)?;
    for line in report::bisection_lines(document) {
        anstream::eprintln!("{line}");
    }
    anstream::eprintln!(
        "{} builds; what was measured is kept in {}",
        document.builds(),
        search.kept.dir().display()
    );
    Ok(exit)
}

/// A document as good as measured.
fn measured(document: Document) -> Measured {
    Measured {
        document,
        outside: bisect::Outside::default(),
    }
}
