// SPDX-License-Identifier: GPL-2.0-or-later
//! Compares a commit's counts with the good commit's.

use std::collections::BTreeMap;

use crate::gate::is_nowhere;
use crate::{Budget, Named, Options};
use counts::hooks::differences;
use model::comparison::{ComparedCell, GateVerdict, Verdict as CellVerdict};
use model::{ComparisonDocument, Document, Failure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All counts are the same, or within the limit.
    Good,
    /// A count differs, or is above the limit.
    Bad,
    Skipped,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Bad => "bad",
            Verdict::Skipped => "skipped",
        }
    }
}

/// Instructions outside hooks of each operation ([`outside_key`]), by function.
pub type Outside = BTreeMap<String, BTreeMap<String, u64>>;

pub fn outside_key(configuration: &str, operation: &str) -> String {
    format!("{configuration}\t{operation}")
}

#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub document: Document,
    pub outside: Outside,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub comparison: ComparisonDocument,
}

/// Compares NEW with BASE. Without a limit, NEW is bad if a measurement differs in either
/// direction, and good if all are the same. With a limit, the gate decides. If there is no verdict,
/// the commit is skipped.
pub fn judge(
    base: (&str, &Document),
    new: (&str, &Document),
    limit: Option<&Budget>,
) -> Result<Judged, Failure> {
    let options = Options {
        budget: limit.cloned(),
        explain: true,
        ..Options::default()
    };
    let named = |(name, document)| Named { name, document };
    let comparison = crate::compare(named(base), named(new), &options)?;
    let (verdict, reason) = match &comparison.gate {
        Some(gate) => {
            let verdict = match gate.verdict {
                GateVerdict::Fail => Verdict::Bad,
                GateVerdict::Pass => Verdict::Good,
                GateVerdict::Inconclusive => Verdict::Skipped,
            };
            let undecided = |cell: &&ComparedCell| {
                let gate = cell.gate.as_ref();
                gate.is_some_and(|gate| gate.verdict == GateVerdict::Inconclusive)
            };
            let undecided = comparison.compared.iter().find(undecided);
            let message = undecided.and_then(|cell| {
                let gate = cell.gate.as_ref()?;
                Some(format!("{}: {}", cell.title(), gate.message))
            });
            (verdict, message.or_else(|| gate.reasons.first().cloned()))
        }
        None => of_cells(&comparison),
    };
    Ok(Judged {
        verdict,
        reason: reason.filter(|_| verdict == Verdict::Skipped),
        comparison,
    })
}

fn of_cells(comparison: &ComparisonDocument) -> (Verdict, Option<String>) {
    let cells = || comparison.compared.iter();
    let differs =
        |cell: &ComparedCell| matches!(cell.verdict, CellVerdict::Worse | CellVerdict::Better);
    if cells().any(differs) {
        return (Verdict::Bad, None);
    }
    let undecided = cells().find(|cell| cell.verdict != CellVerdict::Same && !is_nowhere(cell));
    let lone = comparison.unmatched.first();
    let reason = match (undecided, lone) {
        (Some(cell), _) => {
            let reason = cell.reason.as_deref().unwrap_or("undecided");
            format!("{}: {reason}", cell.title())
        }
        (None, Some(lone)) => format!(
            "{} was measured in only one of the two commits",
            lone.benchmark
        ),
        (None, None) if cells().all(is_nowhere) => "no measurement has a value".to_owned(),
        (None, None) => return (Verdict::Good, None),
    };
    (Verdict::Skipped, Some(reason))
}

pub fn explain_outside(comparison: &mut ComparisonDocument, base: &Outside, new: &Outside) {
    for explained in &mut comparison.explanations {
        let Some(cell) = comparison.compared.get(explained.cell as usize) else {
            continue;
        };
        let key = outside_key(&cell.place.configuration, &cell.title());
        let sides = base.get(&key).zip(new.get(&key));
        if let Some((base, new)) = sides.filter(|_| explained.residual_functions.is_empty()) {
            explained.residual_functions = differences(base, new);
        }
    }
}
