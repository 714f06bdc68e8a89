// SPDX-License-Identifier: GPL-2.0-or-later
//! Commits that are built, measured and judged one by one.

use std::time::{Duration, Instant};

use anyhow::Result;
use bisect::{Commit, Kept, Measured, Record, Repository, Tree, Verdict, explain_outside, judge};
use compare::Budget;
use diagnostics::Exit;
use experiment::bisection::BisectionStep;
use experiment::{BisectionDocument, Document, Status};
use kernels::Error;
use report::printable;

use super::maker::{Built, Maker};
use super::measured;
use crate::commands::counted::Counter;
use crate::commands::kernel_build::in_words;
use crate::commands::measure::Signals;
use crate::failure::{explain, usage};
use crate::progress::Line;

pub struct Search<'a> {
    /// What is counted of each.
    pub counter: Counter<'a>,
    pub maker: Maker<'a>,
    pub tree: &'a Tree,
    /// What was measured before.
    pub kept: &'a Kept,
    pub signals: &'a Signals,
    /// Where progress is shown.
    pub line: Line,
    /// How much worse a commit may be.
    pub limit: Option<&'a Budget>,
    /// The good end: what it is called, and what was measured of it.
    pub base: Option<(String, Measured)>,
    pub found: BisectionDocument,
}

/// What is known of a commit, and how it came to be known.
struct Known {
    record: Record,
    source: Source,
}

/// Where what is known of a commit comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The user has a document of it.
    Given,
    Kept,
    /// It was measured now, on a kernel that was there.
    Here,
    Built(Built),
}

impl Source {
    fn built(self) -> Option<Built> {
        match self {
            Source::Built(built) => Some(built),
            Source::Given | Source::Kept | Source::Here => None,
        }
    }

    /// In words; `failed` if nothing could be measured.
    fn words(self, failed: bool) -> String {
        let of = |built: Built| in_words(Duration::from_secs_f64(built.seconds.max(0.0)));
        match self {
            Source::Given => "as given".to_owned(),
            Source::Kept if failed => "tried before".to_owned(),
            Source::Kept => "measured before".to_owned(),
            Source::Here => "built before".to_owned(),
            Source::Built(built) if failed => format!("tried for {}", of(built)),
            Source::Built(built) => match built.compiled {
                Some(objects) => format!("built in {} ({objects} objects)", of(built)),
                None => format!("built in {}", of(built)),
            },
        }
    }
}

impl Search<'_> {
    /// Measures the good end, or takes the document that is given of it. False if the user ended
    /// it.
    pub fn begin(&mut self, good: &Commit, given: Option<Document>) -> Result<bool> {
        let known = match (given, self.kept.get(good)) {
            (Some(document), _) => Some((measured(document), Source::Given)),
            (None, Some(Record::Measured(measured))) => Some((*measured, Source::Kept)),
            // Perhaps it was not the commit's fault.
            (None, Some(Record::Failed(_)) | None) => self.measure(good)?,
        };
        let Some((measured, source)) = known else {
            return Ok(false);
        };
        let document = &measured.document;
        let mut cells = document.cells.iter();
        let failed = cells.find(|cell| cell.status() == Status::Failed);
        if let Some(cell) = failed {
            let reason = cell.reason().unwrap_or_default();
            let reason = printable(reason.lines().next().unwrap_or_default(), 200);
            return Err(usage(
                format!(
                    "{} cannot be measured in {}: {reason}",
                    cell.title(),
                    good.short
                ),
                "choose another good commit, or other cells with --bench and --stack",
            ));
        }
        self.add(good, Verdict::Good, source, Some(document), None);
        self.base = Some((good.short.clone(), measured));
        Ok(true)
    }

    /// What a commit is; None if the user ended it.
    pub fn test(&mut self, commit: &Commit) -> Result<Option<Verdict>> {
        let Some(Known { record, source }) = self.record(commit)? else {
            return Ok(None);
        };
        let (verdict, reason, document) = match record {
            Record::Failed(reason) => (Verdict::Skipped, Some(reason), None),
            Record::Measured(measured) => {
                let judged = self.judged(commit, &measured.document)?;
                (judged.verdict, judged.reason, Some(measured.document))
            }
        };
        self.add(commit, verdict, source, document.as_ref(), reason);
        Ok(Some(verdict))
    }

    fn judged(&self, commit: &Commit, document: &Document) -> Result<bisect::Judged> {
        let base = self.base.as_ref();
        let (name, base) = base.ok_or_else(|| usage("there is no good end", "give --good"))?;
        Ok(judge(
            (name, &base.document),
            (&commit.short, document),
            self.limit,
        )?)
    }

    /// What is known of a commit, which is built and measured if nothing is.
    fn record(&mut self, commit: &Commit) -> Result<Option<Known>> {
        if let Some(record) = self.kept.get(commit) {
            let source = Source::Kept;
            return Ok(Some(Known { record, source }));
        }
        let started = Instant::now();
        let error = match self.measure(commit) {
            Ok(None) => return Ok(None),
            Ok(Some((measured, source))) => {
                let record = Record::Measured(Box::new(measured));
                return Ok(Some(Known { record, source }));
            }
            Err(error) => error,
        };
        // What the commit is to blame for, and not this machine.
        if explain(&error).0 != Exit::Usage {
            return Err(error);
        }
        let record = Record::Failed(format!("{error:#}"));
        let of_build = error.downcast_ref::<Error>();
        if matches!(of_build, Some(Error::Build { .. } | Error::Config { .. })) {
            self.kept.put(commit, &record)?;
        }
        let seconds = started.elapsed().as_secs_f64();
        let source = of_build.map_or(Source::Here, |_| {
            Source::Built(Built {
                seconds,
                compiled: None,
            })
        });
        Ok(Some(Known { record, source }))
    }

    /// Builds and measures a commit, and keeps what was measured; None if the user ended it.
    fn measure(&mut self, commit: &Commit) -> Result<Option<(Measured, Source)>> {
        if self.counter.cancelled() {
            return Ok(None);
        }
        self.line.say(format!("{}: checking it out", commit.short));
        self.tree.check_out(commit)?;
        let made = self
            .maker
            .make(self.tree.dir(), &self.line, &self.signals.cancel);
        let built = match made {
            Err(Error::Interrupted { .. }) => return Ok(None),
            made => made?,
        };
        let Some(measured) = self.counter.count(&mut self.line)? else {
            return Ok(None);
        };
        let record = Record::Measured(Box::new(measured));
        self.kept.put(commit, &record)?;
        let Record::Measured(measured) = record else {
            return Ok(None);
        };
        Ok(Some((*measured, built.map_or(Source::Here, Source::Built))))
    }

    /// Adds a step, and tells it in one line.
    fn add(
        &mut self,
        commit: &Commit,
        verdict: Verdict,
        source: Source,
        document: Option<&Document>,
        reason: Option<String>,
    ) {
        let built = source.built();
        let step = BisectionStep {
            commit: commit.clone(),
            verdict,
            build_s: built.map(|built| built.seconds),
            compiled: built.and_then(|built| built.compiled),
            figures: document.map_or_else(Vec::new, report::figures_of),
            reason,
        };
        let base = self.found.steps.first();
        let base = base.map_or(&step.figures[..], |first| &first.figures);
        let said = match &step.reason {
            Some(reason) => printable(reason.lines().next().unwrap_or_default(), 200),
            None => report::step_figures(&step.figures, base),
        };
        let (short, subject) = (&commit.short, printable(&commit.subject, 60));
        let how = source.words(document.is_none());
        let line = format!("{short} {subject}: {how}, {said}: {verdict}");
        self.line.keep(&line);
        self.found.steps.push(step);
    }

    /// Compares the first bad commit with its parent, or if that was not measured with the good
    /// end, which has the same counts.
    pub fn conclude(&mut self, repository: &Repository, first: Commit) -> Result<()> {
        let parents = repository.parents(&first)?;
        let is_good = |step: &&BisectionStep| step.verdict == Verdict::Good;
        let tested = self.found.steps.iter().filter(is_good);
        let mut tested = tested.map(|step| &step.commit);
        let parent = tested.find(|commit| parents.contains(&commit.hash));
        let of_parent = parent.and_then(|commit| match self.kept.get(commit)? {
            Record::Measured(measured) => Some((commit.clone(), *measured)),
            Record::Failed(_) => None,
        });
        let of_good = || Some((self.found.good.clone(), self.base.as_ref()?.1.clone()));
        let before = of_parent.or_else(of_good);
        if let Some((commit, base)) = before
            && let Some(Record::Measured(new)) = self.kept.get(&first)
        {
            let base_of = (&*commit.short, &base.document);
            let new_of = (&*first.short, &new.document);
            let mut comparison = judge(base_of, new_of, self.limit)?.comparison;
            explain_outside(&mut comparison, &base.outside, &new.outside);
            self.found.before = Some(commit);
            self.found.comparison = Some(comparison);
        }
        self.found.first_bad = Some(first);
        Ok(())
    }

    pub fn interrupted(&self) -> Exit {
        self.line.done();
        let kept = self.kept.dir().display();
        note!("interrupted: what was measured is kept in {kept}");
        note!("hint: the same command goes on; --start-over forgets it");
        Exit::CellsFailed
    }
}
