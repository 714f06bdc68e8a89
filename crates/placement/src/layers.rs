// SPDX-License-Identifier: GPL-2.0-or-later
//! A file system with others below it, as overlayfs has. Each layer has functions of its own, so that
//! a pointer leads to the file system of the object: below the layers' functions, to the layer's.

use rustc_hash::FxHashSet;

use crate::facts::{Object, SourceFacts};
use crate::program::{FunctionId, NameId, Program, View};
use crate::scan::number;

pub(crate) struct Layers<'p, 'a> {
    pub(crate) program: &'p Program<'a>,
    /// The file system, then its layers.
    views: Vec<View<'p, 'a>>,
    /// By function and caller, if given.
    calls: Vec<(FxHashSet<NameId>, FxHashSet<NameId>, Object)>,
}

impl<'p, 'a> Layers<'p, 'a> {
    /// The name of the file system that the tree does not have as the error.
    pub(crate) fn new<'n>(
        program: &'p Program<'a>,
        fs: &'n str,
        others: bool,
        facts: &'n SourceFacts,
    ) -> Result<Self, &'n str> {
        let names = facts.stacked(fs);
        let views = names.iter().enumerate();
        let views = views.map(|(at, name)| program.view(name, at, others, facts).ok_or(*name));
        let ids = |names: &[String]| names.iter().filter_map(|name| program.id(name)).collect();
        let calls = facts.fs.get(names[0]).into_iter().flat_map(|fs| &fs.call);
        let calls = calls.map(|fact| (ids(&fact.functions), ids(&fact.callers), fact.on));
        Ok(Self {
            program,
            calls: calls.collect(),
            views: views.collect::<Result<_, _>>()?,
        })
    }

    fn view(&self, id: FunctionId) -> &View<'p, 'a> {
        &self.views[(id / self.program.own) as usize]
    }

    /// Does it make calls on objects of the layers?
    fn is_between(&self, id: FunctionId) -> bool {
        self.views.len() > 1 && id < self.program.own && self.views[0].has(id)
    }

    /// A number for the functions with the same [`Self::pointed`].
    pub(crate) fn site(&self, id: FunctionId) -> usize {
        match self.is_between(id) {
            true => self.views.len(),
            false => (id / self.program.own) as usize,
        }
    }

    /// According to the facts.
    fn object(&self, from: FunctionId, name: NameId) -> Object {
        let caller = self.program.functions[from as usize].name;
        let mut calls = self.calls.iter();
        let found = calls.find(|(functions, callers, _)| {
            functions.contains(&name) && (callers.is_empty() || callers.contains(&caller))
        });
        found.map_or_else(Object::default, |&(.., on)| on)
    }

    /// The file systems to which a pointer leads in a function. Those in a file system with layers
    /// lead to the layers, unless a fact names the member.
    pub(crate) fn pointed(&self, from: FunctionId, member: NameId) -> &[View<'p, 'a>] {
        if self.is_between(from) && self.object(from, member) != Object::Own {
            &self.views[1..]
        } else {
            std::slice::from_ref(self.view(from))
        }
    }

    pub(crate) fn types_of_member(&self, from: FunctionId, member: NameId) -> &[NameId] {
        self.view(from).types_of_member(member)
    }

    pub(crate) fn resolve(
        &self,
        from: FunctionId,
        name: NameId,
    ) -> impl Iterator<Item = FunctionId> + use<> {
        let own = self.program.own;
        let to = self
            .view(from)
            .resolve(name, self.program.functions[from as usize].file);
        let called = to.filter(|&to| self.is_between(from) && !self.views[0].has(to));
        let object = called.map_or(Object::Own, |_| self.object(from, name));
        let (layers, own_too) = match object {
            Object::Own => (1, true),
            Object::Layers => (number(self.views.len()), false),
            Object::Either => (number(self.views.len()), true),
            Object::Neither => (1, false),
        };
        let found = (1..layers).chain(own_too.then_some(0));
        to.into_iter()
            .flat_map(move |to| found.clone().map(move |at| to + at * own))
    }

    /// As [`View::targets`]; on the layers in the file system's own functions.
    pub(crate) fn targets(
        &self,
        from: FunctionId,
        member: NameId,
        structs: &[NameId],
    ) -> Option<Vec<FunctionId>> {
        let views = self.pointed(from, member).iter();
        let known: Vec<_> = views
            .filter_map(|view| view.targets(member, structs))
            .collect();
        if known.is_empty() && self.is_between(from) {
            return self.views[0].targets(member, structs);
        }
        (!known.is_empty()).then(|| known.concat())
    }
}
