// SPDX-License-Identifier: GPL-2.0-or-later
//! Published figures with several candidate configurations of ours.

use crate::{Answer, Comparison, Explanation, Figure, Row};

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
