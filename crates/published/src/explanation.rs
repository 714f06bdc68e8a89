// SPDX-License-Identifier: GPL-2.0-or-later
//! Possible explanations of differences, as data.

use std::sync::LazyLock;

use model::{Metric, glob};
use serde::Deserialize;

use crate::{Comparison, Figure, Operation, Quantity, Setup};

const FILE: &str = include_str!("../data/explanations.toml");

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    pub id: String,
    /// Ids of figures; `*` matches anything.
    pub figures: Vec<String>,
    #[serde(default)]
    pub except: Vec<String>,
    pub kinds: Vec<Kind>,
    /// Only these metrics of ours; empty: all.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    #[serde(default)]
    pub larger: Option<Larger>,
    #[serde(default)]
    pub within: Option<f64>,
    #[serde(default)]
    pub ours_negative: bool,
    pub text: String,
    /// Our measurement that would match theirs if this reason is right; a document with it confirms
    /// or refutes the reason.
    #[serde(default)]
    pub instead: Option<Instead>,
}

/// Replaces keys of a figure; missing ones are as in the figure.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Instead {
    pub ours: Vec<String>,
    pub tested: Vec<Setup>,
    pub baseline: Vec<Setup>,
}

impl Instead {
    pub(crate) fn of(&self, figure: &Figure) -> Figure {
        let mut figure = figure.clone();
        if !self.ours.is_empty() {
            figure.ours = self
                .ours
                .iter()
                .map(|name| Operation::named(name))
                .collect();
        }
        if !self.tested.is_empty() {
            figure.tested.clone_from(&self.tested);
        }
        if !self.baseline.is_empty() {
            figure.baseline.clone_from(&self.baseline);
        }
        figure
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Overhead,
    /// Counts of hook calls and of system calls.
    Calls,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Larger {
    Ours,
    Theirs,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    explanation: Vec<Explanation>,
}

static EXPLANATIONS: LazyLock<Vec<Explanation>> = LazyLock::new(|| {
    let file: File = toml::from_str(FILE).expect("the embedded explanations; a test reads them");
    file.explanation
});

pub fn explanations() -> &'static [Explanation] {
    &EXPLANATIONS
}

impl Explanation {
    pub(crate) fn is_about(&self, figure: &Figure) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| glob(pattern, &figure.id));
        fits(&self.figures) && !fits(&self.except)
    }

    pub fn applies(&self, comparison: &Comparison) -> bool {
        let kind = match comparison.figure.quantity.is_overhead() {
            true => Kind::Overhead,
            false => Kind::Calls,
        };
        let larger = match comparison.difference > 0.0 {
            true => Larger::Ours,
            false => Larger::Theirs,
        };
        self.is_about(comparison.figure)
            && self.kinds.contains(&kind)
            && (self.metrics.is_empty() || self.metrics.contains(&comparison.metric))
            && self.larger.is_none_or(|wanted| wanted == larger)
            && (self.within).is_none_or(|within| comparison.difference.abs() <= within)
            && (!self.ours_negative || comparison.ours < 0.0)
    }
}

const CANNOT: &str = include_str!("../data/cannot.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CannotFile {
    cannot: Vec<Cannot>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cannot {
    figures: Vec<String>,
    #[serde(default)]
    quantities: Vec<Quantity>,
    why: String,
}

static CANNOT_BE_HAD: LazyLock<Vec<Cannot>> = LazyLock::new(|| {
    let file: CannotFile = toml::from_str(CANNOT).expect("the embedded reasons; a test reads them");
    file.cannot
});

pub(crate) fn why_not(figure: &Figure) -> Option<&'static str> {
    let of = |pattern: &String| model::glob(pattern, &figure.id);
    let fits = |cannot: &&Cannot| {
        cannot.figures.iter().any(of)
            && (cannot.quantities.is_empty() || cannot.quantities.contains(&figure.quantity))
    };
    let found = CANNOT_BE_HAD.iter().find(fits);
    found.map(|cannot| cannot.why.as_str())
}
