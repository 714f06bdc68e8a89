// SPDX-License-Identifier: GPL-2.0-or-later
//! Terms: quantities with a weight.

use model::estimate::{CONFLICTING_LINES, INSTRUCTIONS, conflicting_lines};
use model::{EventKind, Events, Failure};

/// Of all sets of events that were tried, these predict an unseen module best (docs/estimate.md).
pub const DEFAULT_TERMS: [&str; 4] = ["instructions", LONG_REP, "rep_bytes", CONFLICTING_LINES];

/// Missing in older result files.
pub(crate) const LONG_REP: &str = "long_rep_instructions";

/// Expensive events. If a difference adds any of them, it is estimated only if they have weights.
const RARE: [&str; 3] = ["serialising", "tlb_flushes", "clock_reads"];

#[derive(Debug, Clone, Copy)]
pub enum Term {
    Instructions,
    /// L1i conflicts: cache lines of code that evict each other.
    ConflictingLines,
    Event(EventKind),
}

impl Term {
    pub fn name(&self) -> &'static str {
        match self {
            Term::Instructions => INSTRUCTIONS,
            Term::ConflictingLines => CONFLICTING_LINES,
            Term::Event(kind) => kind.name,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Terms(pub Vec<Term>);

pub(crate) struct Difference {
    pub(crate) x: Vec<f64>,
    /// An expensive event without a weight: its name and difference.
    pub(crate) unknown: Option<(&'static str, i128)>,
}

impl Terms {
    pub fn named<S: AsRef<str>>(names: &[S]) -> Result<Terms, Failure> {
        let mut terms: Vec<Term> = Vec::new();
        for name in names.iter().map(AsRef::as_ref) {
            let short = || name.chars().take(40).collect::<String>();
            if terms.iter().any(|term| term.name() == name) {
                let what = format!("`{}` is named twice", short());
                return Err(Failure::usage(what, "name each event once"));
            }
            let kind = Events::kind(name).copied().map(Term::Event);
            let own = match name {
                INSTRUCTIONS => Some(Term::Instructions),
                CONFLICTING_LINES => Some(Term::ConflictingLines),
                _ => None,
            };
            let unknown = || {
                let kinds: Vec<&str> = Events::KINDS.iter().map(|kind| kind.name).collect();
                Failure::usage(
                    format!("unknown event `{}`", short()),
                    format!(
                        "use one of {INSTRUCTIONS}, {CONFLICTING_LINES}, {}",
                        kinds.join(", ")
                    ),
                )
            };
            terms.push(kind.or(own).ok_or_else(unknown)?);
        }
        Ok(Terms(terms))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|term| term.name() == name)
    }

    /// The difference between (instructions, events) and a baseline, in an operation with `lines`
    /// cache lines of instructions under the baseline.
    pub(crate) fn difference(
        &self,
        own: (u64, &Events),
        base: (u64, &Events),
        lines: u64,
    ) -> Difference {
        let more = |own: u64, base: u64| i128::from(own) - i128::from(base);
        let of_kind = |kind: &EventKind| more((kind.count)(own.1), (kind.count)(base.1));
        let rare = Events::KINDS
            .iter()
            .filter(|kind| RARE.contains(&kind.name) && !self.has(kind.name));
        Difference {
            x: self
                .0
                .iter()
                .map(|term| match term {
                    Term::Instructions => more(own.0, base.0) as f64,
                    Term::ConflictingLines => {
                        let (own, base) = (own.1.instruction_lines, base.1.instruction_lines);
                        let with = lines.saturating_add(own).saturating_sub(base);
                        conflicting_lines(with) - conflicting_lines(lines)
                    }
                    Term::Event(kind) => of_kind(kind) as f64,
                })
                .collect(),
            unknown: rare
                .map(|kind| (kind.title, of_kind(kind)))
                .find(|(_, more)| *more != 0),
        }
    }
}
