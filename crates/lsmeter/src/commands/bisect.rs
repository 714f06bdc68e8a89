// SPDX-License-Identifier: GPL-2.0-or-later
//! `lsmeter bisect`: the commit that changed a count.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use compare::Budget;
use compare::bisect::{
    Commit, Found, Measured, Repository, Tree, Verdict, explain_outside, judge, walk,
};
use kernels::{Error, Recipe, Source, Store};
use model::{Exit, Status};
use report::{ComparisonOptions, printable};

use crate::cli::{BisectArgs, CountedArgs};
use crate::commands::counted::{self, Counter};
use crate::commands::kernel_build::{in_words, made};
use crate::commands::measure::Signals;
use crate::config::{Config, cache_dir};
use crate::failure::{explain, usage};
use crate::output;
use crate::progress::Line;

pub fn bisect(args: &BisectArgs) -> Result<Exit> {
    let config = Config::read()?;
    let limit = args.fail_above.as_deref().map(Budget::of_all).transpose();
    let limit = limit.context("--fail-above")?;
    let repository = Repository::open(&args.repo)?;
    let (good, bad) = (
        repository.commit(&args.good)?,
        repository.commit(&args.bad)?,
    );
    let range = repository.range(&good, &bad)?;
    let store = Store::open(&cache_dir())?;
    let dir = Tree::path(store.dir(), &repository);
    let (maker, kernel) = maker(args, &dir, &repository.id())?;
    let CountedArgs { spec, cells, lab } = &args.counted;
    let experiment = counted::experiment(spec, cells, lab, &kernel)?;
    let signals = Signals::watch()?;
    let line = Line::new(args.quiet);
    line.say(format!("creating a worktree in {}", dir.display()));
    let tree = Tree::open(&repository, store.dir(), &good, &mut || {
        line.say("waiting for another lsmeter that is bisecting this repository");
    });
    let tree = match tree {
        Err(_) if counted::is_cancelled(&signals) => return Ok(interrupted(&line)),
        tree => tree?,
    };
    let mut search = Search {
        counter: Counter::new(experiment, lab, &config, &signals),
        log: (store.dir().join("build")).join(format!("bisect-{}.log", repository.id())),
        config: &config,
        store,
        maker,
        tree: &tree,
        signals: &signals,
        line,
        limit: limit.as_ref(),
        tested: Vec::new(),
    };
    search.line.keep(&format!(
        "bisect: {range} commits from {} to {}, in {}",
        good.short,
        bad.short,
        dir.display()
    ));
    let found = if search.begin(&good)? {
        walk(&tree, &good, &bad, &mut |commit| search.test(commit))
    } else {
        Ok(Found::Cancelled)
    };
    match found {
        Err(_) if search.counter.cancelled() => Ok(interrupted(&search.line)),
        Ok(Found::Cancelled) => Ok(interrupted(&search.line)),
        found => search.conclude(&repository, found?),
    }
}

fn interrupted(line: &Line) -> Exit {
    line.done();
    note!("interrupted");
    Exit::CellsFailed
}

enum Maker<'a> {
    Recipe(Box<Recipe>),
    Command(&'a str),
}

fn maker<'a>(args: &'a BisectArgs, tree: &Path, id: &str) -> Result<(Maker<'a>, String)> {
    if args.configuration.flavour.is_process() {
        return Err(usage(
            "bisect counts instructions, but um and um-nolsm kernels can only be timed",
            "give --flavour all or --flavour nolsm",
        ));
    }
    if let (Some(command), Some(image)) = (&args.build, &args.image) {
        // `join` keeps an absolute path.
        let image = tree.join(image).to_string_lossy().into_owned();
        return Ok((Maker::Command(command), image));
    }
    let name = format!("bisect-{id}");
    let kernel = format!("build:{name}");
    let recipe = Recipe {
        name,
        source: Source::Tree(tree.to_path_buf()),
        flavour: args.configuration.flavour,
        arch: kernels::arch::native(),
        compiler: args.configuration.compiler,
        fragments: args.configuration.config.clone(),
        jobs: args.build_jobs,
        refresh: false,
        any_order: false,
        with: Vec::new(),
        layout: None,
    };
    Ok((Maker::Recipe(Box::new(recipe)), kernel))
}

struct Search<'a> {
    counter: Counter<'a>,
    store: Store,
    config: &'a Config,
    maker: Maker<'a>,
    log: std::path::PathBuf,
    tree: &'a Tree,
    signals: &'a Signals,
    line: Line,
    limit: Option<&'a Budget>,
    tested: Vec<(Commit, Verdict, Measured)>,
}

impl Search<'_> {
    fn begin(&mut self, good: &Commit) -> Result<bool> {
        let started = Instant::now();
        let Some(measured) = self.measure(good)? else {
            return Ok(false);
        };
        let mut cells = measured.document.cells.iter();
        if let Some(cell) = cells.find(|cell| cell.status() == Status::Failed) {
            let reason = cell.reason().unwrap_or_default();
            let reason = printable(reason.lines().next().unwrap_or_default(), 200);
            return Err(usage(
                format!(
                    "{} cannot be measured in {}: {reason}",
                    cell.title(),
                    good.short
                ),
                "choose another --good commit, or other measurements with --bench and --stack",
            ));
        }
        let count = measured.document.cells.len();
        self.show(good, started, &format!("{count} counts: good"));
        self.tested.push((good.clone(), Verdict::Good, measured));
        Ok(true)
    }

    fn test(&mut self, commit: &Commit) -> Result<Option<Verdict>> {
        let started = Instant::now();
        let measured = match self.measure(commit) {
            Ok(None) => return Ok(None),
            Ok(Some(measured)) => measured,
            // The commit is at fault, not this machine.
            Err(error) if explain(&error).0 == Exit::Usage => {
                let reason = format!("{error:#}");
                let reason = printable(reason.lines().next().unwrap_or_default(), 200);
                self.show(commit, started, &format!("{reason}: skipped"));
                return Ok(Some(Verdict::Skipped));
            }
            Err(error) => return Err(error),
        };
        let (good, _, base) = &self.tested[0];
        let sides = (
            (&*good.short, &base.document),
            (&*commit.short, &measured.document),
        );
        let judged = judge(sides.0, sides.1, self.limit)?;
        let reason = judged.reason.map(|reason| printable(&reason, 200));
        let summary = reason.unwrap_or_else(|| report::change_line(&judged.comparison));
        self.show(
            commit,
            started,
            &format!("{summary}: {}", judged.verdict.word()),
        );
        self.tested.push((commit.clone(), judged.verdict, measured));
        Ok(Some(judged.verdict))
    }

    fn show(&self, commit: &Commit, started: Instant, what: &str) {
        let took = in_words(Duration::from_secs(started.elapsed().as_secs()));
        let subject = printable(&commit.subject, 60);
        self.line
            .keep(&format!("{} {subject}: {took}, {what}", commit.short));
    }

    fn measure(&mut self, commit: &Commit) -> Result<Option<Measured>> {
        if self.counter.cancelled() {
            return Ok(None);
        }
        self.line.say(format!("{}: checking out", commit.short));
        self.tree.check_out(commit)?;
        let (line, cancel) = (&self.line, &self.signals.cancel);
        let built = match &self.maker {
            Maker::Recipe(recipe) => {
                let is_first = self.tested.is_empty();
                made(&self.store, self.config, recipe, line, is_first, cancel).map(drop)
            }
            Maker::Command(command) => {
                let parent = self.log.parent().unwrap_or(self.tree.dir());
                std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
                kernels::build_by(command, self.tree.dir(), &self.log, cancel, &mut |text| {
                    line.say(format!("building: {}", printable(text, 120)));
                })
            }
        };
        match built {
            Err(Error::Interrupted { .. }) => return Ok(None),
            built => built?,
        }
        self.counter.count(&mut self.line)
    }

    /// Prints the verdict. Compares the first bad commit with its parent, or with the good commit
    /// if the parent was not measured.
    fn conclude(&self, repository: &Repository, found: Found) -> Result<Exit> {
        self.line.done();
        let named =
            |commit: &Commit| format!("{} {}", commit.short, printable(&commit.subject, 72));
        let first = match found {
            Found::First(first) => first,
            Found::OneOf(commits) => {
                note!("one of {} commits is the first bad one:", commits.len());
                commits
                    .iter()
                    .for_each(|commit| note!("  {}", named(commit)));
                return Ok(Exit::Inconclusive);
            }
            Found::Nothing | Found::Cancelled => {
                note!("nothing to find: both commits have the same counts");
                note!("hint: use --bench and --stack to choose measurements that differ");
                return Ok(Exit::Inconclusive);
            }
        };
        let parents = repository.parents(&first)?;
        let is_before = |(commit, verdict, _): &&(Commit, Verdict, Measured)| {
            *verdict == Verdict::Good && parents.contains(&commit.hash)
        };
        let before = self.tested.iter().find(is_before).or(self.tested.first());
        let new = self.tested.iter().find(|(commit, ..)| *commit == first);
        if let (Some((commit, _, base)), Some((_, _, new))) = (before, new) {
            let sides = (
                (&*commit.short, &base.document),
                (&*first.short, &new.document),
            );
            let mut comparison = judge(sides.0, sides.1, self.limit)?.comparison;
            explain_outside(&mut comparison, &base.outside, &new.outside);
            let changed = ComparisonOptions { changed: true };
            output::print_report(&report::comparison_report(&comparison, &changed))?;
        }
        let author = printable(&first.author, 120);
        note!("first bad commit: {}", named(&first));
        note!("  by {author}, {}", printable(&first.date, 40));
        Ok(Exit::Fine)
    }
}
