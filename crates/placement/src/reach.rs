// SPDX-License-Identifier: GPL-2.0-or-later
//! Functions between system calls and hooks, by name; only these are parsed.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::framework::{Cuts, Framework};
use crate::graph::reachable;
use crate::layers::Layers;
use crate::program::FunctionId;

pub(crate) fn between(
    layers: &Layers<'_, '_>,
    framework: &Framework,
    cuts: &Cuts,
    entries: &[FunctionId],
) -> Vec<FunctionId> {
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    let mut targets: FxHashMap<(usize, u32, u32), Vec<FunctionId>> = FxHashMap::default();
    let all = reachable(entries.iter().copied(), |id| {
        let callees = edges(layers, framework, cuts, id, &mut targets);
        for &to in &callees {
            callers.entry(to).or_default().push(id);
        }
        callees
    });
    let hooks = all.into_iter().filter(|&id| framework.is_hook(id));
    let mut kept: Vec<_> = leading_to(hooks, &callers).into_iter().collect();
    kept.sort_unstable();
    kept
}

pub(crate) fn leading_to(
    functions: impl IntoIterator<Item = FunctionId>,
    callers: &FxHashMap<FunctionId, Vec<FunctionId>>,
) -> FxHashSet<FunctionId> {
    reachable(functions, |id| {
        callers.get(&id).into_iter().flatten().copied()
    })
}

fn edges(
    layers: &Layers<'_, '_>,
    framework: &Framework,
    cuts: &Cuts,
    id: FunctionId,
    targets: &mut FxHashMap<(usize, u32, u32), Vec<FunctionId>>,
) -> Vec<FunctionId> {
    let program = layers.program;
    let place = program.functions[id as usize];
    let function = program.function(id);
    let named = |names| {
        let names = program.globals(id, names);
        let followed = names.filter(|&name| !cuts.is_cut(name, place.name));
        followed.flat_map(|name| layers.resolve(id, name))
    };
    let mut found: Vec<FunctionId> = named(&function.calls).collect();
    // The framework passes the name of the hook, which may also be a function.
    if !framework.of_function.contains_key(&id) {
        let is_plain = |to: &FunctionId| program.functions[*to as usize].kind.is_plain();
        found.extend(named(&function.uses).filter(is_plain));
    }
    for &(structure, member) in &function.fields {
        let pair = [structure, member];
        let mut pair = program.globals(id, &pair);
        let (Some(structure), Some(member)) = (pair.next(), pair.next()) else {
            continue;
        };
        let site = (layers.site(id), structure, member);
        let known = targets.entry(site).or_insert_with(|| {
            layers
                .targets(id, member, layers.types_of_member(id, structure))
                .unwrap_or_default()
        });
        let is_cut = |to: FunctionId| cuts.is_cut(program.functions[to as usize].name, place.name);
        found.extend(known.iter().filter(|&&to| !is_cut(to)));
    }
    found.extend(framework.implementations(id).map(|(_, to)| to));
    found.retain(|&to| !cuts.is_apart(place.file, program.functions[to as usize].file));
    found.sort_unstable();
    found.dedup();
    found
}
