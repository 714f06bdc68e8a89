// SPDX-License-Identifier: GPL-2.0-or-later

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::Counts;
use crate::Count;
use crate::body::NodeId;
use crate::context::Key;
use crate::program::{FunctionId, Numbered};
use crate::scan::number;

/// Limits the number of different sets.
const MAX_SET: usize = 64;
const MAX_UNIONS: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cause {
    /// Recursion; the first function of the cycle.
    Circle(FunctionId),
    /// A loop, or a label with a backward jump.
    Loop(FunctionId, NodeId),
    /// A passed function that may be called back.
    Callback(FunctionId, NodeId, FunctionId),
    Large(FunctionId),
    Nested(FunctionId),
}

/// An index of [`Causes`]; 0 is the empty set.
pub(crate) type CauseSet = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Most {
    pub(crate) count: Count,
    pub(crate) causes: CauseSet,
}

impl Most {
    pub(crate) const ONE: Self = Self {
        count: Count::ONE,
        causes: 0,
    };
}

#[derive(Debug, Default)]
struct Sets {
    causes: Numbered<Cause>,
    /// Indices of causes, sorted by cause.
    sets: Numbered<Box<[u32]>>,
    unions: FxHashMap<(CauseSet, CauseSet), CauseSet>,
}

/// Interned causes and sets of them.
#[derive(Debug, Default)]
pub(crate) struct Causes(RefCell<Sets>);

impl Sets {
    fn set(&mut self, members: Vec<u32>) -> CauseSet {
        if members.is_empty() {
            return 0;
        }
        if self.sets.is_empty() {
            self.sets.insert(Box::default());
        }
        number(self.sets.insert_full(members.into()).0)
    }
}

impl Causes {
    pub(super) fn one(&self, cause: Cause) -> CauseSet {
        let mut sets = self.0.borrow_mut();
        let number = number(sets.causes.insert_full(cause).0);
        sets.set(vec![number])
    }

    pub(crate) fn in_set(&self, set: CauseSet) -> Vec<Cause> {
        let sets = self.0.borrow();
        let members = sets.sets.get_index(set as usize);
        let members = members.into_iter().flatten();
        members
            .filter_map(|&number| sets.causes.get_index(number as usize).copied())
            .collect()
    }

    fn union(&self, one: CauseSet, other: CauseSet) -> CauseSet {
        let (one, other) = (one.min(other), one.max(other));
        if one == other || one == 0 {
            return other;
        }
        let mut sets = self.0.borrow_mut();
        if let Some(&known) = sets.unions.get(&(one, other)) {
            return known;
        }
        let members = |set| sets.sets.get_index(set as usize).into_iter().flatten();
        let mut members: Vec<u32> = [one, other]
            .into_iter()
            .flat_map(members)
            .copied()
            .collect();
        // Keep the first in the order of causes: numbers depend on the order of discovery.
        members.sort_unstable_by_key(|&number| sets.causes.get_index(number as usize));
        members.dedup();
        members.truncate(MAX_SET);
        let union = sets.set(members);
        if sets.unions.len() >= MAX_UNIONS {
            sets.unions.clear();
        }
        sets.unions.insert((one, other), union);
        union
    }

    pub(super) fn plus(&self, one: Most, other: Most) -> Most {
        Most {
            count: one.count.plus(other.count),
            causes: self.union(one.causes, other.causes),
        }
    }

    pub(super) fn add(&self, counts: &mut Counts, other: impl IntoIterator<Item = (Key, Most)>) {
        for (key, count) in other {
            let sum = counts.entry(key).or_default();
            *sum = self.plus(*sum, count);
        }
    }

    pub(super) fn or(&self, counts: &mut Counts, other: impl IntoIterator<Item = (Key, Most)>) {
        for (key, count) in other {
            let most = counts.entry(key).or_default();
            *most = Most {
                count: most.count.or(count.count),
                causes: self.union(most.causes, count.causes),
            };
        }
    }

    pub(super) fn repeated(
        &self,
        counts: impl IntoIterator<Item = (Key, Most)>,
        rounds: Count,
        cause: Cause,
    ) -> impl Iterator<Item = (Key, Most)> {
        let why = if rounds.unbounded { self.one(cause) } else { 0 };
        let all = counts.into_iter().map(move |(key, most)| {
            let count = most.count.repeated(rounds);
            let causes = self.union(most.causes, why);
            (key, Most { count, causes })
        });
        all.filter(|(_, most)| !most.count.is_zero())
    }

    pub(super) fn without_bound(&self, counts: &mut Counts, cause: Cause) {
        let why = self.one(cause);
        for most in counts.values_mut() {
            *most = Most {
                count: Count::UNBOUNDED,
                causes: self.union(most.causes, why),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_is_there_once() {
        let causes = Causes::default();
        let [a, b, c] = [1, 2, 3].map(|at| causes.one(Cause::Loop(7, at)));
        let ab = causes.union(a, b);
        assert_eq!(causes.union(ab, c), causes.union(causes.union(c, b), a));
        assert_eq!(causes.union(ab, a), ab);
        assert_eq!(causes.union(0, c), c);
        assert_eq!(causes.in_set(ab), [Cause::Loop(7, 1), Cause::Loop(7, 2)]);
        assert_eq!(causes.in_set(0), []);
        let all = (0..1000).map(|at| causes.one(Cause::Loop(8, at)));
        let all = all.fold(ab, |all, one| causes.union(all, one));
        assert_eq!(causes.in_set(all).len(), MAX_SET);
        assert_eq!(causes.union(all, c), causes.union(c, all));
    }
}
