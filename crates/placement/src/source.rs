// SPDX-License-Identifier: GPL-2.0-or-later
//! All functions of a single source file: for a benchmark of how much of a tree can be
//! parsed, and for fuzzing. An analysis parses only what it needs.

use model::Failure;

use crate::clean::clean;
use crate::config::Config;
use crate::facts::Facts;
use crate::lower::Lowerer;
use crate::scan::scan;

/// A function or macro that could be parsed only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartlyParsed {
    pub name: String,
    /// Where it begins, from 1.
    pub line: u32,
    /// Is it a macro? A macro need not be a whole statement.
    pub is_macro: bool,
    /// The line in it that could not be parsed, or why it could not.
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedSource {
    pub functions: usize,
    pub macros: usize,
    /// Calls, decisions, loops and labels in all of them.
    pub nodes: usize,
    /// Functions and macros that could be parsed only in part, in the file's order.
    pub partly_parsed: Vec<PartlyParsed>,
}

/// Parses sources as an analysis without a `.config` does.
pub struct SourceParser {
    config: Config,
    lowerer: Lowerer,
}

impl SourceParser {
    /// A parser; made once per thread.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self {
            config: Config::everything(&Facts::load(kernels::arch::native())?.config),
            lowerer: Lowerer::new(),
        })
    }

    /// Parses every function and macro of a file, which may be anything.
    pub fn parse(&mut self, source: &[u8]) -> ParsedSource {
        let clean = clean(source, &self.config);
        let index = scan(&clean);
        let mut parsed = ParsedSource::default();
        for function in &index.functions {
            let body = self.lowerer.lower(function, &clean.text);
            let is_macro = function.kind.is_macro();
            parsed.functions += usize::from(!is_macro);
            parsed.macros += usize::from(is_macro);
            parsed.nodes += body.nodes.len().saturating_sub(1);
            if !body.fault.is_empty() {
                let name = index.names.get(function.name as usize);
                parsed.partly_parsed.push(PartlyParsed {
                    name: name.map(ToString::to_string).unwrap_or_default(),
                    line: function.line,
                    is_macro,
                    reason: body.fault.into(),
                });
            }
        }
        parsed
    }
}
