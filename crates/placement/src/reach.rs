// SPDX-License-Identifier: GPL-2.0-or-later
//! Which functions lie between a system call and a hook, by the names in them. Only these
//! are worth parsing.

use rustc_hash::FxHashMap;

use crate::framework::{Cuts, Framework};
use crate::program::{FunctionId, View};
use crate::scan::Kind;

/// The functions between some entries and the hooks, sorted.
pub(crate) fn between(
    view: &View<'_, '_>,
    framework: &Framework,
    cuts: &Cuts,
    entries: &[FunctionId],
) -> Vec<FunctionId> {
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    let mut queue: Vec<FunctionId> = entries.to_vec();
    let mut targets: FxHashMap<(u32, u32), Vec<FunctionId>> = FxHashMap::default();
    for &entry in entries {
        callers.entry(entry).or_default();
    }
    while let Some(id) = queue.pop() {
        for to in edges(view, framework, cuts, id, &mut targets) {
            let is_new = !callers.contains_key(&to);
            callers.entry(to).or_default().push(id);
            if is_new {
                queue.push(to);
            }
        }
    }
    let is_hook = |id: &FunctionId| {
        framework.of_function.contains_key(id) || framework.direct.contains_key(id)
    };
    let mut queue: Vec<FunctionId> = callers.keys().copied().filter(is_hook).collect();
    let mut kept: FxHashMap<FunctionId, ()> = queue.iter().map(|&id| (id, ())).collect();
    while let Some(id) = queue.pop() {
        for &caller in &callers[&id] {
            if kept.insert(caller, ()).is_none() {
                queue.push(caller);
            }
        }
    }
    let mut kept: Vec<_> = kept.into_keys().collect();
    kept.sort_unstable();
    kept
}

/// What a function may lead to.
fn edges(
    view: &View<'_, '_>,
    framework: &Framework,
    cuts: &Cuts,
    id: FunctionId,
    targets: &mut FxHashMap<(u32, u32), Vec<FunctionId>>,
) -> Vec<FunctionId> {
    let program = view.program;
    let place = program.functions[id as usize];
    let function = program.function(id);
    let mut found = Vec::new();
    for name in program.globals(id, &function.calls) {
        if !cuts.is_cut(name, place.name) {
            found.extend(view.resolve(name, place.file));
        }
    }
    // The framework names the hook that it calls, which may be a function's name, too.
    let uses: &[u32] = if framework.of_function.contains_key(&id) {
        &[]
    } else {
        &function.uses
    };
    for name in program.globals(id, uses) {
        if !cuts.is_cut(name, place.name) {
            let to = view.resolve(name, place.file);
            let kind = to.map(|to| program.functions[to as usize].kind);
            found.extend(to.filter(|_| matches!(kind, Some(Kind::Static | Kind::Global))));
        }
    }
    for &(of, member) in &function.fields {
        let pair = [of, member];
        let mut pair = program.globals(id, &pair);
        let (Some(of), Some(member)) = (pair.next(), pair.next()) else {
            continue;
        };
        let known = targets.entry((of, member)).or_insert_with(|| {
            view.targets(member, program.types_of_member(of))
                .unwrap_or_default()
        });
        found.extend(
            known
                .iter()
                .filter(|&&to| !cuts.is_cut(program.functions[to as usize].name, place.name)),
        );
    }
    if let Some(hook) = framework.of_function.get(&id) {
        let all = framework.implementations.get(hook).into_iter().flatten();
        found.extend(all.map(|&(_, to)| to));
    }
    found.retain(|&to| !cuts.is_apart(place.file, program.functions[to as usize].file));
    found.sort_unstable();
    found.dedup();
    found
}
