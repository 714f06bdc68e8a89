// SPDX-License-Identifier: GPL-2.0-or-later
//! Writes a kernel's functions as the text file for the plugin (`plugin/functions.h`).

use std::collections::HashMap;
use std::fmt::Write as _;

use kernels::fixups::Fixup;
use kernels::symbols::{Function, Symbol, SymbolTable};

use crate::walk::without_cold;

const FORKS: [&str; 4] = ["clone", "clone3", "fork", "vfork"];
const SIGRETURN: &str = "rt_sigreturn";
/// Prepares a new task's stack (`arch/*/kernel/process.c`).
const COPIES_STACK: &str = "copy_thread";
/// Number 0: code outside every function.
pub(crate) const UNKNOWN: &str = "[unknown]";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTable {
    text: String,
    names: Vec<String>,
}

/// The preferred name, because a system call's function often has several names, and a `.cold` part
/// counts as the function.
pub(crate) fn name_of<'s>(symbols: &'s SymbolTable, function: &Function<'s>) -> &'s str {
    let of_call = |symbol: &Symbol<'_>| symbols.arch().code.syscall_of(symbol.name).is_some();
    let call = symbols.at(function.range.start).find(of_call);
    call.map_or_else(|| without_cold(function.name), |symbol| symbol.name)
}

impl FunctionTable {
    /// Functions at link addresses, so the kernel must be booted with `nokaslr`.
    #[must_use]
    pub fn new(symbols: &SymbolTable, fixups: &[Fixup]) -> FunctionTable {
        let code = &symbols.arch().code;
        let mut text = format!("{}\n", code.landing_pad);
        let mut names = vec![UNKNOWN.to_owned()];
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut last = None;
        let addresses = symbols.iter().filter(|symbol| symbol.is_code());
        for address in addresses.map(|symbol| symbol.address) {
            if address < code.text_base || last.replace(address) == Some(address) {
                continue;
            }
            let Some(function) = symbols.function_at(address) else {
                continue;
            };
            let name = name_of(symbols, &function);
            let number = *numbers.entry(name.to_owned()).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            let call = code.syscall_of(name);
            let flags: String = [
                ('t', code.is_thunk(name)),
                ('s', call.is_some()),
                ('f', call.is_some_and(|call| FORKS.contains(&call))),
                ('r', call == Some(SIGRETURN)),
                ('c', name == COPIES_STACK),
                ('p', without_cold(function.name).len() < function.name.len()),
            ]
            .iter()
            .filter_map(|&(flag, is)| is.then_some(flag))
            .collect();
            let flags = if flags.is_empty() { "-" } else { &flags };
            let range = function.range;
            let _ = writeln!(text, "{:x} {:x} {number} {flags}", range.start, range.end);
        }
        for fixup in fixups {
            let _ = writeln!(text, "x {:x} {:x}", fixup.instruction, fixup.resumes_at);
        }
        FunctionTable { text, names }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }
}
