// SPDX-License-Identifier: GPL-2.0-or-later
//! Which hooks hold the difference of an operation.

use std::collections::BTreeMap;

use experiment::comparison::{
    CallerChange, Explanation, HookChange, ImplementationChange, Quantity,
};
use experiment::{AnyDocument, Cell, FunctionDifference, HookCost, Implementation};

use crate::item::Item;

/// What is known of a path: its instructions and its hooks.
struct Path<'a> {
    total: u64,
    hooks: &'a [HookCost],
}

/// An explanation of every pair that differs in instructions, and a note if the documents
/// do not tell hooks. Positions are those of the pairs.
pub(crate) fn explain(
    pairs: &[(Item, Item)],
    documents: (&AnyDocument, &AnyDocument),
) -> (Vec<Explanation>, Vec<String>) {
    let mut explanations = Vec::new();
    let mut unknown = 0usize;
    for (cell, (base, new)) in pairs.iter().enumerate() {
        let differs = base.evidence.value != new.evidence.value;
        let counted = new.key.quantity == Quantity::Instructions;
        if !counted || !differs || !base.evidence.exact || !new.evidence.exact {
            continue;
        }
        let paths = path(documents.0, base.position).zip(path(documents.1, new.position));
        let explained = paths.and_then(|(a, b)| {
            let mut explained = between(cell as u32, &a, &b)?;
            explained.residual_functions = residual_functions(documents, base, new);
            Some(explained)
        });
        match explained {
            Some(explained) => explanations.push(explained),
            None => unknown += 1,
        }
    }
    explanations.sort_by_key(|explained| std::cmp::Reverse(explained.difference.unsigned_abs()));
    let mut notes = Vec::new();
    if unknown > 0 {
        notes.push(format!(
            "the hooks of {unknown} cells that differ are not known: measure both with \
             `lsmeter run --with-hooks` or `lsmeter profile`"
        ));
    }
    (explanations, notes)
}

fn path(document: &AnyDocument, position: usize) -> Option<Path<'_>> {
    match document {
        AnyDocument::Run(run) => {
            let cell: &Cell = run.cells.get(position)?;
            Some(Path {
                total: cell.counts.as_ref()?.modal.instructions,
                hooks: cell.hooks.as_deref()?,
            })
        }
        AnyDocument::Profile(document) => {
            let profile = document.profiles.get(position)?;
            Some(Path {
                total: profile.total,
                hooks: &profile.hooks,
            })
        }
        _ => None,
    }
}

/// None if a hostile document's figures do not fit.
fn between(cell: u32, base: &Path<'_>, new: &Path<'_>) -> Option<Explanation> {
    let mut sides: BTreeMap<(&str, &str), [Option<&HookCost>; 2]> = BTreeMap::new();
    for (side, path) in [base, new].into_iter().enumerate() {
        for hook in path.hooks {
            sides.entry((&hook.hook, &hook.function)).or_default()[side] = Some(hook);
        }
    }
    let mut hooks: Vec<HookChange> = Vec::new();
    let mut hooked = 0i64;
    for ((hook, function), [old, young]) in sides {
        let change = change(hook, function, old, young)?;
        hooked = hooked.checked_add(change.difference)?;
        let silent = change.difference == 0
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
    })
}

fn change(
    hook: &str,
    function: &str,
    base: Option<&HookCost>,
    new: Option<&HookCost>,
) -> Option<HookChange> {
    let of = |side: Option<&HookCost>, figure: fn(&HookCost) -> u64| side.map_or(0, figure);
    let differ = |figure: fn(&HookCost) -> u64| difference(of(base, figure), of(new, figure));
    Some(HookChange {
        hook: hook.to_owned(),
        function: function.to_owned(),
        base_calls: of(base, |hook| hook.calls),
        new_calls: of(new, |hook| hook.calls),
        difference: differ(|hook| hook.outermost)?,
        dispatch: differ(|hook| hook.dispatch)?,
        implementations: implementations(base, new)?,
        callers: callers(base, new),
    })
}

/// The functions that call a hook, those first whose calls differ most.
fn callers(base: Option<&HookCost>, new: Option<&HookCost>) -> Vec<CallerChange> {
    let mut sides: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for (side, hook) in [base, new].into_iter().enumerate() {
        for caller in hook.iter().flat_map(|hook| &hook.called_by) {
            sides.entry(&caller.function).or_default()[side] = caller.calls;
        }
    }
    let change = |(function, [base_calls, new_calls]): (&str, [u64; 2])| CallerChange {
        function: function.to_owned(),
        base_calls,
        new_calls,
    };
    let mut changes: Vec<CallerChange> = sides.into_iter().map(change).collect();
    changes.sort_by_key(|caller| std::cmp::Reverse(caller.new_calls.abs_diff(caller.base_calls)));
    changes
}

fn implementations(
    base: Option<&HookCost>,
    new: Option<&HookCost>,
) -> Option<Vec<ImplementationChange>> {
    let mut sides: BTreeMap<(&str, &str), [Option<&Implementation>; 2]> = BTreeMap::new();
    for (side, hook) in [base, new].into_iter().enumerate() {
        for own in hook.iter().flat_map(|hook| &hook.implementations) {
            sides.entry((&own.module, &own.function)).or_default()[side] = Some(own);
        }
    }
    let mut changes = Vec::new();
    for ((module, function), [old, young]) in sides {
        let calls = |side: Option<&Implementation>| side.map_or(0, |own| own.calls);
        let cost = |side: Option<&Implementation>| side.map_or(0, |own| own.inclusive);
        let change = ImplementationChange {
            module: module.to_owned(),
            function: function.to_owned(),
            base_calls: calls(old),
            new_calls: calls(young),
            difference: difference(cost(old), cost(young))?,
        };
        if change.difference != 0 || change.base_calls != change.new_calls {
            changes.push(change);
        }
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.difference.unsigned_abs()));
    Some(changes)
}

/// NEW's residual, if that is against this very BASE (`lsmeter profile --diff`).
fn residual_functions(
    documents: (&AnyDocument, &AnyDocument),
    base: &Item,
    new: &Item,
) -> Vec<FunctionDifference> {
    let (AnyDocument::Profile(old), AnyDocument::Profile(young)) = documents else {
        return Vec::new();
    };
    let old = old.profiles.get(base.position);
    let young = young.profiles.get(new.position);
    let (Some(old), Some(young)) = (old, young) else {
        return Vec::new();
    };
    let same = young.baseline.as_ref().is_some_and(|baseline| {
        (baseline.total, &baseline.hooks) == (old.total, &old.hooks) && old.kernel == young.kernel
    });
    if same {
        young.residual_functions.clone()
    } else {
        Vec::new()
    }
}

fn difference(base: u64, new: u64) -> Option<i64> {
    i64::try_from(i128::from(new) - i128::from(base)).ok()
}
