// SPDX-License-Identifier: GPL-2.0-or-later
//! Where in a call string an evaluation is, as far as any fact asks for it.

use rustc_hash::FxHashMap;

use crate::facts::Fact;
use crate::framework::{Cuts, Framework};
use crate::linked::{FactId, Graphs};
use crate::program::{FunctionId, Program};

/// The functions, system calls and cases above, of those that a fact names.
pub(crate) type Tags = u128;

/// What an evaluation needs.
pub(crate) struct World<'x, 'a> {
    pub(crate) program: &'x Program<'a>,
    pub(crate) framework: &'x Framework,
    pub(crate) cuts: &'x Cuts,
    pub(crate) facts: &'x [Fact],
    pub(crate) graphs: &'x Graphs,
    tags: FxHashMap<String, u32>,
    /// Of each fact: any of these tags, none of those.
    conditions: Vec<(Tags, Tags)>,
}

impl<'x, 'a> World<'x, 'a> {
    pub(crate) fn new(
        program: &'x Program<'a>,
        framework: &'x Framework,
        cuts: &'x Cuts,
        facts: &'x [Fact],
        graphs: &'x Graphs,
    ) -> Self {
        let mut tags: FxHashMap<String, u32> = FxHashMap::default();
        let mut mask = |names: &[String]| {
            names.iter().fold(0, |mask, name| {
                let next = u32::try_from(tags.len()).unwrap_or(u32::MAX);
                let bit = *tags.entry(name.clone()).or_insert(next);
                mask | 1u128.checked_shl(bit).unwrap_or(0)
            })
        };
        let conditions = facts
            .iter()
            .map(|fact| (mask(&fact.within), mask(&fact.unless)))
            .collect();
        Self {
            program,
            framework,
            cuts,
            facts,
            graphs,
            tags,
            conditions,
        }
    }

    /// The tag of a function, of `syscall:NAME` or of `case:NAME`.
    pub(crate) fn tag(&self, name: &str) -> Tags {
        self.tags
            .get(name)
            .and_then(|&bit| 1u128.checked_shl(bit))
            .unwrap_or(0)
    }

    pub(crate) fn enter(&self, tags: Tags, function: FunctionId) -> Tags {
        tags | self.tag(self.program.name(function))
    }

    /// The first of some facts that applies and says what is asked for.
    pub(crate) fn fact<T>(
        &self,
        facts: &[FactId],
        tags: Tags,
        says: impl Fn(&'x Fact) -> Option<T>,
    ) -> Option<T> {
        facts.iter().find_map(|&id| {
            let (within, unless) = self.conditions[usize::from(id)];
            let applies = (within == 0 || tags & within != 0) && tags & unless == 0;
            if applies {
                says(&self.facts[usize::from(id)])
            } else {
                None
            }
        })
    }

    pub(crate) fn is_teardown(&self, function: FunctionId) -> bool {
        self.cuts
            .is_teardown(self.program.functions[function as usize].name)
    }
}

/// A hook as it is counted: in teardown or not, and inside the hooks of which modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub(crate) hook: u16,
    pub(crate) teardown: bool,
    /// One bit for each module.
    pub(crate) modules: u32,
}
