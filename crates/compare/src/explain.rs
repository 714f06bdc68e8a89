// SPDX-License-Identifier: GPL-2.0-or-later
//! Explains differences of operations by hook.

use std::collections::BTreeMap;

use model::comparison::{
    CallerChange, EventChange, Explanation, HookChange, ImplementationChange, WordChange,
};
use model::{
    Counted, Document, Events, FunctionDifference, HookCost, HookedPath, Metric, PathTree,
};

use crate::item::Item;

/// An explanation of every pair with different instructions, and a note if the result files have no
/// hooks. Indices are positions in the list of pairs.
pub(crate) fn explain<'a>(
    pairs: &[(Item, Item)],
    documents: (&'a Document, &'a Document),
) -> (Vec<Explanation>, Vec<String>) {
    let mut explanations = Vec::new();
    let mut unknown = 0usize;
    for (cell, (base, new)) in pairs.iter().enumerate() {
        let metric = new.key.metric;
        let hooks = metric == Metric::Instructions || metric.is_of_transfers();
        if !hooks || !base.measured.exact || !new.measured.exact {
            continue;
        }
        let counted = |document: &'a Document, item: &Item| {
            let counted = document.cells.get(item.position)?.counted()?;
            Some((counted, counted.hooked.as_ref()?))
        };
        // Equal counts may be made up of different instructions.
        let happened = |document, item| counted(document, item)?.1.events;
        let events = events(
            happened(documents.0, base).as_ref(),
            happened(documents.1, new).as_ref(),
        );
        if base.measured.value == new.measured.value && events.is_empty() {
            continue;
        }
        let explained = || {
            let (old_counted, old) = counted(documents.0, base)?;
            let (new_counted, young) = counted(documents.1, new)?;
            let mut explained = between(cell as u32, old, young)?;
            if base.key.kernel == new.key.kernel {
                explained.residual_functions = residual_functions(old, new_counted);
            }
            if metric.is_of_transfers() {
                explained.words = words(old_counted, new_counted);
            }
            Some(explained)
        };
        match explained() {
            Some(explained) => explanations.push(explained),
            None => unknown += 1,
        }
    }
    explanations.sort_by_key(|explained| std::cmp::Reverse(explained.difference.unsigned_abs()));
    let mut notes = Vec::new();
    if unknown > 0 {
        notes.push(format!(
            "the hooks of {unknown} measurements that differ are unknown: measure both with \
             `lsmeter run --with-hooks` or `lsmeter profile`"
        ));
    }
    (explanations, notes)
}

/// None if a hostile file's figures overflow.
fn between(cell: u32, base: &HookedPath, new: &HookedPath) -> Option<Explanation> {
    let none = HookCost::default();
    let all = [base, new].map(|path| {
        let hooks = path.hooks.iter();
        hooks.map(|hook| ((hook.hook.as_str(), hook.function.as_str()), Some(hook)))
    });
    let mut hooks: Vec<HookChange> = Vec::new();
    let mut hooked = 0i64;
    for ((hook, function), sides) in sides(all) {
        let [old, young] = sides.map(|hook| hook.unwrap_or(&none));
        let change = change(hook, function, old, young)?;
        hooked = hooked.checked_add(change.difference)?;
        let silent = change.events.is_empty()
            && change.difference == 0
            && change.dispatch == 0
            && change.base_calls == change.new_calls
            && change.implementations.is_empty();
        if !silent {
            hooks.push(change);
        }
    }
    hooks.sort_by_key(|change| std::cmp::Reverse(change.difference.unsigned_abs()));
    let difference = difference(base.total, new.total)?;
    Some(Explanation {
        cell,
        difference,
        hooked,
        residual: difference.checked_sub(hooked)?,
        hooks,
        residual_functions: Vec::new(),
        events: events(base.events.as_ref(), new.events.as_ref()),
        words: Vec::new(),
    })
}

/// The largest difference first.
fn words(base: &Counted, new: &Counted) -> Vec<WordChange> {
    let all = [base, new].map(|counted| counted.tree.iter().flat_map(PathTree::words));
    let changed = sides(all)
        .into_iter()
        .filter(|(_, [base, new])| base != new);
    let mut words: Vec<WordChange> = changed
        .map(|((word, function), [base, new])| WordChange {
            word: word.to_owned(),
            function: function.to_owned(),
            base,
            new,
        })
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.base.abs_diff(word.new)));
    words
}

fn change(hook: &str, function: &str, base: &HookCost, new: &HookCost) -> Option<HookChange> {
    Some(HookChange {
        hook: hook.to_owned(),
        function: function.to_owned(),
        base_calls: base.calls,
        new_calls: new.calls,
        difference: difference(base.outermost, new.outermost)?,
        dispatch: difference(base.dispatch, new.dispatch)?,
        implementations: implementations(base, new)?,
        callers: callers(base, new),
        events: events(happened(base).as_ref(), happened(new).as_ref()),
    })
}

fn happened(hook: &HookCost) -> Option<Events> {
    let never = hook.calls == 0 && hook.inclusive == 0;
    hook.events.or(never.then(Events::default))
}

fn events(base: Option<&Events>, new: Option<&Events>) -> Vec<EventChange> {
    let Some((base, new)) = base.zip(new) else {
        return Vec::new();
    };
    let kinds = Events::KINDS.iter().map(|kind| EventChange {
        event: kind.name.to_owned(),
        base: (kind.count)(base),
        new: (kind.count)(new),
    });
    kinds.filter(|change| change.base != change.new).collect()
}

fn callers(base: &HookCost, new: &HookCost) -> Vec<CallerChange> {
    let all = [base, new].map(|hook| {
        let callers = hook.called_by.iter();
        callers.map(|caller| (caller.function.as_str(), caller.calls))
    });
    let change = |(function, [base_calls, new_calls]): (&str, [u64; 2])| CallerChange {
        function: function.to_owned(),
        base_calls,
        new_calls,
    };
    let mut changes: Vec<CallerChange> = sides(all).into_iter().map(change).collect();
    changes.sort_by_key(|caller| std::cmp::Reverse(caller.new_calls.abs_diff(caller.base_calls)));
    changes
}

fn implementations(base: &HookCost, new: &HookCost) -> Option<Vec<ImplementationChange>> {
    let all = [base, new].map(|hook| {
        let all = hook.implementations.iter();
        all.map(|own| {
            (
                (own.module.as_str(), own.function.as_str()),
                [own.calls, own.inclusive],
            )
        })
    });
    let mut changes = Vec::new();
    for ((module, function), [[base_calls, old], [new_calls, young]]) in sides(all) {
        let change = ImplementationChange {
            module: module.to_owned(),
            function: function.to_owned(),
            base_calls,
            new_calls,
            difference: difference(old, young)?,
        };
        if change.difference != 0 || change.base_calls != change.new_calls {
            changes.push(change);
        }
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.difference.unsigned_abs()));
    Some(changes)
}

/// NEW's residual, if it was computed against this BASE (`lsmeter profile --baseline`).
fn residual_functions(base: &HookedPath, new: &Counted) -> Vec<FunctionDifference> {
    let residual = new.residual.as_ref();
    let same = |path: &HookedPath| (path.total, &path.hooks) == (base.total, &base.hooks);
    let residual = residual.filter(|residual| same(&residual.path));
    residual.map_or_else(Vec::new, |residual| residual.functions.clone())
}

/// The values of BASE and NEW by key; the default where a side has none.
fn sides<K: Ord, V: Copy + Default>(
    both: [impl Iterator<Item = (K, V)>; 2],
) -> BTreeMap<K, [V; 2]> {
    let mut sides: BTreeMap<K, [V; 2]> = BTreeMap::new();
    for (side, values) in both.into_iter().enumerate() {
        for (key, value) in values {
            sides.entry(key).or_default()[side] = value;
        }
    }
    sides
}

fn difference(base: u64, new: u64) -> Option<i64> {
    i64::try_from(i128::from(new) - i128::from(base)).ok()
}
