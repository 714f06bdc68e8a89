// SPDX-License-Identifier: GPL-2.0-or-later
//! Instructions that a program adds outside hooks, from one configuration to another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counted::FunctionDifference;
use super::events::is_zero;

/// Difference from a baseline outside all hooks, in a whole program: sums over all functions, and
/// the functions with the largest differences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramResidual {
    pub stack: Vec<String>,
    /// Difference of the totals minus the difference of the hooks, in instructions.
    pub instructions: i64,
    /// Part of it in functions whose difference is explained.
    pub explained: i64,
    /// Sum of the absolute differences of all other functions, so that they do not cancel out.
    pub unexplained: u64,
    /// The functions with the largest differences, at most [`ProgramResidual::LIMIT`], in
    /// descending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionDifference>,
    /// Number of further functions that differ; the sums include them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
}

impl ProgramResidual {
    pub const LIMIT: usize = 48;

    pub fn new(stack: &[String], functions: Vec<FunctionDifference>) -> ProgramResidual {
        let (sum, explained, unexplained) = sums(&functions);
        let more = functions.len().saturating_sub(Self::LIMIT) as u64;
        ProgramResidual {
            stack: stack.to_vec(),
            // Wraps around, as the differences themselves do.
            instructions: sum as i64,
            explained: explained as i64,
            unexplained: u64::try_from(unexplained).unwrap_or(u64::MAX),
            functions: functions.into_iter().take(Self::LIMIT).collect(),
            more,
        }
    }

    pub(super) fn contradiction(&self) -> Option<String> {
        if self.functions.len() > Self::LIMIT {
            return Some(format!(
                "a residual has more than {} functions",
                Self::LIMIT
            ));
        }
        let (sum, explained, unexplained) = sums(&self.functions);
        let stored = (
            i128::from(self.instructions),
            i128::from(self.explained),
            u128::from(self.unexplained),
        );
        let fits = match self.more {
            0 => stored == (sum, explained, unexplained),
            // Functions without a name are only in the sums.
            _ => unexplained <= stored.2 && (stored.0 - stored.1).unsigned_abs() <= stored.2,
        };
        (!fits).then(|| {
            format!(
                "the residual is {}, of which {} is explained and {} is not, but its functions do \
                 not add up to this",
                stored.0, stored.1, stored.2
            )
        })
    }
}

/// All differences, the explained ones, and the sizes of the others.
fn sums(functions: &[FunctionDifference]) -> (i128, i128, u128) {
    let (mut sum, mut explained, mut unexplained) = (0, 0, 0);
    for held in functions {
        sum += i128::from(held.difference);
        match held.explanation {
            Some(_) => explained += i128::from(held.difference),
            None => unexplained += u128::from(held.difference.unsigned_abs()),
        }
    }
    (sum, explained, unexplained)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(difference: i64, explained: bool) -> FunctionDifference {
        FunctionDifference {
            function: format!("function_{difference}"),
            difference,
            explanation: explained.then(|| "known".to_owned()),
        }
    }

    fn stack() -> Vec<String> {
        vec!["capability".to_owned()]
    }

    #[test]
    fn what_cancels_out_is_not_lost() {
        let functions = vec![held(-100, false), held(90, false), held(70, true)];
        let residual = ProgramResidual::new(&stack(), functions);
        assert_eq!(residual.instructions, 60);
        assert_eq!((residual.explained, residual.unexplained), (70, 190));
        assert_eq!(residual.contradiction(), None);
    }

    #[test]
    fn functions_without_a_name_are_in_the_sums() {
        let all = (1..=60).rev().map(|n| held(n, n % 2 == 0)).collect();
        let residual = ProgramResidual::new(&stack(), all);
        assert_eq!((residual.functions.len(), residual.more), (48, 12));
        assert_eq!(residual.instructions, 1830);
        assert_eq!((residual.explained, residual.unexplained), (930, 900));
        assert_eq!(residual.contradiction(), None);
    }

    #[test]
    fn sums_that_are_none_contradict() {
        let good = ProgramResidual::new(&stack(), vec![held(5, true), held(-3, false)]);
        let many = vec![held(1, true); ProgramResidual::LIMIT + 1];
        let spoil: [&dyn Fn(&mut ProgramResidual); 4] = [
            &|wrong| wrong.instructions = 3,
            &|wrong| wrong.unexplained = 0,
            &|wrong| (wrong.explained, wrong.more) = (i64::MIN, 7),
            &|wrong| wrong.functions.clone_from(&many),
        ];
        for spoil in spoil {
            let mut wrong = good.clone();
            spoil(&mut wrong);
            assert!(wrong.contradiction().is_some(), "{wrong:?}");
        }
    }
}
