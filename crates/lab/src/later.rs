// SPDX-License-Identifier: GPL-2.0-or-later
//! Hooks that the kernel calls after an operation, for what it left: when a grace period ends, or
//! from a work queue. The plugin counts the calls of their functions between windows.

use std::collections::BTreeMap;

use counts::landmarks::later;
use kernels::hooks::{functions_of, implementations};
use kernels::symbols::SymbolTable;
use model::LaterHook;

/// A function whose calls are counted for a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaterFunction {
    hook: String,
    /// Where the function begins.
    start: u64,
}

/// The framework's functions of these hooks; of one that has none in this kernel, those that modules
/// have for it.
pub(crate) fn functions(hooks: &[String], elf: &[u8], symbols: &SymbolTable) -> Vec<LaterFunction> {
    let of_modules = implementations(elf, symbols).unwrap_or(None);
    let mut found = Vec::new();
    for hook in hooks {
        let mut names = functions_of(hook, symbols);
        if names.is_empty() {
            let of_hook = of_modules.as_ref().and_then(|all| all.get(hook));
            names.extend(of_hook.into_iter().flatten().cloned());
        }
        let functions = names.iter().filter_map(|name| symbols.function(name));
        found.extend(functions.map(|function| LaterFunction {
            hook: hook.clone(),
            start: function.start,
        }));
    }
    found
}

pub(crate) fn watched(functions: &[LaterFunction]) -> String {
    let starts: Vec<u64> = functions.iter().map(|function| function.start).collect();
    later(&starts)
}

/// The hooks that were called, of calls by the function's position.
pub(crate) fn called(functions: &[LaterFunction], calls: &BTreeMap<u32, u64>) -> Vec<LaterHook> {
    let mut hooks: BTreeMap<&str, u64> = BTreeMap::new();
    for (position, function) in functions.iter().enumerate() {
        if let Some(calls) = calls.get(&(position as u32)) {
            *hooks.entry(&function.hook).or_default() += calls;
        }
    }
    let hooks = hooks.into_iter().map(|(hook, calls)| LaterHook {
        hook: hook.to_owned(),
        calls,
    });
    hooks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_hook_are_those_of_all_its_functions() {
        let of = |hook: &str, start| LaterFunction {
            hook: hook.to_owned(),
            start,
        };
        let functions = [of("task_free", 0x10), of("b", 0x20), of("task_free", 0x30)];
        assert_eq!(
            watched(&functions),
            "later 10 11\nlater 20 21\nlater 30 31\n"
        );
        let called = called(&functions, &BTreeMap::from([(0, 5), (2, 1)]));
        let only = LaterHook {
            hook: "task_free".to_owned(),
            calls: 6,
        };
        assert_eq!(called, [only]);
    }
}
