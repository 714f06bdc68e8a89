// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect`: the commit with which counts changed.

mod maker;
mod search;
mod step;

use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result};
use bisect::{Found, Kept, Measured, Repository, Tree, walk};
use compare::Budget;
use diagnostics::Exit;
use experiment::{BisectionDocument, Document, Experiment, Kind, Spec, Stored as _, Tool};
use kernels::Store;

use crate::cli::{BisectArgs, CountedArgs, DEFAULT_SPEC};
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
pub fn bisect(args: &BisectArgs) -> Result<Exit> {
    match args.step {
        true => step::step(args),
        false => find(args),
    }
}

fn find(args: &BisectArgs) -> Result<Exit> {
    let config = Config::read()?;
    let limit = limit(args)?;
    let stdout = args.out.check(&[], 0)?;
    let repository = Repository::open(&args.repo)?;
    let asked = asked(args, &repository)?;
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
    let opened = Tree::open(&repository, &cache, place, &asked.good, &mut || {
        line.say("waiting: another lsmeter is walking this repository");
    });
    let tree = match opened {
        Err(_) if signals.cancel.load(Ordering::Relaxed) => {
            line.done();
            note!("interrupted: nothing is measured yet");
            return Ok(Exit::CellsFailed);
        }
        opened => opened?,
    };
    let kept = Kept::open(tree.place(), &way(&maker, &experiment)?)?;
    if args.start_over {
        kept.forget()?;
    }
    line.keep(&format!(
        "bisect: {} commits from {} to {}, in {}",
        asked.range,
        asked.good.short,
        asked.bad.short,
        dir.display()
    ));
    let (good, bad) = (asked.good.clone(), asked.bad.clone());
    let mut search = Search {
        counter: Counter::new(experiment, &args.counted.lab, &config, &signals),
        maker,
        tree: &tree,
        kept: &kept,
        signals: &signals,
        line,
        limit: limit.as_ref(),
        base: None,
        found: asked,
    };
    let given = given.map(|(document, name)| {
        let doubt = counted::other_parameters(&document, search.counter.experiment());
        if let Some(doubt) = doubt {
            search.line.keep(&format!("warning: {name}: {doubt}"));
        }
        document
    });
    if !search.begin(&good, given)? {
        return Ok(search.interrupted());
    }
    let ends_first = args.check_ends;
    let walked = walk(&tree, &good, &bad, ends_first, &mut |commit| {
        search.test(commit)
    });
    let found = match walked {
        // A signal from a terminal ends git, too.
        Err(_) if search.counter.cancelled() => Found::Cancelled,
        walked => walked?,
    };
    match found {
        Found::Cancelled => return Ok(search.interrupted()),
        Found::First(first) => search.conclude(&repository, first)?,
        Found::OneOf(candidates) => search.found.candidates = candidates,
        Found::BadEndUntold => search.found.candidates = vec![bad],
        Found::Nothing => {}
    }
    search.line.done();
    end(args, stdout, &search)
}

/// What is searched, of which nothing is found yet.
fn asked(args: &BisectArgs, repository: &Repository) -> Result<BisectionDocument> {
    let commit = |flag: &str, revision: &Option<String>| {
        let missing = || usage(format!("there is no {flag}"), "name both ends");
        let revision = revision.as_ref().ok_or_else(missing)?;
        anyhow::Ok(repository.commit(revision)?)
    };
    let good = commit("--good", &args.good)?;
    let bad = commit("--bad", &args.bad)?;
    Ok(BisectionDocument {
        tool: Tool::this(),
        repository: repository.dir().display().to_string(),
        range: repository.range(&good, &bad)?,
        good,
        bad,
        limit: args.fail_above.clone(),
        steps: Vec::new(),
        first_bad: None,
        candidates: Vec::new(),
        before: None,
        comparison: None,
    })
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
        ..measure::flags(&args.counted.cells, &args.counted.lab)
    };
    match given {
        Some((document, name))
            if chosen == Spec::default() && args.counted.spec == DEFAULT_SPEC =>
        {
            counted::experiment_of(document, name, kernel)
        }
        _ => {
            let CountedArgs {
                spec,
                cells,
                given,
                lab,
            } = &args.counted;
            counted::experiment(spec, cells, given, lab, kernel)
        }
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

/// Prints what was found, and what became of the search.
fn end(args: &BisectArgs, stdout: StdoutTaken, search: &Search<'_>) -> Result<Exit> {
    let document = &search.found;
    let found = Delivery {
        document: &|to| Ok(document.write(to)?),
        tables: &|| report::bisection_report(document),
        records: &|| report::bisection_records(document),
    };
    args.out.deliver(stdout, &found)?;
    for line in report::bisection_lines(document) {
        note!("{line}");
    }
    note!(
        "{} builds; what was measured is kept in {}",
        document.builds(),
        search.kept.dir().display()
    );
    if document.first_bad.is_some() {
        return Ok(Exit::Fine);
    }
    if document.candidates.is_empty() {
        note!(
            "hint: select the cells that differ with --bench and --stack; `lsmeter run --kernel` \
             and `lsmeter compare` show them"
        );
    }
    Ok(Exit::Inconclusive)
}

fn measured(document: Document) -> Measured {
    Measured {
        document,
        outside: bisect::Outside::default(),
    }
}
