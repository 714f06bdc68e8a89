// SPDX-License-Identifier: GPL-2.0-or-later
//! Parses all functions of a file, for benchmarks and fuzzing. An analysis parses only some.

use model::Failure;

use crate::clean::clean;
use crate::config::Config;
use crate::facts::Facts;
use crate::lower::Lowerer;
use crate::scan::scan;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartlyParsed {
    pub name: String,
    /// Counted from 1.
    pub line: u32,
    /// A macro need not be a complete statement.
    pub is_macro: bool,
    /// The line with the error, or the reason.
    pub reason: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedSource {
    pub functions: usize,
    pub macros: usize,
    pub nodes: usize,
    /// Functions and macros that could be parsed only in part, in the file's order.
    pub partly_parsed: Vec<PartlyParsed>,
}

/// Parses as in an analysis without a `.config`.
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

    /// The source may be arbitrary bytes.
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
