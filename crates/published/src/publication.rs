// SPDX-License-Identifier: GPL-2.0-or-later
//! A whole publication: every figure, and our measurements of each.

use std::sync::LazyLock;

use model::{Document, Metric, PlacementDocument};
use stats::rank_correlation;

use crate::beside::{comparisons, nearest};
use crate::counts::counted;
use crate::counts::hook_cost;
use crate::explanation::why_not;
use crate::over_layouts::{OwnTest, tests, times};
use crate::{Comparison, Explanation, Figure, Source, Time, Verdict, explanations, published};

#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    Measured(&'a Document),
    Placement(&'a PlacementDocument),
}

#[derive(Debug, Clone)]
pub struct Publication<'a> {
    pub source: &'static Source,
    /// In its order, with at least one row per figure.
    pub rows: Vec<Row<'a>>,
    pub alternatives: Vec<Alternatives>,
    pub tests: Vec<OwnTest>,
}

#[derive(Debug, Clone)]
pub struct Row<'a> {
    pub figure: &'static Figure,
    pub answer: Answer<'a>,
}

#[derive(Debug, Clone)]
pub enum Answer<'a> {
    Compared {
        comparison: Box<Comparison>,
        cause: Option<Cause>,
    },
    Counted {
        version: &'a str,
        ours: f64,
        verdict: Verdict,
        /// Version of another document that agrees, if this one does not.
        agrees_at: Option<&'a str>,
    },
    /// Ours is another quantity: no verdict.
    Beside {
        ours: String,
        /// `lmbench-open:var/tmp/lmbench, file_free`.
        of: String,
    },
    /// Cannot be measured, with the reason.
    CannotBeHad(&'static str),
    NotMeasured,
}

#[derive(Debug, Clone)]
pub enum Cause {
    Shown {
        explanation: &'static Explanation,
        by: Box<Comparison>,
    },
    Possible(Vec<&'static Explanation>),
    Unexplained,
}

/// Result for a figure. If documents differ, the worst of the nearest ones: those with the
/// published configuration before substitutes, then those with the published unit (time before
/// instructions). For sources of several kernels the first given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    Agrees,
    Shown,
    Possible,
    Unexplained,
    Beside,
    CannotBeHad,
    NotMeasured,
}

impl State {
    pub const ALL: [State; 7] = [
        State::Agrees,
        State::Shown,
        State::Possible,
        State::Unexplained,
        State::Beside,
        State::CannotBeHad,
        State::NotMeasured,
    ];
}

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub place: Option<&'static str>,
    /// Figures per state, in the order of [`State::ALL`].
    pub states: [usize; 7],
    /// Over the rows with both values, by our metric.
    pub agreement: Vec<Agreement>,
}

impl Summary {
    pub fn figures(&self) -> usize {
        self.states.iter().sum()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// None for counts that need no clock.
    pub metric: Option<Metric>,
    pub n: usize,
    /// Spearman's rank correlation; None below three pairs, or if one side is constant.
    pub rank: Option<f64>,
    /// Median of ours / theirs; None if no pair has the same sign.
    pub ratio: Option<f64>,
}

/// Figures changed as explanations suggest: other operations or configurations of ours.
static INSTEAD: LazyLock<Vec<(&'static Explanation, Vec<Figure>)>> = LazyLock::new(|| {
    let all = explanations().iter();
    let with = all.filter_map(|explanation| Some((explanation, explanation.instead.as_ref()?)));
    with.map(|(explanation, instead)| {
        let of = published().iter().filter(|f| explanation.is_about(f));
        (explanation, of.map(|figure| instead.of(figure)).collect())
    })
    .collect()
});

/// Every figure of a publication next to the documents; among those with the same clock the first
/// one with the figure is used.
pub fn publication<'a>(source: &'static Source, documents: &[Content<'a>]) -> Publication<'a> {
    let compared = measured(documents).map(|document| comparisons(document, published()));
    let compared: Vec<Vec<Comparison>> = compared.collect();
    let timed = measured(documents).flat_map(|document| times(document, published()));
    let timed: Vec<Time> = timed.collect();
    let instead: Vec<(&Explanation, Vec<Comparison>)> = INSTEAD
        .iter()
        .map(|(explanation, figures)| {
            let of = measured(documents).flat_map(|document| comparisons(document, figures));
            (*explanation, of.collect())
        })
        .collect();
    let figures = published()
        .iter()
        .filter(|figure| figure.source == source.id);
    let rows = figures.flat_map(|figure| {
        let mut answers = Vec::new();
        let mut answered: Vec<Metric> = Vec::new();
        for comparisons in &compared {
            // Of several documents with the same measurement, the first.
            let new =
                |c: &&Comparison| std::ptr::eq(c.figure, figure) && !answered.contains(&c.metric);
            let of: Vec<&Comparison> = comparisons.iter().filter(new).collect();
            answered.extend(of.iter().map(|comparison| comparison.metric));
            answers.extend(of.into_iter().map(|comparison| Answer::Compared {
                cause: cause(comparison, &instead),
                comparison: Box::new(comparison.clone()),
            }));
        }
        let times = timed.iter().filter(|of| std::ptr::eq(of.figure, figure));
        answers.extend(times.map(|time| Answer::Beside {
            ours: time.ours.clone(),
            of: time.of.clone(),
        }));
        answers.extend(documents.iter().filter_map(|of| other(*of, figure)));
        tell_versions(&mut answers);
        if answers.is_empty() {
            let why = why_not(figure).map(Answer::CannotBeHad);
            answers.push(why.unwrap_or(Answer::NotMeasured));
        }
        answers
            .into_iter()
            .map(move |answer| Row { figure, answer })
    });
    let rows: Vec<Row<'a>> = rows.collect();
    Publication {
        source,
        alternatives: alternatives(&rows, &instead),
        tests: measured(documents)
            .flat_map(|document| tests(document, published()))
            .filter(|test| test.figure.source == source.id)
            .collect(),
        rows,
    }
}

fn tell_versions(answers: &mut [Answer<'_>]) {
    let agrees = answers.iter().find_map(|answer| match answer {
        Answer::Counted {
            version,
            verdict: Verdict::Agrees,
            ..
        } => Some(*version),
        _ => None,
    });
    for answer in answers {
        if let Answer::Counted {
            verdict: Verdict::Differs,
            agrees_at,
            ..
        } = answer
        {
            *agrees_at = agrees;
        }
    }
}

fn measured<'a>(documents: &[Content<'a>]) -> impl Iterator<Item = &'a Document> {
    documents.iter().filter_map(|content| match *content {
        Content::Measured(document) => Some(document),
        Content::Placement(_) => None,
    })
}

fn other<'a>(content: Content<'a>, figure: &'static Figure) -> Option<Answer<'a>> {
    match content {
        Content::Measured(document) => {
            let (ours, of) = hook_cost(document, figure)?;
            Some(Answer::Beside { ours, of })
        }
        Content::Placement(placement) => {
            let ours = counted(placement, figure)?;
            let theirs = nearest(ours, [figure.low, figure.high]);
            Some(Answer::Counted {
                version: &placement.version,
                ours,
                verdict: Verdict::of(ours, theirs),
                agrees_at: None,
            })
        }
    }
}

fn cause(
    comparison: &Comparison,
    instead: &[(&'static Explanation, Vec<Comparison>)],
) -> Option<Cause> {
    if comparison.verdict == Verdict::Agrees {
        return None;
    }
    let mut could = comparison.explanations.iter();
    let shown = could.find_map(|&explanation| {
        let (_, of) = instead
            .iter()
            .find(|(e, _)| std::ptr::eq(*e, explanation))?;
        let by = of.iter().find(|other| {
            other.figure.id == comparison.figure.id
                && other.metric == comparison.metric
                && other.verdict == Verdict::Agrees
        })?;
        Some(Cause::Shown {
            explanation,
            by: Box::new(by.clone()),
        })
    });
    Some(shown.unwrap_or_else(|| {
        // An explanation that was measured without effect is refuted.
        let refuted = |e: &&Explanation| {
            let of = instead.iter().filter(|(other, _)| std::ptr::eq(*other, *e));
            let mut of = of.flat_map(|(_, of)| of);
            of.any(|other| other.figure.id == comparison.figure.id)
        };
        let mut left = comparison.explanations.clone();
        left.retain(|e| !refuted(e));
        match left.is_empty() {
            true => Cause::Unexplained,
            false => Cause::Possible(left),
        }
    }))
}

impl Row<'_> {
    pub fn state(&self) -> State {
        match &self.answer {
            Answer::Compared { cause, .. } => match cause {
                None => State::Agrees,
                Some(Cause::Shown { .. }) => State::Shown,
                Some(Cause::Possible(_)) => State::Possible,
                Some(Cause::Unexplained) => State::Unexplained,
            },
            Answer::Counted { verdict, .. } if *verdict == Verdict::Agrees => State::Agrees,
            Answer::Counted {
                agrees_at: Some(_), ..
            } => State::Shown,
            Answer::Counted { .. } => State::Unexplained,
            Answer::Beside { .. } => State::Beside,
            Answer::CannotBeHad(_) => State::CannotBeHad,
            Answer::NotMeasured => State::NotMeasured,
        }
    }

    fn is_time(&self) -> bool {
        matches!(&self.answer, Answer::Compared { comparison, .. }
            if comparison.metric != Metric::Instructions && comparison.figure.quantity.is_overhead())
    }

    /// Measured with a substitute configuration; None if it is not a comparison.
    fn stands_in(&self) -> Option<bool> {
        match &self.answer {
            Answer::Compared { comparison, .. } => Some(!comparison.stands_in.is_empty()),
            _ => None,
        }
    }

    fn pair(&self) -> Option<(Option<Metric>, f64, f64)> {
        let figure = self.figure;
        let is_value = figure.low == figure.high && figure.over == crate::Over::Each;
        match &self.answer {
            Answer::Compared { comparison, .. } if is_value => {
                let clock = figure.quantity.is_overhead().then_some(comparison.metric);
                Some((clock, comparison.ours, comparison.theirs))
            }
            Answer::Counted { ours, .. } if is_value => Some((None, *ours, figure.low?)),
            _ => None,
        }
    }
}

impl Publication<'_> {
    pub fn summaries(&self) -> Vec<Summary> {
        let mut places: Vec<Option<&'static str>> = vec![None];
        for row in &self.rows {
            if !places.contains(&Some(&row.figure.place)) {
                places.push(Some(&row.figure.place));
            }
        }
        places
            .into_iter()
            .map(|place| self.summary(place))
            .collect()
    }

    fn summary(&self, place: Option<&'static str>) -> Summary {
        let of_place = |row: &&Row<'_>| place.is_none_or(|place| row.figure.place == place);
        let rows: Vec<&Row<'_>> = self.rows.iter().filter(of_place).collect();
        let mut states = [0; 7];
        let mut clocks: Vec<(_, Vec<(f64, f64)>)> = Vec::new();
        for of_figure in rows.chunk_by(|a, b| std::ptr::eq(a.figure, b.figure)) {
            if let Some(state) = state(of_figure) {
                states[state as usize] += 1;
            }
            let is_counted = |row: &&Row<'_>| matches!(row.answer, Answer::Counted { .. });
            let counted = of_figure.iter().copied().find(is_counted);
            let others = of_figure.iter().copied().filter(|row| !is_counted(row));
            for (clock, ours, theirs) in others.chain(counted).filter_map(Row::pair) {
                match clocks.iter_mut().find(|(known, _)| *known == clock) {
                    Some((_, pairs)) => pairs.push((ours, theirs)),
                    None => clocks.push((clock, vec![(ours, theirs)])),
                }
            }
        }
        let agreement = clocks.into_iter().map(|(metric, pairs)| {
            let ratios = pairs.iter().filter(|(ours, theirs)| ours * theirs > 0.0);
            let ratios: Vec<f64> = ratios.map(|(ours, theirs)| ours / theirs).collect();
            Agreement {
                metric,
                n: pairs.len(),
                rank: rank_correlation(&pairs),
                ratio: (!ratios.is_empty()).then(|| stats::median(ratios)),
            }
        });
        Summary {
            place,
            states,
            agreement: agreement.collect(),
        }
    }
}

/// Of all rows of a figure.
fn state(rows: &[&Row<'_>]) -> Option<State> {
    if rows
        .iter()
        .all(|row| matches!(row.answer, Answer::Counted { .. }))
    {
        return rows.first().map(|row| row.state());
    }
    let exact = rows.iter().any(|row| row.stands_in() == Some(false));
    let is_near = |row: &&&Row<'_>| !(exact && row.stands_in() == Some(true));
    let near = || rows.iter().filter(is_near);
    let timed = near().any(|row| row.is_time());
    let deciding = near().filter(|row| row.is_time() == timed);
    let states: Vec<State> = deciding.map(|row| row.state()).collect();
    let compared = states.iter().filter(|state| **state <= State::Unexplained);
    compared.max().or(states.iter().min()).copied()
}

#[derive(Debug, Clone)]
pub struct Alternatives {
    pub figure: &'static Figure,
    /// `open:AA`.
    pub benchmark: String,
    /// The figure's own configuration first.
    pub ours: Vec<Comparison>,
}

impl Alternatives {
    pub fn nearest(&self) -> Vec<&Comparison> {
        let distances = self.ours.iter().map(|of| of.difference.abs());
        let least = distances.fold(f64::INFINITY, f64::min);
        let nearest = |of: &&Comparison| of.difference.abs() <= least;
        self.ours.iter().filter(nearest).collect()
    }
}

pub(crate) fn alternatives(
    rows: &[Row<'_>],
    instead: &[(&'static Explanation, Vec<Comparison>)],
) -> Vec<Alternatives> {
    let compared = rows.iter().filter_map(|row| match &row.answer {
        Answer::Compared { comparison, .. } => Some((row.figure, comparison.as_ref())),
        _ => None,
    });
    let all = compared.map(|(figure, own)| {
        let is_other = |of: &&Comparison| {
            of.figure.id == figure.id
                && of.benchmark == own.benchmark
                && of.metric == own.metric
                && of.kernel == own.kernel
                && of.filesystem == own.filesystem
                && of.tested != own.tested
        };
        let others = instead.iter().flat_map(|(_, of)| of).filter(is_other);
        let mut ours = vec![own.clone()];
        for other in others {
            if ours.iter().all(|known| known.tested != other.tested) {
                ours.push(other.clone());
            }
        }
        Alternatives {
            figure,
            benchmark: own.benchmark.clone(),
            ours,
        }
    });
    all.filter(|of| of.ours.len() > 2).collect()
}
